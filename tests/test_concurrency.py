"""Many processes on one project: nothing lost, nothing doubled, nothing torn, nothing left.

Source: reliability specification 0, 2 and 7; field reports D1, D6, D9, D16, D18.
"""

from __future__ import annotations

import collections
import json
import os
import re
import shutil
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Final

import pytest
from mc_lock.testing import ended_pid
from place import ENTRY_ID, PLAN_LINE, Place, new_place
from scenario import older_place

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

EVIDENCE: Final = ["--evidence", "user-confirmed"]
PROCESSES: Final = 8
OPERATIONS: Final = 25
MIX: Final = ("add", "add", "candidate", "add", "compact", "forget", "check", "supersede")
HEADING: Final = re.compile(r"^## (MC-\S+)", re.MULTILINE)

# One process that runs many commands, told which by its number: the lock is fought for most of
# the time. Every answer is printed as one JSON line with what the command said.
WORKER: Final = r"""
import contextlib, io, json, re, sys, time
from mc_cli.main import main
number, count, mix = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3].split(",")
answers = sys.stdout
def run(*words):
    out, err = io.StringIO(), io.StringIO()
    start = time.monotonic()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(list(words))
    return code, out.getvalue(), err.getvalue(), time.monotonic() - start
def report(kind, mark, code, err, waited, **more):
    record = {"kind": kind, "mark": mark, "code": code, "err": err, "seconds": waited, **more}
    answers.write(json.dumps(record) + "\n"); answers.flush()
def confirmed(words):
    # As the refusal of a stale plan says: it already shows the next id.
    code, out, err, spent = run(*words)
    for _ in range(6):
        found = re.findall(r"^Plan ID: (\w{16})$", out, re.M)
        if not found or "Nothing to change." in out and not code:
            break
        code, out, err, more = run(*words, "--apply", "--confirm-plan", found[0])
        spent += more
        if code != 3:
            break
    return code, out, err, spent
evidence = ["--evidence", "user-confirmed"]
mine = []
sys.stdin.readline()
for step in range(count):
    kind = mix[(step + number) % len(mix)]
    mark = f"mark w{number}s{step} end"
    if kind == "add":
        code, out, err, spent = run("add", mark, "--type", "decision", *evidence)
        mine += re.findall(r"MC-DEC-[\w-]+", out)[:1] if code == 0 else []
    elif kind == "candidate":
        code, out, err, spent = run("add", mark, "--candidate")
    elif kind == "supersede" and mine:
        old = mine.pop()
        code, out, err, spent = confirmed(["add", mark, "--supersedes", old, *evidence])
    elif kind == "forget":
        old = f"w{number}s{step - 4} end"
        code, out, err, spent = confirmed(["forget", old, "--mode", "purge"])
        mark = f"mark {old}"
    elif kind == "compact":
        code, out, err, spent = confirmed(["compact"])
    else:
        kind = "check"
        code, out, err, spent = run("check")
    report(kind, mark, code, err, spent)
"""


def start_workers(place: Place, count: int, operations: int, mix: tuple[str, ...]) -> Any:
    import subprocess as processes

    workers = [
        processes.Popen(
            [sys.executable, "-c", WORKER, str(number), str(operations), ",".join(mix)],
            cwd=place.root,
            env=place.environment(),
            stdin=processes.PIPE,
            stdout=processes.PIPE,
            stderr=processes.PIPE,
            text=True,
        )
        for number in range(count)
    ]
    # All wait for a line, so that none is done before the last has started.
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    return workers


def answers_of(workers: list[subprocess.Popen[str]]) -> list[dict[str, Any]]:
    answers: list[dict[str, Any]] = []
    for worker in workers:
        out, err = worker.communicate()
        assert worker.returncode == 0, err
        assert "Traceback" not in err
        answers += map(json.loads, out.splitlines())
    return answers


def memory_text(place: Place) -> str:
    return "".join(
        path.read_bytes().decode("utf-8") + "\n" for path in sorted(place.memory.rglob("*.md"))
    )


