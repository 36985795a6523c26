"""The two commands of the README, and the places that repeat the second one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from pathlib import Path

ENVIRONMENT: Final = "python3 -m venv .venv && .venv/bin/python -m pip install --quiet "


def command_after(text: str, name: str) -> str:
    """Return the one command in the fenced block directly after `<!-- command: <name> -->`."""
    block = re.search(rf"<!-- command: {name} -->\n```\w*\n([^\n]+)\n```\n", text)
    assert block is not None, f"no one-line fenced block after the marker `{name}`"
    return block[1]


@pytest.fixture
def readme(repository_root: Path) -> str:
    return (repository_root / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def workflow(repository_root: Path) -> str:
    return (repository_root / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("```sh\na\n```\n", id="no-marker"),
        pytest.param("<!-- command: test -->\nThen:\n```sh\na\n```\n", id="not-directly-after"),
        pytest.param("<!-- command: test -->\n```sh\na\nb\n```\n", id="two-lines"),
        pytest.param("<!-- command: run -->\n```sh\na\n```\n", id="other-marker"),
    ],
)
def test_command_is_read_from_its_own_block_only(text: str) -> None:
    with pytest.raises(AssertionError, match="no one-line fenced block"):
        command_after(text, "test")


def test_both_commands_begin_with_a_virtual_environment(readme: str) -> None:
    """An externally managed Python refuses anything else."""
    assert command_after(readme, "run").startswith(ENVIRONMENT + "-r requirements.txt && ")
    assert command_after(readme, "run").endswith("memory-custodian read --task planning")
    assert command_after(readme, "test") == f'{ENVIRONMENT}"nox[uv]" && .venv/bin/nox'


def test_ci_script_ends_with_exactly_the_test_command(readme: str, repository_root: Path) -> None:
    script = (repository_root / ".ci" / "run").read_text(encoding="utf-8")

    assert script.endswith(f"\n\n{command_after(readme, 'test')}\n")
    assert script.count("nox") == command_after(readme, "test").count("nox")


def test_ci_runs_the_test_command_of_the_readme(workflow: str, readme: str) -> None:
    command = command_after(readme, "test")
    on_windows = re.sub(r"\.venv/bin/(\w+)", r".venv\\Scripts\\\1", command)
    runs = re.findall(r"(?m)^ +run: (.*)$", workflow)

    assert [line.partition(" -s ")[0] for line in runs] == [
        command,
        on_windows.replace("python3", "python"),
        command,
    ]
