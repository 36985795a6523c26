"""Getting one lock file while others want it too: try, look, wait, refuse or break.

Source: reliability rules 2.2 (steps 2 and 3), 2.6, 2.7 and 2.9.
"""

# The calls of `os` are used by name: their flags, descriptors and errno are the subject here.
# ruff: noqa: PTH118, PTH119

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn

from mc_lock.breaking import break_lock, breaking_turn
from mc_lock.effects import Effects, uniform
from mc_lock.errors import LockError, LockTimeoutError, NestedLockError, name_of_error
from mc_lock.holder import look_at_lock
from mc_lock.lock_file import create_lock_file
from mc_lock.owner import TOKEN_BYTES, new_owner
from mc_lock.place import LOCK_SUFFIX
from mc_lock.refusal import breaking_notice, refusal_of
from mc_lock.verdict import judge

if TYPE_CHECKING:
    from collections.abc import Callable

    from mc_lock.holder import Sighting
    from mc_lock.lock_file import LockFile
    from mc_lock.signals import SignalGuard
    from mc_lock.state import StateDirectory

MIN_PAUSE_SECONDS: Final = 0.10
MAX_PAUSE_SECONDS: Final = 0.25

# A file system on which a name exists and does not exist at once would keep us here for ever.
_GRACE_SECONDS: Final = 1.0

# Lock paths this process holds or is about to hold. Each claim carries its pid, because a forked
# child inherits the table and yet holds nothing.
_claims: dict[str, tuple[int, object]] = {}


class Request(NamedTuple):
    """What one acquire was asked for; the lock keeps it for a second file."""

    state: StateDirectory
    guard_key: str
    project_root: str
    command: str
    notify: Callable[[str], None]
    timeout_seconds: float
    break_stale: bool
    guard: SignalGuard | None
    effects: Effects

    @property
    def guard_path(self) -> str:
        """The guard of the place."""
        return self.path_of(self.guard_key)

    def path_of(self, key: str) -> str:
        """Return the lock file of *key*."""
        return os.path.join(self.state.locks, key + LOCK_SUFFIX)

    def new_deadline(self) -> float:
        """Return the monotonic time at which waiting that starts now ends."""
        return self.effects.monotonic() + self.timeout_seconds


def take_lock_file(request: Request, key: str, project_id: str | None, deadline: float) -> LockFile:
    """Create the lock file of *key*, facing whatever is in the way until the deadline.

    Raises:
        NestedLockError: This process has claimed it already.
        StateError, LockError, SignalReceivedError: As `acquire_mutation_lock` says.
    """
    path = request.path_of(key)
    _claim(path)
    try:
        while True:
            if request.guard is not None:
                request.guard.check()
            lock = _try_once(request, path, project_id, deadline)
            if lock is not None:
                return lock
    except BaseException:
        disclaim(path)
        raise


def face_lock(request: Request, key: str, deadline: float) -> None:
    """Look once at a lock that is in the way: return when it is time to try again, or refuse.

    Raises:
        LockError: By the decision table, or because the deadline has passed.
    """
    path = request.path_of(key)
    try:
        sighting = look_at_lock(path, key, request.effects)
        verdict = None
        if sighting is not None:
            verdict = judge(sighting.facts, break_stale=request.break_stale)
            if verdict.action == "break":
                sighting = _break_in_turn(request, path, key, deadline)
    except LockError:
        raise
    except PermissionError as error:
        _pause_for_peer(request, path, deadline, error)
        return
    except OSError as error:
        _refuse_for(path, "examined", error)
    if verdict is None or sighting is None:
        _require_progress(request, path, deadline)
    elif verdict.action == "break":
        request.notify(breaking_notice(path, sighting.facts))
    elif verdict.action == "refuse" or not _pause(request, deadline):
        raise refusal_of(path, sighting.facts, verdict, break_stale=request.break_stale)


def disclaim(path: str) -> None:
    """Note that this process does not hold *path* any more."""
    _claims.pop(os.path.realpath(path), None)


def is_claimed(path: str) -> bool:
    """Say whether this process holds *path* or is about to."""
    found = _claims.get(os.path.realpath(path))
    return found is not None and found[0] == os.getpid()


def _claim(path: str) -> None:
    path = os.path.realpath(path)
    mine = (os.getpid(), object())
    found = _claims.setdefault(path, mine)
    if found is mine:
        return
    if found[0] == mine[0]:
        raise NestedLockError(f"this process already holds the lock {path}")
    _claims[path] = mine


def _try_once(
    request: Request, path: str, project_id: str | None, deadline: float
) -> LockFile | None:
    effects = request.effects
    owner = new_owner(
        effects.host(),
        project_id=project_id,
        project_root=request.project_root,
        command=request.command,
        now=effects.now(),
        token=effects.random_bytes(TOKEN_BYTES).hex(),
    )
    try:
        lock = create_lock_file(path, owner, effects)
    except PermissionError as error:
        _pause_for_peer(request, path, deadline, error)
        return None
    if lock is None:
        face_lock(request, os.path.basename(path).removesuffix(LOCK_SUFFIX), deadline)
    return lock


def _break_in_turn(request: Request, path: str, key: str, deadline: float) -> Sighting | None:
    """Break the lock if it still is to be broken; return what was broken, ``None`` if nothing."""
    with breaking_turn(str(request.state.locks)) as is_our_turn:
        if not is_our_turn:
            if not _pause(request, deadline):
                raise LockTimeoutError(
                    "another process is breaking the lock",
                    where=path,
                    hint="run the command again",
                )
            return None
        # Judged again: whoever had the turn before may have put a living lock here.
        sighting = look_at_lock(path, key, request.effects)
        if sighting is None or sighting.stamp is None:
            return None
        if judge(sighting.facts, break_stale=True).action != "break":
            return None
        return sighting if break_lock(path, sighting.stamp, request.effects) else None


def _pause(request: Request, deadline: float) -> bool:
    """Sleep 100 to 250 ms, at most until the deadline; ``False`` if that has passed."""
    effects = request.effects
    left = deadline - effects.monotonic()
    if left <= 0:
        return False
    pause = uniform(MIN_PAUSE_SECONDS, MAX_PAUSE_SECONDS, effects.random_bytes)
    effects.sleep(min(pause, left))
    return True


def _pause_for_peer(request: Request, path: str, deadline: float, error: PermissionError) -> None:
    # Windows refuses every access to a file while somebody deletes it; elsewhere it is final.
    if os.name == "posix" or not _pause(request, deadline):
        _refuse_for(path, "changed", error)


def _require_progress(request: Request, path: str, deadline: float) -> None:
    if request.effects.monotonic() > deadline + _GRACE_SECONDS:
        raise LockTimeoutError(
            "the lock appears and disappears too fast to be judged",
            where=path,
            hint="run the command again",
        )


def _refuse_for(path: str, verb: str, error: OSError) -> NoReturn:
    raise LockError(
        f"the lock cannot be {verb} ({name_of_error(error)})",
        where=path,
        hint=f"make `{path}` accessible, then run the command again",
    ) from error
