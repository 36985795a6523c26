"""Projects of any size to measure on; the same bytes every time."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, Final

from measuring.process import installed_command, run

if TYPE_CHECKING:
    from pathlib import Path

    from measuring.process import Used

WORDS: Final = [
    "adapter",
    "boundary",
    "cache",
    "commit",
    "daemon",
    "evidence",
    "fixture",
    "gateway",
    "handler",
    "index",
    "journal",
    "kernel",
    "ledger",
    "manifest",
    "network",
    "offset",
    "parser",
    "queue",
    "renderer",
    "schema",
    "token",
    "upload",
    "vector",
    "window",
]
FILES: Final = (
    ("decisions.md", "DEC", "Decision"),
    ("constraints.md", "CON", "Constraint"),
    ("do-not-use.md", "DNU", "Rejected"),
)
OLD_METADATA: Final = "- protocol_version: 0.5\n- initialized_with: memory-custodian 0.9.1\n"


class MeasuredProject:
    """A project in a folder of its own, with a state directory of its own beside it."""

    def __init__(self, folder: Path, entries: int, *, is_old: bool = False) -> None:
        self.root = folder / "project"
        self.state = folder / "state"
        self.root.mkdir(parents=True)
        (self.root / "README.md").write_text("# Measured\n", encoding="utf-8")
        self.run("init")
        write_entries(self.root / "docs" / "memory", entries, is_old=is_old)

    def run(self, *arguments: str) -> Used:
        """Run `memory-custodian` in the project."""
        command = [installed_command("memory-custodian"), *arguments]
        return run(command, cwd=self.root, env={"XDG_STATE_HOME": str(self.state)})

    @property
    def memory_bytes(self) -> int:
        """Bytes of all memory files."""
        files = (self.root / "docs" / "memory").rglob("*.md")
        return sum(path.stat().st_size for path in files)


def write_entries(memory: Path, entries: int, *, is_old: bool) -> None:
    """Put *entries* entries into three files of *memory*, legacy ones when *is_old*."""
    chance = random.Random(7)  # noqa: S311 - the same bytes every time
    blocks: dict[str, list[str]] = {name: [] for name, _, _ in FILES}
    for number in range(entries):
        name, code, label = FILES[number % len(FILES)]
        words = " ".join(chance.choice(WORDS) for _ in range(24))
        body = f"Use {words} number {number}."
        blocks[name].append(
            _legacy(number, label, body) if is_old else _entry(number, code, label, body)
        )
    for name, parts in blocks.items():
        path = memory / name
        text = path.read_text(encoding="utf-8").rstrip("\n")
        path.write_text("\n\n".join([text, *parts]) + "\n", encoding="utf-8")
    if is_old:
        manifest = memory / "manifest.md"
        text = manifest.read_text(encoding="utf-8")
        old = re.sub(r"- protocol_version: .*\n(?:- .*\n)*", OLD_METADATA, text)
        manifest.write_text(old, encoding="utf-8")


def _entry(number: int, code: str, label: str, body: str) -> str:
    return (
        f"## MC-{code}-20260101-{number:08x} — Rule {number}\n\nStatus: active\nScope: project\n"
        f"Evidence:\n- user-confirmed\n\n{label}:\n{body}\n\nReason:\nIt was rule {number}."
    )


def _legacy(number: int, label: str, body: str) -> str:
    return (
        f"## 2025-01-{number % 28 + 1:02d}: Rule {number}\n\n{label}: {body}\n\nReason: It is so."
    )
