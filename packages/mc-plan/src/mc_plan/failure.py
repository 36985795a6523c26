"""Turning a failed system call into an error that says what, where and what to do next.

Source: reliability specification 4.8.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Final

from mc_plan.errors import ApplyError

if TYPE_CHECKING:
    from mc_plan.errors import FilesReport

_PERMISSION: Final = "give yourself permission to write there, then run the command again"
_MOUNT: Final = "unmount what is mounted on the file itself, then run the command again"
_HINTS: Final = {
    errno.ENOSPC: "free some space on the disk, then run the command again",
    errno.EROFS: "make the file system writable, then run the command again",
    errno.EACCES: _PERMISSION,
    errno.EPERM: _PERMISSION,
    errno.EXDEV: _MOUNT,
    errno.EBUSY: _MOUNT,
}
_OTHER_HINT: Final = "correct the cause, then run the command again"


def failed(
    what: str, where: str, error: OSError, *, hint: str = "", files: FilesReport | None = None
) -> ApplyError:
    """Return the error for a failed system call.

    Args:
        what: What could not be done; the system's reason is added in parentheses.
        where: The path as it may be shown. The path inside *error* may be private and is not used.
        error: The system's error.
        hint: The next step, in place of the one that fits the reason.
        files: What is on disk, if that is known already.
    """
    reason = error.strerror or type(error).__name__
    chosen = hint or _HINTS.get(error.errno or 0, _OTHER_HINT)
    return ApplyError(f"{what} ({reason})", where=where, hint=chosen, files=files)
