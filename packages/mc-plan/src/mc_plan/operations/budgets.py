"""The estimated budget result of a plan: tokens of each changed file before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mc_schema.budget import budget_of, document_tokens
from mc_schema.document import Document
from mc_schema.private import strip_private

from mc_plan.draft import BudgetLine
from mc_plan.operations.protocol import read_manifest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mc_plan.snapshot import Snapshot


def budget_lines(
    snapshot: Snapshot, before: Mapping[str, str], after: Mapping[str, str]
) -> list[BudgetLine]:
    """Return one line for each changed file that has a budget.

    Args:
        snapshot: Of the project; its manifest gives the limits.
        before: Texts by name below the memory directory.
        after: The same after the plan; files of *before* that are missing here did not change.
    """
    project = snapshot.project
    limits = read_manifest(snapshot).budgets
    lines = []
    for name in sorted(after):
        limit = budget_of(name, limits)
        if limit is not None and after[name] != before.get(name, ""):
            lines.append(
                BudgetLine(
                    project.memory_file(name),
                    limit,
                    _tokens(before.get(name, "")),
                    _tokens(after[name]),
                )
            )
    return lines


def _tokens(text: str) -> int:
    return document_tokens(Document.parse(strip_private(text)))
