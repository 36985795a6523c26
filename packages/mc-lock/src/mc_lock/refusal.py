"""Refusals in words: from a verdict to the error that is raised.

Each says what was found, where, how old it is, and exactly one next step that leads out. Source:
reliability rules 2.6 and 2.8.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Final, NamedTuple

from mc_lock.errors import (
    BREAK_FLAG,
    LockError,
    LockHeldError,
    LockTimeoutError,
    MalformedLockError,
    StaleLockError,
    UnsafeLockError,
)
from mc_lock.holder import Holder, holder_of
from mc_lock.verdict import (
    MALFORMED_AFTER_SECONDS,
    ROW_DAMAGED,
    ROW_ELSEWHERE,
    ROW_FOREIGN,
    ROW_HELD,
    ROW_MISNAMED,
    ROW_NOT_A_FILE,
    ROW_NOT_PRIVATE,
    STALE_AFTER_SECONDS,
)

if TYPE_CHECKING:
    from mc_lock.verdict import LockFacts, Verdict

_AGAIN: Final = "run the command again"
_AGAIN_WITH_FLAG: Final = f"run the command again with `{BREAK_FLAG}`"
_KINDS: Final = {
    "symlink": "a symbolic link",
    "directory": "a directory",
    "fifo": "a named pipe",
    "other": "no regular file",
}
_LONGEST_WAIT_SECONDS: Final = 900.0
_MINUTE: Final = 60
_HOUR: Final = 3600
_DAY: Final = 86_400


class _Sentence(NamedTuple):
    error: type[LockError]
    what: str
    hint: str


def refusal_of(path: str, facts: LockFacts, verdict: Verdict, *, break_stale: bool) -> LockError:
    """Return the error for a lock that stays in the way."""
    error, what, hint = _sentence(path, facts, verdict.row, break_stale=break_stale)
    return error(what, where=path, hint=hint, row=verdict.row, holder=holder_of(path, facts))


def breaking_notice(path: str, facts: LockFacts) -> str:
    """Return the line that says a lock was broken."""
    age = format_age(facts.age_seconds)
    former = "a lock that could not be read"
    if facts.record is not None:
        former = f"the lock of {_owner(holder_of(path, facts))}, which is gone"
    return f"broke {former} ({age} old): {path}; check `memory-custodian check`"


def format_age(seconds: float) -> str:
    """Return an age in whole seconds up to two minutes, then in minutes, hours or days."""
    seconds = max(0.0, seconds)
    for unit, name in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min")):
        if seconds >= 2 * unit:
            return f"{int(seconds // unit)} {name}"
    return f"{int(seconds)} s"


def _sentence(path: str, facts: LockFacts, row: int, *, break_stale: bool) -> _Sentence:
    if row == ROW_NOT_A_FILE:
        kind = _KINDS[facts.kind]
        return _Sentence(
            UnsafeLockError,
            f"the lock's place is taken by {kind}, which was not followed or opened",
            f"check what `{path}` is, then remove it",
        )
    if row == ROW_FOREIGN:
        return _Sentence(
            UnsafeLockError,
            f"the lock belongs to another user (uid {facts.uid})",
            f"ask uid {facts.uid} to remove `{path}`",
        )
    if facts.record is None:
        return _malformed_sentence(path, facts, row, break_stale=break_stale)
    return _recorded_sentence(path, facts, row, break_stale=break_stale)


def _recorded_sentence(path: str, facts: LockFacts, row: int, *, break_stale: bool) -> _Sentence:
    holder = holder_of(path, facts)
    owner = _owner(holder)
    age = format_age(facts.age_seconds)
    if row == ROW_HELD:
        what = f"the lock is held by {owner} for {age}"
        if break_stale:
            what = f"the lock is held by {owner} for {age}; its owner is alive, so it is not broken"
        return _Sentence(LockTimeoutError, what, f"wait until pid {holder.pid} ends, then {_AGAIN}")
    if row == ROW_ELSEWHERE:
        return _elsewhere_sentence(path, holder, break_stale=break_stale)
    if row == ROW_MISNAMED:
        return _Sentence(
            UnsafeLockError,
            f"the lock is named `{PurePath(path).stem}`, but names project `{holder.project_id}`",
            f"check why the names differ, then remove `{path}`",
        )
    what = f"the lock was left by {owner}, which is gone; it is {age} old"
    left = STALE_AFTER_SECONDS - facts.age_seconds
    if left < 0:
        return _Sentence(StaleLockError, what, _AGAIN_WITH_FLAG)
    if break_stale:
        what += ", too young to break"
    return _Sentence(StaleLockError, what, _step_after(left, path, _AGAIN_WITH_FLAG))


def _elsewhere_sentence(path: str, holder: Holder, *, break_stale: bool) -> _Sentence:
    what = (
        f"the lock is held by {_owner(holder)} for {format_age(holder.age_seconds)}, "
        "on another host or in another container"
    )
    if not break_stale:
        step = f"end or check pid {holder.pid} on `{holder.hostname}`, then {_AGAIN}"
        return _Sentence(LockTimeoutError, what, step)
    return _Sentence(
        LockHeldError,
        f"{what}; it cannot be judged from here",
        f"delete `{path}` by hand once that host or container is known to be gone",
    )


def _malformed_sentence(path: str, facts: LockFacts, row: int, *, break_stale: bool) -> _Sentence:
    age = format_age(facts.age_seconds)
    if row == ROW_NOT_PRIVATE:
        return _Sentence(
            MalformedLockError,
            "the lock cannot be read and is not a private file of ours",
            f"check what `{path}` is, then remove it yourself",
        )
    if row == ROW_DAMAGED:
        what = f"the lock is damaged and {age} old, so nobody is still writing it"
        return _Sentence(MalformedLockError, what, _AGAIN_WITH_FLAG)
    left = MALFORMED_AFTER_SECONDS - facts.age_seconds
    what = f"the lock cannot be read and is {age} old: it may still be being written"
    if break_stale:
        what += ", too young to break"
        return _Sentence(LockTimeoutError, what, _step_after(left, path, _AGAIN_WITH_FLAG))
    return _Sentence(LockTimeoutError, what, _step_after(left, path, _AGAIN))


def _owner(holder: Holder) -> str:
    return f"pid {holder.pid} on `{holder.hostname}` (`{holder.command}`)"


def _step_after(seconds: float, path: str, step: str) -> str:
    if seconds > _LONGEST_WAIT_SECONDS:
        # A stamp from the future, or a clock that was set back: waiting would not lead out.
        return f"check that nobody uses the lock, then delete `{path}` by hand"
    # The limit itself is still too young, so a wait for the exact rest would be refused again.
    return f"wait {int(seconds) + 1} s, then {step}"
