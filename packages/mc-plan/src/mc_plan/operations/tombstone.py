"""Tombstones: what `forget` leaves in `do-not-use.md` so that a topic does not come back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mc_schema.document import ENTRY, Document
from mc_schema.entry import ACTIVE, Entry, format_entry, split_heading
from mc_schema.evidence import CONFIRMED
from mc_schema.ids import find_entry_ids, parse_entry_id
from mc_schema.storage import PROJECT, TOMBSTONE_ROW

from mc_plan.operations.forget_search import is_tombstone
from mc_plan.operations.protocol import is_current
from mc_plan.redaction import fold

if TYPE_CHECKING:
    from collections.abc import Collection

    from mc_plan.pending import Seed
    from mc_plan.snapshot import Snapshot

PREFIX: Final = "Tombstone: "
GENERIC_TITLE: Final = "Redacted user-requested removal"
_GENERIC_BODY: Final = (
    "Memory was removed here at a person's request. Do not restore it from history, backups or "
    "conversation."
)


def with_tombstone(
    text: str, topic: str, snapshot: Snapshot, seed: Seed, *, taken: Collection[str]
) -> tuple[str, str]:
    """Return `do-not-use.md` with a tombstone that names *topic*, and its id or heading.

    A tombstone of the same topic is left as it is, and the name is empty.
    """
    body = f"This was forgotten at a person's request. Do not propose or restore it: {topic}"
    return _with_entry(text, topic, body, snapshot, seed, taken=taken)


def with_generic_guard(
    text: str, topic: str, snapshot: Snapshot, seed: Seed, *, taken: Collection[str]
) -> tuple[str, str]:
    """Return `do-not-use.md` with one guard that names no topic; see `with_tombstone`."""
    del topic
    return _with_entry(text, GENERIC_TITLE, _GENERIC_BODY, snapshot, seed, taken=taken)


def _with_entry(
    text: str, subject: str, body: str, snapshot: Snapshot, seed: Seed, *, taken: Collection[str]
) -> tuple[str, str]:
    document = Document.parse(text)
    if _has_tombstone(document, subject):
        return text, ""
    if not is_current(snapshot):
        block = f"## {PREFIX}{subject}\n{body} Date: {seed.iso_date}."
        return document.insert_newest_first(block), f"`{PREFIX}{subject}`"
    entry_id = _free_id(text, seed, taken)
    entry = Entry(
        id=parse_entry_id(entry_id),
        title=f"{PREFIX}{subject}",
        status=ACTIVE,
        scope=PROJECT,
        evidence=(CONFIRMED,),
        body_label=TOMBSTONE_ROW.label,
        body=body,
    )
    return document.insert_newest_first(format_entry(entry)), entry_id


def _free_id(text: str, seed: Seed, taken: Collection[str]) -> str:
    used = {*find_entry_ids(text), *taken}
    while (entry_id := seed.entry_id(TOMBSTONE_ROW.code)) in used:
        continue
    return entry_id


def _has_tombstone(document: Document, subject: str) -> bool:
    wanted = fold(PREFIX + subject)
    for unit in document.units:
        if not is_tombstone(unit):
            continue
        title = split_heading(unit.heading)[1] if unit.kind == ENTRY else unit.heading
        if fold(title) == wanted:
            return True
    return False
