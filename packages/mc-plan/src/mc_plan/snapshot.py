"""What a plan is computed from: every byte is read through a `Snapshot`, which remembers it.

The remembered reads become the targets of the plan, so that a change of any file that decided the
plan makes it stale, and the last look before each rename can compare (reliability 3.2, 4.1, 4.5).
"""

from __future__ import annotations

import os
import stat
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final, NamedTuple

from mc_plan import files
from mc_plan.canonical import sha256_hex
from mc_plan.errors import (
    ChangedWhileApplyingError,
    MalformedFileError,
    UnreadableFileError,
    UnsafeFileError,
)
from mc_plan.project import path_bytes, path_text, require_repo_path

if TYPE_CHECKING:
    from pathlib import Path

    from mc_plan.files import Filesystem
    from mc_plan.project import Project

_READ_TRIES: Final = 3
_MARKDOWN: Final = ".md"


class Identity(NamedTuple):
    """Which bytes a name held: compared by the last look. Times are nanoseconds."""

    device: int
    inode: int
    size: int
    mtime_ns: int


class FileState(NamedTuple):
    """One file as it was read; `data` and what follows are empty where the file is absent."""

    path: str
    data: bytes | None = None
    sha256: str | None = None
    identity: Identity | None = None
    mode: int = 0
    uid: int = 0
    gid: int = 0
    links: int = 0


class Snapshot:
    """The files of one project as one builder saw them, each read once."""

    def __init__(self, project: Project, *, filesystem: Filesystem | None = None) -> None:
        self.project = project
        self._files = filesystem or files.SYSTEM
        self._states: dict[str, FileState] = {}

    @property
    def states(self) -> dict[str, FileState]:
        """Everything read so far, by repo-relative path."""
        return dict(self._states)

    def read(self, path: str) -> bytes | None:
        """Return the bytes of the repo-relative *path*, or ``None`` if there is no such file.

        Raises:
            UnsafeFileError: The path is no plain file, or a directory above it is a link.
            UnreadableFileError: The operating system refuses to read it.
            InputError: *path* is not repo-relative and POSIX.
        """
        return self.state(path).data

    def state(self, path: str) -> FileState:
        """Return what `read` saw at *path*, with its digest, owner and mode; same errors."""
        found = self._states.get(path)
        if found is None:
            found = read_state(self.project, path, self._files)
            self._states[path] = found
        return found

    def peek(self, path: str) -> FileState:
        """Return the file's state without making it a target of the plan; errors as `read`."""
        return self._states.get(path) or read_state(self.project, path, self._files)

    def read_text(self, path: str) -> str | None:
        """Return *path* decoded from UTF-8, newlines and byte order mark kept; ``None`` if absent.

        Raises:
            MalformedFileError: The bytes are not UTF-8 text; it names file and byte offset.
            UnsafeFileError, UnreadableFileError, InputError: As `read`.
        """
        data = self.read(path)
        return None if data is None else decode_text(data, path)

    def list_memory(self, pattern: str = "") -> list[str]:
        """Return the Markdown files below the memory directory, sorted by the bytes of their paths.

        Args:
            pattern: Relative to the memory directory, one glob a path part, for example
                ``areas/*.md``; empty for all, at any depth.

        Symlinked directories are not entered. A symlinked file is listed, so that reading it
        refuses and names it.

        Raises:
            UnreadableFileError: A directory cannot be listed.
        """
        base = self.project.memory_path
        found = [self.project.memory_file(name) for name in _walk(base, "", self.project)]
        if pattern:
            found = [path for path in found if _matches(self.project, path, pattern)]
        return sorted(found, key=path_bytes)


