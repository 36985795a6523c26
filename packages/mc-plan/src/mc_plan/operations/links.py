"""Links to entries that are going away (design 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mc_schema.document import Document
from mc_schema.entry import FORGOTTEN, parse_entry
from mc_schema.fields import remove_field, set_field

if TYPE_CHECKING:
    from collections.abc import Collection


def without_links(text: str, removed: Collection[str]) -> str:
    """Return the memory file *text* whose entries no longer name any id of *removed*.

    `Supersedes:` and `Promoted-To:` lines go; an entry whose successor goes stays superseded, by
    `forgotten`.
    """
    document = Document.parse(text)
    changes = []
    for unit in document.entries():
        before = document.unit_text(unit)
        after = _cleaned(before, removed)
        if after != before:
            changes.append((unit, after))
    return document.replace_units(changes) if changes else text


def _cleaned(unit: str, removed: Collection[str]) -> str:
    entry = parse_entry(unit)
    if entry.supersedes in removed:
        unit = remove_field(unit, "Supersedes")
    if entry.promoted_to in removed:
        unit = remove_field(unit, "Promoted-To")
    if entry.superseded_by in removed:
        unit = set_field(unit, "Superseded-By", FORGOTTEN)
    return unit
