"""Breaking a lock whose owner is gone, safely among several who try it at once.

The lock is renamed to an unpredictable name first and looked at again there. Whoever then holds a
file that is not the one that was judged has taken a living lock and puts it back. Source:
reliability rule 2.7.
"""

# The calls of `os` are used by name: their flags, descriptors and errno are the subject here.
# ruff: noqa: PTH118, PTH120, PTH208

from __future__ import annotations

import contextlib
import os
import stat
from typing import TYPE_CHECKING, Final

from mc_lock.errors import LockDisplacedError
from mc_lock.holder import stamp_at
from mc_lock.private_file import STAGED_PREFIX, is_ours, remove_quietly

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from mc_lock.effects import Effects
    from mc_lock.holder import Stamp
    from mc_lock.state import StateDirectory

ASIDE_PREFIX: Final = ".broken-"
SWEEP_AFTER_SECONDS: Final = 300.0

_ASIDE_BYTES: Final = 16
_LEFTOVERS: Final = (ASIDE_PREFIX, STAGED_PREFIX)


def break_lock(path: str, judged: Stamp, effects: Effects) -> bool:
    """Remove the lock at *path* if it still is the one that was judged.

    Returns:
        Whether it was removed here. If not, the caller looks again, as an equal competitor.

    Raises:
        LockDisplacedError: A living lock was taken by mistake and could not be put back.
        OSError: The file system failed; the lock is where it was.
    """
    steps = breaking_steps(path, judged, effects)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return bool(end.value)


def breaking_steps(path: str, judged: Stamp, effects: Effects) -> Generator[str, None, bool]:
    """Break a lock in single steps; each step does one thing that others can see.

    It is a generator so that a test can let another process act between any two steps.
    """
    aside = os.path.join(
        os.path.dirname(path), ASIDE_PREFIX + effects.random_bytes(_ASIDE_BYTES).hex()
    )
    yield "look once more"
    if stamp_at(path) != judged:
        return False
    yield "set aside"
    try:
        effects.files.rename(path, aside)
    except FileNotFoundError:
        return False
    yield "look at what was set aside"
    if stamp_at(aside) == judged:
        yield "remove"
        _drop(aside, effects)
        return True
    if not os.path.lexists(aside):
        return False  # swept by another process; the place is free
    yield "put back"
    _put_back(aside, path, effects)
    yield "drop the second name"
    _drop(aside, effects)
    return False


@contextlib.contextmanager
def breaking_turn(folder: str) -> Iterator[bool]:
    """Let one breaker at a time judge and set aside; ``False`` if it is somebody else's turn.

    `breaking_steps` is safe without it. It only makes taking a living lock by mistake unlikely,
    where the system has advisory locks; the kernel ends a turn with the process.
    """
    try:
        import fcntl
    except ImportError:
        yield True
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        except OSError:
            pass  # a mount without advisory locks
        yield True
    finally:
        os.close(descriptor)


def sweep_leftovers(state: StateDirectory, effects: Effects) -> None:
    """Remove what commands that died left behind; call it only while holding a lock.

    That is locks that were set aside, and private files that never got their name.

    The change time counts too, because a rename keeps the modification time: a file that was set
    aside just now may be somebody's living lock on its way back.
    """
    limit = effects.now() - SWEEP_AFTER_SECONDS
    for folder in (state.locks, state.journal, state.plans):
        try:
            names = [name for name in os.listdir(folder) if name.startswith(_LEFTOVERS)]
        except OSError:
            continue
        for name in names:
            _sweep(os.path.join(folder, name), limit)


def _put_back(aside: str, path: str, effects: Effects) -> None:
    # Never by rename: a third process may have made a lock of its own at the free place.
    try:
        effects.files.link(aside, path)
    except OSError as error:  # taken meanwhile, or no hard links here, or not a file at all
        raise LockDisplacedError(
            f"a lock was set aside as `{aside}` and its place is taken",
            where=path,
            hint=f"check that the command that made `{aside}` has ended, then remove that file",
        ) from error


def _sweep(path: str, limit: float) -> None:
    try:
        facts = os.lstat(path)
    except OSError:
        return
    newest = max(facts.st_mtime, facts.st_ctime)
    if stat.S_ISREG(facts.st_mode) and is_ours(facts) and newest < limit:
        remove_quietly(path)


def _drop(aside: str, effects: Effects) -> None:
    with contextlib.suppress(OSError):  # the place itself is settled; a sweep gets the rest
        effects.files.unlink(aside)
