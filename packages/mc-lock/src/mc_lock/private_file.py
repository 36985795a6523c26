"""Private files of the state directory: opened without following links, judged by descriptor.

A name can be swapped between a look and an open, so every answer here comes from ``fstat`` of what
was really opened. Source: reliability rules 1.3 and 1.4.
"""

# The calls of `os` are used by name: their flags, descriptors and errno are the subject here.
# ruff: noqa: PTH108, PTH118, PTH120

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from typing import TYPE_CHECKING, Final

from mc_lock.errors import StateError, name_of_error
from mc_lock.file_calls import FileCalls

if TYPE_CHECKING:
    from os import PathLike

MAX_PRIVATE_BYTES: Final = 65_536
FILE_MODE: Final = 0o600
STAGED_PREFIX: Final = ".staged-"
GROUP_AND_OTHER: Final = 0o077

# Zero where a platform lacks the flag; `lstat` before the open then has to do alone.
_SAFE: Final = (
    getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOINHERIT", 0)
)
READ_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _SAFE
CREATE_FLAGS: Final = os.O_CREAT | os.O_EXCL | os.O_WRONLY | _SAFE

# Some mounts cannot sync a file or a directory and say so; that is not a lost write.
SYNC_UNSUPPORTED: Final = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})
_LINK_UNSUPPORTED: Final = SYNC_UNSUPPORTED | {errno.EPERM, errno.EMLINK, errno.EACCES}
_CHUNK_BYTES: Final = 65_536
_ON_POSIX: Final = os.name == "posix"


def read_private_file(
    path: str | PathLike[str], *, max_bytes: int | None = MAX_PRIVATE_BYTES
) -> bytes:
    """Return the bytes of a private file, for example a pending seed or a journal.

    Args:
        path: A file directly below the state directory or one of its folders.
        max_bytes: Largest accepted size, inclusive; ``None`` for a journal, which has no cap.

    Raises:
        FileNotFoundError: Nothing has that name.
        StateError: It is no regular file, not ours, open to group or others, too large, or
            cannot be read.
    """
    name = os.fspath(path)
    try:
        _require_regular(os.lstat(name), name)
        descriptor = os.open(name, READ_FLAGS)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _not_usable(name, _reason_of(error)) from error
    try:
        _require_private(os.fstat(descriptor), name)
        data = read_all(descriptor, None if max_bytes is None else max_bytes + 1)
    except OSError as error:
        raise _not_usable(name, _reason_of(error)) from error
    finally:
        os.close(descriptor)
    if max_bytes is not None and len(data) > max_bytes:
        raise _not_usable(name, f"larger than {max_bytes} bytes")
    return data


def write_private_file(
    path: str | PathLike[str],
    data: bytes,
    *,
    exclusive: bool = False,
    files: FileCalls = FileCalls(),  # noqa: B008 - an immutable value
) -> None:
    """Write a private file (mode 0600) so that a reader sees all of *data* or none of it.

    Args:
        path: A file directly below the state directory or one of its folders.
        data: The whole content.
        exclusive: Refuse if the name is taken, instead of replacing what is there.
        files: The file system calls; tests make one of them fail.

    Raises:
        FileExistsError: With *exclusive*, the name is taken; the file there is complete.
        StateError: The file could not be written; the old content, if any, is still there.
    """
    name = os.fspath(path)
    folder = os.path.dirname(name)
    staged = os.path.join(folder, STAGED_PREFIX + os.urandom(16).hex())
    try:
        write_new_file(staged, data, files)
        try:
            if exclusive:
                _publish_exclusively(staged, name, files)
            else:
                files.replace(staged, name)
        except BaseException:
            remove_quietly(staged)
            raise
        sync_directory(folder)
    except FileExistsError:
        if exclusive:
            raise
        raise _not_usable(name, "a directory has this name") from None
    except OSError as error:
        raise _not_usable(name, _reason_of(error), verb="written") from error


def write_new_file(path: str, data: bytes, files: FileCalls) -> os.stat_result:
    """Create *path* exclusively with mode 0600, write all of *data*, sync it, return its ``fstat``.

    Raises:
        FileExistsError: The name is taken.
        OSError: Creating or writing failed; the half-written file has been removed.
    """
    descriptor = files.open(path, CREATE_FLAGS, FILE_MODE)
    created = None
    try:
        try:
            created = os.fstat(descriptor)
            if _ON_POSIX:
                os.fchmod(descriptor, FILE_MODE)  # a umask of 0777 would leave it unreadable
            _write_all(descriptor, data, files)
            sync_descriptor(descriptor, files)
        finally:
            os.close(descriptor)
    except BaseException:
        if created is None or is_named(path, created):
            remove_quietly(path)
        raise
    return created


