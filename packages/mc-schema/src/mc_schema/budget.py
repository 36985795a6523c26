"""Context budgets: how many tokens a memory file may cost an agent (protocol-0.5.md A2, A3)."""

from __future__ import annotations

from mc_schema.document import ENTRY, Document, Unit
from mc_schema.entry import parse_entry
from mc_schema.tokens import estimate_tokens

TYPE_CHECKING = False  # importing `typing` would cost a command more than its work
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Final

    from mc_schema.entry import Entry

DEFAULTS: Final = {
    "brief.md": 500,
    "decisions.md": 800,
    "constraints.md": 400,
    "do-not-use.md": 400,
    "preferences.md": 300,
    "changelog.md": 800,
    "rules/*.md": 400,
    "profiles/*.md": 500,
    "areas/*.md": 600,
}
"""Tokens by path below the memory directory; a folder pattern holds for each file below it."""
ENTRY_TOKENS: Final = 120
"""What one decision should not exceed."""
INBOX_ITEMS: Final = 30
"""Candidates after which `check` advises a compaction."""
_NEAR: Final = (5, 4)


def budget_of(path: str, manifest_budgets: Mapping[str, int]) -> int | None:
    """Return the budget of *path* in tokens: the manifest's, else the default, else ``None``."""
    folder, slash, _ = path.partition("/")
    pattern = f"{folder}/*.md" if slash else path
    for table in (manifest_budgets, DEFAULTS):
        for key in (path, pattern):
            if key in table:
                return table[key]
    return None


def counted_text(unit_text: str, kind: str, entry: Entry | None = None) -> str:
    """Return the part of a unit that counts: title, body and reason of an entry, else all of it.

    Governance lines cost nothing, so that evidence never pushes memory out of context (design
    section 4, "Budgets"). *entry* is the entry of the unit, where the caller has parsed it.
    """
    if kind != ENTRY:
        return unit_text
    entry = parse_entry(unit_text) if entry is None else entry
    return "\n".join(part for part in (entry.title, entry.body, entry.reason) if part)


def unit_tokens(document: Document, unit: Unit) -> int:
    """Return the tokens that *unit* counts for."""
    return estimate_tokens(counted_text(document.unit_text(unit), unit.kind))


def document_tokens(document: Document) -> int:
    """Return the tokens that a whole file counts for, its title and introduction included."""
    head = estimate_tokens(document.text[: document.head_end].lstrip("\ufeff"))
    return head + sum(unit_tokens(document, unit) for unit in document.units)


def is_near(tokens: int, limit: int) -> bool:
    """Say whether *tokens* reach 80 % of *limit*."""
    return tokens * _NEAR[0] >= limit * _NEAR[1]
