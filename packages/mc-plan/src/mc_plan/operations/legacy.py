"""`add` in the formats of older protocols, which know no ids and store no evidence.

Source: protocol-0.5.md A8 and B5; design section 7.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mc_schema.document import format_bullet
from mc_schema.entry import ACTIVE, CANDIDATE
from mc_schema.storage import INBOX_PATH
from mc_schema.tokens import estimate_tokens

from mc_plan.draft import Draft, Operation
from mc_plan.operations.add import Added
from mc_plan.operations.budgets import budget_lines
from mc_plan.operations.gate import GateError
from mc_plan.operations.insertion import BULLET, NEWEST_FIRST, insert, without_placeholder
from mc_plan.operations.limits import budget_warnings, inbox_warnings, require_short
from mc_plan.operations.modules import ensure_file, ensure_indexed, require_module
from mc_plan.operations.placement import placement_of
from mc_plan.operations.records import add_record
from mc_plan.operations.title import folded_title

if TYPE_CHECKING:
    from mc_schema.storage import Placement

    from mc_plan.operations.add_request import CheckedAdd
    from mc_plan.operations.memory_set import MemorySet
    from mc_plan.pending import Seed

_GUARD: Final = "Do not propose or restore this without asking the user."
_NO_REASON: Final = "none given"


def draft_legacy_add(memory: MemorySet, seed: Seed, checked: CheckedAdd) -> Draft:
    """Return the draft of an `add` on a project of an older protocol.

    Raises:
        GateError: An existing entry is named: it has no id there; or a decision is too long.
    """
    options = checked.options
    if checked.is_preview_first:
        flag = "--supersedes" if options.supersedes else "--promotes"
        raise GateError(
            f"`{flag}` needs Protocol 0.6: entries of this project have no ids",
            hint=f"run `{memory.project.command('migrate')}` first",
            code="older_protocol",
        )
    placement = placement_of(checked, None)
    require_module(memory, placement.scope)
    block, order = _form(checked, placement, seed.iso_date)
    tokens = estimate_tokens(block)
    if placement.row.type == "decision" and order == NEWEST_FIRST:
        require_short(tokens, allow_long=options.allow_long)
    path = placement.path
    is_new = ensure_file(memory, path)
    if path == INBOX_PATH:
        memory.write(path, without_placeholder(memory.text(path) or ""))
    insert(memory, path, block, order=order)
    is_indexed = ensure_indexed(memory, path, is_current=False)
    type_ = placement.candidate_type or placement.row.type
    word = CANDIDATE if placement.candidate_type else type_
    add_record(memory, seed, f"Added {word} memory to {path}.")
    lines = budget_lines(memory.snapshot, memory.before, memory.changed())
    is_candidate = path == INBOX_PATH
    return Draft(
        operations=[Operation(f"Add {word} memory", memory.project.memory_file(path))],
        changes=memory.changes(),
        warnings=budget_warnings(lines) + (inbox_warnings(memory) if is_candidate else []),
        budget=lines,
        result=Added(
            id="",
            type=type_,
            status=CANDIDATE if is_candidate else ACTIVE,
            scope=placement.scope,
            title=options.title or folded_title(options.message),
            path=memory.project.memory_file(path),
            is_new_file=is_new,
            is_indexed=is_indexed,
            tokens=tokens,
            supersedes="",
            promotes="",
            metadata=memory.manifest().metadata,
        ),
    )


def _form(checked: CheckedAdd, placement: Placement, date: str) -> tuple[str, str]:
    """Return the text of the entry and where in its file it goes."""
    options, type_ = checked.options, placement.row.type
    title = options.title or folded_title(options.message)
    if placement.candidate_type:
        return f"## {date}\n{format_bullet(options.message)}", NEWEST_FIRST
    if type_ == "decision" and options.type != "area":
        reason = f"\nReason:\n{options.reason}" if options.reason else ""
        return f"## {date} - {title}\nDecision:\n{options.message}{reason}", NEWEST_FIRST
    if type_ == "do-not-use":
        return _tombstone(title, options.message, options.reason, date), NEWEST_FIRST
    return format_bullet(options.message), BULLET


def _tombstone(title: str, message: str, reason: str | None, date: str) -> str:
    whole = " ".join(message.split())
    # The heading holds 72 characters; the rest of the text must not be lost.
    text = "" if whole == title else f"{whole} "
    why = " ".join((reason or _NO_REASON).split())
    stop = "" if why.endswith((".", "!", "?", "。")) else "."
    return f"## Tombstone: {title}\n{text}{_GUARD} Reason: {why}{stop} Date: {date}."
