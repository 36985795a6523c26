"""What `status` answers: the health of each memory file, as values."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from mc_retrieve.memoryset import MANIFEST
from mc_schema.admission import INADMISSIBLE, LEGACY
from mc_schema.budget import INBOX_ITEMS
from mc_schema.entry import ACTIVE, CANDIDATE, PROMOTED, SUPERSEDED
from mc_schema.memoryfile import file_tokens
from mc_schema.protocol import CURRENT, MISSING, OLDER
from mc_schema.storage import INBOX_PATH, MODULE_FOLDERS

from mc_cli.check.budgets import file_limit, long_decisions
from mc_cli.check.entries import (
    Coverage,
    candidates,
    coverage,
    is_item,
    legacy_units,
    link_findings,
)
from mc_cli.check.finding import ERROR
from mc_cli.check.interrupted import find_interruption
from mc_cli.check.routes import route_findings
from mc_cli.check.structure import CORE_FILES, is_scaffold, structure_findings
from mc_cli.notices import protocol_message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mc_lock import Holder
    from mc_plan import Interruption
    from mc_schema.memoryfile import MemoryFile

    from mc_cli.check.inspection import Inspection

FILE_MISSING: Final = "missing"
FILE_UNREADABLE: Final = "unreadable"
NEEDS_CURATION: Final = "needs curation"
OVER_BUDGET: Final = "over budget"
LONG_ENTRIES: Final = "long entries"
NOT_ENABLED: Final = "not enabled"
OK: Final = "ok"
OPTIONAL_FILES: Final = ("preferences.md", "changelog.md")
FOLDERS: Final = (*MODULE_FOLDERS.values(), "archive")


class FileHealth(NamedTuple):
    """One file of the memory set."""

    path: str
    """Below the memory directory."""
    state: str
    """One of the states of this module."""
    tokens: int
    limit: int | None
    entries: int
    """Entries and legacy units; candidates in the inbox."""
    detail: str
    """The next step, or why it cannot be read; empty when there is nothing to say."""


class Health(NamedTuple):
    """The health of one project."""

    protocol_version: str
    protocol_state: str
    """One of the states of `mc_schema.protocol`, or ``unknown`` without a readable manifest."""
    protocol_message: str
    project_id: str | None
    files: tuple[FileHealth, ...]
    folders: dict[str, int | None]
    """Markdown files in each folder, or ``None`` when it is not there."""
    counts: dict[str, int]
    """Units by status, the archive left out."""
    coverage: Coverage
    holder: Holder | None
    pending_plans: int
    """Previews that wait in the state directory of this user, of all projects."""
    interruption: Interruption | None
    strays: tuple[str, ...]
    """Journals of places that no longer exist."""
    attention: tuple[str, ...]
    """What needs attention, one sentence each; empty when nothing does."""


def examine(inspection: Inspection) -> Health:
    """Return the health of *inspection*; nothing is locked, waited for or written."""
    manifest = inspection.manifest
    metadata = manifest.metadata if manifest else None
    state = _State(inspection)
    files = tuple(_file_healths(inspection))
    counts = _counts(inspection)
    health = Health(
        metadata.version if metadata else "",
        metadata.state if metadata else "unknown",
        protocol_message(metadata) if metadata else "the manifest cannot be read",
        metadata.project_id if metadata else None,
        files,
        {folder: _folder_count(inspection, folder) for folder in FOLDERS},
        counts,
        coverage(inspection),
        state.holder,
        state.pending,
        state.interruption,
        state.strays,
        (),
    )
    attention = (*_attention(health), *_errors(inspection, health), *state.problems)
    return health._replace(attention=attention)


class _State:
    """What the state directory says about a project."""

    def __init__(self, inspection: Inspection) -> None:
        from mc_lock import StateError

        self.holder: Holder | None = None
        self.pending = 0
        self.interruption: Interruption | None = None
        self.strays: tuple[str, ...] = ()
        self.problems: list[str] = []
        try:
            self._look(inspection)
        except StateError as error:
            self.problems.append(f"the state directory is not safe to read: {error.what}")

    def _look(self, inspection: Inspection) -> None:
        from mc_lock import describe_holder
        from mc_plan import list_journals, open_project, pending_count

        location = inspection.location
        project = open_project(location.root, os.fspath(location.memory_path))
        manifest = inspection.manifest
        project_id = manifest.metadata.project_id if manifest else None
        self.pending = pending_count(project, time.time())
        self.strays = tuple(
            str(found.path)
            for found in list_journals(project.state)
            if found.journal is not None and not os.path.lexists(found.journal.place)
        )
        self.holder = describe_holder(project.state, project_id, project.memory_path)
        self.interruption = find_interruption(inspection)


def _file_healths(inspection: Inspection) -> Iterator[FileHealth]:
    faults = {fault.path: fault for fault in inspection.faults()}
    known = {file.path: file for file in inspection.files(archive=False)}
    if inspection.manifest_file:
        known[MANIFEST] = inspection.manifest_file.file
    modules = sorted(path for path in (*known, *faults) if "/" in path)
    for path in dict.fromkeys((*CORE_FILES, *OPTIONAL_FILES, *modules)):
        if path in faults:
            line = f", line {faults[path].line}" if faults[path].line else ""
            detail = f"{faults[path].message}{line}"
            yield FileHealth(path, FILE_UNREADABLE, 0, None, 0, detail)
        elif path in known:
            yield _file_health(inspection, known[path])
        elif path in CORE_FILES:
            hint = "`memory-custodian init --repair`"
            yield FileHealth(path, FILE_MISSING, 0, None, 0, hint)
        else:
            yield FileHealth(path, NOT_ENABLED, 0, None, 0, "")


def _file_health(inspection: Inspection, file: MemoryFile) -> FileHealth:
    tokens = file_tokens(file)
    limit = None if file.path == MANIFEST else file_limit(inspection, file)
    state, detail = OK, ""
    if file.path == "brief.md" and is_scaffold(inspection):
        state, detail = NEEDS_CURATION, "replace its TODO lines"
    elif limit is not None and tokens > limit:
        state, detail = OVER_BUDGET, f"`memory-custodian compact --target {file.path}`"
    elif long_decisions(file):
        state = LONG_ENTRIES
        detail = "shorten " + ", ".join(unit.label for unit in long_decisions(file))
    return FileHealth(file.path, state, tokens, limit, _entry_count(file), detail)


def _entry_count(file: MemoryFile) -> int:
    if file.path == INBOX_PATH:
        return len(candidates(file))
    return sum(unit.standing.entry is not None for unit in file.units) + len(legacy_units(file))


def _folder_count(inspection: Inspection, folder: str) -> int | None:
    # An unreadable memory directory is named by its manifest; asking about its folders would stop.
    if not os.path.isdir(inspection.location.memory_path / folder):  # noqa: PTH112
        return None
    return sum(path.startswith(f"{folder}/") for path in inspection.listing.paths)


def _counts(inspection: Inspection) -> dict[str, int]:
    counts = dict.fromkeys((ACTIVE, SUPERSEDED, CANDIDATE, PROMOTED, LEGACY, INADMISSIBLE), 0)
    for file in inspection.files(archive=False):
        counts[LEGACY] += len(legacy_units(file))
        counts[CANDIDATE] += len(candidates(file))
        for unit in file.units:
            if unit.standing.entry is not None and unit.standing.status != CANDIDATE:
                counts[unit.standing.status] += is_item(unit)
    return counts


def _attention(health: Health) -> Iterator[str]:
    if health.protocol_state not in (CURRENT, OLDER, MISSING):
        yield health.protocol_message
    for file in health.files:
        if file.state not in (OK, NOT_ENABLED):
            yield f"{file.path}: {file.state}"
        if file.path == INBOX_PATH and file.entries > INBOX_ITEMS:
            yield f"{file.path}: {file.entries} candidates, `memory-custodian compact`"
    if health.counts[INADMISSIBLE]:
        count = health.counts[INADMISSIBLE]
        entries = "entry is" if count == 1 else "entries are"
        yield f"{count} {entries} inadmissible and not served; `memory-custodian check` says why"
    if health.holder is not None and health.holder.state != "alive":
        yield f"a lock whose holder is {health.holder.state}: {health.holder.path}"
    if health.interruption is not None:
        yield f"{health.interruption.what}; {health.interruption.hint}"


def _errors(inspection: Inspection, health: Health) -> Iterator[str]:
    """Yield the files with errors of `check` that no state of a file and no count tells."""
    told = {file.path for file in health.files if file.state in (FILE_MISSING, FILE_UNREADABLE)}
    if health.protocol_state not in (CURRENT, OLDER, MISSING):
        told.add(MANIFEST)
    counts: dict[str, int] = {}
    for check in (structure_findings, route_findings, link_findings):
        for finding in check(inspection):
            if finding.severity == ERROR:
                counts[finding.path] = counts.get(finding.path, 0) + 1
    for path, count in sorted(counts.items()):
        name = path.removeprefix(inspection.repo_path(""))
        if name not in told:
            errors = "error" if count == 1 else "errors"
            yield f"{name}: {count} {errors}; `memory-custodian check` names each"
