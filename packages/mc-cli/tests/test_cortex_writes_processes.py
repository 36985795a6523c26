"""Real processes: concurrent writers lose nothing; a killed one's message leads out."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import mc_plan.files
import pytest
from mc_cli.cortex import run
from mc_cli.cortex.testing import (
    files_of,
    get,
    idea,
    make_root,
    memory,
    memory_set,
    proposal,
    rebuild,
    store,
)
from mc_cli.main import main
from mc_lock.testing import holder_process
from mc_plan.testing import CountingFilesystem, KillingFilesystem

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WRITERS = 8
COMMAND = re.compile(r"`(memory-custodian [^`]+)`")
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="killing at a call needs fork")
ITEMS = {"note": idea(), "hot": memory("RULE: new"), "proposal": proposal()}


def start(root: Path, item: dict[str, Any]) -> subprocess.Popen[bytes]:
    command = "propose" if item["type"] == "proposal" else "remember"
    options = ["--adapter", "codex", "--allow-write", "--memory-root", str(root)]
    argv = [sys.executable, "-m", "mc_cli", "cortex", command, json.dumps(item), *options]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def answers(processes: list[subprocess.Popen[bytes]]) -> list[dict[str, Any]]:
    return [json.loads(process.communicate(timeout=120)[0]) for process in processes]


@pytest.mark.parametrize("layout", [1, pytest.param(2, marks=pytest.mark.torture)])
def test_eight_writers_lose_nothing(tmp_path: Path, layout: int) -> None:
    root = make_root(tmp_path, layout)
    base = root if layout == 1 else root / "MEMORY"
    items = [
        item
        for number in range(WRITERS)
        for item in (
            idea("Shared", f"part {number}"),
            memory(f"RULE: {number}"),
            proposal(f"edit {number}"),
        )
    ]

    said = []
    for first in range(0, len(items), WRITERS):
        said += answers([start(root, item) for item in items[first : first + WRITERS]])

    # On a machine that is this busy a lock may time out; a refused write is said to be refused.
    assert all(each["ok"] or "ELOCKED" in each["error"]["message"] for each in said)
    accepted = [item for item, each in zip(items, said, strict=True) if each["ok"]]
    note = (base / "KNOWLEDGE/Ideas/shared.md").read_text()
    hot = (base / "PRINCIPAL_MEMORY.md").read_text()
    queue = (base / "OBSERVABILITY/pending-proposals.jsonl").read_text()
    for item in accepted:
        assert (
            f"{note}\n{hot}\n{queue}".count(
                f"{item['content']}\n" if "content" in item else f'"edit":"{item["edit"]}"'
            )
            == 1
        )
    rows = [
        json.loads(line)
        for log in ("tier-b-writes", "memory-writes")
        for line in (base / f"OBSERVABILITY/{log}.jsonl").read_text().splitlines()
    ]
    assert len(accepted) == len(rows)
    assert len(accepted) > len(items) // 2
    assert rebuild(root)["equivalent"] is True


def in_child(root: Path, item: dict[str, Any], call: int) -> int:
    """Write *item* in a child that is killed before its mutating call number *call*."""
    child = os.fork()
    if child == 0:
        try:
            mc_plan.files.SYSTEM = KillingFilesystem(call)
            store(root, item)
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def calls_of(root: Path, item: dict[str, Any]) -> int:
    counting = CountingFilesystem()
    real, mc_plan.files.SYSTEM = mc_plan.files.SYSTEM, counting
    try:
        store(root, item)
    finally:
        mc_plan.files.SYSTEM = real
    return len(counting.calls)


def age_locks(state_home: Path) -> None:
    """Make every lock look as if it had been written two minutes ago."""
    for lock in (state_home / "memory-custodian" / "locks").iterdir():
        record = json.loads(lock.read_bytes())
        then = datetime.now(timezone.utc) - timedelta(minutes=2)
        record["created_at"] = then.isoformat()
        lock.write_text(json.dumps(record))
        os.utime(lock, (time.time() - 120, time.time() - 120))


def write_again(root: Path, item: dict[str, Any]) -> str:
    """Return the message of a refused write; empty when it is accepted."""
    command = "propose" if item["type"] == "proposal" else "remember"
    options = ["--adapter", "codex", "--allow-write", "--memory-root", str(root)]
    result = run([command, json.dumps(item), *options])
    error = result.envelope["error"]
    if error is None:
        return ""
    assert error["code"] == "internal_error"
    return str(error["message"])


def follow(
    message: str, call: Callable[[list[str]], tuple[int, str]], age: Callable[[], None]
) -> None:
    """Run the command that *message* prints, and what that one says to run, until it is done."""
    if "wait " in message:
        age()
    words = shlex.split(COMMAND.findall(message)[-1])[1:]
    code, text = call(words)
    plan = re.search(r"^  memory-custodian (.*--confirm-plan [0-9a-f]{16})$", text, re.MULTILINE)
    if plan is None:
        assert code == 0, text
        return
    code, text = call(
        [*shlex.split(plan[1]), *(["--break-stale-lock"] if "--break" in message else [])]
    )
    assert code == 0, text


@needs_fork
@pytest.mark.parametrize("kind", ITEMS)
def test_writer_killed_at_any_call_leaves_whole_files_and_a_way_out(
    tmp_path: Path, private_home: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    item = ITEMS[kind]
    state_home = private_home / ".local" / "state"

    def prepared(name: str) -> Path:
        root = make_root(tmp_path / name)
        store(root, idea(content="old"))
        store(root, memory_set("RULE: old"))
        return root

    def call(words: list[str]) -> tuple[int, str]:
        code = main(words)
        said = capsys.readouterr()
        return code, said.out + said.err

    twin = prepared("twin")
    last = calls_of(twin, item)
    done = {path: len(data) for path, data in files_of(twin).items()}
    ends = set()
    for number in range(1, last + 1):
        root = prepared(str(number))
        before = files_of(root)

        assert in_child(root, item, number) == -signal.SIGKILL

        for path, data in files_of(root).items():
            if not path.rpartition("/")[2].startswith(".mc-"):
                whole = len(data) in (len(before.get(path, b"")), done.get(path))
                assert whole or path.endswith(".jsonl"), (number, path)
        for _ in range(3):
            message = write_again(root, idea("Probe", f"after {number}"))
            if not message:
                break
            follow(message, call, lambda: age_locks(state_home))
        assert not message, (number, message)
        left = files_of(root)
        assert not [path for path in left if "/.mc-" in path or path.startswith(".mc-")]
        changed = {path for path in before if before[path] != left[path]} - {
            "OBSERVABILITY/tier-b-writes.jsonl"
        }
        ends.add(bool(changed or (left.keys() - before.keys() - {"KNOWLEDGE/Ideas/probe.md"})))
        assert rebuild(root)["equivalent"] is True
    assert {True, False} == ends


def test_printed_command_leads_out_of_a_kill_in_real_processes(
    tmp_path: Path, private_home: Path
) -> None:
    root = make_root(tmp_path)
    script = (
        "import json, sys, mc_plan.files\n"
        "from mc_plan.testing import KillingFilesystem\n"
        "from mc_cli.cortex import main\n"
        "mc_plan.files.SYSTEM = KillingFilesystem(int(sys.argv[1]))\n"
        "main(sys.argv[2:])\n"
    )
    options = ["--adapter", "codex", "--allow-write", "--memory-root", str(root)]
    counting = calls_of(make_root(tmp_path / "twin"), idea())
    argv = [sys.executable, "-c", script, str(counting - 4), "remember", json.dumps(idea())]
    killed = subprocess.run([*argv, *options], capture_output=True, check=False)
    assert killed.returncode not in (0, 1)

    def call(words: list[str]) -> tuple[int, str]:
        argv = [sys.executable, "-m", "mc_cli", *words]
        done = subprocess.run(argv, capture_output=True, check=False)
        return done.returncode, (done.stdout + done.stderr).decode()

    for _ in range(3):
        said = answers([start(root, idea("Probe", "after"))])[0]
        if said["ok"]:
            break
        follow(said["error"]["message"], call, lambda: age_locks(private_home / ".local" / "state"))

    assert said["ok"], said
    assert "after" in get(root, said["data"]["result"]["detail"]["id"])[0]["content"]


def test_printed_command_leads_out_of_a_lock_that_was_left_without_a_change(
    tmp_path: Path, private_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = make_root(tmp_path)
    state_home = private_home / ".local" / "state"
    with holder_process(root, state_home=state_home, memory_dir=".") as holder:
        holder.kill()
        young = write_again(root, idea())
        age_locks(state_home)
        message = write_again(root, idea())
        code = main(shlex.split(COMMAND.findall(message)[-1])[1:])

    assert young.startswith("ELOCKED: ")
    assert "wait " in young
    assert message.startswith("ELOCKED: ")
    assert code == 0, capsys.readouterr()
    assert not write_again(root, idea())
