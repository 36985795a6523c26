"""Ten times the entries are at most eleven times the work, for each command.

Work is counted, not timed: calls of functions, in Python and in C, in a real process, and bytes
printed. Shapes are those that once made a command slow: repeated ids, bullets under one heading,
equal bodies, private spans, chains of successors.
"""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING, Final, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FEW: Final = 60
MORE: Final = 200
"""For `compact`, which has something to do from the hundredth decision on."""
COPIES: Final = 4
"""A preview may begin at some size only, and then prints an entry so often at most."""
STEP: Final = 10
LIMIT: Final = 11.0
EVIDENCE: Final = ("--evidence", "user-confirmed")
COMMANDS: Final = {
    "read": ("read", "--task", "maintenance"),
    "status": ("status",),
    "check": ("check",),
    "search": ("search", "anchor"),
    "add": ("add", "Ship on Tuesdays", "--type", "preference", *EVIDENCE),
    "compact": ("compact", "--target", "decisions.md"),
    "compact-inbox": ("compact",),
    "forget": ("forget", "anchor"),
    "migrate": ("migrate",),
}

_PROBE: Final = """
import sys
calls = 0
def count(frame, event, argument):
    global calls
    calls += event in ("call", "c_call")
from mc_cli.main import main
sys.setprofile(count)
code = main(sys.argv[1:])
sys.setprofile(None)
sys.stdout.flush()
sys.stderr.write("\\0" + str(calls))
raise SystemExit(code)
"""


class Work(NamedTuple):
    """What one command did."""

    calls: int
    printed: int
    """Bytes on standard output."""
    given: int
    """Bytes of the units that it worked on."""


def entry(number: int, body: str, *, fields: str = "", code: str = "DEC", own: int = 0) -> str:
    label, status = ("Statement", "candidate") if code == "INBOX" else ("Decision", "active")
    return (
        f"## MC-{code}-20260101-{own or number + 1:08x} — Rule {number}\n\n"
        f"Status: {status}\n{fields}Scope: project\nEvidence:\n- user-confirmed\n\n"
        f"{label}:\n{body}\n\n"
    )


def plain(number: int) -> str:
    return entry(number, f"Use anchor {number} here.")


def repeated_id(number: int) -> str:
    return entry(number, f"Use anchor {number} here.", own=7)


def equal_body(number: int) -> str:
    return entry(number, "Use the anchor.")


def private(number: int) -> str:
    return entry(number, f"Use anchor {number}.") + f"<private>{number}\nx</private>\n\n"


def fenced(number: int) -> str:
    return entry(number, f"Use anchor {number}:\n\n```\n{number}\n```\n\n<!-- {number} -->")


def chained(number: int) -> str:
    successor = f"Supersedes: MC-DEC-20260101-{number + 2:08x}\n"
    return entry(number, f"Use anchor {number} here.", fields=successor)


def bullet(number: int) -> str:
    return f"- Use anchor {number} here.\n"


def section(number: int) -> str:
    return f"## 2025-01-{number % 28 + 1:02d}: Rule {number}\n\nDecision: Use anchor {number}.\n\n"


def candidate(number: int) -> str:
    return entry(number, f"Use {number}.", fields="Candidate-Type: decision\n", code="INBOX")


def measure(folder: Path, entries: int, command: str, shape: Callable[[int], str]) -> Work:
    """Return the work of *command* on a new project with *entries* units of *shape*."""
    folder.mkdir()
    run(folder, "-m", "mc_cli", "init")
    memory = folder / "docs" / "memory"
    path = memory / ("inbox.md" if shape is candidate else "decisions.md")
    units = "".join(shape(number) for number in range(entries))
    path.write_text(path.read_text(encoding="utf-8") + "\n" + units, encoding="utf-8")
    if command == "migrate":
        manifest = memory / "manifest.md"
        old = re.sub(
            r"- protocol_version: .*\n(?:- .*\n)*",
            "- protocol_version: 0.5\n",
            manifest.read_text(encoding="utf-8"),
        )
        manifest.write_text(old, encoding="utf-8")
    done = run(folder, "-c", _PROBE, *COMMANDS[command])
    calls = int(done.stderr.decode().rpartition("\0")[2])
    return Work(calls, len(done.stdout), len(units.encode()))


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, check=False, capture_output=True
    )


@pytest.mark.parametrize(
    ("command", "shape"),
    [
        *(pytest.param(command, plain, id=command) for command in COMMANDS),
        pytest.param("read", private, id="read-private-spans"),
        pytest.param("read", fenced, id="read-fences-and-comments"),
        pytest.param("check", repeated_id, id="check-repeated-ids"),
        pytest.param("check", chained, id="check-chain-of-successors"),
        pytest.param("check", private, id="check-private-spans"),
        pytest.param("search", bullet, id="search-bullets"),
        pytest.param("forget", chained, id="forget-chain-of-successors"),
        pytest.param("compact", equal_body, id="compact-equal-bodies"),
        pytest.param("compact", bullet, id="compact-bullets"),
        pytest.param("compact-inbox", candidate, id="compact-candidates"),
        pytest.param("migrate", section, id="migrate-sections"),
        pytest.param("migrate", bullet, id="migrate-bullets"),
    ],
)
def test_ten_times_the_entries_are_at_most_eleven_times_the_work(
    command: str, shape: Callable[[int], str], tmp_path: Path
) -> None:
    entries = MORE if command == "compact" else FEW
    few = measure(tmp_path / "few", entries, command, shape)
    many = measure(tmp_path / "many", STEP * entries, command, shape)

    assert many.calls <= LIMIT * few.calls
    assert many.printed <= LIMIT * (few.printed + COPIES * few.given)


def test_the_count_sees_work_that_grows_with_the_square(tmp_path: Path) -> None:
    """The probe itself: a quadratic command would be caught."""
    probe = _PROBE.replace(
        "from mc_cli.main import main",
        "main = lambda words: [len(words) for _ in range(int(words[0]) ** 2)] and 0",
    )
    few, many = (
        int(run(tmp_path, "-c", probe, str(size)).stderr.rpartition(b"\0")[2]) for size in (20, 200)
    )

    assert many > LIMIT * few
