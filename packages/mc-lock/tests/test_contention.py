"""Several real processes at one project: no update is lost, no lock is left."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from mc_lock import resolve_state_directory, this_host
from mc_lock.testing import EPOCH, ended_pid, lock_path, owner_record, write_lock

if TYPE_CHECKING:
    from pathlib import Path

# Each turn reads a number, and writes the next one: without a lock, turns overwrite each other.
WORKER = """
import os, sys
from pathlib import Path
from mc_lock import *

root, turns, break_stale = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "break"
counter = root / "counter"
done = 0
sys.stdin.readline()
for _ in range(turns):
    try:
        with acquire_mutation_lock(
            resolve_state_directory(root),
            read_identity=lambda: None,
            memory_dir=root / "docs" / "memory",
            project_root=root,
            command="add",
            notify=lambda line: None,
            break_stale=break_stale,
            timeout_seconds=300,
        ) as lock:
            number = int(counter.read_text())
            (root / f"next-{os.getpid()}").write_text(str(number + 1))
            if not lock.still_ours():
                continue
            os.replace(root / f"next-{os.getpid()}", counter)
            done += 1
    except LockError as error:
        sys.stderr.write(f"{type(error).__name__} {error}\\n")
sys.stdout.write(str(done))
"""


def run_workers(project: Path, home: Path, plans: list[tuple[int, str]]) -> tuple[list[int], str]:
    """Start all workers at once; return how many turns each says it made, and their errors."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(project), str(turns), flag],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "XDG_STATE_HOME": str(home)},
            text=True,
        )
        for turns, flag in plans
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    answers = [process.communicate(timeout=300) for process in processes]
    assert [0] * len(processes) == [process.returncode for process in processes]
    return [int(out) for out, _ in answers], "".join(err for _, err in answers)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_six_processes_lose_no_update(project: Path, tmp_path: Path) -> None:
    (project / "counter").write_text("0")

    done, errors = run_workers(project, tmp_path, [(20, "plain")] * 6)

    assert errors == ""
    assert done == [20] * 6
    assert (project / "counter").read_text() == "120"
    assert names_in(tmp_path / "memory-custodian" / "locks") == []


def test_breakers_of_one_dead_lock_exclude_each_other(project: Path, tmp_path: Path) -> None:
    state = resolve_state_directory(project, environ={"XDG_STATE_HOME": str(tmp_path)}).ensure()
    memory = project / "docs" / "memory"
    owner = owner_record(host=this_host()._replace(pid=ended_pid(), start="gone"))
    for _ in range(3):
        (project / "counter").write_text("0")
        write_lock(lock_path(state, None, memory), owner, written=EPOCH)

        done, errors = run_workers(project, tmp_path, [(3, "break")] * 4 + [(1, "plain")] * 2)

        assert str(sum(done)) == (project / "counter").read_text()
        assert done[:4] == [3] * 4, errors
        assert all("StaleLockError" in line for line in errors.splitlines())
        assert names_in(state.locks) == []
