"""The one module that touches files of a project: every effect is a method of `Filesystem`.

Production code uses `SYSTEM`. A test passes its own `Filesystem` (see `mc_plan.testing`) and so
makes the k-th call fail, or kills its process there, with real files everywhere else.

Source: reliability specification, sections 4.3 to 4.7 and 7.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

_READ_FLAGS: Final = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_CREATE_FLAGS: Final = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_EXCL
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_APPEND_FLAGS: Final = (
    os.O_RDWR
    | os.O_APPEND
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_STAGED_MODE: Final = 0o600
_READ_CHUNK: Final = 1 << 20
_REPARSE_POINT: Final = 0x400
_SHARING_ERRORS: Final = frozenset({5, 32, 33})
_SHARING_DEADLINE_SECONDS: Final = 2.0
_SHARING_STEPS_SECONDS: Final = (0.01, 0.02, 0.05, 0.1, 0.2)
_UNSUPPORTED: Final = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})
_UNSUPPORTED_DIRECTORY: Final = _UNSUPPORTED | {errno.EACCES}


class Filesystem:
    """Real effects on real files. Mutating methods are the points where a test may interfere."""

    def sleep(self, seconds: float) -> None:
        """Wait between two tries of a rename that a virus scanner or indexer holds up."""
        time.sleep(seconds)

    def open_read(self, path: Path) -> int:
        """Open *path* for reading without following a symlink and without blocking on a FIFO."""
        return os.open(path, _READ_FLAGS)

    def open_create(self, path: Path) -> int:
        """Create *path* (it must be absent) for writing, mode 0600."""
        return os.open(path, _CREATE_FLAGS, _STAGED_MODE)

    def open_append(self, path: Path) -> int:
        """Open the existing file *path* so that every write lands at its end."""
        return os.open(path, _APPEND_FLAGS)

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        """Write some of *data*, return how many bytes."""
        return os.write(descriptor, data)

    def fsync(self, descriptor: int) -> None:
        """Flush the file to its drive; a file system without fsync is accepted."""
        if not _flush_drive(descriptor):
            os.fsync(descriptor)

    def close(self, descriptor: int) -> None:
        """Close the descriptor; a network file system may report a lost write here."""
        os.close(descriptor)

    def chmod(self, descriptor: int, path: Path, mode: int) -> None:
        """Set the mode of the open file, by path where the platform has no ``fchmod``."""
        if hasattr(os, "fchmod"):
            os.fchmod(descriptor, mode)
        else:
            path.chmod(mode)

    def chown(self, descriptor: int, uid: int, gid: int) -> None:
        """Give the open file to *uid* and *gid*; nothing where the platform has no owners."""
        if hasattr(os, "fchown"):
            os.fchown(descriptor, uid, gid)

    def copy_attributes(self, source: Path, descriptor: int) -> None:
        """Copy extended attributes (access lists among them) from *source* to the open file."""
        if not hasattr(os, "listxattr"):
            return
        try:
            names = os.listxattr(source, follow_symlinks=False)
        except OSError as error:
            if error.errno in _UNSUPPORTED:
                return
            raise
        failures = []
        for name in names:
            try:
                os.setxattr(descriptor, name, os.getxattr(source, name, follow_symlinks=False))
            except OSError as error:
                failures.append(error)
        if failures:
            raise failures[0]

    def replace(self, source: Path, target: Path) -> None:
        """Rename *source* over *target* in one step."""
        source.replace(target)

    def unlink(self, path: Path) -> None:
        """Remove the file *path*."""
        path.unlink()

    def mkdir(self, path: Path) -> None:
        """Create the directory *path*; its parent exists."""
        path.mkdir()

    def rmdir(self, path: Path) -> None:
        """Remove the empty directory *path*."""
        path.rmdir()

    def truncate(self, descriptor: int, size: int) -> None:
        """Cut the open file to *size* bytes."""
        os.ftruncate(descriptor, size)

    def fsync_directory(self, path: Path) -> None:
        """Flush the names in directory *path*; accepted where directories cannot be flushed."""
        if os.name == "nt":
            return
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


SYSTEM: Filesystem = Filesystem()


def read_all(descriptor: int, start: int = 0) -> bytes:
    """Return every byte of the open file from offset *start* on."""
    if start:
        os.lseek(descriptor, start, os.SEEK_SET)
    chunks = []
    while chunk := os.read(descriptor, _READ_CHUNK):
        chunks.append(chunk)
    return b"".join(chunks)


def write_all(files: Filesystem, descriptor: int, data: bytes) -> None:
    """Write all of *data*, however short the single writes are."""
    view = memoryview(data)
    while view:
        view = view[files.write(descriptor, view) :]


def flush(files: Filesystem, descriptor: int) -> None:
    """Fsync once. An error means the data is lost for good, so it is never tried again (4.4)."""
    try:
        files.fsync(descriptor)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise


def flush_directory(files: Filesystem, path: Path) -> None:
    """Fsync the directory *path*; mounts that refuse to are accepted (4.7)."""
    try:
        files.fsync_directory(path)
    except OSError as error:
        if error.errno not in _UNSUPPORTED_DIRECTORY:
            raise


def rename(files: Filesystem, source: Path, target: Path) -> None:
    """Rename *source* over *target*, waiting at most 2 s for a Windows sharing violation to end.

    Raises:
        OSError: The rename failed; any POSIX error at the first try.

    Source: reliability specification 4.6.
    """
    waited = 0.0
    for step in _sharing_steps():
        try:
            files.replace(source, target)
        except PermissionError as error:
            out_of_time = waited + step > _SHARING_DEADLINE_SECONDS
            if getattr(error, "winerror", None) not in _SHARING_ERRORS or out_of_time:
                raise
        else:
            return
        files.sleep(step)
        waited += step


def unlink_quietly(files: Filesystem, path: Path) -> bool:
    """Remove *path*; tell whether it is gone, for a caller that already has an error to report."""
    try:
        files.unlink(path)
    except OSError:
        return is_absent(path)
    return True


def is_absent(path: Path) -> bool:
    """Tell whether *path* is certainly not there.

    A read-only file system answers EROFS to the removal of what does not exist. Taken for something
    left over, it would keep a journal for a change that was never begun.
    """
    try:
        os.lstat(path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return False


def is_link(found: os.stat_result) -> bool:
    """Tell whether an ``lstat`` result is a symlink, or a junction or other link on Windows."""
    attributes = getattr(found, "st_file_attributes", 0)
    return stat.S_ISLNK(found.st_mode) or bool(attributes & _REPARSE_POINT)


def current_umask() -> int:
    """Return the process's umask. It can only be read by setting it, so it is set back at once."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _sharing_steps() -> list[float]:
    last = _SHARING_STEPS_SECONDS[-1]
    count = int(_SHARING_DEADLINE_SECONDS / last) + 1
    return [*_SHARING_STEPS_SECONDS, *([last] * count)]


def _flush_drive(descriptor: int) -> bool:
    """Flush the drive's cache too, as ``fsync`` does not on macOS; tell whether that was done."""
    try:
        import fcntl
    except ImportError:
        return False
    command = getattr(fcntl, "F_FULLFSYNC", None)
    if command is None:
        return False
    try:
        fcntl.fcntl(descriptor, command)
    except OSError:
        return False
    return True
