"""Which protocol a project follows, as an operation sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mc_schema.manifest import Manifest, parse_manifest

if TYPE_CHECKING:
    from mc_plan.snapshot import Snapshot


def read_manifest(snapshot: Snapshot) -> Manifest:
    """Return the manifest of the project, an empty one when it is missing."""
    path = snapshot.project.memory_file("manifest.md")
    return parse_manifest(snapshot.read_text(path) or "")


def is_current(snapshot: Snapshot) -> bool:
    """Say whether the project follows Protocol 0.6; older ones keep their own formats."""
    return read_manifest(snapshot).metadata.is_current
