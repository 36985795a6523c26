"""Hot memory files: adding an entry or replacing all, with a snapshot of what was there.

Source: governed writes, "Hot memory" and "Governance".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mc_cli.cortex.bounds import MAX_ENTRIES
from mc_cli.cortex.frontmatter import quote
from mc_cli.cortex.governance import (
    EAT_CAP,
    EINVAL_ITEM,
    ESUSPECT_SHRINK,
    HOT_FILES,
    GovernanceError,
)
from mc_cli.cortex.hot_entries import format_hot_file, parse_hot_file, require_sound
from mc_cli.cortex.items import ADD
from mc_cli.cortex.readable import require_readable, require_room
from mc_cli.cortex.snapshots import snapshot_changes
from mc_cli.cortex.writer import draft_write, read_target

if TYPE_CHECKING:
    from mc_plan import Builder, Draft, Seed, Snapshot

    from mc_cli.cortex.hot_entries import HotFile
    from mc_cli.cortex.items import MemoryItem
    from mc_cli.cortex.writer import Moment, Writer

GUARDED_FROM: Final = 10
"""So many entries switch the shrink guard on."""
FEWEST_LEFT: Final = 3

_TITLES: Final = {"principal": "Principal memory", "assistant": "Assistant memory"}


def build_hot_memory(item: MemoryItem, writer: Writer) -> Builder:
    """Return the builder that adds the item's entry, or sets all entries of the actor's file.

    It raises `GovernanceError`: ``EINVAL_ITEM`` for a repeated entry, ``EAT_CAP``,
    ``ESUSPECT_SHRINK``, ``ETIER_MISMATCH``, or ``EINVAL_TARGET`` for a file that cannot be
    rewritten without a loss.
    """

    def build(snapshot: Snapshot, seed: Seed) -> Draft:  # noqa: ARG001 - a builder has both
        moment = writer.moment()
        name = HOT_FILES[item.actor]
        path = writer.place.file(name)
        text = read_target(snapshot, writer, item.type, name)
        file = parse_hot_file(_new_text(item, moment) if text is None else text, path)
        entries = _entries(item, file, path)
        data = format_hot_file(file, entries).encode("utf-8")
        record = require_readable(data, file.newline.join(entries), path, moment.ms)
        changes: dict[str, bytes | None] = {name: data}
        if text is None:
            require_room(str(writer.place.project.root), len(data))
        elif text.encode("utf-8") != data:
            changes |= snapshot_changes(writer.place, name, text.encode("utf-8"), moment)
        detail = {"id": record.id, "created": moment.text, "entries": len(entries)}
        return _draft(item, writer, moment, changes, detail)

    return build


def _new_text(item: MemoryItem, moment: Moment) -> str:
    title = _TITLES[item.actor]
    return (
        f"---\ntype: memory\ntitle: {quote(title)}\nsource_kind: internal\n"
        f"created: {moment.text}\n---\n\n# {title}\n\n"
    )


def _entries(item: MemoryItem, file: HotFile, path: str) -> tuple[str, ...]:
    existing = tuple(entry.text for entry in file.entries)
    if item.op == ADD:
        require_sound(file, path)
        if item.entries[0] in existing:
            line = file.entries[existing.index(item.entries[0])].line
            raise GovernanceError(
                "`content` repeats an entry that is there already",
                where=f"{path}:{line}",
                hint="nothing is left to do",
                code=EINVAL_ITEM,
            )
        entries = existing + item.entries
    else:
        _require_no_shrink(existing, item.entries, path)
        entries = item.entries
    over = len(entries) - MAX_ENTRIES
    if over > 0:
        raise GovernanceError(
            f"the file would have {len(entries)} entries, {over} over the {MAX_ENTRIES} allowed",
            where=path,
            hint="set a list of the entries that are worth keeping",
            code=EAT_CAP,
        )
    return entries


def _require_no_shrink(existing: tuple[str, ...], wanted: tuple[str, ...], path: str) -> None:
    if len(existing) < GUARDED_FROM:
        return
    dropped = sum(1 for entry in existing if entry not in wanted)
    added = set(wanted) - set(existing)
    if len(wanted) >= FEWEST_LEFT and (added or dropped * 2 <= len(existing)):
        return
    raise GovernanceError(
        f"the list would leave {len(wanted)} of {len(existing)} entries, which looks like a loss",
        where=path,
        hint="send the whole list; a person can shorten the file by hand",
        code=ESUSPECT_SHRINK,
    )


def _draft(
    item: MemoryItem,
    writer: Writer,
    moment: Moment,
    changes: dict[str, bytes | None],
    detail: dict[str, Any],
) -> Draft:
    facts = {"op": item.op, "provenance": item.provenance, "confidence": item.confidence}
    if item.removed:
        detail["private_spans_removed"] = item.removed
    return draft_write(
        writer,
        moment,
        item_type=item.type,
        path=HOT_FILES[item.actor],
        content="\n".join(item.entries),
        changes=changes,
        detail=detail,
        what="Add an entry" if item.op == ADD else "Replace all entries",
        extra={key: value for key, value in facts.items() if value is not None},
    )
