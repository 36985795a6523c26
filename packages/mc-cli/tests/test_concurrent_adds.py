"""Many real processes add at once: each success is there exactly once, and nothing is left over.

Source: guide section 7.4; reliability specification 7; field reports D1 and D11.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Final

import pytest
from mc_lock import resolve_state_directory

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import RunCommand

WRITERS: Final = 8
ADDS: Final = 25
TYPES: Final = ("decision", "constraint", "inbox", "do-not-use")
MEMORY: Final = "docs/memory"
# One process that adds many times, so that the lock is fought for most of the time.
WRITER: Final = """
import sys
from mc_cli.main import main
sys.stdin.readline()
for number in range({adds}):
    kind = {types!r}[number % 4]
    words = ["--type", kind, "--evidence", "user-confirmed"]
    code = main(["add", f"writer {writer} number {{number}} end", *words])
    print("RESULT", number, code, flush=True)
"""
COMMAND: Final = [sys.executable, "-m", "mc_cli", "add"]
DECISION: Final = ["--type", "decision", "--evidence", "user-confirmed"]


@pytest.fixture
def project(tmp_path: Path, memory_custodian: RunCommand) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "memory-custodian.toml").write_text("lock-timeout = 60\n")
    done = memory_custodian(["init", "--extended"], cwd=root)
    assert done.returncode == 0, done.stderr
    return root


def memory_text(root: Path) -> str:
    return "".join(path.read_text("utf-8") for path in sorted((root / MEMORY).rglob("*.md")))


def require_nothing_left(root: Path) -> None:
    """Check that no lock, journal or temporary is left, and that every id occurs once."""
    state = resolve_state_directory(root)
    assert [path.name for path in (*state.locks.iterdir(), *state.journal.iterdir())] == []
    assert [path for path in root.rglob("*") if path.name.endswith(".tmp")] == []
    ids = re.findall(r"^## (MC-\S+)", memory_text(root), re.MULTILINE)
    assert len(ids) == len(set(ids))


def test_eight_writers_lose_nothing(project: Path) -> None:
    """Fault 35: 12 parallel adds reported 12 successes and kept 5."""
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER.format(adds=ADDS, types=TYPES, writer=number)],
            cwd=project,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(WRITERS)
    ]
    # All wait for a line, so that none is done before the last has started.
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    outputs = [writer.communicate() for writer in writers]

    text = memory_text(project)
    acknowledged = 0
    for number, (out, err) in enumerate(outputs):
        codes = dict(re.findall(r"^RESULT (\d+) (\d+)$", out, re.MULTILINE))
        assert len(codes) == ADDS, err
        for add, code in codes.items():
            said = text.count(f"\nwriter {number} number {add} end\n")
            assert said == (1 if code == "0" else 0), (number, add, code, err)
            assert code in ("0", "4"), err
            acknowledged += code == "0"
    assert acknowledged > WRITERS * ADDS // 2
    require_nothing_left(project)


def test_two_inits_at_once_make_one_project(tmp_path: Path) -> None:
    inits = [
        subprocess.Popen([sys.executable, "-m", "mc_cli", "init"], cwd=tmp_path) for _ in range(3)
    ]
    codes = [init.wait() for init in inits]

    text = (tmp_path / MEMORY / "manifest.md").read_text("utf-8")
    assert codes == [0, 0, 0]
    assert text.count("project_id:") == 1
    require_nothing_left(tmp_path)


def test_two_commands_at_once_are_both_there(project: Path) -> None:
    """Guide section 7.4, with whole commands."""
    adds = [
        subprocess.Popen([*COMMAND, f"Decision {name}", *DECISION], cwd=project)
        for name in ("A", "B")
    ]
    codes = [add.wait() for add in adds]

    text = memory_text(project)
    assert codes == [0, 0]
    assert [text.count(f"\nDecision {name}\n") for name in ("A", "B")] == [1, 1]
    require_nothing_left(project)


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda n: n.name)
def test_a_signal_stops_an_add_before_or_after_its_change_and_says_which(
    project: Path, number: signal.Signals
) -> None:
    """The signal is sent when the process is first seen to hold or want the lock."""
    locks = resolve_state_directory(project).locks
    adds = [
        subprocess.Popen(
            [*COMMAND, f"Signalled {count}", *DECISION],
            cwd=project,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for count in range(6)
    ]
    waiting = list(enumerate(adds))
    while waiting:
        waiting = [(count, add) for count, add in waiting if add.poll() is None]
        if any(locks.iterdir()):
            for _, add in waiting[::2]:
                add.send_signal(number)
            break
    outputs = [(*add.communicate(), add.returncode) for add in adds]

    text = memory_text(project)
    for count, (out, err, code) in enumerate(outputs):
        is_there = text.count(f"\nSignalled {count}\n")
        assert is_there <= 1
        assert "Traceback" not in err
        if code == 0:
            assert is_there == 1
        elif code == 128 + number:
            written = "written: docs/memory/decisions.md" in err
            assert written == (is_there == 1), (out, err)
            assert written or "no files were written" in err
        else:
            # Killed before Python could install its handlers.
            assert code == -number, (code, err)
            assert is_there == 0
    require_nothing_left(project)


@pytest.mark.torture
def test_two_hundred_commands_lose_nothing(project: Path) -> None:
    pending = [
        f"writer {writer} number {number} end"
        for number in range(ADDS)
        for writer in range(WRITERS)
    ]
    running: list[tuple[str, subprocess.Popen[str]]] = []
    results: dict[str, int] = {}
    while pending or running:
        while pending and len(running) < WRITERS:
            message = pending.pop()
            running.append(
                (message, subprocess.Popen([*COMMAND, message, *DECISION], cwd=project, text=True))
            )
        message, process = running.pop(0)
        results[message] = process.wait()

    text = memory_text(project)
    for message, code in results.items():
        assert text.count(f"\n{message}\n") == (1 if code == 0 else 0), (message, code)
    require_nothing_left(project)
