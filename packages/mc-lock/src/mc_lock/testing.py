"""What tests of this package, and of packages that use it, need: a clock, lock files, real owners.

Nothing here sleeps, and nothing has to be patched: an `Effects` with a `FakeClock` is passed where
the real one would be. `holder_process` starts a real process that really holds the lock.
"""

# The calls of `os` are used by name: their flags, descriptors and errno are the subject here.
# ruff: noqa: PTH101

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from mc_lock.effects import Effects
from mc_lock.file_calls import FileCalls
from mc_lock.lock import acquire_mutation_lock
from mc_lock.owner import format_owner, new_owner
from mc_lock.place import LOCK_SUFFIX, guard_key, key_of_project
from mc_lock.process import Host, ProcessState, examine_process, this_host
from mc_lock.state import StateDirectory, resolve_state_directory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from mc_lock.owner import OwnerRecord

EPOCH: Final = 1_785_000_000.0
"""Where a `FakeClock` starts: 2026-07-25."""


class FakeClock:
    """A wall clock and a monotonic clock that only move when something sleeps."""

    def __init__(self, now: float = EPOCH) -> None:
        self.wall = now
        self.elapsed = 0.0
        self.pauses: list[float] = []
        self.on_sleep: Callable[[], None] | None = None
        """Called at each sleep: what another process does meanwhile."""

    def now(self) -> float:
        """Return wall time in seconds since the epoch."""
        return self.wall

    def monotonic(self) -> float:
        """Return seconds slept so far."""
        return self.elapsed

    def sleep(self, seconds: float) -> None:
        """Move both clocks."""
        self.pauses.append(seconds)
        self.wall += seconds
        self.elapsed += seconds
        if self.on_sleep is not None:
            self.on_sleep()


def fake_effects(
    clock: FakeClock,
    *,
    host: Host | None = None,
    processes: Mapping[int, ProcessState] | None = None,
    files: FileCalls = FileCalls(),  # noqa: B008 - an immutable value
) -> Effects:
    """Return effects with *clock*; with *processes*, only the pids named there are alive."""

    def examine(pid: int) -> ProcessState:
        if processes is None:
            return examine_process(pid)
        return processes.get(pid, ProcessState(alive=False, start=None))

    return Effects(
        now=clock.now,
        monotonic=clock.monotonic,
        sleep=clock.sleep,
        host=this_host if host is None else lambda: host,
        examine=examine,
        files=files,
    )


def owner_record(
    *, project_id: str | None = None, created: float = EPOCH, host: Host | None = None
) -> OwnerRecord:
    """Return a well-formed record of *host*, by default of this very process."""
    return new_owner(
        host or this_host(),
        project_id=project_id,
        project_root="/project",
        command="add",
        now=created,
        token="0" * 32,
    )


def lock_path(state: StateDirectory, project_id: str | None, memory_dir: Path) -> Path:
    """Return where the lock of a project, or the guard of a place without an id, lies."""
    return state.locks / ((key_of_project(project_id) or guard_key(memory_dir)) + LOCK_SUFFIX)


def write_lock(path: Path, content: OwnerRecord | bytes, *, written: float = EPOCH) -> None:
    """Put a lock file at *path* as if written at *written* (seconds since the epoch)."""
    path.write_bytes(content if isinstance(content, bytes) else format_owner(content))
    os.chmod(path, 0o600)
    os.utime(path, (written, written))


def ended_pid() -> int:
    """Return the pid of a process that has just ended and been waited for."""
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", ""]) as process:
        process.wait()
    return process.pid


class HolderProcess(NamedTuple):
    """A real process that holds a lock until it is told to release it, or killed."""

    process: subprocess.Popen[bytes]

    @property
    def pid(self) -> int:
        """Its process id."""
        return self.process.pid

    def release(self) -> None:
        """Let it release the lock and wait for its end."""
        self._finish(b"\n")

    def kill(self) -> None:
        """End it at once, without a chance to release (SIGKILL), and wait for its end."""
        if self.process.poll() is None:
            self.process.kill()
        self._finish(b"")

    def _finish(self, line: bytes) -> None:
        for stream in (self.process.stdin, self.process.stdout):
            if stream is None or stream.closed:
                continue
            with contextlib.suppress(OSError):  # it is dead and does not read any more
                if stream is self.process.stdin:
                    stream.write(line)
                stream.close()
        self.process.wait()


@contextlib.contextmanager
def holder_process(
    project_root: Path,
    *,
    state_home: Path,
    project_id: str | None = None,
    memory_dir: str = "docs/memory",
    command: str = "add",
) -> Iterator[HolderProcess]:
    """Start a process that holds the lock of a project; it has it when the ``with`` body begins.

    Args:
        project_root: The project's root.
        state_home: ``XDG_STATE_HOME`` of that process.
        project_id: What its ``read_identity`` returns.
        memory_dir: Relative to *project_root*.
        command: Written into the lock.
    """
    request = [str(project_root), project_id, memory_dir, command]
    process = subprocess.Popen(
        [sys.executable, "-m", "mc_lock.testing", json.dumps(request)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "XDG_STATE_HOME": str(state_home)},
    )
    holder = HolderProcess(process)
    try:
        if process.stdout is None or process.stdout.readline() != b"held\n":
            raise RuntimeError("the holder process could not take the lock")
        yield holder
    finally:
        holder.kill()


def main(argument: str) -> None:
    """Hold a lock until a line arrives on standard input: the body of `holder_process`."""
    project_root, project_id, memory_dir, command = json.loads(argument)
    root = Path(project_root)
    with acquire_mutation_lock(
        resolve_state_directory(root),
        read_identity=lambda: project_id,
        memory_dir=root / memory_dir,
        project_root=root,
        command=command,
        notify=_tell,
    ):
        sys.stdout.write("held\n")
        sys.stdout.flush()
        sys.stdin.readline()


def _tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    main(sys.argv[1])
