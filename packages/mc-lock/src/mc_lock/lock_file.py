"""The lock file itself: created exclusively, recognised, removed only if it is still ours.

Source: reliability rules 2.2.2 and 2.4.
"""

# The calls of `os` are used by name: their flags, descriptors and errno are the subject here.
# ruff: noqa: PTH120

from __future__ import annotations

import contextlib
import os
import stat
from typing import TYPE_CHECKING, Final, NamedTuple

from mc_lock.errors import LockCreationError, McLockError, name_of_error
from mc_lock.owner import format_owner, parse_token
from mc_lock.private_file import MAX_PRIVATE_BYTES, READ_FLAGS, read_all, write_new_file
from mc_lock.state import NO_ACCESS, unwritable_state

if TYPE_CHECKING:
    from mc_lock.effects import Effects
    from mc_lock.owner import OwnerRecord

_ON_POSIX: Final = os.name == "posix"
_UNLINK_TRIES: Final = 20
_UNLINK_PAUSE_SECONDS: Final = 0.1


class LockFile(NamedTuple):
    """A lock file of ours. The inode alone is not enough: the next file may get the same one."""

    path: str
    device: int
    inode: int
    token: str


def create_lock_file(path: str, owner: OwnerRecord, effects: Effects) -> LockFile | None:
    """Create the lock at *path*, or return ``None`` if it exists.

    Raises:
        StateError: The place may not be written at all.
        LockCreationError: Creating or writing failed, for example on a full disk; no file is left.
        PermissionError: On Windows, while a peer deletes the file; try again.
    """
    try:
        facts = write_new_file(path, format_owner(owner), effects.files)
    except FileExistsError:
        return None
    except PermissionError as error:
        if not _ON_POSIX:
            raise
        raise _creation_error(path, error) from error
    except OSError as error:
        raise _creation_error(path, error) from error
    lock = LockFile(path, facts.st_dev, facts.st_ino, owner.token or "")
    # We may have slept so long between create and write that somebody broke the empty file.
    return lock if is_still_ours(lock) else None


def is_still_ours(lock: LockFile) -> bool:
    """Say whether device, inode and token at the path are those of *lock*."""
    try:
        if not stat.S_ISREG(os.lstat(lock.path).st_mode):
            return False
        descriptor = os.open(lock.path, READ_FLAGS)
    except OSError:
        return False
    try:
        facts = os.fstat(descriptor)
        if (facts.st_dev, facts.st_ino) != (lock.device, lock.inode):
            return False
        token = parse_token(read_all(descriptor, MAX_PRIVATE_BYTES))
    except OSError:
        return False
    finally:
        # A file that was only read cannot be lost by its close. Raised at the release, the error
        # would be reported as the failure of a change that is complete.
        with contextlib.suppress(OSError):
            os.close(descriptor)
    return token is not None and token == lock.token


def remove_lock_file(lock: LockFile, effects: Effects) -> str:
    """Remove *lock* if it is ours; return ``""`` or one line of warning. Never raises `OSError`."""
    if not is_still_ours(lock):
        return f"the lock is no longer ours and was left alone: {lock.path}"
    try:
        _unlink_patiently(lock.path, effects)
    except OSError as error:
        reason = name_of_error(error)
        return f"the lock could not be removed ({reason}), remove it by hand: {lock.path}"
    return ""


def _unlink_patiently(path: str, effects: Effects) -> None:
    for _ in range(1 if _ON_POSIX else _UNLINK_TRIES):
        try:
            effects.files.unlink(path)
        except PermissionError:
            # A waiting peer has it open to read it; Windows lets nobody delete it so long.
            if _ON_POSIX:
                raise
            effects.sleep(_UNLINK_PAUSE_SECONDS)
        else:
            return
    effects.files.unlink(path)


def _creation_error(path: str, error: OSError) -> McLockError:
    folder = os.path.dirname(path)
    if error.errno in NO_ACCESS:
        return unwritable_state(folder, error)
    return LockCreationError(
        f"the lock could not be created ({name_of_error(error)}), nothing was written",
        where=path,
        hint=f"make it possible to write files in `{folder}`, then run the command again",
    )
