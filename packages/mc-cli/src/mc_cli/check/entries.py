"""Entries: ids, admission, the storage matrix, unknown fields, legacy units and coverage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from mc_schema.admission import INADMISSIBLE
from mc_schema.budget import INBOX_ITEMS
from mc_schema.document import BULLET, GROUP, PREAMBLE, normalise_newlines
from mc_schema.entry import ACTIVE, CANDIDATE
from mc_schema.errors import quoted
from mc_schema.evidence import LEGACY, parse_evidence_or_none
from mc_schema.graph import find_link_faults
from mc_schema.storage import INBOX_PATH, MATRIX, MODULE_FOLDERS

from mc_cli.check.finding import INFO, LEGACY_ENTRIES, WARNING, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mc_schema.entry import Entry
    from mc_schema.memoryfile import JudgedUnit, MemoryFile

    from mc_cli.check.inspection import Inspection

_DUPLICATE: Final = "duplicate_id"
_NAMED: Final = 10
"""Places of a repeated id that each of its findings names: all of them would be quadratic."""
_ENTRY_FILES: Final = frozenset(row.path for row in MATRIX if "{" not in row.path)
_README: Final = "readme.md"
_GOVERN: Final = "add each again with `memory-custodian add`, then remove the old text"
_MIGRATE_FIRST: Final = "they stay readable; `memory-custodian migrate` gives clear ones an id"


class Coverage(NamedTuple):
    """How well the memory is backed by evidence."""

    source_backed: int
    """Active entries with evidence that is not `legacy-unverified`."""
    entries: int
    """Active entries and legacy units."""
    legacy: int
    """Units without an id."""

    def sentence(self) -> str:
        """Return it in words: ``3 of 5 entries source-backed, 2 legacy``."""
        return (
            f"{self.source_backed} of {self.entries} "
            f"{'entry' if self.entries == 1 else 'entries'} source-backed, {self.legacy} legacy"
        )


def entry_findings(inspection: Inspection) -> Iterator[Finding]:
    """Yield what is wrong with entries, each file of the memory directory included."""
    yield from _duplicate_findings(inspection)
    for file in inspection.files():
        for unit in file.units:
            yield from _unit_findings(inspection, file, unit)
    for file in inspection.files(archive=False):
        yield from _file_findings(inspection, file)
    yield from link_findings(inspection)


def coverage(inspection: Inspection) -> Coverage:
    """Return the evidence coverage of what is served; the archive does not count."""
    backed = active = legacy = 0
    for file in inspection.files(archive=False):
        legacy += len(legacy_units(file))
        for unit in file.units:
            entry = unit.standing.entry
            if entry is not None and unit.standing.status == ACTIVE:
                active += 1
                backed += _is_backed(entry)
    return Coverage(backed, active + legacy, legacy)


def legacy_units(file: MemoryFile) -> list[JudgedUnit]:
    """Return the units of *file* that should be entries and have no id.

    Only files of the storage matrix hold entries: a brief, a changelog or a custom file does not.
    """
    if not holds_entries(file.path):
        return []
    return [unit for unit in file.units if unit.standing.entry is None and is_item(unit)]


def candidates(file: MemoryFile) -> list[JudgedUnit]:
    """Return the items of the inbox: candidates with an id, and legacy bullets."""
    if file.path != INBOX_PATH:
        return []
    return [
        unit
        for unit in file.units
        if unit.standing.status == CANDIDATE
        and (unit.standing.entry is not None or unit.unit.kind == BULLET)
    ]


def holds_entries(path: str) -> bool:
    """Say whether the storage matrix places entries in *path*, below the memory directory."""
    folder, slash, name = path.partition("/")
    if not slash:
        return path in _ENTRY_FILES
    return folder in MODULE_FOLDERS.values() and "/" not in name and name.lower() != _README


def is_item(unit: JudgedUnit) -> bool:
    """Say whether *unit* says something of its own: no introduction, no heading without prose."""
    if unit.unit.kind == PREAMBLE:
        return False
    if unit.unit.kind != GROUP:
        return True
    return bool(normalise_newlines(unit.text).partition("\n")[2].strip())


def _is_backed(entry: Entry) -> bool:
    values = (parse_evidence_or_none(text) for text in entry.evidence)
    return any(value is not None and value.is_source_backed for value in values)


def _duplicate_findings(inspection: Inspection) -> Iterator[Finding]:
    places: dict[str, list[tuple[MemoryFile, JudgedUnit]]] = {}
    for file in inspection.files():
        for unit in file.units:
            if unit.entry_id:
                places.setdefault(unit.entry_id, []).append((file, unit))
    for entry_id, found in places.items():
        if len(found) == 1:
            continue
        named = ", ".join(
            f"{inspection.repo_path(file.path)}:{inspection.line(file, unit.unit.line)}"
            for file, unit in found[:_NAMED]
        )
        more = len(found) - _NAMED
        named += f" and {more} more" if more > 0 else ""
        for file, unit in found:
            message = f"the id {entry_id} occurs {len(found)} times: {named}"
            hint = "keep one of them; none is served until then"
            yield inspection.at_unit(file, unit, _DUPLICATE, message, hint=hint)


def _unit_findings(inspection: Inspection, file: MemoryFile, unit: JudgedUnit) -> Iterator[Finding]:
    if unit.standing.status == INADMISSIBLE:
        for problem in unit.standing.problems:
            if problem.code != _DUPLICATE:
                message = f"{unit.label} is not served: {problem.message}"
                yield inspection.at_unit(
                    file, unit, problem.code, message, offset=problem.line, hint="correct the entry"
                )
    entry = unit.standing.entry
    for line in entry.unknown if entry else ():
        name, colon, _ = line.partition(":")
        what = f"the unknown field {quoted(name)}" if colon else "a line that is no field"
        message = f"{unit.label} has {what}, which is kept"
        yield inspection.at_unit(file, unit, "unknown_field", message, severity=INFO)


def _file_findings(inspection: Inspection, file: MemoryFile) -> Iterator[Finding]:
    path = inspection.repo_path(file.path)
    count = len(legacy_units(file))
    if count:
        message = f"{count} legacy {_entries(count)} without id and evidence"
        hint = _GOVERN if inspection.is_current else _MIGRATE_FIRST
        yield Finding(path, 0, WARNING, LEGACY_ENTRIES, message, hint)
    unverified = sum(_is_unverified(unit) for unit in file.units)
    if unverified:
        message = f"{unverified} {_entries(unverified)} with `{LEGACY}` evidence"
        hint = "review each, then replace it by `add --supersedes` with real evidence"
        yield Finding(path, 0, WARNING, "legacy_unverified", message, hint)
    items = len(candidates(file))
    if items > INBOX_ITEMS:
        message = f"{items} candidates, more than {INBOX_ITEMS}"
        yield Finding(path, 0, WARNING, "inbox_full", message, "`memory-custodian compact`")


def _is_unverified(unit: JudgedUnit) -> bool:
    entry = unit.standing.entry
    return entry is not None and unit.standing.status == ACTIVE and list(entry.evidence) == [LEGACY]


def _entries(count: int) -> str:
    return "entry" if count == 1 else "entries"


def link_findings(inspection: Inspection) -> Iterator[Finding]:
    """Yield what is wrong with links between entries, the archive included."""
    files = {file.path: file for file in inspection.files()}
    units = [unit for file in files.values() for unit in file.units]
    for fault in find_link_faults(units):
        file = files[fault.unit.path]
        message = f"{fault.unit.label}: {fault.message}"
        yield inspection.at_unit(
            file, fault.unit, "broken_link", message, hint="correct the field on both sides"
        )
