"""The commands whose every call is made to fail, each with a project that gives it much to do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

from place import Place, new_place

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

OLDER_MANIFEST: Final = """# Memory Manifest

## MemoryCustodian Protocol
- protocol_version: 0.5
- initialized_with: memory-custodian 0.9.1
- last_migrated_with: memory-custodian 0.9.1

## Always load
- brief.md

## Load by task

### Planning / architecture / refactoring
Load:
- decisions.md
- constraints.md
- do-not-use.md

### Implementation / execution / debugging
Load:
- constraints.md
- do-not-use.md

### User-facing artifact / output
Load:
- do-not-use.md

### Preferences
Load if present:
- preferences.md

### Change history / recap
Load:
- decisions.md
Load if present:
- changelog.md

### Memory maintenance
Load:
- inbox.md

## Optional module index

### Areas
- areas/sync.md

### Rules
- none

### Profiles
- none

## Context budget
- brief.md: 500 tokens max
- decisions.md: 1200 tokens max

archive/ rules/ profiles/ do-not-use.md
"""
OLDER_FILES: Final = {
    "manifest.md": OLDER_MANIFEST,
    "brief.md": "# Project Brief\n\nPurpose:\n- Answer questions about trains.\n",
    "decisions.md": (
        "# Decisions\n\nNewest entries come first.\n\n"
        "## 2026-03-04 - Keep exports in CSV\n\nDecision:\nKeep exports in CSV.\n\n"
        "Reason:\nCustomers open them in spreadsheets.\n\n"
        "## Retry twice\nDecision: Retry twice, then give up.\n"
    ),
    "constraints.md": "# Constraints\n\n- Runs offline.\n- No telemetry.\n",
    "do-not-use.md": "# Do Not Use / Tombstones\n\nNewest tombstones come first.\n",
    "inbox.md": "# Memory Inbox\n\n- Perhaps JSON lines.\n- Perhaps JSON lines.\n",
    "changelog.md": "# Memory Changelog\n\n## 2026-03-04\n- Started.\n",
    "areas/sync.md": "# Sync\n\n## 2026-04-01 - Poll hourly\n\nDecision:\nPoll hourly.\n",
}


class Scenario(NamedTuple):
    """A command that changes several files, and the project it is run on."""

    name: str
    build: Callable[[Path], tuple[Place, list[str]]]
    """Makes the project below a folder; returns it and the whole command, plan id included."""


def older_place(base: Path) -> Place:
    """Return a Protocol 0.5 project with decisions, bullets, an area and a changelog."""
    place = Place(base.resolve())
    place.root.mkdir(parents=True)
    for name, text in OLDER_FILES.items():
        place.write(name, text)
    return place


def cortex_place(base: Path) -> Place:
    """Return a Cortex root (layout 1) with one note, as `project`."""
    place = Place(base.resolve())
    (place.root / "KNOWLEDGE").mkdir(parents=True)
    place.require(*remember({"type": "idea", "title": "Cats", "content": "They purr."}))
    return place


def remember(item: Mapping[str, object], root: str = ".") -> list[str]:
    """Return the words of `cortex remember`."""
    options = ["--adapter", "codex", "--allow-write", "--memory-root", root]
    return ["cortex", "remember", json.dumps(item), *options]


def _add(base: Path) -> tuple[Place, list[str]]:
    place = new_place(base)
    words = ["add", "Print one object a line.", "--type", "rule", "--name", "output"]
    return place, [*words, "--evidence", "user-confirmed"]


def _supersede(base: Path) -> tuple[Place, list[str]]:
    place = new_place(base)
    old = place.add("Keep exports in CSV.")
    # Into an area that is new: two memory files, one of them created, and the manifest.
    words = ["add", "Keep exports in JSON.", "--supersedes", old, "--area", "exports"]
    return place, place.require(*words, "--evidence", "user-confirmed").apply_words


def _populated(base: Path) -> Place:
    place = new_place(base, extended=True)
    place.add("Use the zebra format for exports.")
    place.add("Only zebra files are accepted.", "constraint")
    place.add("Zebra without stripes.", "do-not-use")
    place.add("Perhaps the zebra is a horse.", "inbox", "--candidate")
    place.add("Use trains.")
    return place


def _forget(base: Path) -> tuple[Place, list[str]]:
    place = _populated(base)
    return place, place.require("forget", "zebra", "--mode", "soft").apply_words


def _purge(base: Path) -> tuple[Place, list[str]]:
    place = _populated(base)
    words = ["forget", "zebra", "--mode", "purge", "--allow-broad-match"]
    return place, [*words, "--apply", "--confirm-plan", place.require(*words).plan_id]


def _compact(base: Path) -> tuple[Place, list[str]]:
    place = new_place(base, extended=True)
    old = place.add("Use the zebra format for exports.")
    words = ["add", "Use the horse format.", "--supersedes", old, "--evidence", "user-confirmed"]
    place.apply(*words)
    place.write("inbox.md", place.text("inbox.md") + "\n- twice\n- twice\n")
    wish = place.add("Perhaps faster trains.", "inbox", "--candidate")
    text = ["add", "Faster trains.", "--promotes", wish, "--type", "constraint"]
    place.apply(*text, "--evidence", "user-confirmed")
    return place, place.require("compact").apply_words


def _migrate(base: Path) -> tuple[Place, list[str]]:
    place = older_place(base)
    return place, place.require("migrate").apply_words


def _remember(base: Path) -> tuple[Place, list[str]]:
    item = {"type": "memory", "entry_type": "preference", "content": "Short lines."}
    place = new_place(base)
    return place, remember({**item, "evidence": ["user-confirmed"]}, "docs/memory")


def _remember_note(base: Path) -> tuple[Place, list[str]]:
    item = {"type": "idea", "title": "Cats", "content": "They also hunt."}
    return cortex_place(base), remember(item)


SCENARIOS: Final = (
    Scenario("add", _add),
    Scenario("supersede", _supersede),
    Scenario("forget", _forget),
    Scenario("purge", _purge),
    Scenario("compact", _compact),
    Scenario("migrate", _migrate),
    Scenario("remember", _remember),
    Scenario("remember-note", _remember_note),
)
