"""No file of the workspace tells anyone to fetch one of our names from a package index."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import pytest
from workspace import STREET, with_requirements

if TYPE_CHECKING:
    from pathlib import Path

READ: Final = (
    "*.md",
    "*.py",
    "*.toml",
    "*.txt",
    "*.json",
    ".ci/*",
    ".github/**/*.yml",
    ".claude-plugin/*.json",
    ".codex-plugin/*.json",
    "docs/**/*.md",
    "evals/**/*.md",
    "evals/**/*.py",
    "packages/*/*.md",
    "packages/*/*.toml",
    "packages/*/src/**/*.py",
    "packages/*/src/**/*.md",
    "skills/**/*.md",
    "templates/**/*",
    "tools/*.py",
)
INSTALLER: Final = re.compile(
    r"\b(?:pip3?|pipx|uvx|uv(?:\s+tool)?)\b.*?\b(?:install|download|wheel|run|add|sync|upgrade)\b"
    r"|\buvx\b|\bsession\.install\b",
    re.IGNORECASE,
)
OWN_NAME: Final = re.compile(
    r"(?<![\w./\\-])(?P<path>(?:[\w.]*[./\\]+)*packages[/\\])?mc[-_](?P<word>[a-z]+)\b"
    r"(?![\w-]*\.whl)(?!/|\\|\.py|-\d)",
    re.IGNORECASE,
)
# uv reads the workspace tables of the root, and finds the other packages there.
KNOWS_THE_WORKSPACE: Final = re.compile(r"\buvx?\b(?!\s+pip)")


def forbidden_installs(text: str) -> list[str]:
    """Return the lines of *text* that would make an installer ask an index for one of our names."""
    joined = re.sub(r"[\\^`]\r?\n\s*", " ", text)
    return [line.strip() for line in re.split(r"[\r\n]+", joined) if _asks_an_index(line)]


def _asks_an_index(line: str) -> bool:
    command = INSTALLER.search(line)
    if command is None or "--no-index" in line:
        return False
    named: set[str] = set()
    local: set[str] = set()
    for found in OWN_NAME.finditer(line, command.end()):
        package = f"mc-{found['word'].lower()}"
        if package in STREET:
            (local if found["path"] else named).add(package)
    if named:
        return True
    needed = set().union(*(with_requirements(package) for package in local))
    return needed != local and KNOWS_THE_WORKSPACE.search(line) is None


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("pip install mc-cli", id="by-name"),
        pytest.param("python -m pip install --quiet -U mc-lock==0.10.0", id="pinned"),
        pytest.param("    pip3 install 'mc_scan>=0.10'", id="import-spelling"),
        pytest.param("uv pip install mc-plan", id="uv-pip"),
        pytest.param("pipx install mc-cli", id="pipx"),
        pytest.param("uvx mc-scan README.md", id="uvx"),
        pytest.param("uvx --from mc-cli memory-custodian", id="uvx-from-name"),
        pytest.param("uv tool install mc-cli", id="uv-tool"),
        pytest.param("uv add mc-schema", id="uv-add"),
        pytest.param("pip download mc-retrieve", id="download"),
        pytest.param("pip install --find-links wheelhouse mc-migrate", id="find-links-alone"),
        pytest.param('    session.install("pytest", "mc-cli")', id="nox"),
        pytest.param("pip install \\\n    mc-cli", id="continued-line"),
        pytest.param("Run `pip install mc-cli` to begin.", id="in-a-sentence"),
        pytest.param("pip install ./packages/mc-cli", id="local-path-without-what-it-needs"),
        pytest.param("pip install ./packages/mc-schema ./packages/mc-plan", id="lock-left-out"),
        pytest.param("pip install .\\packages\\mc-migrate", id="windows-path"),
    ],
)
def test_install_from_an_index_is_found(line: str) -> None:
    assert forbidden_installs(f"first\n{line}\nlast\n")


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("python -m pip install -r requirements.txt", id="all-seven"),
        pytest.param("pip install ./packages/mc-lock", id="alone-because-it-needs-no-other"),
        pytest.param("pip install ./packages/mc-schema ./packages/mc-retrieve", id="closed"),
        pytest.param("pip install --no-index --find-links dist mc-cli", id="no-index"),
        pytest.param("uvx --from ./packages/mc-cli memory-custodian", id="workspace"),
        pytest.param("pip install dist/mc_cli-0.10.0-py3-none-any.whl --no-index", id="wheel"),
        pytest.param("mc-scan README.md", id="no-installer"),
        pytest.param('pip install "nox[uv]"', id="stranger-on-purpose"),
    ],
)
def test_safe_install_is_left_alone(line: str) -> None:
    assert forbidden_installs(line) == []


def test_no_file_names_our_packages_to_an_index(repository_root: Path) -> None:
    paths = {path for pattern in READ for path in repository_root.glob(pattern) if path.is_file()}

    found = {
        path.relative_to(repository_root).as_posix(): lines
        for path in sorted(paths)
        if (lines := forbidden_installs(path.read_text(encoding="utf-8")))
    }

    assert found == {}


def test_requirements_are_the_seven_local_paths_in_order(repository_root: Path) -> None:
    lines = (repository_root / "requirements.txt").read_text(encoding="utf-8").splitlines()

    assert lines == [f"./packages/{package}" for package in STREET]
    assert {path.name for path in (repository_root / "packages").iterdir() if path.is_dir()} == set(
        STREET
    )


def test_every_package_refuses_to_be_uploaded(repository_root: Path) -> None:
    for package in STREET:
        text = (repository_root / "packages" / package / "pyproject.toml").read_text("utf-8")

        assert '"Private :: Do Not Upload"' in text, package
