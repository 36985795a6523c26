"""Fixtures for every test of the workspace: a private machine, the real command, the vectors."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROOT: Final = Path(__file__).resolve().parent
COMMAND_TIMEOUT_SECONDS: Final = 120.0

_MACHINE_PREFIXES: Final = ("GIT_", "XDG_", "MEMORY_CUSTODIAN_")
_MACHINE_NAMES: Final = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE")
_GIT_ENVIRONMENT: Final = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_AUTHOR_NAME": "Test Author",
    "GIT_AUTHOR_EMAIL": "author@example.invalid",
    "GIT_COMMITTER_NAME": "Test Author",
    "GIT_COMMITTER_EMAIL": "author@example.invalid",
}

# A busy machine is slow, not wrong: no test fails because of the time that an example took.
settings.register_profile(
    "workspace", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("workspace")

# A run in the background inherits ignored signals and hands them on to every command it starts;
# tests of signals would then wait for an interruption that cannot come.
for _name, _action in (
    ("SIGINT", signal.default_int_handler),
    ("SIGTERM", signal.SIG_DFL),
    ("SIGHUP", signal.SIG_DFL),
):
    _number = getattr(signal, _name, None)
    if _number is not None and signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _action)


class RunCommand(Protocol):
    """Run `memory-custodian` as a real process and return what it said, newlines unchanged."""

    def __call__(
        self,
        args: Sequence[str | os.PathLike[str]],
        *,
        cwd: Path,
        input: str | bytes | None = None,  # noqa: A002  # named as in subprocess.run
        env: Mapping[str, str | None] | None = None,
        timeout_seconds: float = COMMAND_TIMEOUT_SECONDS,
    ) -> subprocess.CompletedProcess[str]:
        """Run one command.

        Args:
            args: The arguments after `memory-custodian`.
            cwd: Where it runs.
            input: Standard input, text as UTF-8; an empty one when not given.
            env: Changes to the environment of the test; `None` removes a variable.
            timeout_seconds: When a hanging command fails the test.
        """


@pytest.fixture(scope="session")
def repository_root() -> Path:
    """Return the root of this repository."""
    return ROOT


@pytest.fixture(scope="session")
def shared_folder() -> Path:
    """Return the folder of conformance vectors: `$MC_SHARED`, else `../shared` beside the root."""
    folder = Path(os.environ.get("MC_SHARED") or ROOT.parent / "shared")
    if not folder.is_dir():
        pytest.skip(f"shared conformance folder not found: {folder} (set MC_SHARED)")
    return folder.resolve()


@pytest.fixture(autouse=True)
def private_home(
    monkeypatch: pytest.MonkeyPatch, _unused_homes: Iterator[Path], _test_area: Path
) -> Path:
    """Give each test a home of its own, no settings of the user or of git; return the home."""
    for name in list(os.environ):
        if name.startswith(_MACHINE_PREFIXES) or name in _MACHINE_NAMES:
            monkeypatch.delenv(name)
    home = next(_unused_homes)
    home.mkdir()
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / ".local" / "state"))
    for name in ("APPDATA", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(home / "AppData" / name.title()))
    for name, value in _GIT_ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    # Where TMPDIR lies inside a checkout, git would otherwise find that one from a test's folder.
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(_test_area))
    return home


@pytest.fixture
def memory_custodian() -> RunCommand:
    """Return a function that runs the installed command; see `RunCommand`."""
    return _run_command


@pytest.fixture(scope="session")
def _test_area(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.getbasetemp().resolve()


@pytest.fixture(scope="session")
def _unused_homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    # One folder a test would cost a scan of all earlier ones; a counter below one folder does not.
    homes = tmp_path_factory.mktemp("homes").resolve()
    return (homes / str(number) for number in itertools.count())


def _run_command(
    args: Sequence[str | os.PathLike[str]],
    *,
    cwd: Path,
    input: str | bytes | None = None,  # noqa: A002  # named as in subprocess.run
    env: Mapping[str, str | None] | None = None,
    timeout_seconds: float = COMMAND_TIMEOUT_SECONDS,
) -> subprocess.CompletedProcess[str]:
    changed = {**os.environ, **(env or {})}
    command = [sys.executable, "-m", "mc_cli", *(os.fspath(arg) for arg in args)]
    done = subprocess.run(
        command,
        cwd=cwd,
        input=input.encode() if isinstance(input, str) else input or b"",
        env={name: value for name, value in changed.items() if value is not None},
        capture_output=True,
        check=False,
        timeout=timeout_seconds,
    )
    return subprocess.CompletedProcess(
        command, done.returncode, done.stdout.decode(), done.stderr.decode()
    )
