"""Throughput of the scanner on Markdown with made-up secrets, and next to other scanners.

    python benchmarks/scan_speed.py [--mb 20] [--floor 5] [--peers]

Writes a tree of Markdown files to a temporary folder, scans it in one process, and prints MB/s and
peak memory. Exit code 1 when the scanner is below `--floor` MB/s of CPU time. `--peers` runs
`detect-secrets` and `gitleaks` on the same tree where they are installed, one after another.
"""

# ruff: noqa: INP001 - a script, not a package

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from mc_scan.testing import fake, fake_kinds

MEGABYTE: Final = 1_000_000
FILE_BYTES: Final = 1 * MEGABYTE
# One made-up secret for so many characters of text: dense for project memory.
SPACING: Final = 1_200
SENTENCES: Final = (
    "Offline first: nothing may need a network connection at run time.",
    "Backoff doubles from 200 ms up to 20 s, and the token bucket refills every second.",
    "Revision 4be91c7 split the reader in two (see `src/reader.py` and docs/reader.md).",
    "The password policy lives in the handbook; never write a password here.",
    "预算上限为 1200 个词元，超出时报告缺口。",
    "| budget | 1,200 | tokens | owner: ops |",
    "- [x] Sockets close after 45 s idle, https://harrow.dev/notes/2026-05-01?page=2",
    "Tests run on 3.10, 3.12 and 3.14; the matrix takes 6 minutes 30 seconds.",
)


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark and return its exit code."""
    parser = argparse.ArgumentParser(description="Measure the throughput of mc-scan.")
    parser.add_argument("--mb", type=float, default=20, help="Size of the tree in MB.")
    parser.add_argument("--floor", type=float, default=5, help="Least MB/s; 0 only measures.")
    parser.add_argument("--peers", action="store_true", help="Run installed peers as well.")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="scan-speed-") as folder:
        size = write_tree(Path(folder), int(options.mb * MEGABYTE))
        own = [sys.executable, "-m", "mc_scan", "--format", "json", folder]
        speed = report("mc-scan", own, size)
        if options.peers:
            for name, command in peers(folder).items():
                if shutil.which(command[0]):
                    print_ratio(speed, report(name, command, size))
                else:
                    sys.stdout.write(f"{name:15} not installed\n")
    return 1 if speed < options.floor else 0


def write_tree(folder: Path, size: int) -> int:
    """Write Markdown files of 1 MB each and return their total size in bytes."""
    dice = random.Random(7)  # noqa: S311 - the same tree in every run
    kinds = fake_kinds()
    total = number = 0
    while total < size:
        parts, length = [f"# Notes {number}\n"], 0
        while length < FILE_BYTES:
            secret = fake(dice.choice(kinds), dice.randrange(1000)).text
            prose = "\n".join(dice.choice(SENTENCES) for _ in range(SPACING // 70))
            parts.append(f"\n## Entry {length}\n\n{prose}\n\n{secret}\n")
            length += len(parts[-1])
        data = "".join(parts).encode()
        (folder / f"notes-{number:04}.md").write_bytes(data)
        total += len(data)
        number += 1
    return total


def peers(folder: str) -> dict[str, list[str]]:
    """Return the commands of other scanners for *folder*."""
    return {
        "detect-secrets": ["detect-secrets", "-c", "1", "scan", "--all-files", folder],
        "gitleaks": ["gitleaks", "dir", "--no-banner", "--exit-code", "0", folder],
    }


def report(name: str, command: list[str], size: int) -> float:
    """Run *command*, print what it took, and return its MB/s of CPU time."""
    start = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        if hasattr(os, "wait4"):
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            seconds, peak = usage.ru_utime + usage.ru_stime, f"{usage.ru_maxrss / 1024:.0f} MB"
        else:
            process.wait()
            seconds, peak = time.monotonic() - start, "unknown"
    speed = size / MEGABYTE / seconds
    sys.stdout.write(f"{name:15} {speed:6.2f} MB/s of CPU time, peak memory {peak}\n")
    return speed


def print_ratio(own: float, other: float) -> None:
    """Print how many times faster the scanner is."""
    sys.stdout.write(f"{'':15} {own / other:6.1f} times\n")


if __name__ == "__main__":
    raise SystemExit(main())
