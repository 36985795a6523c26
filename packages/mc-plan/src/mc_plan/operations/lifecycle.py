"""Supersession and promotion: an existing entry is closed and names what replaced it.

Source: design section 5; guide sections 5.3 and 6.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from mc_schema.document import Document, normalise_newlines
from mc_schema.entry import (
    ACTIVE,
    CANDIDATE,
    FORGOTTEN,
    PROMOTED,
    SUPERSEDED,
    Entry,
    parse_entry,
)
from mc_schema.fields import set_field
from mc_schema.ids import claimed_entry_id, parse_entry_id
from mc_schema.storage import CANDIDATE_ROW

from mc_plan.errors import MalformedFileError
from mc_plan.operations.gate import GateError
from mc_plan.operations.verify import require_readable

if TYPE_CHECKING:
    from mc_schema.document import Unit
    from mc_schema.memoryfile import JudgedUnit

    from mc_plan.operations.memory_set import MemorySet

SUPERSEDED_BY: Final = "Superseded-By"
PROMOTED_TO: Final = "Promoted-To"


class ExistingEntry(NamedTuple):
    """An entry that the command closes."""

    unit: JudgedUnit
    entry: Entry
    where: str
    """Repo-relative path and line."""

    @property
    def id(self) -> str:
        """Its canonical id."""
        return self.unit.entry_id

    @property
    def is_candidate(self) -> bool:
        """Whether its id is a candidate's."""
        return self.entry.id is not None and self.entry.id.type == CANDIDATE_ROW.code


def find_active(memory: MemorySet, entry_id: str) -> ExistingEntry:
    """Return the entry *entry_id* when it can be superseded.

    Raises:
        GateError: There is no such entry, or it is no active one; what replaced it is named.
    """
    found = _find(memory, entry_id)
    _require_open(found)
    if found.is_candidate:
        raise GateError(
            f"{found.id} is a candidate",
            where=found.where,
            hint=f"use `--promotes {found.id}`",
            code="not_active",
        )
    if found.entry.status != ACTIVE:
        raise _unusable(found, ACTIVE)
    return found


def find_candidate(memory: MemorySet, entry_id: str) -> ExistingEntry:
    """Return the entry *entry_id* when it can be promoted.

    Raises:
        GateError: There is no such entry, or it is no open candidate.
    """
    found = _find(memory, entry_id)
    _require_open(found)
    if not found.is_candidate:
        raise GateError(
            f"{found.id} is no candidate",
            where=found.where,
            hint=f"use `--supersedes {found.id}` to replace it",
            code="not_candidate",
        )
    if found.unit.standing.status != CANDIDATE:
        raise _unusable(found, CANDIDATE)
    return found


def mark_superseded(memory: MemorySet, old: ExistingEntry, new_id: str) -> None:
    """Close *old* in its file: ``Status: superseded`` and ``Superseded-By:``."""
    _mark(memory, old, SUPERSEDED, SUPERSEDED_BY, new_id)


def mark_promoted(memory: MemorySet, old: ExistingEntry, new_id: str) -> None:
    """Close the candidate *old* in the inbox: ``Status: promoted`` and ``Promoted-To:``."""
    _mark(memory, old, PROMOTED, PROMOTED_TO, new_id)


def _find(memory: MemorySet, entry_id: str) -> ExistingEntry:
    found = [unit for file in memory.parsed() for unit in file.units if unit.entry_id == entry_id]
    if not found:
        raise GateError(
            "no entry has this id",
            where=f"`{entry_id}`",
            hint="`memory-custodian search` lists the ids of this project",
            code="unknown_id",
        )
    places = [f"{memory.project.memory_file(unit.path)}:{unit.unit.line}" for unit in found]
    entry = found[0].standing.entry
    if len(found) > 1 or entry is None:
        raise GateError(
            f"the id {entry_id} occurs {len(found)} times",
            where=", ".join(places[:3]),
            hint="give one of them another id by hand; `memory-custodian check` names both",
            code="duplicate_id",
        )
    return ExistingEntry(found[0], entry, places[0])


def _require_open(found: ExistingEntry) -> None:
    entry = found.entry
    for status, successor in ((SUPERSEDED, entry.superseded_by), (PROMOTED, entry.promoted_to)):
        if entry.status != status and not successor:
            continue
        hint = "add the entry without naming the old one"
        if successor == FORGOTTEN:
            what = f"{found.id} is already {status}, and its successor was forgotten"
        elif parse_entry_id(successor) is None:
            what = f"{found.id} is already {status} and names no successor"
        else:
            what = f"{found.id} is already {status}: {successor} replaced it"
            hint = f"use `--supersedes {successor}` to replace that one"
        raise GateError(what, where=found.where, hint=hint, code="closed_chain")


def _unusable(found: ExistingEntry, wanted: str) -> GateError:
    problems = found.unit.standing.problems
    reason = problems[0].message if problems else f"status `{found.entry.status[:40]}`"
    return GateError(
        f"{found.id} is not {wanted}: {reason}",
        where=found.where,
        hint="correct the entry by hand; `memory-custodian check` lists all its faults",
        code="not_active" if wanted == ACTIVE else "not_candidate",
    )


def _mark(memory: MemorySet, old: ExistingEntry, status: str, field: str, new_id: str) -> None:
    name = old.unit.path
    memory.require_no_conflict(name)
    before = memory.text(name) or ""
    document = Document.parse(before)
    unit = _raw_unit(document, old.id, memory.project.memory_file(name))
    closed = _closed(document.unit_text(unit), status, field, new_id)
    after = document.replace_units([(unit, closed)])
    meant = normalise_newlines(_closed(old.unit.text, status, field, new_id))
    where = memory.project.memory_file(name)
    require_readable(before, after, edited={old.id: meant}, where=where)
    read = parse_entry(meant)
    if (read.status, read.superseded_by or read.promoted_to) != (status, new_id):
        raise _unsafe(old.id, old.where)
    memory.write(name, after)


def _closed(unit: str, status: str, field: str, new_id: str) -> str:
    return set_field(set_field(unit, "Status", status), field, new_id)


def _raw_unit(document: Document, entry_id: str, where: str) -> Unit:
    """Return the unit in the unstripped text, which is what gets written."""
    found = [
        unit
        for unit in document.entries()
        if str(parse_entry_id(claimed_entry_id(unit.heading) or "")) == entry_id
    ]
    if len(found) != 1:
        raise _unsafe(entry_id, where)
    return found[0]


def _unsafe(entry_id: str, where: str) -> MalformedFileError:
    return MalformedFileError(
        f"{entry_id} cannot be edited safely: a private span or code fence reaches into it",
        where=where,
        hint="correct the span or fence by hand, then run the command again",
    )