def check_mix(place: Place, answers: list[dict[str, Any]]) -> collections.Counter[str]:
    """Every acknowledged change is there exactly once; every refused one is not there at all."""
    text = memory_text(place)
    said: dict[str, dict[str, int]] = collections.defaultdict(dict)
    for answer in answers:
        said[answer["mark"]][answer["kind"]] = answer["code"]
    for mark, kinds in said.items():
        kept = len(re.findall(rf"^{re.escape(mark)}$", text, re.MULTILINE))
        made = any(kinds.get(kind) == 0 for kind in ("add", "candidate", "supersede"))
        forgotten = kinds.get("forget") == 0
        assert kept <= 1, (mark, kinds)
        if forgotten:
            assert kept == 0, (mark, kinds)
        elif made:
            assert kept == 1, (mark, kinds)
        else:
            assert kept == 0, (mark, kinds)
    ids = HEADING.findall(text)
    assert len(ids) == len(set(ids))
    assert text.count("<<<") == 0
    for answer in answers:
        gates = {"check": {0, 1}, "forget": {0, 1, 3, 4}, "supersede": {0, 1, 3, 4}}
        allowed = gates.get(answer["kind"], {0, 3, 4})
        assert answer["code"] in allowed, answer
        if answer["code"]:
            assert answer["err"], answer
    assert place.leftovers() == []
    assert place.call("check").code == 0
    return collections.Counter(f"{answer['kind']} {answer['code']}" for answer in answers)


def patient_place(base: Path) -> Place:
    place = new_place(base, extended=True)
    (place.root / "memory-custodian.toml").write_text("lock-timeout = 60\n", "utf-8")
    return place


def test_mixed_commands_of_several_processes_lose_nothing(tmp_path: Path) -> None:
    place = patient_place(tmp_path / "machine")

    answers = answers_of(start_workers(place, 4, 8, MIX))

    counts = check_mix(place, answers)
    assert counts["add 0"] == 12
    assert sum(counts.values()) == 32


@pytest.mark.torture
@pytest.mark.parametrize("round_number", range(3))
def test_two_hundred_mixed_operations_lose_nothing(tmp_path: Path, round_number: int) -> None:
    place = new_place(tmp_path / "machine", extended=True)
    start = time.monotonic()

    answers = answers_of(start_workers(place, PROCESSES, OPERATIONS, MIX))

    spent = time.monotonic() - start
    counts = check_mix(place, answers)
    waits = sorted(answer["seconds"] for answer in answers)
    shown = {q: round(waits[int(len(waits) * q / 100)], 2) for q in (50, 90, 99)}
    refused = sum(answer["code"] == 4 for answer in answers)
    sys.stderr.write(
        f"\nround {round_number}: {len(answers)} commands, {len(answers) / spent:.1f}/s, "
        f"seconds p50/p90/p99 {shown} max {waits[-1]:.2f}, lock time-outs {refused}, "
        f"{dict(sorted(counts.items()))}\n"
    )
    assert len(answers) == PROCESSES * OPERATIONS


@pytest.mark.torture
def test_soak_of_sixteen_processes_loses_nothing(tmp_path: Path) -> None:
    place = patient_place(tmp_path / "machine")

    answers = answers_of(start_workers(place, 16, 60, MIX))

    sys.stderr.write(f"\nsoak: {dict(sorted(check_mix(place, answers).items()))}\n")
    assert len(answers) == 16 * 60


def race_migrations(place: Place, migrations: int, adds: int) -> list[tuple[str, int, str]]:
    words = place.require("migrate").apply_words
    racing = [("migrate", place.start(*words)) for _ in range(migrations)]
    racing += [
        (f"Raced {n}.", place.start("add", f"Raced {n}.", "--type", "decision", *EVIDENCE))
        for n in range(adds)
    ]
    ended = []
    for name, process in racing:
        _, err = process.communicate()
        ended.append((name, process.returncode, err.decode()))
    return ended


def check_migration_race(place: Place, ended: list[tuple[str, int, str]]) -> None:
    text = place.text("decisions.md")
    for name, code, err in ended:
        assert "Traceback" not in err
        if name == "migrate":
            # Not the first: nothing is left to do, or the plan is stale.
            assert code in (0, 3, 4), (name, code, err)
        else:
            kept = text.count(f"\n{name}\n") + text.count(f"\n- {name}\n")
            assert (code, kept) in ((0, 1), (4, 0)), (name, code, kept, err)
    assert place.text("manifest.md").count("project_id:") <= 1
    assert place.leftovers() == []
    assert text.count("Keep exports in CSV.\n") == 1


def test_migration_racing_adds_loses_none(tmp_path: Path) -> None:
    place = older_place(tmp_path / "machine")

    check_migration_race(place, race_migrations(place, 2, 3))

    place.apply("migrate") if "0.5" in place.text("manifest.md") else None
    assert place.call("check").code == 0


