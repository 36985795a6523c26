"""Speed and memory of the contract commands, whole processes, beside a naive pass in one run.

    python benchmarks/retrieve_contract.py [--records 1500,10000,50000] [--rounds 11] [--corpus DIR]

For each size a corpus is made (the same bytes every time) and measured in alternating runs:

* `search` for words that most records hold, `status` and `rebuild`: CPU seconds (user and system,
  the least of all rounds) and the largest resident size;
* a naive pass: read every file, lower-case it, tokenise it with a compiled `[a-z0-9]+`.

The ratio is that of the minima. The last table gives the time per record of the largest size
against the smallest with lines alone. POSIX only: `wait4` tells what a child used.
"""

# ruff: noqa: INP001 - a script, not a package

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final, NamedTuple

COMMON: Final = "lorem ipsum dolor"
MAX_MARKDOWN: Final = 9_000
LINES_PER_FILE: Final = 500
VOCABULARY: Final = 6_000
WORDS: Final = 280
FOLDERS: Final = ("Ideas", "People", "Companies", "Research")
FEW_ROUNDS: Final = 3
MANY_RECORDS: Final = 20_000

NAIVE: Final = """
import os, re, sys
token = re.compile("[a-z0-9]+")
total = 0
for base, _, names in os.walk(sys.argv[1]):
    for name in names:
        with open(os.path.join(base, name), encoding="utf-8") as file:
            total += len(token.findall(file.read().lower()))
print(total)
"""


class Used(NamedTuple):
    """What one process used."""

    seconds: float
    """CPU, user and system."""
    mebibytes: float
    """Largest resident size."""


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and return the exit code."""
    parser = argparse.ArgumentParser(description="Measure the contract commands.")
    parser.add_argument("--records", default="1500,10000,50000", help="Sizes, comma-separated.")
    parser.add_argument("--rounds", type=int, default=11, help="Alternating runs of small sizes.")
    parser.add_argument("--corpus", type=Path, help="Measure this corpus instead of made ones.")
    parser.add_argument("--words", default=COMMON, help="What to search for.")
    options = parser.parse_args(arguments)
    if not hasattr(os, "wait4"):
        sys.stdout.write("this system does not tell what a child process used\n")
        return 0
    write_row("corpus", "records", "command", "cpu s", "peak MiB", "naive s", "ratio")
    if options.corpus is not None:
        measure(options.corpus, options.words, options.rounds)
        return 0
    sizes = [int(size) for size in options.records.split(",")]
    with tempfile.TemporaryDirectory(prefix="retrieve-") as folder:
        for size in sizes:
            root = make_corpus(Path(folder, str(size)), size, markdown=min(size, MAX_MARKDOWN))
            rounds = options.rounds if size < MANY_RECORDS else FEW_ROUNDS
            measure(root, options.words, rounds)
        measure_growth(Path(folder), options.words)
    return 0


def measure(root: Path, words: str, rounds: int) -> None:
    """Print one line a command for the corpus at *root*."""
    naive: list[Used] = []
    found: dict[str, list[Used]] = {"search": [], "status": [], "rebuild": []}
    for _ in range(rounds):
        found["search"].append(run_cortex(root, "search", words))
        naive.append(run([sys.executable, "-c", NAIVE, str(root)]))
        found["status"].append(run_cortex(root, "status"))
        found["rebuild"].append(run_cortex(root, "rebuild", "--from-canonical"))
    base = min(used.seconds for used in naive)
    records = count_records(root)
    for command, runs in found.items():
        seconds = min(used.seconds for used in runs)
        peak = max(used.mebibytes for used in runs)
        numbers = (f"{seconds:.3f}", f"{peak:.0f}", f"{base:.3f}", f"{seconds / base:.2f}")
        write_row(root.name, str(records), command, *numbers)


def measure_growth(folder: Path, words: str) -> None:
    """Print the time per record of a large corpus of lines against a small one."""
    small, large = 5_000, 50_000
    each: list[float] = []
    for size in (small, large):
        root = make_corpus(folder / f"lines-{size}", size, markdown=0)
        empty = folder / "empty"
        empty.mkdir(exist_ok=True)
        start = min(run_cortex(empty, "status").seconds for _ in range(FEW_ROUNDS))
        best = min(run_cortex(root, "search", words).seconds for _ in range(FEW_ROUNDS))
        each.append((best - start) / size)
    sys.stdout.write(
        f"\ntime per record, search, lines alone: {each[0] * 1e6:.1f} us of {small}, "
        f"{each[1] * 1e6:.1f} us of {large}, factor {each[1] / each[0]:.2f}\n"
    )


def run_cortex(root: Path, *words: str) -> Used:
    """Run one contract command at *root*."""
    command = "import sys; from mc_cli.main import cortex_main; sys.exit(cortex_main())"
    return run([sys.executable, "-c", command, *words, "--memory-root", str(root)])


def run(command: list[str]) -> Used:
    """Run *command* to its end and return what it used."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    unit = 1 if sys.platform == "darwin" else 1024
    return Used(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / 2**20)


def count_records(root: Path) -> int:
    """Return how many records the corpus at *root* has."""
    command = "import sys; from mc_cli.main import cortex_main; sys.exit(cortex_main())"
    done = subprocess.run(
        [sys.executable, "-c", command, "status", "--memory-root", str(root)],
        stdout=subprocess.PIPE,
        check=True,
    )
    return int(json.loads(done.stdout)["data"]["canonical"]["records"])


def make_corpus(root: Path, records: int, *, markdown: int) -> Path:
    """Write *records* records at *root*, the first *markdown* of them as files of their own."""
    source = random.Random(records)  # noqa: S311 - the same corpus every time
    vocabulary = [f"{source.choice('bdgklmnprst')}{number:x}" for number in range(VOCABULARY)]
    weights = [1 / (rank + 3) for rank in range(VOCABULARY)]
    for name in FOLDERS:
        (root / "KNOWLEDGE" / name).mkdir(parents=True)
    lines: list[str] = []
    for number in range(records):
        body = " ".join(source.choices(vocabulary, weights, k=WORDS)) + f". {COMMON}.\n"
        month, day = number % 12 + 1, number % 28 + 1
        fields = {
            "id": f"record-{number:06d}",
            "type": "idea",
            "title": f"Record {number}",
            "created": f"2025-{month:02d}-{day:02d}",
            "updated": f"2025-{month:02d}-{day:02d}T10:{number % 60:02d}:00Z",
            "source_kind": "internal",
        }
        folder = root / "KNOWLEDGE" / FOLDERS[number % len(FOLDERS)]
        if number < markdown:
            head = "".join(f"{key}: {value}\n" for key, value in fields.items())
            (folder / f"{number:06d}.md").write_text(f"---\n{head}---\n\n{body}")
            continue
        lines.append(json.dumps({**fields, "content": body}) + "\n")
        if len(lines) == LINES_PER_FILE or number + 1 == records:
            (folder / f"{number:06d}.jsonl").write_text("".join(lines))
            lines.clear()
    return root


def write_row(*cells: str) -> None:
    """Print one row of the table."""
    widths = (12, 8, 8, 8, 9, 8, 6)
    row = "  ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
    sys.stdout.write(f"{row}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
