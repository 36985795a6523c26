"""Compaction of the inbox: exact duplicates, exact tombstone matches, promoted candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mc_schema.document import BULLET, ENTRY, Document, normalise_newlines
from mc_schema.entry import CANDIDATE, PROMOTED, parse_entry, split_heading
from mc_schema.errors import ManifestError
from mc_schema.memoryfile import parse_memory_file

from mc_plan.operations.compact import (
    INBOX,
    CompactResult,
    archive_superseded,
    units_with_status,
)
from mc_plan.operations.forget_search import DO_NOT_USE, is_tombstone
from mc_plan.operations.tombstone import GENERIC_TITLE, PREFIX

if TYPE_CHECKING:
    from collections.abc import Hashable

    from mc_schema.document import Unit

    from mc_plan.draft import Draft
    from mc_plan.operations.compact import Changes

_PROMOTED_REASON: Final = "Promoted to active memory."


def compact_inbox(changes: Changes) -> Draft:
    """Return the draft of `compact` without a target.

    Raises:
        ManifestError: The inbox is missing.
    """
    text = changes.text(INBOX)
    if text is None:
        raise ManifestError(
            "the inbox is missing",
            where=changes.path(INBOX),
            hint="`memory-custodian init --repair` creates it",
            code="missing_file",
        )
    document = Document.parse(text)
    duplicates, matches = _removable(document, _tombstone_keys(changes))
    items = sum(_is_item(unit, document) for unit in document.units)
    steps = [(unit, "Remove an exact duplicate") for unit in duplicates]
    steps += [(unit, "Remove an exact tombstone match") for unit in matches]
    changes.remove(INBOX, steps)
    text = changes.after[INBOX]
    promoted = units_with_status(parse_memory_file(INBOX, text), text, PROMOTED)
    changes.archive(INBOX, promoted, _PROMOTED_REASON)
    for path in changes.snapshot.list_memory():
        name = changes.snapshot.project.in_memory(path) or path
        if not name.startswith("archive/") and name not in (INBOX, "manifest.md"):
            archive_superseded(changes, name)
    changes.record(_message(len(duplicates), len(matches), len(changes.archived)))
    return changes.draft(
        CompactResult(
            target=INBOX,
            status="planned" if changes.operations else "ok",
            items=items,
            duplicates=len(duplicates),
            tombstone_matches=len(matches),
            review=_review(changes.after[INBOX]),
        )
    )


def bullet_key(text: str) -> str:
    """Return what equal bullets share (protocol 0.5 page A7)."""
    first, *rest = normalise_newlines(text).split("\n")
    return "\n".join([first[2:].strip(), *(line.rstrip() for line in rest)]).strip().casefold()


def _is_item(unit: Unit, document: Document) -> bool:
    if unit.kind == ENTRY:
        return parse_entry(document.unit_text(unit)).status == CANDIDATE
    return unit.kind == BULLET


def _keys(unit: Unit, document: Document) -> tuple[Hashable, str] | None:
    """Return what duplicates share, and the text that a tombstone must equal."""
    text = document.unit_text(unit)
    if unit.kind == BULLET:
        key = bullet_key(text)
        return key, key
    if unit.kind != ENTRY:
        return None
    entry = parse_entry(text)
    if entry.status != CANDIDATE:
        return None
    # Evidence and requirement are part of what a candidate says: dropping either would lose it.
    key_parts = (entry.candidate_type, entry.scope, entry.body.strip().casefold())
    return (*key_parts, frozenset(entry.evidence), entry.requirement, entry.reason), (
        entry.body.strip().casefold()
    )


def _removable(document: Document, tombstones: set[str]) -> tuple[list[Unit], list[Unit]]:
    seen: set[Hashable] = set()
    duplicates, matches = [], []
    for unit in document.units:
        keys = _keys(unit, document)
        if keys is None:
            continue
        own, plain = keys
        if own in seen:
            duplicates.append(unit)
        elif plain in tombstones:
            matches.append(unit)
        seen.add(own)
    return duplicates, matches


def _tombstone_keys(changes: Changes) -> set[str]:
    text = changes.text(DO_NOT_USE)
    if text is None:
        return set()
    document = Document.parse(text)
    keys = set()
    for unit in document.units:
        if unit.kind == BULLET:
            keys.add(bullet_key(document.unit_text(unit)))
        elif is_tombstone(unit):
            title = split_heading(unit.heading)[1] if unit.kind == ENTRY else unit.heading
            keys.add(title[len(PREFIX.strip()) :].strip().casefold())
    return keys - {"", GENERIC_TITLE.casefold()}


def _review(text: str) -> tuple[tuple[str, str], ...]:
    file = parse_memory_file(INBOX, text)
    return tuple((u.label, u.text) for u in file.units if u.standing.status == CANDIDATE)


def _message(duplicates: int, matches: int, archived: int) -> str:
    parts = []
    if duplicates or matches:
        parts.append(
            f"removed {duplicates} duplicates and {matches} tombstone matches from {INBOX}"
        )
    if archived:
        parts.append(f"archived {archived} promoted or superseded entries")
    return f"Compaction {', '.join(parts)}."
