"""Names of locks: which file excludes whom.

A project with a valid project id has the lock ``<project id>.lock``. A place without one has the
guard ``bootstrap-<32 hex digits>.lock``, named after the real path of its memory directory. Source:
reliability rule 2.1.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

LOCK_SUFFIX: Final = ".lock"
GUARD_PREFIX: Final = "bootstrap-"

_PLACE_CHARS: Final = 32
_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def key_of_project(project_id: str | None) -> str | None:
    """Return the lock key of a project id: the UUID in lower case, or ``None`` if it is no UUID.

    A project id comes from a file that anybody may have edited, and becomes a file name here.
    """
    lowered = (project_id or "").lower()
    return lowered if _UUID.fullmatch(lowered) else None


def place_of(memory_dir: Path) -> str:
    """Return 32 hex digits that name a place: of its real path, so every spelling gives the same.

    The memory directory need not exist yet.
    """
    import hashlib

    real = os.path.normcase(os.path.realpath(memory_dir))
    return hashlib.sha256(os.fsencode(real)).hexdigest()[:_PLACE_CHARS]


def guard_key(memory_dir: Path) -> str:
    """Return the key of the guard of a place, for example ``bootstrap-1f2e…``."""
    return GUARD_PREFIX + place_of(memory_dir)
