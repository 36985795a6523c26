"""Records in `changelog.md`: they name ids and files, never the text of an entry."""

from __future__ import annotations

from mc_schema.document import Document


def with_record(text: str, iso_date: str, message: str) -> str:
    """Return the changelog *text* with one record on top, below its introduction.

    Args:
        text: The file; a missing changelog is never created by a record.
        iso_date: ``YYYY-MM-DD``.
        message: One sentence without line ends.

    Source: protocol 0.5 page A8 and fault 12.
    """
    return Document.parse(text).insert_newest_first(f"## {iso_date}\n- {message}")
