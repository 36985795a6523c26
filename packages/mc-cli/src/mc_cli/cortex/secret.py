"""Secrets never enter a memory: the scanner's verdict as a refusal that repeats nothing.

Source: governed writes, "Governance" (``ESECRET_LIKE``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mc_cli.cortex.governance import ESECRET_LIKE, GovernanceError

if TYPE_CHECKING:
    from mc_cli.cortex.items import Item


def require_no_secret(item: Item) -> None:
    """Check every text of *item* that would be stored, each alone and all together.

    Raises:
        GovernanceError: ``ESECRET_LIKE``: one holds what is certainly a secret. The rule is named.
    """
    from mc_scan.api import find_secret

    texts = item.texts()
    for text in [*texts, "\n\n".join(texts)]:
        found = find_secret(text, "item")
        if found is not None:
            raise GovernanceError(
                "the text looks like it holds a secret",
                where=f"rule `{found.rule}`, line {found.line}",
                hint="take it out and name the place where it is kept",
                code=ESECRET_LIKE,
            )
