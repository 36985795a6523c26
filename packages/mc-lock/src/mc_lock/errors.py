"""What this package raises on purpose.

Three siblings under one base, so that catching one never catches another: `StateError` (the place
where state lives cannot be used), `LockError` (the lock could not be had) and `SignalReceivedError`
(a signal asked the command to stop). `NestedLockError` is a programming error and stays outside.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mc_lock.holder import Holder

BREAK_FLAG: Final = "--break-stale-lock"


class McLockError(Exception):
    """Base of the errors of this package.

    Attributes:
        what: One sentence without a full stop; literals in backticks.
        where: The absolute path it is about, or ``""``.
        hint: Exactly one next step, or ``""``.
        code: A machine code such as ``lock_timeout``.
    """

    code: str = "lock_package_error"

    def __init__(self, what: str, *, where: str = "", hint: str = "", code: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.hint = hint
        self.code = code or type(self).code

    def __str__(self) -> str:
        return f"{self.what}: {self.where}" if self.where else self.what


class StateError(McLockError):
    """The state directory, or a private file in it, cannot be used; nothing was written there."""

    code = "state_unusable"


class LockError(McLockError):
    """The mutation lock could not be had.

    Attributes:
        row: The row of the decision table that decided (1 to 11), or 0 if no table row applies.
        holder: What is known of the lock that was found, or ``None``.
    """

    code = "lock_unavailable"

    def __init__(
        self,
        what: str,
        *,
        where: str = "",
        hint: str = "",
        code: str = "",
        row: int = 0,
        holder: Holder | None = None,
    ) -> None:
        super().__init__(what, where=where, hint=hint, code=code)
        self.row = row
        self.holder = holder


class LockTimeoutError(LockError, TimeoutError):
    """The lock might still have become free, and did not before the deadline (rows 1, 5, 6)."""

    code = "lock_timeout"


class LockHeldError(LockError):
    """Somebody who cannot be judged from here holds the lock; waiting was not useful (row 5)."""

    code = "lock_held"


class StaleLockError(LockError):
    """The owner is gone and will not come back to release the lock (rows 2, 3, 4)."""

    code = "lock_stale"


class MalformedLockError(LockError):
    """The lock cannot be read as a record; it is left in place (rows 6, 7, 8)."""

    code = "lock_malformed"


class UnsafeLockError(LockError):
    """What lies at the lock's path is not a lock of ours; it is left in place (rows 9, 10, 11)."""

    code = "lock_unsafe"


class LockCreationError(LockError):
    """The lock file could not be written, for example because the disk is full."""

    code = "lock_not_created"


class LockDisplacedError(LockError):
    """A living lock was set aside by mistake and could not be put back; both paths are named."""

    code = "lock_displaced"


class SignalReceivedError(McLockError):
    """A signal asked the command to stop, and it is safe to stop here.

    Attributes:
        signum: The signal's number; the exit code is ``128 + signum``.
    """

    code = "signal_received"

    def __init__(self, signum: int, name: str = "") -> None:
        super().__init__(f"stopped by {name or f'signal {signum}'}")
        self.signum = signum


class NestedLockError(RuntimeError):
    """This process already holds this very lock: a defect of the caller, not something to wait for.

    It is no `McLockError`, so that it keeps its traceback.
    """


def name_of_error(error: OSError) -> str:
    """Return the symbolic name of a system error, for example ``ENOSPC``."""
    return errno.errorcode.get(error.errno or 0, "") or str(error)
