from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("seed", ["4242", "7"])
def test_shared_set_is_scored_above_the_limits(
    shared_scan: Path, tmp_path: Path, seed: str
) -> None:
    def python(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments], capture_output=True, text=True, check=True, timeout=120
        )
        return done.stdout

    python(str(shared_scan / "make_set.py"), str(tmp_path / "set"), "--seed", seed)
    command = [sys.executable, "-m", "mc_scan", "--format", "json"]
    lines = python(str(shared_scan / "score.py"), str(tmp_path / "set"), "--", *command)
    scores = json.loads(lines.splitlines()[-1])

    assert scores["recall"] >= 0.97
    assert scores["precision"] >= 0.985
    assert scores["severity_accuracy"] >= 0.97
    assert scores["column_accuracy"] >= 0.97
    assert (scores["leaks"], scores["partial_previews"]) == (0, 0)
