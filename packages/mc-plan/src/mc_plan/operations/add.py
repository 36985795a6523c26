"""`add`: one entry or candidate, and with it what it replaces.

Everything is computed from the snapshot inside the lock; `mc_plan.operations.add_request` checks
what can be checked before.

Source: design sections 4 and 5; guide sections 四 to 六; protocol-0.5.md A8 and B5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mc_schema.admission import entry_problems
from mc_schema.budget import counted_text
from mc_schema.document import ENTRY
from mc_schema.entry import ACTIVE, CANDIDATE, Entry, format_entry, parse_entry
from mc_schema.errors import InvalidEvidenceError, InvalidTextError
from mc_schema.evidence import ADMISSION_HINT, ADMISSION_WHAT, is_admissible_set
from mc_schema.ids import parse_entry_id
from mc_schema.storage import INBOX_PATH
from mc_schema.tokens import estimate_tokens

from mc_plan.draft import ALWAYS, IMMEDIATE, Draft, Operation, Request
from mc_plan.errors import InputError
from mc_plan.operations.budgets import budget_lines
from mc_plan.operations.gate import blocking
from mc_plan.operations.insertion import APPENDED, NEWEST_FIRST, insert, without_placeholder
from mc_plan.operations.lifecycle import (
    ExistingEntry,
    find_active,
    find_candidate,
    mark_promoted,
    mark_superseded,
)
from mc_plan.operations.limits import budget_warnings, inbox_warnings, require_short
from mc_plan.operations.memory_set import MemorySet
from mc_plan.operations.modules import ensure_file, ensure_indexed, require_module
from mc_plan.operations.placement import placement_of, require_no_duplicate
from mc_plan.operations.records import add_record
from mc_plan.operations.title import title_of

if TYPE_CHECKING:
    from mc_schema.protocol import Metadata
    from mc_schema.storage import Placement

    from mc_plan.draft import Builder
    from mc_plan.operations.add_request import CheckedAdd
    from mc_plan.pending import Seed
    from mc_plan.snapshot import Snapshot

COMMAND: Final = "add"
DECISION: Final = "decision"


class Added(NamedTuple):
    """What `add` writes, for the renderer."""

    id: str
    """The entry id; empty in an older protocol, which has none."""
    type: str
    """As in the storage matrix; of a candidate its ``Candidate-Type``."""
    status: str
    scope: str
    title: str
    path: str
    """Repo-relative."""
    is_new_file: bool
    is_indexed: bool
    """Whether the manifest's index got a line for the file."""
    tokens: int
    """What the entry counts for, of the 120 that a decision should not exceed."""
    supersedes: str
    promotes: str
    metadata: Metadata
    """Of the manifest: which protocol the entry was written in."""


def add_request(checked: CheckedAdd, *, apply_command: str = "") -> Request:
    """Return the request of an `add`: applied at once unless it changes an existing entry."""
    return Request(
        COMMAND,
        checked.arguments(),
        ALWAYS if checked.is_preview_first else IMMEDIATE,
        apply_command=apply_command,
    )


def build_add(checked: CheckedAdd) -> Builder:
    """Return the builder of an `add`.

    It raises `GateError` (a duplicate, a closed chain, a decision that is too long), `SchemaError`
    (text, evidence, names) and `MalformedFileError`; in a preview-first `add` gates are blockers.
    """

    def build(snapshot: Snapshot, seed: Seed) -> Draft:
        memory = MemorySet(snapshot)
        if memory.manifest().metadata.is_current:
            return _Addition(memory, seed, checked).draft()
        from mc_plan.operations.legacy import draft_legacy_add

        return draft_legacy_add(memory, seed, checked)

    return blocking(build) if checked.is_preview_first else build


