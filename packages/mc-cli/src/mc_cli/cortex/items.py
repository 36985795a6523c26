"""Typed items of a Cortex root: from untrusted JSON to values that may be written.

Source: governed writes, "Typed items (Cortex layout)"; Cortex contract, section 10.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mc_cli.cortex import bounds
from mc_cli.cortex.fields import Fields
from mc_cli.cortex.governance import (
    EAT_CAP,
    EUNKNOWN_TYPE,
    HOT_FILES,
    IDEA,
    KNOWLEDGE,
    MEMORY,
    NOTE_FOLDERS,
    PROPOSAL,
    TARGETS,
    GovernanceError,
    pin_target,
)
from mc_cli.cortex.hot_entries import parse_entry

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

ADD: Final = "add"
SET: Final = "set"
PROVENANCES: Final = ("explicit", "deduced", "inferred")
LINK_TYPES: Final = (
    "supports",
    "contradicts",
    "extends",
    "part-of",
    "instance-of",
    "caused-by",
    "preceded-by",
    "related",
)
MAX_SLUG: Final = 64

_FIELDS: Final = {
    MEMORY: ("type", "actor", "op", "content", "entries", "provenance", "confidence"),
    IDEA: ("type", "title", "content", "source_session", "confidence", "related"),
    KNOWLEDGE: (
        "type", "entity_type", "name", "content", "source_session", "confidence", "related",
    ),
    PROPOSAL: (
        "type", "target_file", "target_kind", "edit", "confidence", "rationale",
        "observed_across_sessions", "source_session",
    ),
}  # fmt: skip
_ENTITIES: Final = tuple(kind for kind in NOTE_FOLDERS if kind != IDEA)
_NOT_SLUG: Final = re.compile(r"[^a-z0-9]+", re.ASCII)
_UNTITLED: Final = "untitled-"
_UNTITLED_DIGITS: Final = 8


class Link(NamedTuple):
    """A link of a note to another one."""

    slug: str
    type: str


class MemoryItem(NamedTuple):
    """Entries for a hot memory file: one to add, or all that the file shall hold."""

    actor: str
    op: str
    entries: tuple[str, ...]
    """Canonical: ``RULE: text``."""
    provenance: str | None
    confidence: float | None
    removed: int
    """Private spans that were taken out."""

    @property
    def type(self) -> str:
        """The item's type."""
        return MEMORY

    def texts(self) -> list[str]:
        """Return every text that will be stored."""
        return ["\n".join(self.entries)]


class NoteItem(NamedTuple):
    """A note to start or to continue: an idea, or knowledge about a person, company or research."""

    type: str
    kind: str
    """A key of `NOTE_FOLDERS`."""
    title: str
    content: str
    session: str | None
    confidence: float | None
    related: tuple[Link, ...]
    removed: int

    @property
    def slug(self) -> str:
        """The name of the note's file, without its suffix."""
        return slug_of(self.title)

    @property
    def path(self) -> str:
        """The note's file, below the memory."""
        return f"{NOTE_FOLDERS[self.kind]}/{self.slug}.md"

    def texts(self) -> list[str]:
        """Return every text that will be stored."""
        links = [link.slug for link in self.related]
        return [self.title, self.content, *([self.session] if self.session else []), *links]


class ProposalItem(NamedTuple):
    """A proposed edit of a file that only a person changes."""

    target_file: str
    """Pinned, below the memory: ``USER/STYLE.md``."""
    target_kind: str
    edit: str
    confidence: float
    rationale: str
    observed: int | None
    session: str | None
    removed: int

    @property
    def type(self) -> str:
        """The item's type."""
        return PROPOSAL

    def texts(self) -> list[str]:
        """Return every text that will be stored."""
        return [self.edit, self.rationale, *([self.session] if self.session else [])]

    def as_fields(self) -> dict[str, Any]:
        """Return the item as a row of the queue holds it; what was not given is left out."""
        fields = {
            "type": PROPOSAL,
            "target_file": self.target_file,
            "target_kind": self.target_kind,
            "edit": self.edit,
            "confidence": self.confidence,
            "rationale": self.rationale,
            "observed_across_sessions": self.observed,
            "source_session": self.session,
        }
        return {key: value for key, value in fields.items() if value is not None}


Item: TypeAlias = "MemoryItem | NoteItem | ProposalItem"


