"""The outside world, passed in as plain values: clock, sleep, randomness, host, file system calls.

Everything has its ordinary default. Tests hand in others, so that nothing sleeps and nothing has to
be patched.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, NamedTuple

from mc_lock.file_calls import FileCalls
from mc_lock.process import Host, ProcessState, examine_process, this_host

if TYPE_CHECKING:
    from collections.abc import Callable


class Effects(NamedTuple):
    """What the lock needs to know of the world, and does to it."""

    now: Callable[[], float] = time.time
    """Wall clock, seconds since the epoch. Only used for ages; it may jump."""
    monotonic: Callable[[], float] = time.monotonic
    """Seconds of a clock that never jumps. Only used for waiting."""
    sleep: Callable[[float], None] = time.sleep
    random_bytes: Callable[[int], bytes] = os.urandom
    host: Callable[[], Host] = this_host
    examine: Callable[[int], ProcessState] = examine_process
    files: FileCalls = FileCalls()


def uniform(low: float, high: float, random_bytes: Callable[[int], bytes]) -> float:
    """Return a number from *low* to *high*; `random` would cost more than the whole package."""
    return low + (high - low) * int.from_bytes(random_bytes(4), "big") / 0xFFFF_FFFF
