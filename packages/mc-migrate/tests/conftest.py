"""A small Protocol 0.5 project for the tests of migrations."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from mc_migrate import build_migration, migrate_request
from mc_plan import execute, open_project, preview

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from mc_plan.plan import Plan
    from mc_plan.project import Project

    MakeProject = Callable[[dict[str, str | bytes]], Project]

MANIFEST = """# Memory Manifest

## MemoryCustodian Protocol
- protocol_version: 0.5
- initialized_with: memory-custodian 0.9.1
- last_migrated_with: memory-custodian 0.9.1
- owner: somebody
<!-- a remark -->

## Always load
- brief.md

## Load by task

### Planning / architecture / refactoring
Load:
- decisions.md

### Implementation / execution / debugging
Load:
- constraints.md
- do-not-use.md
Load if present:
- preferences.md

### User-facing artifact / output
Load:
- do-not-use.md

### Preferences
Load if present:
- preferences.md

### Change history / recap
Load:
- decisions.md

### Memory maintenance
Load:
- inbox.md

## Context budget
- decisions.md: 1200 tokens max

archive/ rules/ profiles/ do-not-use.md
"""
FILES: dict[str, str | bytes] = {
    "manifest.md": MANIFEST,
    "brief.md": "# Project Brief\n\nPurpose:\n- Testing.\n",
    "decisions.md": "# Decisions\n\nNewest entries come first.\n",
    "constraints.md": "# Constraints\n",
    "do-not-use.md": "# Do Not Use / Tombstones\n\nNewest tombstones come first.\n",
    "inbox.md": "# Memory Inbox\n\nNo unprocessed memory candidates.\n",
}


@pytest.fixture
def make_project(tmp_path: Path) -> MakeProject:
    """Return a function that writes a project; files given replace the defaults."""

    def make(files: dict[str, str | bytes]) -> Project:
        root = tmp_path / "project"
        for name, content in {**FILES, **files}.items():
            path = root / "docs" / "memory" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return open_project(root)

    return make


@pytest.fixture
def manifest_0_5() -> str:
    """Return the manifest that `make_project` writes by default."""
    return MANIFEST


class Migrating:
    """What the tests of migrations do and compare."""

    @staticmethod
    def plan_of(project: Project) -> Plan:
        return preview(project, build_migration, request=migrate_request())

    @staticmethod
    def migrate(project: Project) -> Plan:
        plan = Migrating.plan_of(project)
        confirm = plan.public().plan_id
        execute(project, build_migration, request=migrate_request(), confirm=confirm, notify=print)
        return plan

    @staticmethod
    def read_all(project: Project) -> dict[str, bytes]:
        base = project.memory_path
        return {p.relative_to(base).as_posix(): p.read_bytes() for p in sorted(base.rglob("*.md"))}

    @staticmethod
    def lines_of(data: bytes) -> list[bytes]:
        return re.findall(rb"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+", data)

    @staticmethod
    def is_subsequence(short: Iterable[bytes], long: Iterable[bytes]) -> bool:
        rest = iter(long)
        return all(any(line == other for other in rest) for line in short)


@pytest.fixture(scope="session")
def migrating() -> type[Migrating]:
    """Return the steps that several test modules share."""
    return Migrating
