"""Ours beside its peers on the same work in one run: retrieval, scanning, locking.

    python benchmarks/peers.py [--records 1500,10000] [--mb 4] [--rounds 3]

Whole processes in turns, CPU seconds of user and system, the least of all rounds; the ratio is ours
by the peer's, so below 1 ours is ahead. Written to `docs/benchmarks/peers.json`.
"""

# ruff: noqa: INP001 - a script, not a package

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from measuring.process import installed_command, least, run
from measuring.results import save, table
from retrieve_contract import COMMON, make_corpus
from scan_speed import write_tree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from measuring.process import Used

HERE: Final = Path(__file__).resolve().parent / "measuring"
ENGINES: Final = ("bm25s", "rank-bm25", "sqlite-fts5")
ACTIONS: Final = {
    "search": ("search", COMMON),
    "status": ("status",),
    "rebuild": ("rebuild", "--from-canonical"),
}
LOCKS: Final = ("filelock", "filelock-soft")
TURNS: Final = 200
CONTENDERS: Final = 8
CONTENDED_TURNS: Final = 5
HOLD_SECONDS: Final = 0.005
PEERS: Final = ("bm25s", "rank-bm25", "detect-secrets", "filelock", "numpy")


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, write the figures, and return the exit code."""
    parser = argparse.ArgumentParser(description="Measure ours beside its peers.")
    parser.add_argument("--records", default="1500,10000", help="Corpus sizes, with commas.")
    parser.add_argument("--mb", type=int, default=4, help="Megabytes of Markdown to scan.")
    parser.add_argument("--rounds", type=int, default=3, help="Runs of each process.")
    options = parser.parse_args(arguments)
    figures: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for records in map(int, options.records.split(",")):
            root = make_corpus(folder / f"lines-{records}", records, markdown=0)
            figures += compare_retrieval(root, records, options.rounds)
        figures += compare_scan(folder / "tree", options.mb, options.rounds)
        figures += compare_locks(folder, options.rounds)
    sys.stdout.write(_table(figures))
    sys.stdout.write(f"{save('peers', figures, peers=PEERS)}\n")
    return 0


def compare_retrieval(root: Path, records: int, rounds: int) -> list[dict[str, Any]]:
    """Compare the contract commands with each engine on the corpus at *root*."""
    script = str(HERE / "peer_search.py")
    figures = []
    for action, words in ACTIONS.items():
        commands = {"ours": [installed_command("mc-cortex"), *words, "--memory-root", str(root)]}
        for engine in ENGINES:
            commands[engine] = [sys.executable, script, engine, action, str(root), COMMON]
        figures += _compared(f"{action}, {records:,} records", _in_turns(commands, root, rounds))
    return figures


def compare_scan(tree: Path, megabytes: int, rounds: int) -> list[dict[str, Any]]:
    """Compare the scanner with detect-secrets on *megabytes* of Markdown with made-up secrets."""
    tree.mkdir()
    write_tree(tree, megabytes * 1_000_000)
    commands = {
        "ours": [sys.executable, "-m", "mc_scan", str(tree)],
        "detect-secrets": [
            *(installed_command("detect-secrets"), "-c", "1", "scan", "--all-files"),
            str(tree),
        ],
    }
    return _compared(f"scan, {megabytes} MB", _in_turns(commands, tree, rounds))


def compare_locks(folder: Path, rounds: int) -> list[dict[str, Any]]:
    """Compare one process that takes turns alone, then eight that want turns at once."""
    names = ("mc-lock", *LOCKS)
    places = {name: folder / name for name in names}
    for place in places.values():
        place.mkdir()
    alone: dict[str, list[float]] = {name: [] for name in names}
    together: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    for _ in range(rounds):
        for name, place in places.items():
            alone[name].append(statistics.median(_turns(name, place, TURNS)))
            together[name].append(_contend(name, place))
    best = {name: min(found) for name, found in alone.items()}
    figures = _ratios("lock, uncontended, wall", best)
    for key, title in (("total", "until all are done"), ("longest", "longest wait")):
        middle = {
            name: statistics.median(found[key] for found in runs) for name, runs in together.items()
        }
        figures += _ratios(f"lock, {CONTENDERS} contenders, {title}, wall", middle)
    return figures


def _turns(name: str, place: Path, turns: int) -> list[float]:
    command = [sys.executable, str(HERE / "lock_turns.py"), name, str(place), str(turns), "0"]
    return [float(second) for second in json.loads(run(command, cwd=place).output)]


def _contend(name: str, place: Path) -> dict[str, float]:
    words = [name, str(place), str(CONTENDED_TURNS), str(HOLD_SECONDS)]
    command = [sys.executable, str(HERE / "lock_turns.py"), *words]
    begin = time.perf_counter()
    contenders = [
        subprocess.Popen(command, stdout=subprocess.PIPE, cwd=place) for _ in range(CONTENDERS)
    ]
    waits = [second for one in contenders for second in json.loads(one.communicate()[0])]
    return {"total": time.perf_counter() - begin, "longest": max(waits)}


def _in_turns(
    commands: Mapping[str, Sequence[str]], cwd: Path, rounds: int
) -> dict[str, list[Used]]:
    runs: dict[str, list[Used]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            runs[name].append(run(command, cwd=cwd))
    return runs


def _compared(work: str, runs: Mapping[str, Sequence[Used]]) -> list[dict[str, Any]]:
    best = {name: least(used) for name, used in runs.items()}
    figures = _ratios(f"{work}, CPU", {name: used.cpu_seconds for name, used in best.items()})
    for row in figures:
        row["our_peak_mib"] = best["ours"].peak_mib
        row["peak_mib"] = best[row["peer"]].peak_mib
    return figures


def _ratios(work: str, seconds: Mapping[str, float]) -> list[dict[str, Any]]:
    ours, *peers = seconds
    return [
        {
            "work": work,
            "peer": peer,
            "our_seconds": seconds[ours],
            "seconds": seconds[peer],
            "ratio": seconds[ours] / seconds[peer],
        }
        for peer in peers
    ]


def _table(figures: Sequence[Mapping[str, Any]]) -> str:
    rows = [["work", "peer", "ours, ms", "peer, ms", "ours by peer"]]
    for row in figures:
        times = (f"{1e3 * row['our_seconds']:.2f}", f"{1e3 * row['seconds']:.2f}")
        rows.append([row["work"], row["peer"], *times, f"{row['ratio']:.2f}"])
    return table(rows)


if __name__ == "__main__":
    raise SystemExit(main())
