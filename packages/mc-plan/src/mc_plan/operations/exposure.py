"""Taking text out of a file must not bring private text into view."""

from __future__ import annotations

from mc_schema.private import strip_private


def exposes_private_text(before: str, after: str) -> bool:
    """Say whether *after*, *before* without some units, shows a line that was hidden.

    A removed unit may hold the opener of a span that reaches further; its closer would then be an
    orphan and what lay between would become readable.
    """
    if "<" not in before and strip_private(before) == before:
        return False
    visible = iter(strip_private(before).split("\n"))
    return not all(
        any(line == other for other in visible) for line in strip_private(after).split("\n")
    )
