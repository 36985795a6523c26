"""The shared conformance vectors, answered in this process."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mc_cli.cortex import run

if TYPE_CHECKING:
    from types import ModuleType

SUITES = [
    "bounds",
    "encoding",
    "frontmatter",
    "graph-timeline",
    "integrity",
    "layouts",
    # Corpora of ten thousand files and 128 MiB; mc-retrieve tests the same bounds in less time.
    pytest.param("limits", marks=pytest.mark.torture),
    "options",
    "private",
    "ranking",
    "recall",
    "validity",
    "writes",
]


@pytest.fixture(scope="module")
def runner(shared_folder: Path) -> ModuleType:
    """Return the script that comes with the vectors, for its setup steps and its comparison."""
    spec = importlib.util.spec_from_file_location(
        "run_cases", shared_folder / "conformance" / "run_cases.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


@pytest.mark.parametrize("suite", SUITES)
def test_every_recorded_case_is_answered_as_recorded(
    shared_folder: Path,
    runner: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    suite: str,
) -> None:
    folder = shared_folder / "conformance" / "cortex" / suite
    found: list[str] = []
    for number, case in enumerate(rows_of(folder / "cases.jsonl")):
        work = tmp_path.resolve() / str(number)
        found += [f"{case['name']}: {line}" for line in differences_of(
            runner, folder, case, work, monkeypatch
        )]  # fmt: skip
        shutil.rmtree(work)

    assert found == []


def differences_of(
    runner: ModuleType,
    folder: Path,
    case: dict[str, Any],
    work: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> list[str]:
    root = work / "root"
    if (folder / "corpus").is_dir():
        shutil.copytree(folder / "corpus", root, symlinks=True)
        root.chmod(0o755)
    else:
        root.mkdir(parents=True)
    make_writable(work)
    runner.apply_setup(root, case.get("setup", []))
    places = (str(root), str(work))
    with monkeypatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("CORTEX_")]:
            patch.delenv(name)
        for name, value in runner.substitute(case.get("env", {}), *places).items():
            patch.setenv(name, value)
        if "cwd" in case:
            patch.chdir(runner.substitute(case["cwd"], *places))
        before = runner.snapshot(root)
        result = run(runner.substitute(case["args"], *places))
        changed = [] if before == runner.snapshot(root) else ["the corpus was changed"]
    exits = [] if case["exit"] == result.exit_code else [f"exit {result.exit_code}"]
    wanted = runner.substitute(case["envelope"], *places)
    found: list[str] = runner.differences(wanted, json.loads(result.text))
    return changed + exits + found


def make_writable(folder: Path) -> None:
    # The vectors may lie on a read-only file system, whose modes a copy takes over.
    for base, folders, _ in os.walk(folder):
        for name in folders:
            path = Path(base, name)
            if not path.is_symlink():
                path.chmod(0o755)


def test_every_recorded_write_reaches_the_store_or_not_as_recorded(
    shared_folder: Path, runner: ModuleType
) -> None:
    found: list[str] = []
    for case in rows_of(shared_folder / "conformance" / "write_cases.jsonl"):
        payload = case["payload"]
        if isinstance(payload, dict):
            payload = payload["prefix"] + payload["fill"] * payload["count"] + payload["suffix"]
        calls: list[Any] = []

        def store(item: Any, case: Any = case, calls: list[Any] = calls) -> Any:
            calls.append(item)
            return case["memory_add"]

        result = run([case["command"], payload, *case["options"]], store=store)
        lines = runner.differences(case["envelope"], json.loads(result.text))
        if (case["exit"], case["store_called"]) != (result.exit_code, bool(calls)):
            lines.append(f"exit {result.exit_code}, store called {len(calls)} times")
        found += [f"{case['name']}: {line}" for line in lines]

    assert found == []
