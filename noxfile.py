"""What can be run on the workspace: `nox` runs lint, tests and build.

No session installs one of our names from a package index, where two of them belong to strangers:
either all seven local paths are installed in one call (`requirements.txt`), or with `--no-index`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import nox

nox.needs_version = ">=2024.10.9"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.download_python = "never"
nox.options.sessions = ["lint", "tests", "build"]

PYTHONS: Final = ("3.10", "3.11", "3.12", "3.13")
SOURCES: Final = sorted(path.as_posix() for path in Path("packages").glob("*/src"))
OWN_PACKAGES: Final = ("-r", "requirements.txt")

# Bounded above, so that a release of a tool never turns an old clone red.
PYTEST: Final = ("pytest>=9,<10", "pytest-xdist>=3.6,<4", "hypothesis>=6.100,<7")
IMPORT_LINTER: Final = "import-linter>=2.1,<3"
FUZZER: Final = "atheris>=2.3,<4"
TOMLI: Final = "tomli>=2.0.1; python_version < '3.11'"
TEST_TOOLS: Final = (*PYTEST, "jsonschema>=4.20,<5", IMPORT_LINTER, TOMLI)
LINT_TOOLS: Final = ("ruff>=0.17,<0.18", "mypy>=2.4,<2.5", "nox>=2024.10.9", IMPORT_LINTER)
BUILD_TOOLS: Final = ("build>=1.2,<2", "hatchling>=1.27,<2", "pip>=24", "packaging>=24")


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, types and the one-way street between the packages."""
    session.install(*OWN_PACKAGES, *LINT_TOOLS, *PYTEST)
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy", *SOURCES, "noxfile.py", "conftest.py", "tools", "evals")
    session.run("lint-imports")
    session.run("python", "evals/check.py", "--static")


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """Run every test but the torture tests."""
    session.install(*OWN_PACKAGES, *TEST_TOOLS)
    session.run(
        "pytest", "--numprocesses=auto", "--maxprocesses=4", "--dist=worksteal", *session.posargs
    )


@nox.session
def torture(session: nox.Session) -> None:
    """Run the long tests: many processes, many crashes, much data."""
    session.install(*OWN_PACKAGES, *TEST_TOOLS)
    # Coverage-guided fuzzing where it installs; elsewhere hypothesis spends the same budget.
    session.install(FUZZER, success_codes=[0, 1, 2])
    session.run("pytest", "-m", "torture", "--capture=no", *session.posargs)


@nox.session
def build(session: nox.Session) -> None:
    """Build every package into dist/ and install each wheel alone, without an index."""
    session.install(*BUILD_TOOLS, *(("uv",) if session.venv_backend == "uv" else ()))
    session.run("python", "tools/build_packages.py", "dist")
    session.run("python", "tools/try_wheels.py", "dist", *PYTHONS)


@nox.session(venv_backend="none")
def templates(session: nox.Session) -> None:
    """Copy templates/ into the mc-plan package."""
    session.run(sys.executable, "tools/copy_templates.py", external=True)


@nox.session(venv_backend="none")
def bump(session: nox.Session) -> None:
    """Write one new version into every file that names it: `nox -s bump -- X.Y.Z`."""
    session.run(sys.executable, "tools/bump_version.py", *session.posargs, external=True)


@nox.session
def bench(session: nox.Session) -> None:
    """Measure and print: runs benchmarks/*.py, each of which compares within one run."""
    extra = Path("benchmarks", "requirements.txt")
    session.install(*OWN_PACKAGES, *(("-r", str(extra)) if extra.is_file() else ()))
    scripts = sorted(path.as_posix() for path in Path("benchmarks").glob("*.py"))
    if not scripts:
        session.log("There is no benchmarks/*.py yet.")
    for script in scripts:
        session.run("python", script, *session.posargs)
