"""`compact`: taking out exact duplicates and archiving what is over, never judging meaning.

Without a target it works on the inbox and archives promoted candidates and superseded entries; with
one it brings a file back to its budget. Nothing is promoted, merged or inferred.

Source: design 5 and 6, protocol 0.5 page B7 and faults 19, 40, 41, 43.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mc_schema.document import Document
from mc_schema.entry import SUPERSEDED
from mc_schema.memoryfile import MemoryFile, parse_memory_file

from mc_plan.draft import BY_PROTOCOL, Blocker, Draft, Operation, Request
from mc_plan.operations.archive import archived_texts
from mc_plan.operations.exposure import exposes_private_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mc_schema.document import Unit

    from mc_plan.draft import Builder
    from mc_plan.pending import Seed
    from mc_plan.snapshot import Snapshot

ARCHIVE_OLDEST: Final = "--archive-oldest"
INBOX: Final = "inbox.md"
CHANGELOG: Final = "changelog.md"
SUPERSEDED_REASON: Final = "Superseded by a later entry."


class CompactResult(NamedTuple):
    """What the renderer shows."""

    target: str
    """Below the memory directory; ``inbox.md`` without ``--target``."""
    status: str
    """``planned``, ``ok``, ``manual-review``."""
    items: int = 0
    duplicates: int = 0
    tombstone_matches: int = 0
    review: tuple[tuple[str, str], ...] = ()
    """``(id or place, visible text)`` of each candidate that stays for people to judge."""
    archived: tuple[tuple[str, str], ...] = ()
    """``(id or heading, archive file)`` of each unit that moves."""
    kept: int = 0
    tokens: int = 0
    projected: int = 0
    limit: int = 0
    long_entries: tuple[str, ...] = ()
    order: str = ""
    """How the oldest were found: ``dates`` or ``file order``."""

    def as_data(self) -> Mapping[str, Any]:
        """Return JSON values."""
        data: dict[str, Any] = self._asdict()
        data["review"] = [{"label": label, "text": text} for label, text in self.review]
        data["archived"] = [{"label": label, "archive": path} for label, path in self.archived]
        data["long_entries"] = list(self.long_entries)
        return data


class Changes:
    """The texts of a compaction while it is being computed."""

    def __init__(self, snapshot: Snapshot, seed: Seed) -> None:
        self.snapshot = snapshot
        self.seed = seed
        self.before: dict[str, str] = {}
        self.after: dict[str, str] = {}
        self.operations: list[Operation] = []
        self.blockers: list[Blocker] = []
        self.archived: list[tuple[str, str]] = []

    def text(self, name: str) -> str | None:
        """Return the current text of *name* (below the memory directory), ``None`` if absent."""
        if name not in self.after:
            text = self.snapshot.read_text(self.path(name))
            if text is None:
                return None
            self.before[name] = self.after[name] = text
        return self.after[name]

    def path(self, name: str) -> str:
        """Return the repo-relative path of *name*."""
        return self.snapshot.project.memory_file(name)

    def remove(self, name: str, steps: Sequence[tuple[Unit, str]]) -> None:
        """Take units out of *name*, each with the words of its operation, in one go."""
        if not steps:
            return
        old = self.after[name]
        new = Document.parse(old).remove_units([unit for unit, _ in steps])
        if exposes_private_text(old, new):
            self.blockers.append(
                Blocker(
                    "private_span",
                    "a unit to move holds one end of a private span that reaches further",
                    self.path(name),
                    "close the span inside the unit, or move the text by hand",
                )
            )
        self.after[name] = new
        self.operations += [
            Operation(f"{what} (line {unit.line})", self.path(name)) for unit, what in steps
        ]

    def archive(self, name: str, units: Sequence[Unit], reason: str) -> None:
        """Move *units* of *name* into the archive, whole."""
        if not units:
            return
        document = Document.parse(self.after[name])
        texts = [document.unit_text(unit) for unit in units]
        from mc_plan.operations.archive import archive_name

        place = archive_name(name, self.seed.iso_date)
        self.remove(name, [(unit, f"Archive {label_of(unit, name)}") for unit in units])
        self.archived += [(label_of(unit, name), place) for unit in units]
        for path, text in archived_texts(
            self.snapshot, name, texts, reason, self.seed.iso_date
        ).items():
            self.after[path] = text

    def record(self, message: str) -> None:
        """Add a changelog record when there is a changelog and something changed."""
        from mc_plan.operations.changelog import with_record

        text = self.text(CHANGELOG)
        if text is not None and self.operations:
            self.after[CHANGELOG] = with_record(text, self.seed.iso_date, message)

    def draft(self, result: CompactResult, **more: Any) -> Draft:
        """Return the draft of everything collected."""
        from mc_plan.operations.budgets import budget_lines

        changes: dict[str, bytes | None] = {
            self.path(name): text.encode("utf-8")
            for name, text in self.after.items()
            if text != self.before.get(name)
        }
        return Draft(
            operations=self.operations,
            changes=changes,
            blockers=[*self.blockers, *more.pop("blockers", ())],
            budget=budget_lines(self.snapshot, self.before, self.after),
            result=result._replace(archived=tuple(self.archived)),
            **more,
        )


def compact_request(
    target: str | None, *, archive_oldest: bool = False, apply_command: str = ""
) -> Request:
    """Return the request of one `compact`; *target* comes from `require_target`."""
    return Request(
        command="compact",
        arguments={"target": target},
        confirmation=BY_PROTOCOL,
        given_flags=frozenset([ARCHIVE_OLDEST] if archive_oldest else []),
        apply_command=apply_command,
    )


def build_compact(target: str | None) -> Builder:
    """Return the builder of one `compact`; without *target* it compacts the inbox."""

    def build(snapshot: Snapshot, seed: Seed) -> Draft:
        from mc_plan.operations.compact_inbox import compact_inbox
        from mc_plan.operations.compact_target import compact_target

        changes = Changes(snapshot, seed)
        return compact_inbox(changes) if target is None else compact_target(changes, target)

    return build


def label_of(unit: Unit, name: str) -> str:
    """Return how people call a unit: its id, its heading, else its place."""
    from mc_schema.entry import split_heading

    claimed, _ = split_heading(unit.heading)
    return claimed or unit.heading or f"{name}:{unit.line}"


def archive_superseded(changes: Changes, name: str) -> None:
    """Archive every admissible superseded entry of *name*."""
    text = changes.text(name)
    if text is None:
        return
    gone = units_with_status(parse_memory_file(name, text), text, SUPERSEDED)
    changes.archive(name, gone, SUPERSEDED_REASON)


def units_with_status(file: MemoryFile, text: str, status: str) -> list[Unit]:
    """Return the units of the raw *text* whose readable entry stands as *status*.

    What a private span hides is not judged and stays where it is.
    """
    wanted = {unit.entry_id for unit in file.units if unit.standing.status == status}
    document = Document.parse(text)
    return [unit for unit in document.entries() if _id_of(unit) in wanted]


def _id_of(unit: Unit) -> str:
    from mc_schema.entry import split_heading
    from mc_schema.ids import parse_entry_id

    found = parse_entry_id(split_heading(unit.heading)[0])
    return str(found) if found else ""
