"""What each command imports: the list in `startup_modules.txt`, and never more.

Start-up is most of the time of a command on a small project, and it grows by one careless import.
A time would be noise here; a list of modules is not. Own modules are listed whole, those of the
standard library by their top name, because each Python cuts its own differently.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

LISTED: Final = Path(__file__).with_name("startup_modules.txt")
EVIDENCE: Final = ("--evidence", "user-confirmed")
COMMANDS: Final = {
    "version": ("--version",),
    "help": ("--help",),
    "read": ("read", "--task", "planning"),
    "status": ("status",),
    "check": ("check",),
    "add": ("add", "Ship on Tuesdays", "--type", "decision", *EVIDENCE),
    "enable": ("enable", "preferences"),
    "compact": ("compact", "--target", "decisions.md"),
    "forget": ("forget", "Tuesdays"),
    "migrate": ("migrate",),
    "recover": ("recover",),
    "init": ("init", "--repair"),
    "search": ("search", "tuesdays"),
    "cortex": ("cortex", "status"),
}
SLOW: Final = (
    "asyncio",
    "concurrent",
    "dataclasses",
    "email",
    "http",
    "importlib.metadata",
    "importlib.resources",
    "inspect",
    "multiprocessing",
    "platformdirs",
    "random",
    "socket",
    "tempfile",
    "tomllib",
    "tomli",
    "uuid",
)
"""Never imported by any command on a project without a configuration."""
NEVER_READ: Final = (*SLOW, "json", "typing", "subprocess", "shutil", "mc_plan", "mc_scan")
"""Never imported by `read` as text."""

# The names that are there before a command begins belong to the interpreter and its installation.
_PROBE: Final = """
import sys
before = set(sys.modules)
from mc_cli.main import main
code = main(sys.argv[1:])
sys.stdout.flush()
sys.stderr.write("\\0" + " ".join(sorted(set(sys.modules) - before)))
raise SystemExit(code)
"""


def imported(arguments: tuple[str, ...], project: Path) -> list[str]:
    """Return the modules that one command imports in a new process, sorted."""
    # Isolated, so that no start file of the user or of a coverage tool adds its own.
    done = subprocess.run(
        [sys.executable, "-I", "-c", _PROBE, *arguments],
        cwd=project,
        env=dict(os.environ),
        capture_output=True,
        check=False,
    )
    said, mark, names = done.stderr.decode().rpartition("\0")
    assert mark, said
    return names.split()


def shown(names: list[str]) -> set[str]:
    """Return the own modules of *names*, and the public top names of all others."""
    tops = {name if name.startswith("mc_") else name.partition(".")[0] for name in names}
    return {name for name in tops if not name.startswith("_")}


def allowed(command: str) -> set[str]:
    """Return the modules listed for *command*: its block of the file, with those it includes."""
    blocks = LISTED.read_text(encoding="utf-8").split("\n[")
    found = {name: body.split() for name, _, body in (block.partition("]") for block in blocks[1:])}
    names = set(found[command])
    for name in [name for name in names if name.startswith("+")]:
        names |= allowed(name[1:])
    return names


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "README.md").write_text("# Project\n", encoding="utf-8")
    for arguments in (("init",), ("add", "Ship on Mondays", "--type", "constraint", *EVIDENCE)):
        subprocess.run(
            [sys.executable, "-m", "mc_cli", *arguments],
            cwd=tmp_path,
            check=True,
            capture_output=True,
        )
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_command_imports_nothing_beyond_its_list(command: str, project: Path) -> None:
    """A module that is needed is added to `startup_modules.txt`, with a reason in the commit."""
    extra = shown(imported(COMMANDS[command], project)) - allowed(command)

    assert sorted(extra) == []


@pytest.mark.parametrize("command", COMMANDS)
def test_command_never_imports_a_slow_module(command: str, project: Path) -> None:
    names = imported(COMMANDS[command], project)

    assert [name for name in names if name in SLOW] == []


def test_reading_as_text_never_imports_what_it_does_not_need(project: Path) -> None:
    names = imported(("read", "--task", "planning"), project)

    assert [name for name in names if name in NEVER_READ] == []


@pytest.mark.parametrize("command", ["read", "help", "version"])
def test_list_of_the_fastest_commands_names_nothing_that_is_not_imported(
    command: str, project: Path
) -> None:
    """A list longer than the truth would let a module in unseen."""
    own = {name for name in allowed(command) if name.startswith("mc_")}

    assert own == {name for name in imported(COMMANDS[command], project) if name.startswith("mc_")}
