"""Compaction of one file towards its budget."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mc_schema.budget import ENTRY_TOKENS, budget_of, document_tokens, unit_tokens
from mc_schema.document import BULLET, HEADING_KINDS, Document
from mc_schema.entry import split_heading
from mc_schema.errors import SchemaError
from mc_schema.ids import is_calendar_date, parse_entry_id
from mc_schema.private import strip_private
from mc_schema.routes import route_path_fault

from mc_plan.draft import Blocker, Confirmation
from mc_plan.operations.compact import (
    ARCHIVE_OLDEST,
    CHANGELOG,
    INBOX,
    CompactResult,
    archive_superseded,
    label_of,
)
from mc_plan.operations.compact_inbox import bullet_key
from mc_plan.operations.protocol import read_manifest

if TYPE_CHECKING:
    from mc_schema.document import Unit

    from mc_plan.draft import Draft
    from mc_plan.operations.compact import Changes

DECISIONS: Final = "decisions.md"
_LISTS: Final = ("constraints.md", "preferences.md")
_OLDEST_REASON: Final = "Oldest entries, moved to keep the file within its budget."
_DATE: Final = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})", re.ASCII)
_DECISION: Final = re.compile(r"^Decision:", re.MULTILINE)
_SHOWN_LONG: Final = 10


def require_target(text: str) -> str:
    """Return the file of ``--target``, below the memory directory, with ``/``.

    Raises:
        SchemaError: It is no relative Markdown path, or names the manifest, inbox or archive.
    """
    name = text.replace("\\", "/")
    fault = route_path_fault(name)
    if not fault and (name in ("manifest.md", INBOX) or name.startswith("archive/")):
        fault = "this file has no budget"
    if fault:
        raise SchemaError(
            f"the target cannot be compacted: {fault}",
            where=f"`{text[:80]}`",
            hint="name a file with a budget, such as `decisions.md`; without `--target` the inbox "
            "is compacted",
            code="invalid_target",
        )
    return name


def compact_target(changes: Changes, name: str) -> Draft:
    """Return the draft of ``compact --target``.

    Raises:
        SchemaError: The file is missing or has no budget.
    """
    limit = budget_of(name, read_manifest(changes.snapshot).budgets)
    text = changes.text(name)
    if limit is None or text is None:
        raise SchemaError(
            "the file has no budget" if limit is None else "the file is missing",
            where=changes.path(name),
            hint="name a file with a budget, such as `decisions.md`",
            code="invalid_target",
        )
    archive_superseded(changes, name)
    before = _tokens(text)
    result = CompactResult(
        name, "ok", tokens=before, limit=limit, long_entries=_long(changes.after[name], name)
    )
    if _tokens(changes.after[name]) <= limit:
        draft = changes.draft(result._replace(projected=_tokens(changes.after[name])))
    elif name in _LISTS:
        draft = _deduplicate(changes, name, result)
    elif name in (DECISIONS, CHANGELOG):
        draft = _archive_oldest(changes, name, result)
    else:
        draft = changes.draft(
            result._replace(status="manual-review", projected=_tokens(changes.after[name]))
        )
    return draft


def _tokens(text: str) -> int:
    return document_tokens(Document.parse(strip_private(text)))


def _long(text: str, name: str) -> tuple[str, ...]:
    document = Document.parse(text)
    return tuple(label_of(u, name) for u in document.units if _is_long(document, u))[:_SHOWN_LONG]


def _is_long(document: Document, unit: Unit) -> bool:
    if unit.kind not in HEADING_KINDS or not _DECISION.search(document.unit_text(unit)):
        return False
    return unit_tokens(document, unit) > ENTRY_TOKENS


def _deduplicate(changes: Changes, name: str, result: CompactResult) -> Draft:
    document = Document.parse(changes.after[name])
    seen: set[tuple[int, str]] = set()
    gone = []
    for unit in document.units:
        if unit.kind != BULLET:
            continue
        # Under another heading the same words mean something else.
        key = (unit.section, bullet_key(document.unit_text(unit)))
        if key in seen:
            gone.append(unit)
        seen.add(key)
    if gone:
        changes.remove(name, [(unit, "Remove an exact duplicate") for unit in gone])
        changes.record(f"Compaction removed {len(gone)} duplicates from {name}.")
    projected = _tokens(changes.after[name])
    status = "planned" if projected <= result.limit else "manual-review"
    return changes.draft(result._replace(status=status, duplicates=len(gone), projected=projected))


def _archive_oldest(changes: Changes, name: str, result: CompactResult) -> Draft:
    document = Document.parse(changes.after[name])
    units = [unit for unit in document.units if unit.kind in HEADING_KINDS]
    order = _newest_first(units)
    ordered = units if order is None else order
    keep = _fitting(document, ordered, result.limit)
    gone = {unit.ordinal for unit in ordered[keep:]}
    leaving = [unit for unit in units if unit.ordinal in gone]
    kept = [unit for unit in units if unit.ordinal not in gone]
    blockers = []
    if name == DECISIONS and any(_is_long(document, unit) for unit in kept):
        blockers.append(
            Blocker(
                "long_decision",
                f"a decision that would stay has more than {ENTRY_TOKENS} tokens",
                changes.path(name),
                "supersede it with a shorter one first",
            )
        )
    _archive_whole(changes, name, leaving)
    changes.record(f"Compaction archived {len(leaving)} entries of {name}.")
    gate = Confirmation(ARCHIVE_OLDEST, f"{len(leaving)} of {len(units)} entries leave {name}")
    return changes.draft(
        result._replace(
            status="planned",
            kept=len(kept),
            projected=_tokens(changes.after[name]),
            order="file order" if order is None else "dates",
        ),
        blockers=blockers,
        confirmations=[gate] if name == DECISIONS and leaving else [],
    )


def _archive_whole(changes: Changes, name: str, units: list[Unit]) -> None:
    """Archive units, a group with the bullets under it."""
    document = Document.parse(changes.after[name])
    wanted = {unit.ordinal for unit in units}
    whole = [u for u in document.units if u.ordinal in wanted or u.section in wanted]
    changes.archive(name, whole, _OLDEST_REASON)


def _fitting(document: Document, ordered: list[Unit], limit: int) -> int:
    """Return how many units stay: as many as fit, at least one, and at least one leaves."""
    fixed = document_tokens(Document.parse(document.text[: document.head_end]))
    members: dict[int, int] = {}
    for unit in document.units:
        tokens = unit_tokens(document, unit)
        if unit.kind in HEADING_KINDS or unit.section >= 0:
            owner = unit.ordinal if unit.section < 0 else unit.section
            members[owner] = members.get(owner, 0) + tokens
        else:
            fixed += tokens
    total, keep = fixed, 0
    for unit in ordered:
        total += members[unit.ordinal]
        if total > limit:
            break
        keep += 1
    return max(1, min(keep, len(ordered) - 1)) if len(ordered) > 1 else len(ordered)


def _newest_first(units: list[Unit]) -> list[Unit] | None:
    """Return *units* by their dates, newest first, or ``None`` when one has no date."""
    dates = [_date_of(unit) for unit in units]
    if not all(dates):
        return None
    pairs = sorted(zip(dates, range(len(units)), strict=True), key=lambda p: (-int(p[0]), p[1]))
    return [units[index] for _, index in pairs]


def _date_of(unit: Unit) -> str:
    entry_id = parse_entry_id(split_heading(unit.heading)[0])
    if entry_id is not None:
        return entry_id.created
    match = _DATE.match(unit.heading)
    digits = "".join(match.groups()) if match else ""
    return digits if is_calendar_date(digits) else ""
