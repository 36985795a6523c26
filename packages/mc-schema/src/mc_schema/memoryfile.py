"""One memory file as readers see it: private spans removed first, then cut into units."""

from __future__ import annotations

from mc_schema.admission import INADMISSIBLE, Standing, standing
from mc_schema.budget import counted_text
from mc_schema.document import Document, Unit
from mc_schema.entry import Problem
from mc_schema.lines import BOM, scan_lines
from mc_schema.private import strip_private_spans
from mc_schema.tokens import estimate_tokens

TYPE_CHECKING = False  # importing `typing` would cost a command more than its work
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Final, NamedTuple
else:
    from mc_schema.value import NamedTuple


_NAMED: Final = 3
"""Places of a repeated id that a message names: all of them each time would be quadratic."""


class JudgedUnit(NamedTuple):
    """One unit of a memory file and how it stands."""

    path: str
    """Below the memory directory."""
    unit: Unit
    standing: Standing
    text: str

    @property
    def entry_id(self) -> str:
        """The canonical entry id, or an empty string."""
        entry = self.standing.entry
        return str(entry.id) if entry and entry.id else ""

    @property
    def label(self) -> str:
        """How people call the unit: its id, else its file and line."""
        return self.entry_id or f"{self.path}:{self.unit.line}"

    @property
    def tokens(self) -> int:
        """What the unit counts for (`mc_schema.budget.unit_tokens`), without parsing it again."""
        return estimate_tokens(counted_text(self.text, self.unit.kind, self.standing.entry))


class MemoryFile(NamedTuple):
    """One memory file, stripped and cut."""

    path: str
    """Below the memory directory."""
    document: Document
    """Of the stripped text: what may be shown."""
    removed_spans: int
    """Well-formed private spans that were removed."""
    hidden_line: int
    """1-based line of an unclosed or malformed opener that hid the rest of the file, else 0."""
    units: tuple[JudgedUnit, ...]
    conflict: int = 0
    """1-based line of a merge-conflict marker in the file, inside a private span too, else 0; such
    a file is not served."""


def parse_memory_file(path: str, text: str) -> MemoryFile:
    """Return the file *path* (below the memory directory) with the content *text*.

    The private boundary is applied to the whole file before units are cut (design section 3).
    """
    stripped = strip_private_spans(text)
    document = Document.parse(stripped.text)
    units = []
    for unit in document.units:
        unit_text = document.unit_text(unit)
        units.append(JudgedUnit(path, unit, standing(unit_text, unit.kind, path), unit_text))
    hidden_line = 0 if stripped.cut_at is None else line_at(text, stripped.cut_at)
    conflict = document.conflict if stripped.text == text else scan_lines(text).conflict
    return MemoryFile(path, document, stripped.removed, hidden_line, tuple(units), conflict)


def file_tokens(file: MemoryFile) -> int:
    """Return what the whole *file* counts for (`mc_schema.budget.document_tokens`)."""
    head = file.document.text[: file.document.head_end].lstrip(BOM)
    return estimate_tokens(head) + sum(unit.tokens for unit in file.units)


def line_at(text: str, offset: int) -> int:
    """Return the 1-based number of the line that holds *offset*; CRLF and lone CR end lines too."""
    head = text[:offset]
    return head.count("\n") + head.count("\r") - head.count("\r\n") + 1


def with_unique_ids(files: Iterable[MemoryFile]) -> list[MemoryFile]:
    """Return *files* with every entry whose id occurs twice judged inadmissible.

    Letter case is ignored and all files count, inbox and archive included (design section 4).
    """
    files = list(files)
    places: dict[str, list[str]] = {}
    for unit in (unit for file in files for unit in file.units):
        if unit.entry_id:
            places.setdefault(unit.entry_id, []).append(f"{unit.path}:{unit.unit.line}")
    if all(len(found) == 1 for found in places.values()):
        return files
    return [
        file._replace(units=tuple(_judged(unit, places) for unit in file.units)) for file in files
    ]


def _judged(unit: JudgedUnit, places: dict[str, list[str]]) -> JudgedUnit:
    found = places.get(unit.entry_id, [])
    if len(found) < 2:  # noqa: PLR2004
        return unit
    here = f"{unit.path}:{unit.unit.line}"
    others = ", ".join([place for place in found[: _NAMED + 1] if place != here][:_NAMED])
    problem = Problem("duplicate_id", f"the id {unit.entry_id} occurs again at {others}", 0)
    judged = unit.standing._replace(
        status=INADMISSIBLE, problems=(*unit.standing.problems, problem)
    )
    return unit._replace(standing=judged)
