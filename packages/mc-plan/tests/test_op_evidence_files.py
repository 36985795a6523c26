"""Whether evidence exists is asked on disk and in Git, read-only, and never needs Git."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from mc_plan.operations.evidence_files import (
    MISSING,
    NOT_VERIFIED,
    PRESENT,
    find_evidence_files,
)
from mc_schema.errors import InvalidEvidenceError
from mc_schema.evidence import parse_evidence

if TYPE_CHECKING:
    from pathlib import Path

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def state(root: Path, text: str, **environ: str) -> str:
    (found,) = find_evidence_files(root, [parse_evidence(text)], environ={**os.environ, **environ})
    return found.state


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "top" / "project"
    root.mkdir(parents=True)
    (root / "kept.md").write_text("x")
    (root / "gone.md").write_text("x")
    git(root.parent, "init", "-q")
    git(root.parent, "add", "-A")
    git(root.parent, "commit", "-q", "-m", "x")
    (root / "gone.md").unlink()
    return root


def test_only_values_with_a_path_are_looked_for(tmp_path: Path) -> None:
    values = [parse_evidence(text) for text in ("user-confirmed", "issue:#4", "agent-observed")]

    assert find_evidence_files(tmp_path, values) == []


@pytest.mark.parametrize("kind", ["repo", "doc", "test"])
def test_a_path_is_looked_for_on_disk(tmp_path: Path, kind: str) -> None:
    (tmp_path / "there.md").write_text("x")

    assert state(tmp_path, f"{kind}:there.md") == PRESENT
    assert state(tmp_path, f"{kind}:absent.md") == MISSING


def test_a_path_that_exists_with_its_at_sign_wins(tmp_path: Path) -> None:
    (tmp_path / "a@b").write_text("x")

    assert state(tmp_path, "repo:a@b") == PRESENT


@needs_git
@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        pytest.param("repo:kept.md@HEAD", PRESENT, id="there"),
        pytest.param("repo:gone.md@HEAD", PRESENT, id="only-in-the-revision"),
        pytest.param("repo:never.md@HEAD", MISSING, id="not-in-the-revision"),
        pytest.param("repo:kept.md@0000000", MISSING, id="unknown-revision"),
        pytest.param("repo:kept.md@HEAD~5", MISSING, id="before-the-first"),
    ],
)
def test_a_revision_is_asked_from_git(repository: Path, evidence: str, expected: str) -> None:
    assert expected == state(repository, evidence)


@needs_git
def test_without_git_on_the_path_a_revision_is_not_verified(
    repository: Path, tmp_path: Path
) -> None:
    assert state(repository, "repo:never.md@HEAD", PATH=str(tmp_path)) == NOT_VERIFIED


def test_outside_a_work_tree_a_revision_is_not_verified(tmp_path: Path) -> None:
    assert state(tmp_path, "repo:x.md@abc") == NOT_VERIFIED


@needs_git
def test_asking_git_leaves_the_repository_alone(repository: Path) -> None:
    folder = repository.parent / ".git"
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}

    state(repository, "repo:gone.md@HEAD")

    assert before == {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


@pytest.mark.skipif(os.name == "nt", reason="the stand-in is a shell script")
def test_git_is_asked_without_network_locks_or_questions(tmp_path: Path) -> None:
    tools, root = tmp_path / "bin", tmp_path / "root"
    tools.mkdir()
    root.mkdir()
    script = tools / "git"
    script.write_text(f"#!/bin/sh\n/usr/bin/env >> {tmp_path}/seen\nexit 0\n")
    script.chmod(0o755)

    answer = state(root, "repo:x.md@abc", PATH=f"{tools}{os.pathsep}/bin", GIT_DIR="/elsewhere")

    seen = (tmp_path / "seen").read_text().split("\n")
    assert answer == PRESENT
    assert {"GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0"} <= set(seen)
    assert "GIT_ALLOW_PROTOCOL=none" in seen
    assert not [line for line in seen if line.startswith("GIT_DIR=")]


def test_a_git_of_the_project_itself_is_not_run(tmp_path: Path) -> None:
    script = tmp_path / "git"
    script.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    script.chmod(0o755)

    assert state(tmp_path, "repo:x.md@abc", PATH=".") == NOT_VERIFIED
    assert not (tmp_path / "ran").exists()


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="needs symlinks")
def test_a_path_that_leads_out_of_the_project_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret.md").write_text("x")
    (root / "link").symlink_to(tmp_path)

    with pytest.raises(InvalidEvidenceError):
        state(root, "repo:link/secret.md")


def test_a_path_too_long_for_the_system_is_missing(tmp_path: Path) -> None:
    assert state(tmp_path, f"repo:{'x' * 1000}") == MISSING