@pytest.mark.torture
def test_six_migrations_against_four_adds_lose_none(tmp_path: Path) -> None:
    outcomes: collections.Counter[str] = collections.Counter()
    for number in range(12):
        place = older_place(tmp_path / str(number))
        ended = race_migrations(place, 6, 4)
        check_migration_race(place, ended)
        outcomes.update(f"{'add' if name != 'migrate' else name} {code}" for name, code, _ in ended)
    sys.stderr.write(f"\nmigration races: {dict(outcomes)}\n")


def leave_dead_lock(place: Place) -> Path:
    """Put a lock there whose owner has ended, as a killed command leaves it."""
    identity = re.findall("project_id: (.*)", place.text("manifest.md"))[0]
    place.call("enable", "changelog")
    path = place.state / "locks" / f"{identity}.lock"
    import socket

    record = {
        "project_id": identity,
        "project_root": str(place.root),
        "pid": ended_pid(),
        "hostname": socket.gethostname(),
        "created_at": "2020-01-01T00:00:00+00:00",
        "command": "add",
    }
    path.write_text(json.dumps(record), "utf-8")
    path.chmod(0o600)
    os.utime(path, (1_577_836_800, 1_577_836_800))
    return path


def race_breakers(place: Place, breakers: int, plain: int) -> None:
    leave_dead_lock(place)
    racing = [
        (
            f"Breaker {n}.",
            place.start("add", f"Breaker {n}.", "--candidate", "--break-stale-lock"),
        )
        for n in range(breakers)
    ]
    racing += [
        (f"Plain {n}.", place.start("add", f"Plain {n}.", "--candidate")) for n in range(plain)
    ]
    ended = [(name, *process.communicate(), process.returncode) for name, process in racing]

    text = place.text("inbox.md")
    broke = 0
    for name, _, err, code in ended:
        said = err.decode()
        broke += "broke the lock of" in said
        assert "Traceback" not in said
        assert (code, text.count(f"\n{name}\n")) in ((0, 1), (4, 0)), (name, said)
        if name.startswith("Breaker"):
            assert code == 0, said
    assert broke >= 1
    assert len(HEADING.findall(text)) == len(set(HEADING.findall(text)))
    assert place.leftovers() == []


def test_two_breakers_of_one_stale_lock_both_write_once(tmp_path: Path) -> None:
    race_breakers(patient_place(tmp_path / "machine"), 2, 0)


@pytest.mark.torture
def test_six_breakers_and_two_plain_writers_lose_nothing(tmp_path: Path) -> None:
    for number in range(10):
        race_breakers(patient_place(tmp_path / str(number)), 6, 2)


def test_two_checkouts_of_one_project_are_both_written(tmp_path: Path) -> None:
    """They share an id, so their writers take turns; neither ever sees the other's files."""
    one = patient_place(tmp_path / "machine")
    second = one.base / "second"
    shutil.copytree(one.root, second)

    adds = [
        one.start("add", f"In {n}.", "--candidate", "--project-root", str(root))
        for n, root in enumerate([one.root, second] * 2)
    ]
    errors = [process.communicate()[1] for process in adds]

    assert [process.returncode for process in adds] == [0] * 4, errors
    texts = [(root / "docs/memory/inbox.md").read_text() for root in (one.root, second)]
    found = [[f"\nIn {n}.\n" in text for n in range(4)] for text in texts]
    assert found == [[True, False, True, False], [False, True, False, True]]
    assert one.leftovers() == []


def test_journal_of_one_checkout_does_not_stop_the_other(tmp_path: Path) -> None:
    one = new_place(tmp_path / "machine")
    second = one.base / "second"
    shutil.copytree(one.root, second)
    killing = (
        "import sys\nfrom mc_plan import files\nfrom mc_plan.testing import KillingFilesystem\n"
    )
    killing += (
        "files.SYSTEM = KillingFilesystem(9)\nfrom mc_cli.main import main\nmain(sys.argv[1:])"
    )
    one.run("add", "Killed.", "--candidate", code=killing)
    one.age_locks()

    other = one.call(
        "add", "Fine.", "--candidate", "--project-root", str(second), "--break-stale-lock"
    )
    here = one.call("add", "Stopped.", "--candidate")

    assert (other.code, here.code) == (0, 5), (other, here)


