"""What runs in continuous integration: every supported Python, and nothing that can write."""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from pathlib import Path

PYTHONS: Final = ("3.10", "3.11", "3.12", "3.13")


@pytest.fixture
def workflow(repository_root: Path) -> str:
    return (repository_root / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")


if os.name != "nt":  # the script is for bash

    @pytest.mark.parametrize(
        ("installed", "selected"),
        [
            pytest.param(
                "2.7.18\n3.9.18\n3.10.13\n3.10.2\n3.11.7\n3.12.1\n3.13.0\n",
                "3.13.0:3.12.1:3.11.7:3.10.13",
                id="newest-patch-of-each",
            ),
            pytest.param(
                "3.11.7/envs/x\n3.12.1\n3.13-dev\n3.14.0\n", "3.12.1", id="others-left-out"
            ),
            pytest.param("system\n3.9.18\n", "", id="none-supported"),
        ],
    )
    def test_ci_script_selects_the_supported_pythons_of_pyenv(
        installed: str, selected: str, repository_root: Path, tmp_path: Path
    ) -> None:
        tools = tmp_path / "bin"
        tools.mkdir()
        stand_ins = {
            "pyenv": f"printf '%s' '{installed}'",
            "python3": f'printf "%s" "${{PYENV_VERSION-}}" >"{tmp_path}/selected"; exit 7',
        }
        for name, body in stand_ins.items():
            (tools / name).write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
            (tools / name).chmod(0o755)
        path = os.pathsep.join([str(tools), os.environ["PATH"]])
        environment = {**os.environ, "PATH": path}
        environment.pop("PYENV_VERSION", None)

        done = subprocess.run([repository_root / ".ci" / "run"], env=environment, check=False)

        assert done.returncode == 7
        assert selected == (tmp_path / "selected").read_text(encoding="utf-8")


def test_ci_tests_every_python_on_every_system(workflow: str, repository_root: Path) -> None:
    noxfile = (repository_root / "noxfile.py").read_text(encoding="utf-8")
    written = ", ".join(f'"{version}"' for version in PYTHONS)

    assert f"PYTHONS: Final = ({written})" in noxfile
    assert f"python: [{written}]" in workflow
    assert "os: [ubuntu-latest, macos-latest, windows-latest]" in workflow


def test_ci_can_only_read(workflow: str) -> None:
    assert re.findall(r"(?m)^ *permissions:\n((?: +\S.*\n)+)", workflow) == ["  contents: read\n"]
    assert workflow.count("persist-credentials: false") == workflow.count("actions/checkout@")
    assert "secrets." not in workflow


@pytest.mark.parametrize("version", PYTHONS)
def test_every_package_names_each_python(version: str, repository_root: Path) -> None:
    paths: list[Any] = sorted((repository_root / "packages").glob("*/pyproject.toml"))

    for path in paths:
        text = path.read_text(encoding="utf-8")
        assert f'"Programming Language :: Python :: {version}"' in text, path
        assert f'requires-python = ">={PYTHONS[0]}"' in text, path