def decode_text(data: bytes, path: str) -> str:
    """Return *data* as text; raise `MalformedFileError` naming *path* and the byte offset."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MalformedFileError(
            f"the file is not valid UTF-8 at byte offset {error.start}",
            where=path,
            hint="save the file as UTF-8, then run the command again",
            code="not_utf8",
        ) from None
    if "\0" in text:
        raise MalformedFileError(
            f"the file holds a NUL byte at byte offset {data.index(0)}",
            where=path,
            hint="save the file as UTF-8 text (UTF-16 looks like this), then run the command again",
            code="not_utf8",
        )
    return text


def read_state(project: Project, path: str, filesystem: Filesystem | None = None) -> FileState:
    """Read one file without remembering it; the errors are those of `Snapshot.read`.

    Source: reliability specification 4.1: judged before it is opened, since opening a FIFO blocks.
    """
    require_repo_path(path)
    effects = filesystem or files.SYSTEM
    for _ in range(_READ_TRIES):
        found = inspect(project, path)
        if found is None:
            return FileState(path)
        state = _read_once(project, path, found, effects)
        if state is not None:
            return state
    raise ChangedWhileApplyingError(
        "the file keeps changing while it is read",
        where=path,
        hint="close the program that writes it, then run the command again",
    )


def inspect(project: Project, path: str) -> os.stat_result | None:
    """Return the ``lstat`` of the plain file at *path*, or ``None``; nothing is opened.

    Raises:
        UnsafeFileError: A symlink, FIFO, socket, device or directory, or a link above it.
        UnreadableFileError: The operating system refuses to look.

    Source: reliability specification 4.1.
    """
    if not _parents_exist(project, path):
        return None
    found = _lstat(project.path(path), path)
    if found is None:
        return None
    kind = _unsafe_kind(found)
    if kind:
        raise UnsafeFileError(
            f"expected a plain file, found {kind}",
            where=path,
            hint=f"replace `{path}` by a plain file, then run the command again",
        )
    return found


def identity_of(found: os.stat_result) -> Identity:
    """Return what the last look compares of a stat result."""
    return Identity(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def _parents_exist(project: Project, path: str) -> bool:
    place = project.root
    parts = path.split("/")
    for index, part in enumerate(parts[:-1]):
        place = place / os.fsdecode(path_bytes(part))
        shown = "/".join(parts[: index + 1])
        found = _lstat(place, shown)
        if found is None:
            return False
        if files.is_link(found) or not stat.S_ISDIR(found.st_mode):
            raise UnsafeFileError(
                f"expected a real directory, found {_unsafe_kind(found) or 'a file'}",
                where=shown,
                hint=f"replace `{shown}` by a real directory, then run the command again",
            )
    return True


def _lstat(place: Path, shown: str) -> os.stat_result | None:
    try:
        return os.lstat(place)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise unreadable(error, shown) from error


def unreadable(error: OSError, path: str) -> UnreadableFileError:
    """Return the error that says that the operating system refused *path*, and why."""
    reason = error.strerror or type(error).__name__
    return UnreadableFileError(
        f"the file cannot be read ({reason})",
        where=path,
        hint="give yourself permission to read it, then run the command again",
    )


def _unsafe_kind(found: os.stat_result) -> str:
    if files.is_link(found):
        return "a symlink"
    if stat.S_ISREG(found.st_mode):
        return ""
    if stat.S_ISDIR(found.st_mode):
        return "a directory"
    if stat.S_ISFIFO(found.st_mode):
        return "a FIFO"
    return "a socket" if stat.S_ISSOCK(found.st_mode) else "a device"


def _read_once(
    project: Project, path: str, expected: os.stat_result, effects: Filesystem
) -> FileState | None:
    """Read an inspected file; ``None`` if it changed between the inspection and the last byte."""
    try:
        descriptor = effects.open_read(project.path(path))
        try:
            opened = os.fstat(descriptor)
            data = files.read_all(descriptor)
            after = os.fstat(descriptor)
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise unreadable(error, path) from error
    if not identity_of(expected) == identity_of(opened) == identity_of(after):
        return None
    if len(data) != after.st_size:
        return None
    mode = stat.S_IMODE(after.st_mode)
    digest = sha256_hex(data)
    identity = identity_of(after)
    return FileState(path, data, digest, identity, mode, after.st_uid, after.st_gid, after.st_nlink)


def _walk(directory: Path, prefix: str, project: Project) -> list[str]:
    try:
        with os.scandir(directory) as entries:
            listed = [
                (path_text(entry.name), entry.name, entry.is_dir(follow_symlinks=False))
                for entry in entries
            ]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise unreadable(error, project.memory_file(prefix.rstrip("/") or ".")) from error
    found = []
    for name, native, is_directory in listed:
        if is_directory:
            found += _walk(directory / native, f"{prefix}{name}/", project)
        elif name.endswith(_MARKDOWN):
            found.append(prefix + name)
    return found


def _matches(project: Project, path: str, pattern: str) -> bool:
    parts = (project.in_memory(path) or "").split("/")
    globs = pattern.split("/")
    return len(parts) == len(globs) and all(map(fnmatchcase, parts, globs))