def test_reader_sees_whole_files_while_others_write(tmp_path: Path) -> None:
    """A file is before or after, never half: every entry that is read ends as it was written."""
    place = patient_place(tmp_path / "machine")
    place.add("First mark w9s9 end")
    workers = start_workers(place, 2, 8, ("add", "supersede", "add", "compact"))
    torn: list[str] = []
    reads = 0

    def watch() -> None:
        nonlocal reads
        while any(worker.poll() is None for worker in workers):
            for path in place.memory.rglob("*.md"):
                try:
                    text = path.read_bytes().decode("utf-8")
                except FileNotFoundError:
                    continue
                reads += 1
                units = re.split(r"^(?=## )", text, flags=re.MULTILINE)[1:]
                torn.extend(unit for unit in units if "mark" in unit and "end" not in unit)
                if not text.endswith("\n"):
                    torn.append(text)

    watcher = threading.Thread(target=watch)
    watcher.start()
    packs = [place.run("read", "--task", "planning") for _ in range(6)]
    watcher.join()
    answers = answers_of(workers)

    assert torn == []
    assert reads > 20
    for pack in packs:
        assert pack.code == 0
        assert "Traceback" not in pack.err
        assert "unreadable" not in pack.out
    for answer in answers:
        # 1 is the answer to a chain that the other process has closed since the preview.
        assert answer["code"] in {0, 1, 3, 4}, answer
        assert not answer["code"] or "no files were written" in answer["err"], answer
    assert "First mark w9s9 end" in packs[-1].out


def test_two_spellings_of_one_root_share_one_lock(tmp_path: Path) -> None:
    """Field report D16."""
    place = older_place(tmp_path / "machine")
    link = place.base / "link"
    link.symlink_to(place.root)
    roots = [str(place.root), str(link), f"{place.root}/", f"{place.root}/docs/.."]
    (place.root / "memory-custodian.toml").write_text("lock-timeout = 60\n", "utf-8")

    adds = [
        place.start("add", f"Spelled {n}.", "--type", "inbox", "--project-root", root)
        for n, root in enumerate(roots)
    ]
    errors = [process.communicate()[1] for process in adds]

    assert [process.returncode for process in adds] == [0] * 4, errors
    text = place.text("inbox.md")
    assert [text.count(f"Spelled {n}.") for n in range(4)] == [1] * 4
    assert place.leftovers() == []


def test_two_projects_of_one_name_share_nothing(tmp_path: Path) -> None:
    """Field report D18."""
    one, two = (new_place(tmp_path / name) for name in "ab")
    two = two._replace(base=two.base)
    shared = {"XDG_STATE_HOME": str(one.base / "state")}
    adds = [
        place.start("add", f"For {place.base.name}.", "--candidate", env=shared)
        for place in (one, two)
    ]
    codes = [(process.communicate(), process.returncode)[1] for process in adds]

    assert codes == [0, 0]
    assert ["For b." in one.text("inbox.md"), "For a." in two.text("inbox.md")] == [False, False]


@pytest.mark.torture
def test_random_kills_during_a_soak_lose_no_acknowledged_change(tmp_path: Path) -> None:
    """Commands are killed at random instants; each time the messages lead out."""
    import random

    chance = random.Random(20_261_130)
    place = new_place(tmp_path / "machine", extended=True)
    (place.root / "memory-custodian.toml").write_text("lock-timeout = 0.2\n", "utf-8")
    kept: list[str] = []
    killed = recovered = 0
    for number in range(150):
        mark = f"Soaked {number}."
        process = place.start("add", mark, "--type", "decision", *EVIDENCE)
        try:
            process.wait(timeout=chance.uniform(0.05, 0.4))
        except Exception:  # noqa: BLE001 - TimeoutExpired, imported by nobody here
            process.kill()
            killed += 1
        process.communicate()
        if process.returncode == 0:
            kept.append(mark)
        place.age_locks()
        probe = place.call("enable", "changelog", "--break-stale-lock")
        if probe.code == 5:
            recovered += 1
            place.require(*place.require("recover").apply_words)
        assert place.leftovers() == [], number
        text = place.text("decisions.md")
        assert [each for each in kept if text.count(f"\n{each}\n") != 1] == []
    sys.stderr.write(f"\nrandom kills: {killed} of 150 killed, {recovered} recovered\n")
    assert len(ENTRY_ID.findall(place.text("decisions.md"))) >= len(kept)
    assert PLAN_LINE.pattern
