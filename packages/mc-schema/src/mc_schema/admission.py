"""Admission: whether an entry may be served, and why not (design section 4, guide 五)."""

from __future__ import annotations

from mc_schema.document import ENTRY, PREAMBLE, Unit
from mc_schema.entry import (
    ACTIVE,
    CANDIDATE,
    PROMOTED,
    STATUSES,
    SUPERSEDED,
    Entry,
    Problem,
    parse_entry,
)
from mc_schema.errors import quoted
from mc_schema.evidence import ADMISSION_WHAT, is_admissible_set, parse_evidence_or_none
from mc_schema.storage import ARCHIVE, CANDIDATE_ROW, INBOX_PATH, placement_faults

TYPE_CHECKING = False  # importing `typing` would cost a command more than its work
if TYPE_CHECKING:
    from typing import Final, NamedTuple
else:
    from mc_schema.value import NamedTuple

LEGACY: Final = "legacy"
INADMISSIBLE: Final = "inadmissible"
SERVED: Final = (ACTIVE, LEGACY)
"""Standings that enter context packs and default searches."""


class Standing(NamedTuple):
    """How one unit of a memory file stands."""

    status: str
    """``active``, ``superseded``, ``candidate``, ``promoted``, ``legacy`` or ``inadmissible``."""
    entry: Entry | None
    """The entry, or ``None`` for a legacy unit."""
    problems: tuple[Problem, ...]
    """Why an entry is inadmissible; empty otherwise."""

    @property
    def is_served(self) -> bool:
        """Whether the unit enters context packs and default searches."""
        return self.status in SERVED


def entry_problems(entry: Entry, path: str) -> list[Problem]:
    """Return every reason why *entry* in *path* (below the memory directory) is not admissible."""
    problems = list(entry.problems)
    problems += _status_problems(entry, path)
    problems += [Problem("matrix", fault, 0) for fault in placement_faults(entry, path)]
    problems += _evidence_problems(entry)
    return problems


def standing(text: str, kind: str, path: str) -> Standing:
    """Return how the unit *text* of *kind* in *path* stands, its own contents considered alone.

    Whether its id is unique is for the caller to see: it needs the other files.
    """
    if kind != ENTRY:
        # In the inbox a unit without an id is a candidate, not legacy active memory.
        is_candidate = path == INBOX_PATH and kind != PREAMBLE
        return Standing(CANDIDATE if is_candidate else LEGACY, None, ())
    entry = parse_entry(text)
    problems = entry_problems(entry, path)
    return Standing(INADMISSIBLE if problems else entry.status, entry, tuple(problems))


def duplicate_key(type_: str, scope: str, body: str) -> tuple[str, str, str]:
    """Return what structural duplicates share: type, scope and the folded body."""
    return type_, scope.casefold(), " ".join(body.casefold().split())


def is_content(unit: Unit) -> bool:
    """Say whether *unit* is an entry of some kind, not the introduction of its file."""
    return unit.kind != PREAMBLE


def _status_problems(entry: Entry, path: str) -> list[Problem]:
    if not entry.status:
        return []
    if entry.status not in STATUSES:
        return [Problem("invalid_status", f"invalid status {quoted(entry.status)}", 0)]
    if entry.id is None or path.startswith(ARCHIVE):
        return []
    is_candidate = entry.id.type == CANDIDATE_ROW.code
    allowed = (CANDIDATE, PROMOTED) if is_candidate else (ACTIVE, SUPERSEDED)
    if entry.status in allowed:
        return []
    message = f"status `{entry.status}` does not go with id type {entry.id.type}"
    return [Problem("invalid_status", message, 0)]


def _evidence_problems(entry: Entry) -> list[Problem]:
    if any(problem.message.startswith("`Evidence:`") for problem in entry.problems):
        return []
    if not entry.evidence:
        return [Problem("no_evidence", "no evidence", 0)]
    problems = []
    parsed = []
    for text in entry.evidence:
        value = parse_evidence_or_none(text)
        if value is None:
            problems.append(Problem("invalid_evidence", f"invalid evidence {quoted(text)}", 0))
        else:
            parsed.append(value)
    if parsed and entry.status in (ACTIVE, SUPERSEDED) and not is_admissible_set(tuple(parsed)):
        problems.append(Problem("weak_evidence", ADMISSION_WHAT.rstrip("."), 0))
    return problems
