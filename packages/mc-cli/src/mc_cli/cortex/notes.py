"""Notes: starting one, or adding a dated section to one that an adapter owns.

Source: governed writes, "Files written", "Source ownership" and the slug rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mc_retrieve.jsontext import format_number
from mc_schema.validity import parse_timestamp

from mc_cli.cortex.bounds import MAX_LINKS
from mc_cli.cortex.frontmatter import quote, related_lines, split_frontmatter
from mc_cli.cortex.governance import (
    EAT_CAP,
    EINVAL_TARGET,
    ESOURCE_OWNED,
    ETITLE_CONFLICT,
    GovernanceError,
)
from mc_cli.cortex.hot_entries import dominant_newline
from mc_cli.cortex.readable import require_readable, require_room
from mc_cli.cortex.writer import draft_write, read_target

if TYPE_CHECKING:
    from mc_plan import Builder, Draft, Seed, Snapshot

    from mc_cli.cortex.frontmatter import Frontmatter
    from mc_cli.cortex.items import NoteItem
    from mc_cli.cortex.writer import Moment, Writer

INTERNAL: Final = "internal"
"""The `source_kind` of notes that adapters write and may continue."""
CONVENTION: Final = "kb-v3"
_ID_DIGITS: Final = 8


def build_note(item: NoteItem, writer: Writer) -> Builder:
    """Return the builder that starts the item's note or continues it.

    It raises `GovernanceError`: ``ETITLE_CONFLICT``, ``ESOURCE_OWNED``, ``ETIER_MISMATCH``,
    ``EINVAL_TARGET`` or ``EAT_CAP``.
    """

    def build(snapshot: Snapshot, seed: Seed) -> Draft:
        moment = writer.moment()
        text = read_target(snapshot, writer, item.type, item.path)
        if text is None:
            return _start(item, writer, moment, seed)
        return _continue(item, writer, moment, text)

    return build


def format_note(item: NoteItem, note_id: str, created: str) -> str:
    """Return the text of a new note."""
    optional = []
    if item.confidence is not None:
        optional.append(f"confidence: {format_number(item.confidence)}\n")
    session = [f"source_session: {item.session}\n"] if item.session is not None else []
    related = ["related:\n", *related_lines(item.related)] if item.related else ["related: []\n"]
    lines = [
        "---\n",
        f"id: {note_id}\n",
        f"type: {item.kind}\n",
        f"title: {quote(item.title)}\n",
        f"tags: [{item.kind}]\n",
        "status: seedling\n",
        "quality: unrated\n",
        "quality_inferred: true\n",
        *optional,
        f"source_kind: {INTERNAL}\n",
        *session,
        f"created: {created}\n",
        f"updated: {created}\n",
        *related,
        f"convention: {CONVENTION}\n",
        "---\n",
        "\n",
        f"# {item.title}\n",
        "\n",
        _whole_lines(item.content),
    ]
    return "".join(lines)


def format_section(item: NoteItem, date: str) -> str:
    """Return what continues a note: a dated heading, where it comes from, and the content."""
    facts = []
    if item.session is not None:
        facts.append(f"Session: {item.session}\n")
    if item.confidence is not None:
        facts.append(f"Confidence: {format_number(item.confidence)}\n")
    if facts:
        facts.append("\n")
    return "".join([f"\n## {date}\n\n", *facts, _whole_lines(item.content)])


def _start(item: NoteItem, writer: Writer, moment: Moment, seed: Seed) -> Draft:
    note_id = f"{item.kind}-{item.slug}-{seed.nonce[:_ID_DIGITS]}"
    data = format_note(item, note_id, moment.text).encode("utf-8")
    _require(item, data, item.content, writer, moment)
    require_room(str(writer.place.project.root), len(data))
    detail = {"id": note_id, "created": moment.text, "appended": False}
    return _draft(item, writer, moment, data=data, detail=detail, what="Start a note")


def _continue(item: NoteItem, writer: Writer, moment: Moment, text: str) -> Draft:
    path = writer.place.file(item.path)
    head = split_frontmatter(text)
    if head is None or head.value("title") is None:
        raise _owned(path)
    if head.value("title") != item.title:
        raise GovernanceError(
            "another note has this file name, under another title",
            where=path,
            hint="choose a title that differs in letters and digits, or use that note's title",
            code=ETITLE_CONFLICT,
        )
    if head.value("source_kind") != INTERNAL:
        raise _owned(path)
    updated = _updated(head, moment, path)
    head = head.with_value("updated", updated, after="created")
    if item.related:
        head = _with_links(head, item, path)
    newline = dominant_newline(text)
    gap = "" if head.rest.endswith("\n") else newline
    section = format_section(item, moment.date).replace("\n", newline)
    data = (head.text() + gap + section).encode("utf-8")
    record = _require(item, data, section, writer, moment)
    detail = {**record, "updated": updated, "appended": True}
    return _draft(item, writer, moment, data=data, detail=detail, what="Continue a note")


def _with_links(head: Frontmatter, item: NoteItem, path: str) -> Frontmatter:
    linked = head.with_links(item.related, path)
    over = linked.link_count() - MAX_LINKS
    if over > 0 and linked is not head:
        raise GovernanceError(
            f"the note would have {over} links over the {MAX_LINKS} of a note",
            where=path,
            hint="send fewer new links",
            code=EAT_CAP,
        )
    return linked


def _updated(head: Frontmatter, moment: Moment, path: str) -> str:
    """Return the note's new `updated`: now, but never before what the note says already."""
    latest = moment.text
    instant = moment.ms
    for key in ("created", "date", "ts", "updated", "last_updated"):
        value = head.value(key)
        if value is None:
            continue
        known = parse_timestamp(value)
        if known is None:
            raise GovernanceError(
                f"the note's `{key}` is not a valid timestamp",
                where=path,
                hint="correct it by hand",
                code=EINVAL_TARGET,
            )
        if known > instant:
            latest, instant = value, known
    return latest


def _require(
    item: NoteItem, data: bytes, addition: str, writer: Writer, moment: Moment
) -> dict[str, str]:
    path = writer.place.file(item.path)
    record = require_readable(data, addition, path, moment.ms)
    if record.title != item.title:
        raise GovernanceError(
            "a reader would see another title",
            where=path,
            hint="choose a plainer title",
            code=EINVAL_TARGET,
        )
    return {"id": record.id, "created": record.created}


def _draft(
    item: NoteItem,
    writer: Writer,
    moment: Moment,
    *,
    data: bytes,
    detail: dict[str, Any],
    what: str,
) -> Draft:
    if item.removed:
        detail["private_spans_removed"] = item.removed
    return draft_write(
        writer,
        moment,
        item_type=item.type,
        path=item.path,
        content=item.content,
        changes={item.path: data},
        detail=detail,
        what=what,
    )


def _owned(path: str) -> GovernanceError:
    return GovernanceError(
        "the note was imported or is kept by hand, so no adapter continues it",
        where=path,
        hint="choose another title, or edit the note by hand",
        code=ESOURCE_OWNED,
    )


def _whole_lines(content: str) -> str:
    return content if content.endswith("\n") else f"{content}\n"
