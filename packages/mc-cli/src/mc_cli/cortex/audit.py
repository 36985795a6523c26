"""Audit rows: that something was written, when, by whom and how much, never what.

Source: governed writes, "Governance".
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from mc_cli.cortex.governance import APPEND, DECLARED_TIERS

if TYPE_CHECKING:
    from collections.abc import Mapping

OBSERVABILITY: Final = "OBSERVABILITY"
TIER_B_LOG: Final = f"{OBSERVABILITY}/tier-b-writes.jsonl"
MEMORY_LOG: Final = f"{OBSERVABILITY}/memory-writes.jsonl"


def log_of(item_type: str) -> str:
    """Return the log, below the memory, that writes of *item_type* go to."""
    return TIER_B_LOG if DECLARED_TIERS.get(item_type) == APPEND else MEMORY_LOG


def audit_row(
    *,
    at: str,
    adapter: str | None,
    item_type: str,
    path: str,
    content: str,
    extra: Mapping[str, Any] | None = None,
) -> bytes:
    """Return one row of an audit log, with its line feed.

    Args:
        at: When, for example ``2026-07-26T10:00:00.000Z``.
        adapter: Who; ``None`` for a person.
        item_type: The item's type.
        path: The file, as seen from the root.
        content: What was written; only its length in bytes and its SHA-256 enter the row.
        extra: Further facts about the write that are no content.
    """
    data = content.encode("utf-8")
    row = {
        "ts": at,
        "adapter": adapter,
        "type": item_type,
        "path": path,
        "bytes": len(data),
        "sha256": sha256(data).hexdigest(),
        **(extra or {}),
    }
    return format_row(row)


def format_row(row: Mapping[str, Any]) -> bytes:
    """Return *row* as one line of JSON, UTF-8, with its line feed."""
    text = json.dumps(row, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return f"{text}\n".encode()
