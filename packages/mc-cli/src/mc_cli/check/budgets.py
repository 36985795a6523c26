"""Budgets: files over their limit, and decisions that are too long."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mc_schema.budget import ENTRY_TOKENS, budget_of
from mc_schema.document import SECTION
from mc_schema.entry import ACTIVE
from mc_schema.lines import scan_lines
from mc_schema.memoryfile import file_tokens

from mc_cli.check.finding import WARNING, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mc_schema.memoryfile import JudgedUnit, MemoryFile

    from mc_cli.check.inspection import Inspection

_DECISION: Final = re.compile(r"Decision:")


def budget_findings(inspection: Inspection) -> Iterator[Finding]:
    """Yield files over budget and long decisions; the archive has no budget."""
    for file in inspection.files(archive=False):
        path = inspection.repo_path(file.path)
        limit = file_limit(inspection, file)
        tokens = file_tokens(file)
        if limit is not None and tokens > limit:
            message = f"over budget, {tokens} of {limit} tokens"
            hint = f"`memory-custodian compact --target {file.path}`"
            yield Finding(path, 0, WARNING, "over_budget", message, hint)
        for unit in long_decisions(file):
            message = (
                f"{unit.label} is long, {unit.tokens} of {ENTRY_TOKENS} tokens for one decision"
            )
            yield inspection.at_unit(
                file, unit, "long_decision", message, severity=WARNING, hint="shorten it"
            )


def file_limit(inspection: Inspection, file: MemoryFile) -> int | None:
    """Return the budget of *file* in tokens, from the manifest or the defaults."""
    return budget_of(file.path, inspection.manifest.budgets if inspection.manifest else {})


def long_decisions(file: MemoryFile) -> list[JudgedUnit]:
    """Return the served decisions of *file* over 120 tokens, with an id or without."""
    return [unit for unit in file.units if _is_decision(unit) and unit.tokens > ENTRY_TOKENS]


def _is_decision(unit: JudgedUnit) -> bool:
    entry = unit.standing.entry
    if entry is not None:
        return entry.body_label == "Decision" and unit.standing.status == ACTIVE
    if unit.unit.kind != SECTION or not unit.standing.is_served:
        return False
    return any(
        _DECISION.match(line.content) and not line.is_opaque for line in scan_lines(unit.text).lines
    )
