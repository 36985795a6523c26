"""A project in a temporary folder, and what most tests ask about it."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from mc_plan import Draft, Operation, Project, Request, open_project

if TYPE_CHECKING:
    from mc_plan import Builder, Seed, Snapshot

# A process can only be forked and killed outright on POSIX.
collect_ignore = [] if hasattr(os, "fork") else ["test_recover.py"]

PROJECT_ID = "11111111-2222-4333-8444-555555555555"
MANIFEST = f"""# Memory Manifest

## MemoryCustodian Protocol
- protocol_version: 0.6
- project_id: {PROJECT_ID}

## Always load
- brief.md
"""
FILES = {
    "docs/memory/manifest.md": MANIFEST.encode(),
    "docs/memory/decisions.md": b"\xef\xbb\xbf# Decisions\r\n\r\nold\r\n",
    "docs/memory/do-not-use.md": b"# Do Not Use\n",
    "docs/memory/changelog.md": b"# Memory Changelog\n\nold",
    "docs/memory/obsolete.md": b"gone soon\n",
    "docs/memory/rows.jsonl": b'{"row":1}\n',
}


class Place(NamedTuple):
    """One project and its state directory."""

    project: Project
    state: Path

    def write(self, path: str, data: bytes, mode: int = 0o644) -> Path:
        target = self.project.path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        target.chmod(mode)
        return target

    def read(self, path: str) -> bytes:
        return self.project.path(path).read_bytes()

    def tree(self) -> dict[str, tuple[bytes, int]]:
        """Bytes and mode of every file, and the mode of every folder, temporaries included."""
        found = {}
        for folder, names, files in os.walk(self.project.root):
            for name in names + files:
                path = Path(folder) / name
                mode = path.lstat().st_mode
                data = path.read_bytes() if stat.S_ISREG(mode) else b""
                found[path.relative_to(self.project.root).as_posix()] = (data, mode)
        return found

    def state_files(self) -> list[str]:
        """Locks, journals and retired journals: what must not linger."""
        root = self.state / "memory-custodian"
        return sorted(
            str(path.relative_to(root))
            for name in ("locks", "journal")
            for path in (root / name).rglob("*")
            if not path.is_dir()
        )

    def age_locks(self) -> None:
        """Make every lock two minutes old, as if the killed command had died then."""
        for path in (self.state / "memory-custodian" / "locks").iterdir():
            record = json.loads(path.read_text("utf-8"))
            record["created_at"] = "2020-01-01T00:00:00+00:00"
            path.write_text(json.dumps(record), "utf-8")
            os.utime(path, (1_577_836_800, 1_577_836_800))


def make_place(base: Path, name: str = "project", files: dict[str, bytes] | None = None) -> Place:
    root = base / name
    root.mkdir(parents=True, exist_ok=True)
    state = base / "state"
    project = open_project(root, environ={"XDG_STATE_HOME": str(state), "HOME": str(base)})
    place = Place(project, state)
    for path, data in (FILES if files is None else files).items():
        place.write(path, data)
    return place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(tmp_path)


def sample_request(**changes: Any) -> Request:
    return Request("sample", {"text": "x"})._replace(**changes)


def sample_build(snapshot: Snapshot, seed: Seed) -> Draft:
    """Replace, create in a new folder, delete and append, manifest included."""
    memory = "docs/memory"
    old = snapshot.read(f"{memory}/decisions.md") or b""
    manifest = snapshot.read(f"{memory}/manifest.md") or b""
    changelog = snapshot.read(f"{memory}/changelog.md") or b""
    return Draft(
        operations=[Operation("Rewrite", f"{memory}/decisions.md")],
        changes={
            f"{memory}/manifest.md": manifest + b"\n- areas/new.md\n",
            f"{memory}/decisions.md": old + b"new\r\n",
            f"{memory}/do-not-use.md": b"# Do Not Use\n\n- more\n",
            f"{memory}/changelog.md": changelog + b"\nnew",
            f"{memory}/obsolete.md": None,
            f"{memory}/areas/deep/new.md": b"fresh\n",
        },
        appends={f"{memory}/rows.jsonl": b'{"row":2}\n'},
    )


class Samples(NamedTuple):
    """The sample change, for tests that cannot import this file."""

    build: Builder
    request: Request
    make_place: Any
    project_id: str
    manifest: str


@pytest.fixture
def samples() -> Samples:
    return Samples(sample_build, sample_request(), make_place, PROJECT_ID, MANIFEST)


def silent(line: str) -> None:
    """Take a line for standard error."""


@pytest.fixture
def changed_tree(tmp_path: Path) -> dict[str, tuple[bytes, int]]:
    """The tree after the sample change."""
    from mc_plan import IMMEDIATE, execute

    other = make_place(tmp_path / "expected")
    request = sample_request(confirmation=IMMEDIATE)
    other.write("docs/memory/decisions.md", FILES["docs/memory/decisions.md"], 0o640)
    execute(other.project, sample_build, request=request, notify=silent)
    return other.tree()
