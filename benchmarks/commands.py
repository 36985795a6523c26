"""What the commands cost on projects of 10, 1,000 and 20,000 entries, and how that grows.

    python benchmarks/commands.py [--sizes 10,1000,20000] [--growth 2000] [--rounds 3]

Whole processes, CPU seconds of user and system, the least of all rounds. For growth each command
runs on N and on 10 N entries in turns; the ratio of the two must be 11 at most. Written to
`docs/benchmarks/commands.json` and `commands.svg`. Exit code 1 when a command grows faster.
"""

# ruff: noqa: INP001 - a script, not a package

from __future__ import annotations

import argparse
import contextlib
import itertools
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from measuring.curves import curves
from measuring.process import installed_command, least, run
from measuring.project import MeasuredProject
from measuring.results import FOLDER, save, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from measuring.process import Used

ADD: Final = ("add", "--type", "decision", "--evidence", "user-confirmed")
"""An `add` without its message, which must be a new one each time."""
COMMANDS: Final = {
    "read": ("read", "--task", "planning"),
    "status": ("status",),
    "check": ("check",),
    "search": ("search", "adapter cache"),
    "add": ADD,
    "compact": ("compact", "--target", "decisions.md"),
    "forget": ("forget", "number 7."),
    "migrate": ("migrate",),
}
"""The last three as previews, which do all the work of the change but writing it."""
NUMBERS: Final = itertools.count()
WRITERS: Final = 8
GROWTH_LIMIT: Final = 11.0
STEP: Final = 10
FULL_ROUNDS: Final = 1_000
"""On projects up to this many entries a round is short, and more of them are run."""


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, write the figures, and return the exit code."""
    parser = argparse.ArgumentParser(description="Measure the commands on projects of any size.")
    parser.add_argument("--sizes", default="10,1000,20000", help="Entries, with commas.")
    parser.add_argument("--growth", type=int, default=2_000, help="Entries; ten times as many too.")
    parser.add_argument("--rounds", type=int, default=3, help="Runs of each command.")
    options = parser.parse_args(arguments)
    sizes = [int(size) for size in options.sizes.split(",")]
    floor = measure_start(options.rounds * 4)
    figures = {size: measure_size(size, options.rounds) for size in sizes}
    growth = measure_growth(options.growth, options.rounds)
    tables = (_start_table(floor), _size_table(figures), _growth_table(growth))
    sys.stdout.write("\n".join(tables))
    whole = {"start": floor, "commands": figures, "growth": growth}
    sys.stdout.write(f"{save('commands', whole)}\n")
    series = {
        name: [(size, figures[size][name]["cpu_seconds"]) for size in sizes] for name in COMMANDS
    }
    picture = curves("CPU seconds by entries", series, x="entries", y="seconds")
    (FOLDER / "commands.svg").write_text(picture, encoding="utf-8")
    return int(any(row["ratio"] > GROWTH_LIMIT for row in growth.values()))


def measure_start(rounds: int) -> dict[str, float]:
    """Return the CPU seconds of a bare start, of what every command imports, and of commands."""
    with _project(3) as project:
        commands: dict[str, tuple[str, ...]] = {
            "python -c pass": (sys.executable, "-c", "pass"),
            "argparse, hashlib, pathlib": (sys.executable, "-c", "import argparse,hashlib,pathlib"),
        }
        command = installed_command("memory-custodian")
        commands |= {name: (command, name) for name in ("--version", "--help", "status")}
        commands["read"] = (command, *COMMANDS["read"])
        runs: dict[str, list[Used]] = {name: [] for name in commands}
        for _ in range(rounds):
            for name, words in commands.items():
                env = {"XDG_STATE_HOME": str(project.state)}
                runs[name].append(run(words, cwd=project.root, env=env))
    return {name: least(used).cpu_seconds for name, used in runs.items()}


def measure_size(entries: int, rounds: int) -> dict[str, Any]:
    """Return what each command costs on *entries* entries, and eight writers at once."""
    rounds *= 3 if entries <= FULL_ROUNDS else 1
    figures: dict[str, Any] = {}
    with _project(entries) as project, _project(entries, is_old=True) as old:
        figures["bytes"] = project.memory_bytes
        for name, words in COMMANDS.items():
            here = old if name == "migrate" else project
            used = least([run_once(here, words) for _ in range(rounds)])
            figures[name] = {"cpu_seconds": used.cpu_seconds, "peak_mib": used.peak_mib}
        figures["writers"] = measure_writers(project)
    return figures


def run_once(project: MeasuredProject, words: Sequence[str]) -> Used:
    """Run one command; an `add` gets a message of its own, or it would be a refused duplicate."""
    message = (f"Ship on Tuesday number {next(NUMBERS)}",) if words[0] == "add" else ()
    used = project.run(*words, *message)
    if used.exit_code > int(words[0] == "status"):
        raise RuntimeError(f"{' '.join(words)} ended with {used.exit_code}")
    return used


def measure_writers(project: MeasuredProject) -> dict[str, float]:
    """Return wall seconds and exits of eight `add` that start at once."""
    command = [installed_command("memory-custodian"), *ADD]
    begin = time.perf_counter()
    writers = [
        subprocess.Popen(
            [*command, f"Writer number {number} was here"],
            cwd=project.root,
            env={"XDG_STATE_HOME": str(project.state), "PATH": ""},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for number in range(WRITERS)
    ]
    done = sum(writer.wait() == 0 for writer in writers)
    return {"wall_seconds": time.perf_counter() - begin, "written": done, "of": WRITERS}


def measure_growth(entries: int, rounds: int) -> dict[str, dict[str, float]]:
    """Return seconds at *entries*, at ten times as many, and their ratio, by command."""
    growth: dict[str, dict[str, float]] = {}
    with contextlib.ExitStack() as stack:
        made = {
            (size, is_old): stack.enter_context(_project(size, is_old=is_old))
            for size in (entries, STEP * entries)
            for is_old in (False, True)
        }
        for name, words in COMMANDS.items():
            few: list[Used] = []
            many: list[Used] = []
            for _ in range(rounds):
                few.append(run_once(made[entries, name == "migrate"], words))
                many.append(run_once(made[STEP * entries, name == "migrate"], words))
            less, more = least(few).cpu_seconds, least(many).cpu_seconds
            growth[name] = {"less": less, "more": more, "ratio": more / less}
    return growth


@contextlib.contextmanager
def _project(entries: int, *, is_old: bool = False) -> Iterator[MeasuredProject]:
    with tempfile.TemporaryDirectory() as folder:
        yield MeasuredProject(Path(folder), entries, is_old=is_old)


def _start_table(floor: dict[str, float]) -> str:
    rows = [["start", "CPU ms"], *([name, f"{1e3 * value:.1f}"] for name, value in floor.items())]
    return table(rows)


def _size_table(figures: dict[int, dict[str, Any]]) -> str:
    rows: list[Sequence[str]] = [["CPU ms, peak MiB", *(f"{size:,} entries" for size in figures)]]
    for name in COMMANDS:
        used = [row[name] for row in figures.values()]
        rows.append(
            [name, *(f"{1e3 * one['cpu_seconds']:.0f}, {one['peak_mib']:.0f}" for one in used)]
        )
    writers = [row["writers"] for row in figures.values()]
    rows.append(
        [
            f"add, {WRITERS} at once, wall ms (written)",
            *(f"{1e3 * one['wall_seconds']:.0f} ({one['written']})" for one in writers),
        ]
    )
    return table(rows)


def _growth_table(growth: dict[str, dict[str, float]]) -> str:
    rows = [["growth, ten times the entries", "CPU ms", "CPU ms", "ratio"]]
    rows += [
        [name, f"{1e3 * row['less']:.0f}", f"{1e3 * row['more']:.0f}", f"{row['ratio']:.2f}"]
        for name, row in growth.items()
    ]
    return table(rows)


if __name__ == "__main__":
    raise SystemExit(main())