class _Addition:
    """One `add` on a Protocol 0.6 project, computed step by step."""

    def __init__(self, memory: MemorySet, seed: Seed, checked: CheckedAdd) -> None:
        self.memory = memory
        self.seed = seed
        self.checked = checked
        self.options = checked.options
        old, origin = self.options.supersedes, self.options.promotes
        self.old: ExistingEntry | None = find_active(memory, old) if old else None
        self.origin: ExistingEntry | None = find_candidate(memory, origin) if origin else None
        self.placement: Placement = placement_of(checked, self.origin or self.old)
        self.is_candidate = bool(self.placement.candidate_type)

    def draft(self) -> Draft:
        self._require_admission()
        entry = self._entry()
        block = format_entry(entry)
        _require_round_trip(entry, block, self.placement.path)
        tokens = estimate_tokens(counted_text(block, ENTRY))
        if self._is_decision():
            require_short(tokens, allow_long=self.options.allow_long)
        operations = self._close(entry)
        path = self.placement.path
        is_new = self._insert(path, block)
        is_indexed = ensure_indexed(self.memory, path, is_current=True)
        operations += self._operations(entry, is_new=is_new, is_indexed=is_indexed)
        if add_record(self.memory, self.seed, self._record(entry)):
            operations.append(self._operation("Record the change", "changelog.md"))
        lines = budget_lines(self.memory.snapshot, self.memory.before, self.memory.changed())
        return Draft(
            operations=operations,
            changes=self.memory.changes(),
            warnings=budget_warnings(lines)
            + (inbox_warnings(self.memory) if self.is_candidate else []),
            budget=lines,
            result=self._result(entry, tokens, is_new=is_new, is_indexed=is_indexed),
        )

    def _require_admission(self) -> None:
        require_module(self.memory, self.placement.scope)
        if self.options.allow_long and self.options.type is None and not self._is_decision():
            raise InputError(
                "`--allow-long` goes with decisions only",
                hint="leave it out, or use `--type decision`",
            )
        if self.is_candidate:
            return
        if not self.checked.evidence:
            raise InvalidEvidenceError(
                "active memory needs evidence", hint=ADMISSION_HINT, code="no_evidence"
            )
        if not is_admissible_set(self.checked.evidence):
            raise InvalidEvidenceError(ADMISSION_WHAT, hint=ADMISSION_HINT, code="weak_evidence")
        replaces = self.options.supersedes or ""
        require_no_duplicate(self.memory, self.placement, self.options.message, replaces=replaces)

    def _is_decision(self) -> bool:
        return self.placement.row.type == DECISION

    def _entry(self) -> Entry:
        options, placement = self.options, self.placement
        entry_id = self.memory.new_id(self.seed, placement.row.code)
        evidence = options.evidence
        if self.is_candidate and not evidence:
            evidence = ("conversation-unconfirmed",)
        reason = options.reason or ""
        title = options.title or title_of(options.message)
        if not title:
            raise InvalidTextError("the message gives no title", hint="add one with `--title`")
        return Entry(
            id=parse_entry_id(entry_id),
            title=title,
            status=CANDIDATE if self.is_candidate else ACTIVE,
            scope=placement.scope,
            evidence=evidence,
            body_label=placement.row.label,
            body=options.message,
            reason="" if self.is_candidate else reason,
            supersedes=options.supersedes or "",
            candidate_type=placement.candidate_type,
            requirement=reason if self.is_candidate else "",
            claimed=entry_id,
        )

    def _close(self, entry: Entry) -> list[Operation]:
        operations = []
        if self.old is not None:
            mark_superseded(self.memory, self.old, entry.claimed)
            what = f"Mark {self.old.id} superseded by {entry.claimed}"
            operations.append(self._operation(what, self.old.unit.path))
        if self.origin is not None:
            mark_promoted(self.memory, self.origin, entry.claimed)
            what = f"Mark {self.origin.id} promoted to {entry.claimed}"
            operations.append(self._operation(what, self.origin.unit.path))
        return operations

    def _insert(self, path: str, block: str) -> bool:
        is_new = ensure_file(self.memory, path)
        if path == INBOX_PATH:
            self.memory.write(path, without_placeholder(self.memory.text(path) or ""))
        order = NEWEST_FIRST if self.placement.row.newest_first else APPENDED
        insert(self.memory, path, block, order=order)
        return is_new

    def _operations(self, entry: Entry, *, is_new: bool, is_indexed: bool) -> list[Operation]:
        path = self.placement.path
        operations = [self._operation("Create the file", path)] if is_new else []
        operations.append(self._operation(f"Add {entry.claimed}", path))
        if is_indexed:
            operations.append(self._operation(f"Index {path}", "manifest.md"))
        return operations

    def _operation(self, what: str, path: str) -> Operation:
        return Operation(what, self.memory.project.memory_file(path))

    def _record(self, entry: Entry) -> str:
        done = f"Added {entry.claimed} to {self.placement.path}"
        if self.old is not None:
            done += f", superseding {self.old.id}"
        if self.origin is not None:
            done += f", promoting {self.origin.id}"
        return f"{done}."

    def _result(self, entry: Entry, tokens: int, *, is_new: bool, is_indexed: bool) -> Added:
        placement = self.placement
        return Added(
            id=entry.claimed,
            type=placement.candidate_type or placement.row.type,
            status=entry.status,
            scope=entry.scope,
            title=entry.title,
            path=self.memory.project.memory_file(placement.path),
            is_new_file=is_new,
            is_indexed=is_indexed,
            tokens=tokens,
            supersedes=entry.supersedes,
            promotes=self.options.promotes or "",
            metadata=self.memory.manifest().metadata,
        )


def _require_round_trip(entry: Entry, block: str, path: str) -> None:
    """Check that *block* is read back as *entry* and is admissible where it goes."""
    read: Any = parse_entry(block)
    if read == entry and not entry_problems(read, path):
        return
    raise InvalidTextError(
        "the text would not be read back as it is written",
        hint="write it in plain sentences, or put code in a closed code fence",
        code="not_readable_back",
    )
