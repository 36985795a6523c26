"""The fixtures that all tests rely on keep the machine out."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

TEST: Final = """
import os, pathlib, subprocess

def test_inside(private_home, tmp_path):
    assert pathlib.Path.home() == private_home
    assert os.environ["XDG_STATE_HOME"].startswith(str(private_home))
    assert [*private_home.iterdir()] == []
    assert "MEMORY_CUSTODIAN_SOMETHING" not in os.environ
    assert "GIT_DIR" not in os.environ
    assert os.environ["TZ"] == "Asia/Kathmandu"

def test_again(private_home):
    (private_home / "left").write_text("x", encoding="utf-8")

def test_once_more(private_home):
    assert [*private_home.iterdir()] == []

def test_vectors(shared_folder):
    raise AssertionError("only reached when there is a folder")
"""


def test_each_test_sees_a_machine_of_its_own(repository_root: Path, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n", encoding="utf-8")
    (tmp_path / "conftest.py").write_bytes((repository_root / "conftest.py").read_bytes())
    (tmp_path / "test_inside.py").write_text(TEST, encoding="utf-8")
    changes = {
        "MEMORY_CUSTODIAN_SOMETHING": "1",
        "GIT_DIR": "elsewhere",
        "TZ": "Asia/Kathmandu",
        "MC_SHARED": str(tmp_path / "absent"),
    }

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "-rs"],
        cwd=tmp_path,
        env={**os.environ, **changes},
        capture_output=True,
        check=False,
        text=True,
        timeout=120,
    )

    assert "3 passed, 1 skipped" in done.stdout, done.stdout + done.stderr
    assert "shared conformance folder not found: " in done.stdout


def test_no_test_reads_the_home_of_the_user(private_home: Path) -> None:
    assert Path.home() == private_home
    assert os.environ["GIT_CONFIG_GLOBAL"] == os.devnull


def test_git_finds_no_repository_around_a_test(tmp_path: Path) -> None:
    git = shutil.which("git")
    finds_one = (
        git is not None
        and not subprocess.run(
            [git, "rev-parse", "--show-toplevel"], cwd=tmp_path, check=False, capture_output=True
        ).returncode
    )

    assert not finds_one
