"""The one-way street: what packages may require and import, and that a wrong turn is noticed."""

from __future__ import annotations

import ast
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Final

import pytest
from packaging.requirements import Requirement
from workspace import (
    STREET,
    expected_requirements,
    find_version_literals,
    import_name,
    with_requirements,
)

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

# One wrong import for each contract of the root `pyproject.toml`: where it is put, what it says.
WRONG_TURNS: Final[Mapping[str, tuple[str, str]]] = {
    "The one-way street": ("mc_lock", "import mc_schema"),
    "The scanner stands alone": ("mc_scan", "import platformdirs"),
    "Retrieval never locks, migration never scans or retrieves": ("mc_retrieve", "import mc_lock"),
    "Migrations are plans": ("mc_migrate", "import mc_scan"),
    "Migrations lock only through plans": ("mc_migrate", "import mc_lock"),
    "Plans never scan": ("mc_plan", "import mc_scan"),
    "The vocabulary is pure: no files, no clock, no processes": ("mc_schema", "import pathlib"),
    "platformdirs is asked in one place": ("mc_cli", "import platformdirs"),
    "No network at run time": ("mc_plan", "import http.client"),
}
LINT: Final = "from importlinter.cli import lint_imports_command as run; run()"


def _read_toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _canonical(lines: list[str] | frozenset[str]) -> set[str]:
    return {str(Requirement(line)) for line in lines}


@pytest.mark.parametrize("package", STREET)
def test_package_requires_exactly_what_lies_below_it(repository_root: Path, package: str) -> None:
    version = next(find_version_literals(repository_root)).version
    project = _read_toml(repository_root / "packages" / package / "pyproject.toml")["project"]

    assert package == project["name"]
    assert _canonical(expected_requirements(package, version)) == _canonical(
        project["dependencies"]
    )
    assert {"dynamic", "optional-dependencies"}.isdisjoint(project)


@pytest.mark.parametrize("package", STREET)
def test_installed_metadata_says_the_same(repository_root: Path, package: str) -> None:
    version = next(find_version_literals(repository_root)).version
    installed = importlib.metadata.requires(package) or []

    assert _canonical(expected_requirements(package, version)) == _canonical(installed)


def test_no_package_comes_to_require_itself() -> None:
    for package, required in STREET.items():
        assert all(package not in with_requirements(name) for name in required)


@pytest.mark.parametrize("package", STREET)
def test_package_carries_licence_readme_and_type_marker(
    repository_root: Path, package: str
) -> None:
    folder = repository_root / "packages" / package

    assert (folder / "LICENSE").read_bytes() == (repository_root / "LICENSE").read_bytes()
    assert (folder / "README.md").is_file()
    assert (folder / "src" / import_name(package) / "py.typed").is_file()


@pytest.fixture
def copied_sources(repository_root: Path, tmp_path: Path) -> Path:
    """Return a folder with the lint settings and all seven import packages, free to be spoilt."""
    shutil.copyfile(repository_root / "pyproject.toml", tmp_path / "pyproject.toml")
    for package in STREET:
        name = import_name(package)
        shutil.copytree(
            repository_root / "packages" / package / "src" / name,
            tmp_path / name,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
    return tmp_path


def _lint_imports(folder: Path) -> tuple[int, dict[str, str], str]:
    """Return the exit code, `KEPT` or `BROKEN` by contract name, and the whole report."""
    done = subprocess.run(
        [sys.executable, "-c", LINT, "--no-cache"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "PYTHONUTF8": "1", "COLUMNS": "200"},
        capture_output=True,
        check=False,
        timeout=120,
    )
    said = done.stdout.decode() + done.stderr.decode()
    verdicts = dict(re.findall(r"(?m)^(.+?) (KEPT|BROKEN)\b", said))
    assert verdicts, said
    return done.returncode, verdicts, said


def test_every_import_goes_down_the_street(copied_sources: Path) -> None:
    code, verdicts, _ = _lint_imports(copied_sources)

    assert dict.fromkeys(WRONG_TURNS, "KEPT") == verdicts
    assert code == 0


def test_a_wrong_turn_breaks_its_contract(copied_sources: Path) -> None:
    for number, (package, statement) in enumerate(WRONG_TURNS.values()):
        path = copied_sources / package / f"wrong_turn_{number}.py"
        path.write_text(f"{statement}\n", encoding="utf-8")

    code, verdicts, _ = _lint_imports(copied_sources)

    assert dict.fromkeys(WRONG_TURNS, "BROKEN") == verdicts
    assert code == 1


def test_no_wrong_turn_between_two_packages_stays_unnoticed(copied_sources: Path) -> None:
    wrong = [
        (import_name(package), import_name(other))
        for package, required in STREET.items()
        for other in STREET
        if other not in required | {package}
    ]
    for package, other in wrong:
        path = copied_sources / package / f"turn_to_{other}.py"
        path.write_text(f"import {other}\n", encoding="utf-8")

    _, _, report = _lint_imports(copied_sources)

    assert [
        (package, other)
        for package, other in wrong
        if f"{package}.turn_to_{other} -> {other} (l.1)" not in report
    ] == []


def _imported_names(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _asks_the_network(source: str) -> bool:
    """Tell what no import-linter contract can: `urllib.parse` is fine, `urllib.request` is not."""
    return any(name.startswith("urllib.request") for name in _imported_names(source))


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("import urllib.request", id="import"),
        pytest.param("from urllib import request", id="from-parent"),
        pytest.param("def f():\n    from urllib.request import urlopen\n", id="late"),
    ],
)
def test_opening_an_address_is_noticed(source: str) -> None:
    assert _asks_the_network(source)


def test_no_package_opens_an_address(repository_root: Path) -> None:
    sources = [*(repository_root / "packages").glob("*/src/**/*.py")]

    assert len(sources) >= len(STREET)
    assert [
        path.relative_to(repository_root).as_posix()
        for path in sources
        if _asks_the_network(path.read_text(encoding="utf-8"))
    ] == []
