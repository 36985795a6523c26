"""Where journals lie: writing, finding, removing and retiring them.

Source: reliability specification 5.1, 5.3, 5.4 and 5.7.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from mc_plan import files
from mc_plan.canonical import PLAN_ID_LENGTH, sha256_hex
from mc_plan.journal import PRIVATE_MARK, Journal, JournalError, format_journal, parse_journal
from mc_plan.step import AFTER, PARTIAL, look

if TYPE_CHECKING:
    from pathlib import Path

    from mc_lock import StateDirectory

    from mc_plan.files import Filesystem
    from mc_plan.project import Project

RETIRED_SECONDS: Final = 7 * 24 * 60 * 60
_SUFFIX: Final = ".json"
_STAGED_SUFFIX: Final = ".json.tmp"
_RETIRED: Final = "retired"
_FOLDER_MODE: Final = 0o700
_FILE_MODE: Final = 0o600


class FoundJournal(NamedTuple):
    """A journal on disk.

    `journal` is ``None`` where it cannot be used; `problem` then says why. `private` tells that it
    holds text that a hard or purge forget removes. `content_sha256` is of the bytes, empty where
    they cannot be read.
    """

    path: Path
    journal: Journal | None
    problem: str
    private: bool
    content_sha256: str


def journal_path(project: Project) -> Path:
    """Return where the journal of the project's place is or would be."""
    return project.state.journal / f"{project.place_key}{_SUFFIX}"


def find_journal(project: Project, project_id: str | None = None) -> FoundJournal | None:
    """Return the journal of this place, or of the place this project was moved from.

    Nothing is created or changed. A moved project is known by its id, when the old place is gone.

    Raises:
        StateError: The state directory is not safe to read.
    """
    for state in (project.state, project.state.spare):
        if state is not None and state.verify():
            here = project._replace(state=state)
            found = _read(journal_path(here)) or _find_moved(here, project_id)
            if found is not None:
                return found
    return None


def list_journals(state: StateDirectory) -> list[FoundJournal]:
    """Return every journal of the state directory, those of other places too, sorted by name."""
    if not state.verify():
        return []
    found = (_read(state.journal / name) for name in _names(state.journal, _SUFFIX))
    return [journal for journal in found if journal is not None]


def write_journal(project: Project, journal: Journal, filesystem: Filesystem) -> Path:
    """Write *journal* durably and return its path.

    Raises:
        OSError: It could not be written; nothing of it is left, if that could be arranged.
    """
    path = journal_path(project)
    # The name is fixed, so that what a kill leaves of it is found and removed by the next command.
    staged = _torn_path(project)
    try:
        descriptor = filesystem.open_create(staged)
        try:
            files.write_all(filesystem, descriptor, format_journal(journal))
            filesystem.chmod(descriptor, staged, _FILE_MODE)
            files.flush(filesystem, descriptor)
        finally:
            filesystem.close(descriptor)
        files.rename(filesystem, staged, path)
        files.flush_directory(filesystem, path.parent)
    except BaseException:
        for name in (staged, path):
            files.unlink_quietly(filesystem, name)
        raise
    return path


def remove_journal(path: Path, filesystem: Filesystem) -> None:
    """Remove a journal and flush its directory.

    Raises:
        OSError: It is still there, or its removal may not be durable.
    """
    filesystem.unlink(path)
    files.flush_directory(filesystem, path.parent)


def read_torn_journal(project: Project) -> bytes | None:
    """Return what a kill left of a journal that was never complete, or is being written now."""
    from mc_lock import StateError, read_private_file

    if not project.state.verify():
        return None
    try:
        return read_private_file(_torn_path(project), max_bytes=None)
    except (FileNotFoundError, StateError):
        return None


def remove_torn_journal(project: Project, filesystem: Filesystem) -> None:
    """Remove what a kill left of a journal that was never complete; the lock must be held."""
    staged = _torn_path(project)
    if os.path.lexists(staged):
        files.unlink_quietly(filesystem, staged)


def retire_journal(found: FoundJournal, filesystem: Filesystem, now: float) -> None:
    """Take a journal out of the way: kept in ``retired/`` for 7 days, a private one deleted.

    Raises:
        OSError: It is still there.
    """
    if found.private:
        remove_journal(found.path, filesystem)
        return
    folder = found.path.parent / _RETIRED
    if not folder.is_dir():
        filesystem.mkdir(folder)
        folder.chmod(_FOLDER_MODE)
    name = f"{found.path.stem}-{found.content_sha256[:PLAN_ID_LENGTH] or 'unreadable'}{_SUFFIX}"
    os.utime(found.path, (now, now), follow_symlinks=False)
    filesystem.replace(found.path, folder / name)
    files.flush_directory(filesystem, found.path.parent)
    sweep_retired(found.path.parent, now)


def sweep_retired(journals: Path, now: float) -> None:
    """Remove retired journals older than 7 days; errors are ignored."""
    folder = journals / _RETIRED
    for name in _names(folder, _SUFFIX):
        path = folder / name
        try:
            if now - path.lstat().st_mtime > RETIRED_SECONDS:
                path.unlink()
        except OSError:
            continue


def forget_retired(project: Project, project_id: str | None, filesystem: Filesystem) -> list[str]:
    """Remove this project's retired journals: they may hold text that was just forgotten for good.

    Returns:
        A warning for each that could not be removed, naming its path.
    """
    folder = project.state.journal / _RETIRED
    warnings = []
    for name in _names(folder, _SUFFIX):
        path = folder / name
        if not _is_of(path, project, project_id) or files.unlink_quietly(filesystem, path):
            continue
        warnings.append(f"the retired journal `{path}` may hold forgotten text: remove it")
    return warnings


def _read(path: Path) -> FoundJournal | None:
    from mc_lock import StateError, read_private_file

    try:
        data = read_private_file(path, max_bytes=None)
    except FileNotFoundError:
        return None
    except StateError as error:
        return FoundJournal(path, None, error.what, private=False, content_sha256="")
    digest = sha256_hex(data)
    try:
        journal = parse_journal(data)
    except JournalError as error:
        return FoundJournal(path, None, error.reason, PRIVATE_MARK in data, digest)
    return FoundJournal(path, journal, "", journal.private, digest)


def _is_of(path: Path, project: Project, project_id: str | None) -> bool:
    if path.name.startswith(project.place_key):
        return True
    found = _read(path)
    if project_id is None or found is None or found.journal is None:
        return False
    return project_id in {found.journal.project_id, found.journal.new_project_id}


def _torn_path(project: Project) -> Path:
    return project.state.journal / f"{project.place_key}{_STAGED_SUFFIX}"


def _find_moved(project: Project, project_id: str | None) -> FoundJournal | None:
    if project_id is None:
        return None
    for name in _names(project.state.journal, _SUFFIX):
        found = _read(project.state.journal / name)
        if found is None or found.journal is None or os.path.lexists(found.journal.place):
            continue
        known = {found.journal.project_id, found.journal.new_project_id}
        if project_id in known and _has_traces(project, found.journal):
            return found
    return None


def _has_traces(project: Project, journal: Journal) -> bool:
    """Tell whether the change began here: a clone whose sibling was deleted shows none of it."""
    here = project.rebased(journal.memory_dir)
    if here is None:
        return False
    return any(
        os.path.lexists(here.path(file.temporary))
        or look(here, file, files.SYSTEM)[0] in {AFTER, PARTIAL}
        for file in journal.files
    )


def _names(directory: Path, suffix: str) -> list[str]:
    try:
        return sorted(path.name for path in directory.iterdir() if path.name.endswith(suffix))
    except OSError:
        return []
