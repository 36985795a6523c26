"""Turns with a lock, for ours and for filelock: one process alone, or one of several.

    python benchmarks/measuring/lock_turns.py LOCK FOLDER TURNS HOLD_SECONDS

LOCK is `mc-lock`, `filelock` (the operating system's lock) or `filelock-soft` (a marker file).
Prints the seconds waited for each turn as a JSON list.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import contextlib
    from collections.abc import Callable

PROJECT_ID: Final = "0d5bd9c2-3c42-4a6b-9d52-3b0a5d6f7e81"
TIMEOUT_SECONDS: Final = 120.0


def main() -> None:
    """Take the turns and print how long each was waited for."""
    name, folder, turns, hold = sys.argv[1:]
    take = LOCKS[name](Path(folder))
    waited = []
    for _ in range(int(turns)):
        begin = time.perf_counter()
        with take():
            waited.append(time.perf_counter() - begin)
            if float(hold):
                time.sleep(float(hold))
    sys.stdout.write(f"{json.dumps(waited)}\n")


def ours(folder: Path) -> Callable[[], contextlib.AbstractContextManager[object]]:
    """Return how mc-lock is taken: owner record, sync, and the identity read twice."""
    from mc_lock import acquire_mutation_lock, resolve_state_directory

    environ = {**os.environ, "XDG_STATE_HOME": str(folder)}
    state = resolve_state_directory(None, environ=environ)
    return lambda: acquire_mutation_lock(
        state,
        read_identity=lambda: PROJECT_ID,
        memory_dir=folder,
        project_root=folder,
        command="bench",
        timeout_seconds=TIMEOUT_SECONDS,
        notify=sys.stderr.write,
    )


def of_filelock(folder: Path) -> Callable[[], contextlib.AbstractContextManager[object]]:
    """Return how filelock's default lock is taken."""
    from filelock import FileLock

    return lambda: FileLock(folder / "hard.lock", timeout=TIMEOUT_SECONDS)


def of_soft_filelock(folder: Path) -> Callable[[], contextlib.AbstractContextManager[object]]:
    """Return how filelock's marker file is taken, the nearest to ours."""
    from filelock import SoftFileLock

    return lambda: SoftFileLock(folder / "soft.lock", timeout=TIMEOUT_SECONDS)


LOCKS: Final = {"mc-lock": ours, "filelock": of_filelock, "filelock-soft": of_soft_filelock}


if __name__ == "__main__":
    main()