def read_all(descriptor: int, limit: int | None) -> bytes:
    """Return what *descriptor* holds, at most *limit* bytes."""
    parts: list[bytes] = []
    size = 0
    while limit is None or size < limit:
        part = os.read(descriptor, _CHUNK_BYTES if limit is None else limit - size)
        if not part:
            break
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def sync_descriptor(descriptor: int, files: FileCalls = FileCalls()) -> None:  # noqa: B008
    """Sync a file to its drive; a mount that cannot sync is accepted, a failed sync is not."""
    if _sync_fully(descriptor):
        return
    try:
        files.fsync(descriptor)
    except OSError as error:
        if error.errno not in SYNC_UNSUPPORTED:
            raise


def sync_directory(path: str) -> None:
    """Sync a directory's names (POSIX); a system that cannot do so is accepted."""
    if not _ON_POSIX:
        return
    try:
        descriptor = os.open(path or ".", os.O_RDONLY | os.O_CLOEXEC)
    except PermissionError:
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in SYNC_UNSUPPORTED | {errno.EACCES}:
            raise
    finally:
        os.close(descriptor)


def is_named(path: str, facts: os.stat_result) -> bool:
    """Say whether *path* still names the file whose ``fstat`` is *facts*."""
    try:
        descriptor = os.open(path, READ_FLAGS)
    except OSError:
        return False
    try:
        # Not `lstat`: on some Pythons for Windows it numbers files otherwise than `fstat` does.
        return os.path.samestat(os.fstat(descriptor), facts)
    finally:
        os.close(descriptor)


def remove_quietly(path: str) -> None:
    """Unlink *path* if that is possible; whoever calls this already has a better error to show."""
    try:
        os.unlink(path)
    except OSError:
        return


def is_ours(facts: os.stat_result) -> bool:
    """Say whether the file belongs to the effective user; Windows has no such number to ask."""
    return not _ON_POSIX or facts.st_uid == os.geteuid()


def is_closed_to_others(facts: os.stat_result) -> bool:
    """Say whether neither group nor others have any permission bit."""
    return not _ON_POSIX or not stat.S_IMODE(facts.st_mode) & GROUP_AND_OTHER


def _publish_exclusively(staged: str, name: str, files: FileCalls) -> None:
    if not _ON_POSIX:
        files.rename(staged, name)  # never replaces there
        return
    try:
        files.link(staged, name)
    except OSError as error:
        if error.errno not in _LINK_UNSUPPORTED:
            raise
        # No hard links on this mount. Reserving the name first keeps the promise "refuse if
        # taken"; the rename then fills it in one step.
        os.close(os.open(name, CREATE_FLAGS, FILE_MODE))
        files.replace(staged, name)
        return
    files.unlink(staged)


def _sync_fully(descriptor: int) -> bool:
    """Ask macOS to sync the drive's own cache too, which its fsync leaves out."""
    if sys.platform == "darwin":
        import fcntl

        with contextlib.suppress(OSError):
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
            return True
    return False


def _write_all(descriptor: int, data: bytes, files: FileCalls) -> None:
    view = memoryview(data)
    while view:
        view = view[files.write(descriptor, view) :]


def _require_regular(facts: os.stat_result, name: str) -> None:
    if stat.S_ISLNK(facts.st_mode):
        raise _not_usable(name, "a symbolic link")
    if not stat.S_ISREG(facts.st_mode):
        raise _not_usable(name, "not a regular file")


def _require_private(facts: os.stat_result, name: str) -> None:
    _require_regular(facts, name)
    if not is_ours(facts):
        raise _not_usable(name, f"owned by uid {facts.st_uid}, not by uid {os.geteuid()}")
    if not is_closed_to_others(facts):
        mode = stat.S_IMODE(facts.st_mode)
        raise _not_usable(name, f"open to others (mode {mode:04o})")


def _not_usable(name: str, reason: str, *, verb: str = "used") -> StateError:
    return StateError(
        f"private file cannot be {verb} ({reason})",
        where=name,
        hint=f"check who wrote `{name}`, then remove it",
        code="private_file_unusable",
    )


def _reason_of(error: OSError) -> str:
    if error.errno == errno.ELOOP:
        return "a symbolic link"
    return name_of_error(error)
