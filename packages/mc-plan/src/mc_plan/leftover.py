"""Temporaries in a project that no journal names: another user's, or of another state directory.

Source: reliability specification 5.6.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Final, NamedTuple

from mc_plan.project import ROOT_MEMORY_DIR, path_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mc_plan.journal import Journal
    from mc_plan.project import Project

MIN_AGE_SECONDS: Final = 300
"""A younger one may belong to a change that is going on under another state directory."""
_PREFIX: Final = ".mc-"
_SUFFIX: Final = ".tmp"


class Leftover(NamedTuple):
    """A repo-relative temporary and its age."""

    path: str
    age_seconds: float

    @property
    def is_removable(self) -> bool:
        """Whether it is older than 300 s."""
        return self.age_seconds > MIN_AGE_SECONDS


def find_leftovers(project: Project, journal: Journal | None, now: float) -> list[Leftover]:
    """Return the plain temporaries that *journal* does not name, sorted; nothing is opened.

    Args:
        project: Its root, the folders down to the memory directory and everything below are seen.
        journal: The journal of the place, if there is one that can be read.
        now: Epoch seconds.
    """
    named = {file.temporary for file in journal.files} if journal is not None else set()
    found = []
    for path in sorted(_temporaries(project)):
        relative = path_text(path.relative_to(project.root).as_posix())
        age = _age(path, now)
        if relative not in named and age is not None:
            found.append(Leftover(relative, age))
    return found


def _temporaries(project: Project) -> Iterator[Path]:
    above = project.root
    parts = [] if project.memory_dir == ROOT_MEMORY_DIR else project.memory_dir.split("/")
    for part in parts:
        yield from (above / name for name in _names(above) if _is_temporary(name))
        above = above / part
    for folder, _, names in os.walk(project.memory_path, followlinks=False):
        yield from (project.root / folder / name for name in names if _is_temporary(name))


def _names(folder: Path) -> list[str]:
    try:
        return [path.name for path in folder.iterdir()]
    except OSError:
        return []


def _is_temporary(name: str) -> bool:
    return name.startswith(_PREFIX) and name.endswith(_SUFFIX)


def _age(path: Path, now: float) -> float | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return now - found.st_mtime if stat.S_ISREG(found.st_mode) else None
