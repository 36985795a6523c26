"""Limits that `add` looks at: the length of a decision, context budgets, the inbox.

Source: design section 4 ("Budgets"); protocol-0.5.md A2 and B5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mc_schema.budget import ENTRY_TOKENS, INBOX_ITEMS, is_near
from mc_schema.document import BULLET
from mc_schema.entry import CANDIDATE
from mc_schema.memoryfile import parse_memory_file
from mc_schema.storage import INBOX_PATH

from mc_plan.operations.gate import GateError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mc_plan.draft import BudgetLine
    from mc_plan.operations.memory_set import MemorySet


def require_short(tokens: int, *, allow_long: bool) -> None:
    """Check the length of a decision.

    Raises:
        GateError: It has more than 120 tokens and ``--allow-long`` was not given.
    """
    if tokens > ENTRY_TOKENS and not allow_long:
        raise GateError(
            f"the decision has {tokens} tokens, more than the {ENTRY_TOKENS} of one entry",
            hint="shorten it, or add `--allow-long`",
            code="long_entry",
        )


def budget_warnings(lines: Sequence[BudgetLine]) -> list[str]:
    """Return a sentence for every file that is over its budget or at 80 % of it."""
    warnings = []
    for line in lines:
        if line.after > line.limit:
            warnings.append(
                f"`{line.path}` is over its budget: {line.after} of {line.limit} tokens"
            )
        elif is_near(line.after, line.limit):
            warnings.append(
                f"`{line.path}` is near its budget: {line.after} of {line.limit} tokens"
            )
    return warnings


def inbox_warnings(memory: MemorySet) -> list[str]:
    """Return a sentence when the inbox holds more candidates than advised.

    Candidates with an id and legacy bullets count, as `check` counts them (design section 3).
    """
    file = parse_memory_file(INBOX_PATH, memory.text(INBOX_PATH) or "")
    count = sum(
        unit.standing.status == CANDIDATE
        and (unit.standing.entry is not None or unit.unit.kind == BULLET)
        for unit in file.units
    )
    if count <= INBOX_ITEMS:
        return []
    command = memory.project.command("compact")
    return [f"the inbox holds {count} candidates, more than {INBOX_ITEMS}; see `{command}`"]
