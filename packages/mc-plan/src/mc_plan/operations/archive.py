"""Moving complete units into the archive (protocol 0.5 page A11)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mc_schema.document import Document, normalise_newlines
from mc_schema.lines import dominant_newline

from mc_plan.template import read_template

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mc_plan.snapshot import Snapshot

README: Final = "archive/README.md"


def archive_name(target: str, iso_date: str) -> str:
    """Return the archive file for units of *target*: ``archive/areas-api-2026-03-04.md``."""
    stem = target.removesuffix(".md").replace("/", "-")
    return f"archive/{stem}-{iso_date}.md"


def archived_texts(
    snapshot: Snapshot, target: str, units: Sequence[str], reason: str, iso_date: str
) -> dict[str, str]:
    """Return the archive files, by name below the memory directory, with *units* added.

    Args:
        snapshot: Of the project.
        target: Where the units come from, below the memory directory.
        units: Their exact texts; line ends follow the archive file.
        reason: One sentence.
        iso_date: ``YYYY-MM-DD``; runs of one day share a file.
    """
    name = archive_name(target, iso_date)
    project = snapshot.project
    old = snapshot.read_text(project.memory_file(name))
    section = f"## {iso_date} - From {target}\nReason:\n{reason}"
    blocks = [section, *(normalise_newlines(unit) for unit in units)]
    if old is None:
        newline = dominant_newline(units[0]) if units else "\n"
        head = f"# Archived Memory: {target}"
        new = "\n\n".join([head, *blocks]).replace("\n", newline) + newline
    else:
        new = Document.parse(old).append("\n\n".join(blocks))
    texts = {name: new}
    if snapshot.read_text(project.memory_file(README)) is None:
        texts[README] = read_template("memory/archive/README.md")
    return texts
