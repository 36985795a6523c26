"""Install each wheel alone, without an index, and use it: `python tools/try_wheels.py DIST 3.10 …`.

Every Python that is asked for (oldest first) and found gets one new environment a package. The
third-party wheels are fetched before, with the oldest of them: a wheelhouse made by a newer Python
lacks what the oldest needs.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from wheel_checks import is_own, read_requirements
from workspace import STREET, import_name, with_requirements

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WHEELHOUSE: Final = "third-party"  # below DIST
_WINDOWS: Final = os.name == "nt"
_COMMANDS: Final[Mapping[str, Sequence[Sequence[str]]]] = {
    "mc-scan": (("mc-scan", "--version"),),
    "mc-cli": (
        ("memory-custodian", "--version"),
        ("memory-custodian", "init"),
        ("memory-custodian", "read", "--task", "planning"),
    ),
}
# Runs in the new environment. Argument 1: the import name; the others: our packages expected there.
_INSPECTION: Final = """
import importlib, importlib.metadata as metadata, sys
module = importlib.import_module(sys.argv[1])
owner = metadata.distribution(sys.argv[1].replace("_", "-"))
assert module.__version__ == owner.version, (module.__version__, owner.version)
for script in owner.entry_points:
    assert callable(script.load()), script
names = {found.metadata["Name"] for found in metadata.distributions()}
own = {name for name in names if name.startswith("mc-")}
assert own == set(sys.argv[2:]), sorted(own)
"""


class Interpreter(NamedTuple):
    """One Python on this machine."""

    version: str  # "3.10"
    executable: str


def main(arguments: list[str]) -> int:
    """Try every package on every Python that was found; 1 at the first that fails."""
    dist = Path(arguments[0]).resolve()
    found = [python for version in arguments[1:] if (python := find_interpreter(version))]
    missing = sorted(set(arguments[1:]) - {python.version for python in found})
    if not found:
        print(f"error: no Python of {', '.join(missing)} was found", file=sys.stderr)
        return 1
    fetch_wheelhouse(dist, found[0])
    for python in found:
        for package in STREET:
            problem = try_package(dist, package, python)
            if problem:
                print(f"error: {package} on Python {python.version}: {problem}", file=sys.stderr)
                return 1
        print(f"Python {python.version}: {len(STREET)} wheels, each alone", flush=True)
    if missing:
        print(f"Not found, not tried: Python {', '.join(missing)}")
    return 0


def find_interpreter(version: str) -> Interpreter | None:
    """Return a Python *version* such as `3.10` that starts: this one, by its name, or by `py`."""
    report = "import sys; print('%d.%d' % sys.version_info[:2], sys.executable)"
    launchers = [
        [sys.executable],
        [f"python{version}"],
        *([["py", f"-{version}"]] if _WINDOWS else []),
    ]
    for launcher in launchers:
        try:
            done = subprocess.run(
                [*launcher, "-c", report], check=False, capture_output=True, text=True
            )
        except OSError:
            continue
        # A version manager's shim exists for Pythons that are not selected, and fails.
        said, _, executable = done.stdout.strip().partition(" ")
        if done.returncode == 0 and said == version:
            return Interpreter(version, executable)
    return None


def fetch_wheelhouse(dist: Path, oldest: Interpreter) -> None:
    """Download the third-party wheels that our wheels in *dist* require into its wheelhouse."""
    requirements = sorted(
        {
            line
            for wheel in dist.glob("*.whl")
            for line in read_requirements(wheel)
            if not is_own(line)
        }
    )
    wheelhouse = dist / WHEELHOUSE
    wheelhouse.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "pip", "--python", oldest.executable, "download", "--quiet"]
    command += ["--only-binary=:all:", "--dest", str(wheelhouse), *requirements]
    subprocess.run(command, check=True)
    for wheel in sorted(wheelhouse.glob("*.whl")):
        print(f"{WHEELHOUSE}/{wheel.name}", flush=True)


def try_package(dist: Path, package: str, python: Interpreter) -> str:
    """Install *package* into a new environment and use it; return what went wrong, or ``""``."""
    with tempfile.TemporaryDirectory(prefix="mc-wheels-") as name:
        folder = Path(name)
        binaries = folder / "env" / ("Scripts" if _WINDOWS else "bin")
        (folder / "project").mkdir()
        inspection = [str(binaries / "python"), "-I", "-c", _INSPECTION, import_name(package)]
        steps = [
            *_install_steps(dist, package, python, folder / "env", binaries),
            [*inspection, *sorted(with_requirements(package))],
            *([str(binaries / line[0]), *line[1:]] for line in _COMMANDS.get(package, ())),
        ]
        for step in steps:
            problem = _run(step, folder)
            if problem:
                return problem
    return ""


def _install_steps(
    dist: Path, package: str, python: Interpreter, environment: Path, binaries: Path
) -> list[list[str]]:
    wheel = str(next(dist.glob(f"{import_name(package)}-*.whl")))
    sources = ["--no-index", "--find-links", str(dist), "--find-links", str(dist / WHEELHOUSE)]
    inside = str(binaries / "python")
    uv = shutil.which("uv")
    if uv is None:
        return [
            [python.executable, "-m", "venv", str(environment)],
            [inside, "-m", "pip", "install", "--quiet", *sources, wheel],
            [inside, "-m", "pip", "check"],
        ]
    # Without the cache: a wheel of the same name and version may have been built and cached before.
    install = [uv, "pip", "install", "--quiet", "--no-cache", "--python", inside, *sources, wheel]
    return [
        [uv, "venv", "--quiet", "--python", python.executable, str(environment)],
        install,
        [uv, "pip", "check", "--quiet", "--python", inside],
    ]


def _run(command: Sequence[str], folder: Path) -> str:
    done = subprocess.run(
        command,
        check=False,
        cwd=folder / "project",
        env=_clean_environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode == 0:
        return ""
    said = done.stdout.decode("utf-8", "backslashreplace")
    return f"exit {done.returncode}: {' '.join(command[:6])}\n{said}"


def _clean_environment(home: Path) -> dict[str, str]:
    """Return the environment without what could bring in another index, package or home."""
    dropped = ("PIP_", "UV_", "PYTHON", "VIRTUAL_ENV", "XDG_", "MEMORY_CUSTODIAN_", "GIT_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    own = {"HOME": str(home), "USERPROFILE": str(home), "LOCALAPPDATA": str(home)}
    return kept | own | {"PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1"}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
