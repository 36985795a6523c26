"""What pre-commit installs from the root of this repository."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from pathlib import Path


def project(root: Path) -> dict[str, Any]:
    return tomllib.loads((root / "pyproject.toml").read_text("utf-8"))


def test_entry_of_each_hook_is_a_command_that_the_root_installs(repository_root: Path) -> None:
    """`language: python` installs the root, so a root that cannot be built breaks every hook."""
    hooks = (repository_root / ".pre-commit-hooks.yaml").read_text("utf-8")
    entries = re.findall(r"(?m)^  entry: (\S+)$", hooks)
    languages = re.findall(r"(?m)^  language: (\S+)$", hooks)

    assert {"python"} == set(languages)
    assert set(entries) <= set(project(repository_root)["project"]["scripts"])


def test_root_ships_the_scanner_alone_and_needs_nothing(repository_root: Path) -> None:
    root = project(repository_root)

    packages = root["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert packages == ["packages/mc-scan/src/mc_scan"]
    assert (repository_root / packages[0] / "__main__.py").is_file()
    assert "dependencies" not in root["project"]


def test_version_of_the_root_is_that_of_the_scanner(repository_root: Path) -> None:
    root = project(repository_root)

    assert root["project"]["dynamic"] == ["version"]
    text = (repository_root / root["tool"]["hatch"]["version"]["path"]).read_text("utf-8")
    assert re.search(r'^__version__ = "', text, re.MULTILINE)
