"""Applying a plan to several files: all of it, or none of it, or an exact account.

The journal is written first. Everything is staged, then renamed in a fixed order, each file after a
last look. An error undoes what was renamed; what cannot be undone stays in the journal.

Source: reliability specification, section 4.
"""

from __future__ import annotations

import os
import stat
from contextlib import nullcontext
from typing import TYPE_CHECKING, Final, NamedTuple

from mc_plan import files
from mc_plan.errors import FilesReport, LostLockError
from mc_plan.failure import failed
from mc_plan.journal import compose_journal
from mc_plan.journal_store import journal_path, remove_journal, write_journal
from mc_plan.mutation import APPEND, CREATE, DELETE
from mc_plan.rollback import account, roll_back
from mc_plan.snapshot import identity_of, inspect
from mc_plan.step import CUT, EXTEND, REMOVE, commit, forward_step, require_unchanged, stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from mc_plan.files import Filesystem
    from mc_plan.journal import Journal, JournalFile
    from mc_plan.plan import Plan
    from mc_plan.project import Project
    from mc_plan.step import Step

UPDATED: Final = "updated"
_ACTIONS: Final = {CREATE: "created", DELETE: "deleted", APPEND: "appended"}
_RANDOM_BYTES: Final = 16


class WrittenFile(NamedTuple):
    """A file that was written; `action` is created, updated, deleted or appended."""

    path: str
    action: str


class Checkpoints(NamedTuple):
    """What may still stop an apply.

    Attributes:
        check: Raises if a signal asks to stop; called before staging and before the first rename.
        hold: Makes a context in which signals only wait, from the first rename to the last.
        still_ours: Tells whether the mutation lock is still held by this process.
    """

    check: Callable[[], None] = lambda: None
    hold: Callable[[], AbstractContextManager[object]] = nullcontext
    still_ours: Callable[[], bool] = lambda: True


UNWATCHED: Final = Checkpoints()


def apply_plan(
    project: Project,
    plan: Plan,
    *,
    filesystem: Filesystem | None = None,
    checkpoints: Checkpoints = UNWATCHED,
) -> tuple[list[WrittenFile], list[str]]:
    """Write what *plan* says. The mutation lock is held and no journal of the place exists.

    Returns:
        The files written, in order, and warnings.

    Raises:
        ApplyError: The file system failed. `files` says what is on disk: nothing was written, or
            the journal is kept and the hint names `memory-custodian recover`.
        ChangedWhileApplyingError: Somebody saved a target meanwhile; nothing was written.
        LostLockError: The lock was taken away; nothing was written.
        SignalReceivedError: Stopped before the first rename; nothing was written.

    Source: reliability specification 4.1 to 4.8.
    """
    effects = filesystem or files.SYSTEM
    _preflight(project, plan)
    checkpoints.check()
    journal = _compose(project, plan)
    path = _begin(project, journal, effects)
    bases = (mutation.before for mutation in plan.mutations)
    steps = [forward_step(*pair) for pair in zip(journal.files, bases, strict=True)]
    begun: list[JournalFile] = []
    try:
        make_directories(project, journal.directories, effects)
        warnings = stage_all(project, steps, effects)
        checkpoints.check()
        with checkpoints.hold():
            for step in steps:
                run_step(project, step, begun, effects, checkpoints)
    except BaseException as error:
        outcome = roll_back(project, journal, begun, path, effects)
        failure = account(error, outcome, project)
        if failure is error:
            raise
        raise failure from error
    complete(project, journal, path, effects)
    return [written_file(file) for file in journal.files], warnings


def written_file(file: JournalFile) -> WrittenFile:
    """Return how an applied *file* is reported."""
    return WrittenFile(file.label, _ACTIONS.get(file.kind, UPDATED))


def stage_all(project: Project, steps: Sequence[Step], effects: Filesystem) -> list[str]:
    """Stage every step; raise `ApplyError` naming the file that could not be, return warnings."""
    warnings: list[str] = []
    for step in steps:
        try:
            warnings += stage(project, step, effects)
        except OSError as error:
            raise failed("the new text could not be written", step.file.label, error) from error
    return warnings


