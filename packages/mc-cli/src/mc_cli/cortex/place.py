"""Where the files of a memory root go, and which roots take typed items at all.

Source: governed writes, "Typed items (Cortex layout)"; design 8.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from mc_plan import open_memory_root, open_project
from mc_retrieve.errors import IntegrityError
from mc_retrieve.layout import KNOWLEDGE, MEMORY, find_files, is_bare

from mc_cli.cortex.governance import EUNSUPPORTED_LAYOUT, GovernanceError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mc_plan import Project

_DOCS: Final = "docs"
_KEEP: Final = "KNOWLEDGE/.gitkeep"
_MANIFEST: Final = "manifest.md"


class Place(NamedTuple):
    """A Cortex root that takes typed items."""

    project: Project
    prefix: str
    """``""``, or ``MEMORY/`` where the corpus lies in `MEMORY/KNOWLEDGE`."""
    is_new: bool
    """Neither corpus folder exists yet, and no file that a first write would hide."""

    def file(self, path: str) -> str:
        """Return *path*, below the memory, as seen from the root."""
        return self.prefix + path

    def founding(self, path: str) -> dict[str, bytes | None]:
        """Return the file that a first write makes besides *path*, so that a reader sees a corpus.

        Without `KNOWLEDGE` the whole root would be read as notes, audit rows included.
        """
        if not self.is_new or path.startswith(f"{KNOWLEDGE}/"):
            return {}
        return {_KEEP: b""}


def is_memory_directory(root: str) -> bool:
    """Return whether the pinned *root* is a MemoryCustodian memory directory (design 8)."""
    if not is_bare(root) or not os.path.lexists(os.path.join(root, _MANIFEST)):  # noqa: PTH118
        return False
    from mc_retrieve.project import is_memory_directory as has_manifest

    return has_manifest(root)


def find_place(root: str, *, environ: Mapping[str, str] = os.environ) -> Place:
    """Return where typed items go at *root*, a pinned root that is no memory directory.

    Raises:
        IntegrityError: A link or a file stands where a corpus folder is looked for, or the root
            has a manifest that cannot be read.
        GovernanceError: ``EUNSUPPORTED_LAYOUT``: a bare root with notes, which the first write
            into `KNOWLEDGE` would hide.
    """
    project = open_memory_root(root, environ=environ)
    if is_bare(root):
        _require_readable_manifest(root)
        if find_files(root):
            raise GovernanceError(
                "the root holds notes outside of `KNOWLEDGE`, and the first write would hide them",
                hint="make a root with `memory-custodian cortex init-root`, and move the notes into"
                " its `KNOWLEDGE`",
                code=EUNSUPPORTED_LAYOUT,
            )
        return Place(project, "", is_new=True)
    prefix = "" if os.path.lexists(os.path.join(root, KNOWLEDGE)) else f"{MEMORY}/"  # noqa: PTH118
    if not (Path(root) / prefix / KNOWLEDGE).is_dir():
        raise IntegrityError("is not a folder", where=f"{prefix}{KNOWLEDGE}")
    return Place(project, prefix, is_new=False)


def open_memory_directory(root: str, *, environ: Mapping[str, str] = os.environ) -> Project:
    """Return the project whose memory directory is the pinned *root*.

    Its root is what the nearest folder `docs` above lies in; without one it is *root* itself.
    """
    memory = Path(root)
    for parent in memory.parents:
        if parent.name == _DOCS:
            relative = memory.relative_to(parent.parent).as_posix()
            return open_project(parent.parent, relative, environ=environ)
    return open_memory_root(root, environ=environ)


def _require_readable_manifest(root: str) -> None:
    """Refuse a root whose manifest cannot be read: it may be a memory directory, not notes."""
    from mc_retrieve.memorydir import Fault, read_text

    found = read_text(Path(root), _MANIFEST)
    if isinstance(found, Fault):
        raise IntegrityError(f"the manifest cannot be used: {found.message}", where=_MANIFEST)
