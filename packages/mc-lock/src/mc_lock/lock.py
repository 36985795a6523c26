"""The mutation lock: one writer at a time among all processes that use the same state directory.

`acquire_mutation_lock` waits for another owner to finish, refuses with a reason and a next step, or
breaks a stale lock when that was asked for. Source: reliability section 2.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from mc_lock.breaking import sweep_leftovers
from mc_lock.contest import Request, disclaim, face_lock, is_claimed, take_lock_file
from mc_lock.effects import Effects
from mc_lock.errors import LockError, NestedLockError
from mc_lock.lock_file import is_still_ours, remove_lock_file
from mc_lock.place import guard_key, key_of_project

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import TracebackType

    from typing_extensions import Self

    from mc_lock.lock_file import LockFile
    from mc_lock.signals import SignalGuard
    from mc_lock.state import StateDirectory

DEFAULT_TIMEOUT_SECONDS: Final = 10.0

_MAX_IDENTITY_CHANGES: Final = 20


def acquire_mutation_lock(
    state: StateDirectory,
    *,
    read_identity: Callable[[], str | None],
    memory_dir: Path,
    project_root: Path,
    command: str,
    notify: Callable[[str], None],
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
    break_stale: bool = False,
    guard: SignalGuard | None = None,
    effects: Effects = Effects(),  # noqa: B008 - an immutable value
) -> MutationLock:
    """Take the lock of a project, waiting for another owner to finish.

    Use what it returns in a ``with`` statement, and read every file again inside: nothing computed
    before may be written.

    Args:
        state: From `resolve_state_directory`; it is created here if it is missing.
        read_identity: Returns the project id as the manifest says now, or ``None``. It is asked
            before and again after acquiring, because waiting may have been for a migration.
        memory_dir: Names the guard of a place without a project id, and the guard to respect.
        project_root: Written into the lock for people.
        command: The command's name, without arguments, which can be private.
        notify: Gets one line of text when a lock was broken or could not be released.
        timeout_seconds: Longest wait; 0 tries once. Retries every 100 to 250 ms.
        break_stale: The user asked for ``--break-stale-lock``.
        guard: An entered `SignalGuard`; asked in the wait loop.
        effects: The outside world.

    Raises:
        StateError: The state directory is not safe or cannot be written.
        LockError: One of its children, by the decision table of rule 2.6.
        SignalReceivedError: A signal arrived while waiting.
        NestedLockError: This process already holds this lock.
    """
    identity = _Identity.read(read_identity, memory_dir)
    usable = state.ensure()
    if usable is not state:
        notify(usable.fallback)
    request = Request(
        state=usable,
        guard_key=identity.guard_key,
        project_root=str(project_root),
        command=command,
        notify=notify,
        timeout_seconds=timeout_seconds,
        break_stale=break_stale,
        guard=guard,
        effects=effects,
    )
    deadline = request.new_deadline()
    for _ in range(_MAX_IDENTITY_CHANGES):
        lock = _acquire_once(request._replace(guard_key=identity.guard_key), identity, deadline)
        try:
            before, identity = identity, _Identity.read(read_identity, memory_dir)
            if identity == before:
                sweep_leftovers(usable, effects)
                return lock
        except BaseException:
            lock.release()
            raise
        lock.release()
    raise LockError(
        "the project id keeps changing while the lock is taken",
        where=str(memory_dir),
        hint="find out what rewrites the manifest, then run the command again",
        code="identity_unsettled",
    )


class MutationLock:
    """A held lock; a context manager that releases it.

    One object per process: it is passed on, never taken a second time. A forked child that inherits
    it holds nothing and releases nothing.
    """

    def __init__(self, request: Request, project_id: str | None, lock: LockFile) -> None:
        self._request = request
        self._project_id = project_id
        self._locks = [lock]
        self._pid = os.getpid()

    @property
    def project_id(self) -> str | None:
        """The locked project's id in lower case; ``None`` while only a place is locked."""
        return self._project_id

    @property
    def state(self) -> StateDirectory:
        """The state directory in use, which exists and is safe."""
        return self._request.state

    @property
    def paths(self) -> tuple[str, ...]:
        """The lock files held, absolute; empty once released."""
        return tuple(lock.path for lock in self._locks)

    def still_ours(self) -> bool:
        """Say whether every lock file taken is still there and still ours.

        Look immediately before each change of a project file, and change nothing if it is not so:
        this is the second line of defence when a lock was broken by mistake.
        """
        return self._is_in_owner() and bool(self._locks) and all(map(is_still_ours, self._locks))

    def also_lock_project(self, project_id: str) -> None:
        """Take the lock of the id that this command is about to give the project.

        Call it while holding the guard of the place and before the first rename; otherwise a
        newcomer that sees the new id takes a free lock in the middle of the change. It waits like
        `acquire_mutation_lock`, anew for as many seconds. Source: reliability rule 2.2.5.

        Raises:
            ValueError: *project_id* is no UUID.
            LockError: As `acquire_mutation_lock`; what was held stays held.
        """
        key = key_of_project(project_id)
        if key is None:
            raise ValueError("a project id must be a UUID")
        self._locks.append(take_lock_file(self._request, key, key, self._request.new_deadline()))
        self._project_id = key

    def release(self) -> None:
        """Give the lock back; a second call does nothing. Problems are notified, not raised."""
        if not self._is_in_owner():
            return
        warnings: list[str] = []
        while self._locks:
            lock = self._locks.pop()
            warnings.append(remove_lock_file(lock, self._request.effects))
            disclaim(lock.path)
        for warning in filter(None, warnings):
            self._request.notify(warning)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.release()

    def _is_in_owner(self) -> bool:
        return os.getpid() == self._pid


class _Identity(NamedTuple):
    """What decides which lock is the right one; both may change while we wait."""

    project_id: str | None
    guard_key: str

    @classmethod
    def read(cls, read_identity: Callable[[], str | None], memory_dir: Path) -> _Identity:
        return cls(key_of_project(read_identity()), guard_key(memory_dir))


def _acquire_once(request: Request, identity: _Identity, deadline: float) -> MutationLock:
    """Take the lock of *identity*, and respect the guard of its place."""
    project_id = identity.project_id
    key = project_id or identity.guard_key
    while True:
        lock = MutationLock(request, project_id, take_lock_file(request, key, project_id, deadline))
        if project_id is None or not os.path.lexists(request.guard_path):
            return lock
        # Never wait for the guard while holding the project lock: its owner may need that very
        # lock before it can finish.
        lock.release()
        if is_claimed(request.guard_path):
            raise NestedLockError(f"this process already holds the guard {request.guard_path}")
        face_lock(request, identity.guard_key, deadline)
