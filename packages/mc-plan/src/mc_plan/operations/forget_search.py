"""Finding what a topic touches: units that can go, and text that only a person can rewrite.

Matching is literal, after NFKC and case folding on both sides; text inside private spans counts.

Source: design 6 (`forget`), protocol 0.5 page B8 and faults 9 to 18, 36, 37.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Final, NamedTuple

from mc_schema.document import ENTRY, GROUP, PREAMBLE, PROSE, SECTION, Document, Unit
from mc_schema.entry import split_heading
from mc_schema.ids import parse_entry_id

from mc_plan.redaction import fold

if TYPE_CHECKING:
    from mc_plan.project import Project
    from mc_plan.snapshot import Snapshot

SOFT: Final = "soft"
HARD: Final = "hard"
PURGE: Final = "purge"
MODES: Final = (SOFT, HARD, PURGE)

MATCH: Final = "match"
TOMBSTONE: Final = "tombstone"
BLOCKER: Final = "blocker"

MANIFEST: Final = "manifest.md"
DO_NOT_USE: Final = "do-not-use.md"
ARCHIVE: Final = "archive/"
_TOMBSTONE_PREFIX: Final = "tombstone:"
_KIND_WORDS: Final = {
    PREAMBLE: "an introduction",
    PROSE: "loose prose",
    GROUP: "a heading over other entries",
}


class Hit(NamedTuple):
    """One place that holds the topic."""

    path: str
    """Below the memory directory."""
    kind: str
    """`MATCH`, `TOMBSTONE` or `BLOCKER`."""
    line: int
    """1-based; 0 for the name of a file."""
    what: str
    """What holds it, in words; for matches the entry id or the kind of unit."""
    unit: Unit | None = None


class Search(NamedTuple):
    """Everything one topic touches."""

    searched: tuple[str, ...]
    """Files that were searched, below the memory directory."""
    hits: tuple[Hit, ...]
    documents: dict[str, Document]
    """Every Markdown file of the memory directory, the archive included."""
    archived: int
    """Units in the archive that match and stay (hard mode)."""

    def of_kind(self, kind: str) -> list[Hit]:
        """Return the hits of one kind, in file order."""
        return [hit for hit in self.hits if hit.kind == kind]


class Matcher:
    """Tells whether a text holds the topic."""

    def __init__(self, topic: str) -> None:
        self._folded = fold(topic)

    def is_in(self, text: str) -> bool:
        """Say whether *text* holds the topic, letter case and compatibility forms ignored."""
        return self._folded in fold(text)


def search_memory(snapshot: Snapshot, topic: str, mode: str) -> Search:
    """Return every place below the memory directory that holds *topic*, as *mode* looks for it.

    Raises:
        MalformedFileError, UnsafeFileError, UnreadableFileError: A file cannot be searched; what
            cannot be searched cannot be forgotten.
    """
    matcher = Matcher(topic)
    documents: dict[str, Document] = {}
    for path in snapshot.list_memory():
        name = snapshot.project.in_memory(path) or path
        documents[name] = Document.parse(snapshot.read_text(path) or "")
    searched = [name for name in documents if _is_searched(name, mode)]
    hits: list[Hit] = []
    for name in searched:
        hits += _hits(name, documents[name], mode, matcher)
    if mode != SOFT:
        hits += _name_hits(documents, mode, matcher)
        hits += _other_file_hits(snapshot, mode, matcher)
    archived = 0
    if mode == HARD:
        archived = sum(
            len(_hits(name, document, PURGE, matcher))
            for name, document in documents.items()
            if name.startswith(ARCHIVE)
        )
    return Search(tuple(searched), tuple(hits), documents, archived)


def is_tombstone(unit: Unit) -> bool:
    """Say whether *unit* is a tombstone: a TOMB entry, or a legacy `Tombstone:` section."""
    if unit.kind == SECTION:
        return unit.heading.lower().startswith(_TOMBSTONE_PREFIX)
    if unit.kind != ENTRY:
        return False
    claimed, _ = split_heading(unit.heading)
    entry_id = parse_entry_id(claimed)
    return entry_id is not None and entry_id.type == "TOMB"


def _is_searched(name: str, mode: str) -> bool:
    if name.startswith(ARCHIVE):
        return mode == PURGE
    return mode != SOFT or name not in (MANIFEST, DO_NOT_USE)


def _hits(name: str, document: Document, mode: str, matcher: Matcher) -> list[Hit]:
    if not matcher.is_in(document.text):
        return []
    if name == MANIFEST:
        line = _first_line(document.text, matcher)
        return [Hit(name, BLOCKER, line, "the manifest")]
    hits = []
    if mode != SOFT and matcher.is_in(document.text[: document.head_end]):
        hits.append(Hit(name, BLOCKER, 1, "the title of the file"))
    hits += [
        _unit_hit(name, unit)
        for unit in document.units
        if matcher.is_in(document.text[unit.start : unit.end])
    ]
    return hits


def _unit_hit(name: str, unit: Unit) -> Hit:
    if unit.kind in _KIND_WORDS:
        return Hit(name, BLOCKER, unit.line, _KIND_WORDS[unit.kind], unit)
    kind = TOMBSTONE if name == DO_NOT_USE and is_tombstone(unit) else MATCH
    claimed, _ = split_heading(unit.heading)
    entry_id = parse_entry_id(claimed)
    what = str(entry_id) if unit.kind == ENTRY and entry_id else f"a legacy {unit.kind}"
    return Hit(name, kind, unit.line, what, unit)


def _first_line(text: str, matcher: Matcher) -> int:
    for number, line in enumerate(text.replace("\r", "\n").split("\n"), 1):
        if matcher.is_in(line):
            return number
    return 1


def _name_hits(documents: dict[str, Document], mode: str, matcher: Matcher) -> list[Hit]:
    return [
        Hit(name, BLOCKER, 0, "the name of a file")
        for name in documents
        if matcher.is_in(name) and (mode == PURGE or not name.startswith(ARCHIVE))
    ]


def _other_file_hits(snapshot: Snapshot, mode: str, matcher: Matcher) -> list[Hit]:
    """Look into what is no Markdown: it cannot be cut into units, so a person must decide."""
    hits = []
    for name in _other_files(snapshot.project):
        if mode != PURGE and name.startswith(ARCHIVE):
            continue
        data = snapshot.read(snapshot.project.memory_file(name)) or b""
        if matcher.is_in(name):
            hits.append(Hit(name, BLOCKER, 0, "the name of a file"))
        if matcher.is_in(data.decode("utf-8", "replace")):
            hits.append(Hit(name, BLOCKER, 0, "a file that is no Markdown"))
    return hits


def _other_files(project: Project) -> list[str]:
    base = os.fspath(project.memory_path)
    found = []
    for folder, folders, names in os.walk(base):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(folder, name)  # noqa: PTH118 - os.walk speaks text
            if not name.endswith(".md") and stat.S_ISREG(os.lstat(path).st_mode):
                found.append(os.path.relpath(path, base).replace(os.sep, "/"))
    return found
