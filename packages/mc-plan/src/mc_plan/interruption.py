"""Finding an interrupted change, for every command: writers stop, readers warn and go on.

Source: reliability specification 5.3, 5.5 and 5.6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from mc_plan import files
from mc_plan.errors import PendingRecoveryError
from mc_plan.journal_store import find_journal, read_torn_journal
from mc_plan.leftover import Leftover, find_leftovers
from mc_plan.project_identity import read_identity_leniently
from mc_plan.snapshot import Snapshot
from mc_plan.step import look

if TYPE_CHECKING:
    from mc_plan.journal import Journal
    from mc_plan.journal_store import FoundJournal
    from mc_plan.project import Project


_NOT_PRIVATE: Final = b'"private":false'


class Interruption(NamedTuple):
    """An interrupted change of this place.

    Attributes:
        what: One sentence.
        where: The journal's path, where the journal itself is the problem, else empty.
        hint: The next step, with the whole command.
        details: One line a file, such as ``docs/memory/inbox.md: before``.
        is_private: The journal holds text that a hard or purge forget removes (`check`: ERROR).
        is_damaged: The journal cannot be read.
    """

    what: str
    where: str
    hint: str
    details: tuple[str, ...]
    is_private: bool
    is_damaged: bool


def find_interruption(project: Project) -> Interruption | None:
    """Return the interrupted change of this place, for readers; ``None`` if there is none.

    A change whose owner is alive and holds the lock is work in progress and not reported. Nothing
    is locked, waited for or written.

    Raises:
        StateError: The state directory is not safe to read.
    """
    project_id = read_identity_leniently(Snapshot(project)).project_id
    found = find_journal(project, project_id)
    if found is None:
        return _find_torn(project, project_id)
    if found.journal is not None and _is_in_progress(project, found.journal):
        return None
    return describe_interruption(project, found)


def find_strays(project: Project, now: float) -> list[Leftover]:
    """Return the temporaries in the project that no journal of this place names (`check`, 5.6)."""
    project_id = read_identity_leniently(Snapshot(project)).project_id
    found = find_journal(project, project_id)
    return find_leftovers(project, None if found is None else found.journal, now)


def describe_interruption(project: Project, found: FoundJournal) -> Interruption:
    """Return what to tell about a journal."""
    journal = found.journal
    if journal is None:
        return Interruption(
            f"the journal of an interrupted change cannot be used ({found.problem})",
            str(found.path),
            f"check the files, then run `{project.command('recover', '--accept-current')}`",
            (),
            found.private,
            is_damaged=True,
        )
    return Interruption(
        f"an interrupted change was found (`{journal.command}`)",
        "",
        f"run `{project.command('recover')}`",
        tuple(describe_files(project, journal)),
        found.private,
        is_damaged=False,
    )


def describe_files(project: Project, journal: Journal) -> list[str]:
    """Return one line for each file of *journal*: its path as it may be shown, and its state."""
    here = project.rebased(journal.memory_dir)
    if here is None:
        return [
            f"{file.label}: unknown, the memory directory was renamed" for file in journal.files
        ]
    return [f"{file.label}: {look(here, file, files.SYSTEM)[0]}" for file in journal.files]


def refuse_interruption(project: Project, found: FoundJournal) -> PendingRecoveryError:
    """Return the error with which a writer stops at a journal."""
    interruption = describe_interruption(project, found)
    return PendingRecoveryError(
        interruption.what,
        where=interruption.where,
        hint=interruption.hint,
        code="damaged_journal" if interruption.is_damaged else "",
        details=interruption.details,
    )


def _find_torn(project: Project, project_id: str | None) -> Interruption | None:
    """Report a journal that was never complete: nothing in the project changed, but it lingers."""
    data = read_torn_journal(project)
    if data is None or _is_locked(project, project_id):
        return None
    return Interruption(
        "a command was stopped before it changed anything, and left a part of its journal",
        "",
        f"run `{project.command('recover', '--apply')}`",
        (),
        _NOT_PRIVATE not in data,
        is_damaged=False,
    )


def _is_locked(project: Project, project_id: str | None) -> bool:
    from mc_lock import describe_holder

    holder = describe_holder(project.state, project_id, project.memory_path)
    return holder is not None and holder.state == "alive"


def _is_in_progress(project: Project, journal: Journal) -> bool:
    from mc_lock import describe_holder

    for project_id in {journal.project_id, journal.new_project_id, None}:
        holder = describe_holder(project.state, project_id, project.memory_path)
        if holder is not None and holder.state == "alive" and holder.pid == journal.owner.pid:
            return True
    return False
