"""What a command shows of a record: a card to find it by, or all of it.

Source: Cortex contract, sections 6 and 8.
"""

from __future__ import annotations

from math import floor

TYPE_CHECKING = False  # importing `typing` costs a command more than reading a hundred records
if TYPE_CHECKING:
    from typing import Any, Final

    from mc_retrieve.record import Record

_DECIMALS: Final = 1e6
_HALF: Final = 0.5


def card(record: Record, score: float = 0) -> dict[str, Any]:
    """Return the card of *record*: where it is and what it costs, nothing of what it says."""
    return {
        "id": record.id,
        "type": record.type,
        "created": record.created,
        "updated": record.updated,
        "provenance": _provenance(record),
        "score": round_score(score),
        "est_tokens": record.est_tokens,
    }


def full_record(record: Record, content: str) -> dict[str, Any]:
    """Return all of *record*, whose links have been read."""
    return {
        "id": record.id,
        "type": record.type,
        "title": record.title,
        "created": record.created,
        "updated": record.updated,
        "provenance": _provenance(record),
        "content": content,
        "related": record.related or [],
        "valid_from": record.valid_from,
        "valid_until": record.valid_until,
    }


def round_score(score: float) -> float:
    """Return *score* with six decimals; a half is rounded up, as ECMAScript does."""
    scaled = score * _DECIMALS
    whole = floor(scaled)
    return (whole + (scaled - whole >= _HALF)) / _DECIMALS


def _provenance(record: Record) -> dict[str, Any]:
    return {"source": record.source, "session": record.session, "path": record.path}
