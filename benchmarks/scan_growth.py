"""Growth test of the scanner: hostile text of twice the size takes about twice the time.

    python benchmarks/scan_growth.py [--sizes 1,2,4] [--limit 2.6]

Exit code 0 when time(2n) <= limit x time(n) for every pattern, 1 otherwise. CPU time is measured,
the best of several runs, so that a busy machine does not fail the test. Source: rules page, 5.7.
"""

# ruff: noqa: INP001 - a script, not a package

from __future__ import annotations

import argparse
import sys
import time
from itertools import pairwise
from typing import Final

from mc_scan import scan_text

MEGABYTE: Final = 1_000_000
RUNS: Final = 3
# A step this short says nothing about growth.
FLOOR_SECONDS: Final = 0.02

# The patterns of the rules page, then others that aim at single rules.
PATTERNS: Final = (
    *("a", "-", "=", "/", "eyJ", "sk-", "://a:", "password: ", "-----BEGIN", "1 ", "a@a."),
    *("a:", "://", "@", "~", "\\_", "\\", "+1 ", "0", "%2F", "号", "\u200b", "Ａ", "\r", "\n"),
    *("-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\n", "password=", "key: '"),
    *("PuTTY-User-Key-File-3:", " ghs_a.b.", "?sig=a&se=b", " eyJa.eyJa.", "Bearer aaaa1 "),
    *(
        "/home/",
        "C:\\Users\\",
        "-Users-",
        "12 Ab Street, ",
        "xoxb-1-",
        "Q~",
        "AZDO",
        "<!-- mc-scan: ",
    ),
)


def main(arguments: list[str] | None = None) -> int:
    """Run the test and return its exit code."""
    parser = argparse.ArgumentParser(description="Test that scanning time grows linearly.")
    parser.add_argument("--sizes", default="1,2,4", help="Sizes in MB, each twice the one before.")
    parser.add_argument(
        "--limit", type=float, default=2.6, help="Largest factor for twice the size."
    )
    options = parser.parse_args(arguments)
    sizes = [float(size) for size in options.sizes.split(",")]
    failures = 0
    for pattern in PATTERNS:
        seconds = [measure(pattern, int(size * MEGABYTE)) for size in sizes]
        steps = pairwise(seconds)
        factors = [after / max(before, FLOOR_SECONDS) for before, after in steps]
        is_linear = all(factor <= options.limit for factor in factors)
        failures += not is_linear
        times = " ".join(f"{second:7.3f}" for second in seconds)
        shown = ascii(pattern)
        grown = " ".join(f"{factor:4.2f}" for factor in factors)
        sys.stdout.write(f"{'ok  ' if is_linear else 'FAIL'} {times} s  x {grown}  {shown}\n")
    return 1 if failures else 0


def measure(pattern: str, size: int) -> float:
    """Return the best CPU time in seconds for *pattern* repeated up to *size* characters."""
    text = (pattern * (size // len(pattern) + 1))[:size]
    best = float("inf")
    for _ in range(RUNS):
        start = time.process_time()
        scan_text(text, "hostile.md")
        best = min(best, time.process_time() - start)
    return best


if __name__ == "__main__":
    raise SystemExit(main())
