"""What `add` asks of the system: each read, sync and lock that the rules name, and none more.

Rules: reliability 2 (the manifest is read before and after the lock is taken), 4.5 (each target
once more before its rename), 4.7 and 5.1 (what is synced). Counted in a real process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows syncs no directories")

_PROBE: Final = """
import json, os, stat, sys
seen = {"opened": [], "synced": []}
def watch(event, arguments):
    if event == "open":
        seen["opened"].append([str(arguments[0]), arguments[2]])
sys.addaudithook(watch)
real = os.fsync
def sync(descriptor):
    mode = os.fstat(descriptor).st_mode
    seen["synced"].append("directory" if stat.S_ISDIR(mode) else "file")
    real(descriptor)
os.fsync = sync
from mc_cli.main import main
code = main(sys.argv[1:])
sys.stderr.write("\\0" + json.dumps(seen))
raise SystemExit(code)
"""


@pytest.fixture
def calls(tmp_path: Path, private_home: Path) -> dict[str, Any]:
    """Return what one `add` opened and synced, in a project that has been written to before."""
    project = tmp_path / "project"
    project.mkdir()
    run(project, "-m", "mc_cli", "init")
    done = run(
        project,
        *("-c", _PROBE, "add", "Ship on Tuesdays"),
        *("--type", "decision", "--evidence", "user-confirmed"),
    )
    return dict(json.loads(done.stderr.decode().rpartition("\0")[2]))


def run(project: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=project, check=True, capture_output=True
    )


def opened(calls: dict[str, Any], part: str, *, to_write: bool) -> Counter[str]:
    """Count the opened files below the folder *part*, by name."""
    wanted = [
        path
        for path, flags in calls["opened"]
        if f"/{part}/" in path and bool(flags & os.O_CREAT) is to_write
    ]
    return Counter(os.path.basename(path) for path in wanted)  # noqa: PTH119 - counted as text


def test_add_syncs_lock_journal_and_file_once_and_their_directories(calls: dict[str, Any]) -> None:
    lock, journal, staged = ["file"], ["file", "directory"], ["file", "directory"]
    journal_gone = ["directory"]

    assert lock + journal + staged + journal_gone == calls["synced"]


def test_add_reads_each_memory_file_once_and_its_target_at_the_last_look(
    calls: dict[str, Any],
) -> None:
    read = opened(calls, "docs/memory", to_write=False)

    # Before the lock is taken and under it; the other files because an id must be new.
    assert (read.pop("manifest.md"), read.pop("decisions.md")) == (2, 2)
    assert set(read.values()) == {1}


def test_add_writes_one_lock_one_journal_and_one_staged_file(calls: dict[str, Any]) -> None:
    created = {
        part: sum(opened(calls, part, to_write=True).values())
        for part in ("locks", "journal", "plans", "docs/memory")
    }

    assert created == {"locks": 1, "journal": 1, "plans": 0, "docs/memory": 1}
