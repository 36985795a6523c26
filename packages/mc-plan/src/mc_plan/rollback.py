"""Undoing a change that failed half-way, from the journal's `before` bytes.

Source: reliability specification 4.8.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mc_plan import files
from mc_plan.errors import ApplyError, FilesReport, PlanError
from mc_plan.journal_store import remove_journal
from mc_plan.step import AFTER, BEFORE, PARTIAL, back_step, commit, look, require_unchanged, stage

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mc_plan.files import Filesystem
    from mc_plan.journal import Journal, JournalFile
    from mc_plan.project import Project

_DIRECTORY_IN_USE: Final = frozenset({errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT})


class Outcome(NamedTuple):
    """What an undo left: the state of each file, and whether nothing else is left over."""

    report: FilesReport
    is_complete: bool


def roll_back(
    project: Project,
    journal: Journal,
    begun: Sequence[JournalFile],
    path: Path,
    effects: Filesystem,
) -> Outcome:
    """Undo the files in *begun*, newest first; remove temporaries, directories and the journal.

    A file that is neither before nor after is left as it is. The journal at *path* stays if
    anything is left that it knows of.
    """
    clean = True
    for file in reversed(begun):
        clean = undo(project, file, effects) and clean
    clean = remove_leftovers(project, journal, effects) and clean
    report = report_files(project, journal, begun, effects)
    if report.written or report.unknown or not clean:
        return Outcome(report, is_complete=False)
    try:
        remove_journal(path, effects)
    except OSError:
        return Outcome(report, is_complete=False)
    return Outcome(report, is_complete=True)


def undo(project: Project, file: JournalFile, effects: Filesystem) -> bool:
    """Bring one file back to its state before the change; tell whether it is there, durably."""
    state, found = look(project, file, effects)
    if state not in {AFTER, PARTIAL}:
        return state == BEFORE
    step = back_step(file, found)
    try:
        files.unlink_quietly(effects, project.path(file.temporary))
        stage(project, step, effects)
        require_unchanged(project, step.base, file.label, effects)
        commit(project, step, effects)
        files.flush_directory(effects, project.path(file.path).parent)
    except (OSError, PlanError):
        return False
    return True


def remove_leftovers(
    project: Project, journal: Journal, effects: Filesystem, *, with_directories: bool = True
) -> bool:
    """Remove the journal's temporaries and empty new directories; tell whether all went."""
    clean = True
    for file in journal.files:
        clean = files.unlink_quietly(effects, project.path(file.temporary)) and clean
    if with_directories:
        clean = remove_directories(project, journal, effects) and clean
    return clean


def remove_directories(project: Project, journal: Journal, effects: Filesystem) -> bool:
    """Remove the directories that the change created, where empty; tell whether that worked."""
    clean = True
    for name in reversed(journal.directories):
        try:
            effects.rmdir(project.path(name))
        except OSError as error:
            is_done = error.errno in _DIRECTORY_IN_USE or files.is_absent(project.path(name))
            clean = clean and is_done
    return clean


def report_files(
    project: Project, journal: Journal, begun: Sequence[JournalFile], effects: Filesystem
) -> FilesReport:
    """Return what is on disk; a file whose step never began was not written, whatever it holds."""
    found: dict[str, list[str]] = {"written": [], "not_written": [], "unknown": []}
    for file in journal.files:
        state = look(project, file, effects)[0] if file in begun else BEFORE
        kind = {BEFORE: "not_written", AFTER: "written"}.get(state, "unknown")
        found[kind].append(file.label)
    return FilesReport(**{kind: tuple(labels) for kind, labels in found.items()})


def account(error: BaseException, outcome: Outcome, project: Project) -> BaseException:
    """Return the error to raise for *error*, with what is on disk in its `files`.

    An undo that is not complete becomes an `ApplyError` that names `recover`, except for a
    programming error, which keeps its traceback and gets the files as an attribute.
    """
    if outcome.is_complete or not _is_expected(error):
        _set_files(error, outcome.report)
        return error
    what = getattr(error, "what", str(error))
    where = getattr(error, "where", "")
    return ApplyError(
        f"{what}, and not everything could be undone",
        where=where,
        hint=f"correct the cause, then run `{project.command('recover')}`",
        code="undo_incomplete",
        files=outcome.report,
    )


def _is_expected(error: BaseException) -> bool:
    from mc_lock import SignalReceivedError

    return isinstance(error, (PlanError, SignalReceivedError, KeyboardInterrupt))


def _set_files(error: Any, report: FilesReport) -> None:
    error.files = report
