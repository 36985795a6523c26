"""Whether the files that evidence names exist: on disk, or in Git at a revision.

Git is asked read-only and without network, before any lock, and never needed: without it, or
outside a work tree, the form of a revision alone is checked.

Source: design section 4; guide section 6.1.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from mc_schema.errors import InvalidEvidenceError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mc_schema.evidence import Evidence

PRESENT: Final = "present"
MISSING: Final = "missing"
NOT_VERIFIED: Final = "not verified"
"""A revision that cannot be asked for: no Git, no work tree, or no answer in time."""

GIT_TIMEOUT_SECONDS: Final = 10.0
_GIT_ENVIRONMENT: Final = {
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    # A partial clone would fetch a missing object; Git before 2.44 knows no other way to forbid it.
    "GIT_ALLOW_PROTOCOL": "none",
    "LC_ALL": "C",
}
_GIT_NAMES: Final = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY")


class EvidenceFile(NamedTuple):
    """One evidence value that names a file, and whether it is there."""

    evidence: Evidence
    state: str
    """`PRESENT`, `MISSING` or `NOT_VERIFIED`."""


def find_evidence_files(
    root: Path, values: Iterable[Evidence], *, environ: Mapping[str, str] | None = None
) -> list[EvidenceFile]:
    """Return every value of *values* that names a file below *root*, with its state, in order.

    Args:
        root: The real project root that evidence paths start from.
        values: Parsed evidence; values without a path are left out.
        environ: The environment that Git is found by; the process's own by default.

    Raises:
        InvalidEvidenceError: A path leads out of the project through a link.
    """
    environment = os.environ if environ is None else environ
    return [
        EvidenceFile(value, _state(root, value, environment)) for value in values if value.has_path
    ]


def _state(root: Path, value: Evidence, environ: Mapping[str, str]) -> str:
    readings = value.path_readings()
    for path, _ in readings:
        _require_inside(root, path, value)
    if _exists(root, readings[0][0]):
        return PRESENT
    for path, revision in readings[1:]:
        return _state_at(root, path, revision, environ)
    return MISSING


def _exists(root: Path, path: str) -> bool:
    try:
        return (root / path).exists()
    except (OSError, ValueError):
        return False


def _require_inside(root: Path, path: str, value: Evidence) -> None:
    try:
        real = Path(os.path.realpath(root / path))
    except (OSError, ValueError):
        return
    if real != root and root not in real.parents:
        raise InvalidEvidenceError(
            "the evidence path leads out of the project through a link",
            where=f"`{value}`",
            hint="name a file inside the project",
        )


def _state_at(root: Path, path: str, revision: str, environ: Mapping[str, str]) -> str:
    # `./` makes Git start from the project root, which may lie below the top of its work tree.
    found = _git(root, environ, "cat-file", "-e", f"{revision}:./{path}")
    if found is None:
        return NOT_VERIFIED
    if found.returncode == 0:
        return PRESENT
    inside = _git(root, environ, "rev-parse", "--is-inside-work-tree")
    is_work_tree = inside is not None and inside.stdout.strip() == b"true"
    return MISSING if is_work_tree else NOT_VERIFIED


class _Answer(NamedTuple):
    returncode: int
    stdout: bytes


def _git(root: Path, environ: Mapping[str, str], *arguments: str) -> _Answer | None:
    """Run Git in *root*; ``None`` when there is none or it does not answer in time."""
    import shutil
    import subprocess

    program = shutil.which("git", path=environ.get("PATH", ""))
    # A relative PATH entry could be a program of the project itself.
    if program is None or not Path(program).is_absolute():
        return None
    kept = {name: text for name, text in environ.items() if name not in _GIT_NAMES}
    try:
        done = subprocess.run(
            [program, "--no-pager", *arguments],
            cwd=root,
            env={**kept, **_GIT_ENVIRONMENT},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=GIT_TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return _Answer(done.returncode, done.stdout)
