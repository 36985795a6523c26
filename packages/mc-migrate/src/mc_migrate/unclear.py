"""Places whose boundary is unclear: they stay as they are and are listed for people."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mc_schema.document import BULLET, GROUP, HEADING_KINDS, PREAMBLE, PROSE, SECTION, Document

from mc_migrate.workspace import Place

if TYPE_CHECKING:
    from mc_schema.document import Unit

    from mc_migrate.workspace import Workspace

_FILES: Final = ("decisions.md", "constraints.md", "preferences.md", "do-not-use.md")
_SENTENCE: Final = re.compile(r"[.!?。！？](?=\s|$)")
_INTRODUCTION_CHARS: Final = 200


def find_unclear(workspace: Workspace) -> None:
    """List what no rule could migrate in the files that hold entries; it never blocks.

    Source: guide 11.2, "Manual migration recommended".
    """
    for name, text in sorted(workspace.before.items()):
        if name not in _FILES and not name.startswith("areas/"):
            continue
        document = Document.parse(text)
        known = {(new.path, new.line) for new in workspace.ids}
        known |= {(place.path, place.line) for place in workspace.manual}
        for unit in document.units:
            if (name, unit.line) not in known and _is_unclear(document, unit):
                workspace.manual.append(Place(name, unit.line, _WORDS[unit.kind]))
    workspace.manual.sort()


_WORDS: Final = {
    SECTION: "a section without a clear decision",
    GROUP: "a heading with prose over a list",
    PROSE: "prose between entries",
    PREAMBLE: "prose without entries",
}


def _is_unclear(document: Document, unit: Unit) -> bool:
    if unit.kind == SECTION:
        return not unit.heading.lower().startswith("tombstone:")
    if unit.kind == PROSE:
        return True
    if unit.kind == GROUP:
        return len(document.unit_text(unit).split("\n")) > 1 and _has_prose(
            document.unit_text(unit)
        )
    return unit.kind == PREAMBLE and not _is_introduction(document, unit)


def _has_prose(text: str) -> bool:
    return bool(text.replace("\r", "\n").partition("\n")[2].strip())


def _is_introduction(document: Document, unit: Unit) -> bool:
    """Tell the line that introduces a file from prose that is the file's only content."""
    if any(other.kind in (*HEADING_KINDS, BULLET) for other in document.units):
        return True
    text = document.unit_text(unit).strip()
    if "\n" in text or len(text) > _INTRODUCTION_CHARS:
        return False
    return len(_SENTENCE.findall(text)) <= 1