def check_item(item: Mapping[str, Any]) -> Item:
    """Return *item*, a JSON object as it was sent, checked and without private spans.

    Raises:
        GovernanceError: ``EUNKNOWN_TYPE``, ``EINVAL_ITEM``, ``EINVAL_TARGET`` or ``EAT_CAP``.
    """
    kind = item.get("type")
    if not isinstance(kind, str) or kind not in _FIELDS:
        known = ", ".join(f"`{each}`" for each in _FIELDS)
        raise GovernanceError("unknown item type", hint=f"give {known}", code=EUNKNOWN_TYPE)
    fields = Fields(item, _FIELDS[kind], name=f"a {kind} item")
    if kind == MEMORY:
        return _memory(fields)
    return _proposal(fields) if kind == PROPOSAL else _note(fields, kind)


def slug_of(title: str) -> str:
    """Return the file name of a note called *title*: ``[a-z0-9-]``, at most 64 characters.

    A title without any such character gets a name of its own, made from its digest.
    """
    slug = _NOT_SLUG.sub("-", title.lower()).strip("-")[:MAX_SLUG].rstrip("-")
    if slug:
        return slug
    from hashlib import sha256

    return _UNTITLED + sha256(title.encode("utf-8")).hexdigest()[:_UNTITLED_DIGITS]


def _memory(fields: Fields) -> MemoryItem:
    actor = fields.choice("actor", HOT_FILES)
    op = fields.optional_choice("op", (ADD, SET)) or ADD
    if op == ADD:
        fields.refuse("entries", "`op` add, which takes `content`")
        entries = [parse_entry(fields.text("content"), "`content`")]
    else:
        fields.refuse("content", "`op` set, which takes `entries`")
        entries = _entries(fields)
    provenance = fields.optional_choice("provenance", PROVENANCES)
    confidence = fields.optional_confidence("confidence")
    return MemoryItem(actor, op, tuple(entries), provenance, confidence, fields.removed)


def _entries(fields: Fields) -> list[str]:
    values = fields.list("entries", 0)
    if not values:
        raise GovernanceError("`entries` is empty", hint="give at least one entry")
    if len(values) > bounds.MAX_ENTRIES:
        raise GovernanceError(
            f"`entries` has {len(values)} entries, {len(values) - bounds.MAX_ENTRIES} over",
            hint=f"keep at most {bounds.MAX_ENTRIES}",
            code=EAT_CAP,
        )
    entries: list[str] = []
    for number, value in enumerate(values, 1):
        name = f"`entries`, entry {number}"
        text = bounds.require_text(fields.public(value, "entries"), f"entries[{number}]")
        entry = parse_entry(text, name)
        if entry in entries:
            first = entries.index(entry) + 1
            raise GovernanceError(f"{name} repeats entry {first}", hint="send each entry once")
        entries.append(entry)
    return entries


def _note(fields: Fields, kind: str) -> NoteItem:
    entity = fields.choice("entity_type", _ENTITIES) if kind == KNOWLEDGE else IDEA
    title = fields.line("name" if kind == KNOWLEDGE else "title")
    content = fields.text("content")
    session = fields.session("source_session")
    confidence = fields.optional_confidence("confidence")
    related = _related(fields) if fields.has("related") else ()
    return NoteItem(kind, entity, title, content, session, confidence, related, fields.removed)


def _related(fields: Fields) -> tuple[Link, ...]:
    links: dict[str, Link] = {}
    for number, value in enumerate(fields.list("related", bounds.MAX_LINKS), 1):
        name = f"related[{number}]"
        if not isinstance(value, dict):
            raise GovernanceError(f"`{name}` is not an object", hint="give `slug` and `type`")
        part = Fields(value, ("slug", "type"), name=f"`{name}`")
        slug = bounds.require_slug(part.line("slug"), f"{name}.slug")
        if slug in links:
            raise GovernanceError(f"`{name}` repeats a slug", hint="send each slug once")
        links[slug] = Link(slug, part.choice("type", LINK_TYPES))
        fields.removed += part.removed
    return tuple(links.values())


def _proposal(fields: Fields) -> ProposalItem:
    supplied = fields.unmarked("target_file", bounds.MAX_TARGET)
    kind = fields.optional_choice("target_kind", TARGETS)
    edit = fields.text("edit")
    confidence = fields.confidence("confidence")
    rationale = fields.text("rationale")
    observed = fields.optional_count("observed_across_sessions")
    session = fields.session("source_session")
    target = pin_target(supplied, kind)
    return ProposalItem(
        target.path,
        target.kind,
        edit,
        confidence,
        rationale,
        observed,
        session,
        fields.removed,
    )
