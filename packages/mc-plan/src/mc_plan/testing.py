"""File systems that fail or kill at a chosen call, for tests of what is built on this package.

Pass one as `filesystem` to `execute`; or, in a child process, set `mc_plan.files.SYSTEM` before
anything else. Every other effect is real, except that drives are not waited for.

Example:
    ``FaultyFilesystem(7, errno.ENOSPC)`` fails the 7th mutating call and no other;
    ``FaultyFilesystem(7, errno.EIO, lasting=True)`` that one and all after it.
"""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

from mc_plan.files import Filesystem

if TYPE_CHECKING:
    from pathlib import Path


class CountingFilesystem(Filesystem):
    """Counts the mutating calls; `calls` lists their names in order.

    Flushing is counted and not done: neither a failing call nor a kill loses what the system has
    cached, and hundreds of runs would wait for the drive.
    """

    def __init__(self) -> None:
        self.calls: list[str] = []

    def before(self, name: str) -> None:
        """Note that the mutating call *name* is about to happen."""
        self.calls.append(name)

    def open_create(self, path: Path) -> int:
        """Count, then create."""
        self.before("open_create")
        return super().open_create(path)

    def open_append(self, path: Path) -> int:
        """Count, then open."""
        self.before("open_append")
        return super().open_append(path)

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        """Count, then write."""
        self.before("write")
        return super().write(descriptor, data)

    def fsync(self, descriptor: int) -> None:  # noqa: ARG002 - the signature it stands in for
        """Count only, see the class."""
        self.before("fsync")

    def close(self, descriptor: int) -> None:
        """Close, then count: a close that reports an error has closed all the same."""
        super().close(descriptor)
        self.before("close")

    def chmod(self, descriptor: int, path: Path, mode: int) -> None:
        """Count, then set the mode."""
        self.before("chmod")
        super().chmod(descriptor, path, mode)

    def chown(self, descriptor: int, uid: int, gid: int) -> None:
        """Count, then set the owner."""
        self.before("chown")
        super().chown(descriptor, uid, gid)

    def copy_attributes(self, source: Path, descriptor: int) -> None:
        """Count, then copy."""
        self.before("copy_attributes")
        super().copy_attributes(source, descriptor)

    def replace(self, source: Path, target: Path) -> None:
        """Count, then rename."""
        self.before("replace")
        super().replace(source, target)

    def unlink(self, path: Path) -> None:
        """Count, then remove."""
        self.before("unlink")
        super().unlink(path)

    def mkdir(self, path: Path) -> None:
        """Count, then create."""
        self.before("mkdir")
        super().mkdir(path)

    def rmdir(self, path: Path) -> None:
        """Count, then remove."""
        self.before("rmdir")
        super().rmdir(path)

    def truncate(self, descriptor: int, size: int) -> None:
        """Count, then cut."""
        self.before("truncate")
        super().truncate(descriptor, size)

    def fsync_directory(self, path: Path) -> None:  # noqa: ARG002 - the signature it stands in for
        """Count only, see the class."""
        self.before("fsync_directory")


class FaultyFilesystem(CountingFilesystem):
    """Raises ``OSError`` *error* at the mutating call number *fail_at*, counted from 1."""

    def __init__(self, fail_at: int, error: int, *, lasting: bool = False) -> None:
        super().__init__()
        self._fail_at = fail_at
        self._error = error
        self._lasting = lasting

    @property
    def has_failed(self) -> bool:
        """Whether the chosen call was reached."""
        return len(self.calls) >= self._fail_at

    def before(self, name: str) -> None:
        """Count, and fail where it was asked for."""
        super().before(name)
        reached = len(self.calls)
        if reached == self._fail_at or (self._lasting and reached > self._fail_at):
            raise OSError(self._error, os.strerror(self._error))


class KillingFilesystem(CountingFilesystem):
    """Kills its own process (SIGKILL) before the mutating call number *kill_at*, from 1."""

    def __init__(self, kill_at: int) -> None:
        super().__init__()
        self._kill_at = kill_at

    def before(self, name: str) -> None:
        """Count, and die where it was asked for."""
        super().before(name)
        if len(self.calls) == self._kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
