"""Protocol 0.4 and older to 0.5: the generated implementation route gains `decisions.md`.

A route that somebody customised is left alone. Source: protocol 0.5 page B9, part D.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mc_schema.lines import dominant_newline
from mc_schema.manifest import parse_manifest
from mc_schema.routes import CATEGORIES

from mc_migrate.workspace import MANIFEST

if TYPE_CHECKING:
    from mc_migrate.workspace import Workspace

_GENERATED: Final = (
    "Load:",
    "- constraints.md",
    "- do-not-use.md",
    "Load if present:",
    "- preferences.md",
)


def run(workspace: Workspace) -> None:
    """Add `decisions.md` to the exact generated implementation section of Protocol 0.4."""
    text = workspace.after.get(MANIFEST, "")
    manifest = parse_manifest(text)
    section = manifest.section(CATEGORIES["implementation"][0], level=3)
    if section is None:
        return
    lines = [
        line for line in manifest.lines[section.heading + 1 : section.end] if not line.is_blank
    ]
    if tuple(line.content for line in lines) != _GENERATED:
        return
    end = lines[0].content_end
    added = f"{dominant_newline(text)}- decisions.md"
    workspace.replace(
        MANIFEST, text[:end] + added + text[end:], "Load decisions.md for implementation tasks"
    )
