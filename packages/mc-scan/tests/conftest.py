from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Outcome]:
    """Run the real command in a folder of its own."""

    def call(
        *arguments: str, stdin: bytes = b"", cwd: Path | None = None, **environ: str
    ) -> Outcome:
        done = subprocess.run(
            [sys.executable, "-m", "mc_scan", *arguments],
            input=stdin,
            capture_output=True,
            cwd=cwd or tmp_path,
            env={**os.environ, "HOME": str(tmp_path / "nobody"), **environ},
            check=False,
            timeout=60,
        )
        return Outcome(
            done.returncode,
            done.stdout.decode(errors="replace"),
            done.stderr.decode(errors="replace"),
        )

    return call


@pytest.fixture
def call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Outcome]:
    """Call the entry point in this process, for tables of options."""
    from mc_scan.__main__ import main

    def call(*arguments: str, cwd: Path | None = None) -> Outcome:
        monkeypatch.chdir(cwd or tmp_path)
        try:
            code = main(arguments)
        except SystemExit as stop:
            code = int(str(stop.code))
        return Outcome(code, *capsys.readouterr())

    return call


@pytest.fixture(scope="session")
def shared_scan() -> Path:
    """Return the shared conformance folder of the scanner."""
    root = Path(__file__).resolve().parents[3]
    shared = Path(os.environ.get("MC_SHARED", root.parent / "shared"))
    folder = shared / "conformance" / "scan"
    if not folder.is_dir():
        pytest.skip(f"shared conformance folder not found: {folder}")
    return folder