def run_step(
    project: Project,
    step: Step,
    begun: list[JournalFile],
    effects: Filesystem,
    checkpoints: Checkpoints,
) -> None:
    """Look a last time and commit one step; its file is added to *begun* as soon as it may change.

    Raises:
        ApplyError: The step failed.
        ChangedWhileApplyingError, LostLockError, UnsafeFileError: The last look refused.
    """
    label = step.file.label
    require_unchanged(project, step.base, label, effects)
    if not checkpoints.still_ours():
        raise LostLockError(
            "the mutation lock was taken away while applying",
            where=label,
            hint="run `memory-custodian status` to see who holds it, then run the command again",
        )
    begun.append(step.file)
    try:
        commit(project, step, effects)
    except OSError as error:
        raise failed(_verb(step), label, error) from error


def complete(project: Project, journal: Journal, path: Path, effects: Filesystem) -> None:
    """Flush the directories and remove the journal: only then the change is done (4.7).

    Raises:
        ApplyError: The new files stay as they are; each is listed as written.
    """
    report = FilesReport(written=tuple(file.label for file in journal.files))
    recover = f"run `{project.command('recover')}`"
    try:
        for directory in touched_directories(project, journal):
            files.flush_directory(effects, directory)
    except OSError as error:
        what = "the change is complete, but the drive did not confirm it"
        raise failed(what, "", error, hint=recover, files=report) from error
    try:
        remove_journal(path, effects)
    except OSError as error:
        what = "the change is complete, but its journal could not be removed"
        raise failed(what, str(path), error, hint=recover, files=report) from error


def touched_directories(project: Project, journal: Journal) -> list[Path]:
    """Return the directories whose names the change alters, those that still exist."""
    changed = [project.path(file.path).parent for file in journal.files]
    changed += [project.path(directory).parent for directory in journal.directories]
    return [directory for directory in sorted(set(changed)) if directory.is_dir()]


def missing_directories(project: Project, paths: Iterable[str]) -> list[str]:
    """Return the directories that files at *paths* need and that are absent, parents first."""
    needed: set[str] = set()
    for path in paths:
        parts = path.split("/")[:-1]
        needed.update("/".join(parts[:count]) for count in range(1, len(parts) + 1))
    return sorted(name for name in needed if not os.path.lexists(project.path(name)))


def make_directories(project: Project, directories: Sequence[str], effects: Filesystem) -> None:
    """Create *directories*, parents first; one that somebody made meanwhile is accepted."""
    for name in directories:
        place = project.path(name)
        try:
            effects.mkdir(place)
        except OSError as error:
            if not stat.S_ISDIR(_mode(place)):
                raise failed("the directory could not be created", name, error) from error


def _preflight(project: Project, plan: Plan) -> None:
    """Judge every target again before the first byte is written (4.1)."""
    for mutation in plan.mutations:
        found = inspect(project, mutation.path)
        now = None if found is None else identity_of(found)
        if now != mutation.before.identity:
            require_unchanged(project, mutation.before, plan.label(mutation.path), files.SYSTEM)


def _compose(project: Project, plan: Plan) -> Journal:
    paths = [mutation.path for mutation in plan.mutations]
    kept = [mutation.path for mutation in plan.mutations if mutation.kind == CREATE]
    directories = missing_directories(project, kept)
    temporaries = [_new_temporary(path) for path in paths]
    return compose_journal(project, plan, temporaries, directories, files.current_umask())


def _begin(project: Project, journal: Journal, effects: Filesystem) -> Path:
    try:
        return write_journal(project, journal, effects)
    except OSError as error:
        where = str(journal_path(project))
        raise failed("the journal could not be written", where, error) from error


def _new_temporary(path: str) -> str:
    folder, slash, _ = path.rpartition("/")
    return f"{folder}{slash}.mc-{os.urandom(_RANDOM_BYTES).hex()}.tmp"


def _mode(place: Path) -> int:
    try:
        return os.lstat(place).st_mode
    except OSError:
        return 0


def _verb(step: Step) -> str:
    if step.action == REMOVE:
        return "the file could not be deleted"
    if step.action in {EXTEND, CUT}:
        return "the end of the file could not be written"
    return "the new text could not be renamed into place"
