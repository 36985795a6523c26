"""Full records by id, all of them or none.

Source: Cortex contract, section 8 (get and export).
"""

from __future__ import annotations

from mc_retrieve.disclosure import full_record
from mc_retrieve.errors import NotFoundError
from mc_retrieve.graph import read_links

TYPE_CHECKING = False  # importing `typing` costs a command more than reading a hundred records
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Final

    from mc_retrieve.record import Record

EXPORT_FORMAT: Final = "lifeos-cortex-export/v1"


class Selection:
    """The records of some ids: give it every record, then ask for the answer."""

    def __init__(self, ids: Sequence[str]) -> None:
        self._ids = ids
        self._wanted = frozenset(ids)
        self._found: dict[str, dict[str, Any]] = {}

    def take(self, record: Record, content: bytes, folded: bytes | None) -> None:
        """Consider one record of the corpus."""
        del folded
        if record.is_active and record.id in self._wanted:
            read_links(record, content)
            self._found[record.id] = full_record(record, content.decode("utf-8"))

    def answer(self) -> dict[str, Any]:
        """Return the export of the ids, in the order asked, repeats repeated.

        Raises:
            NotFoundError: One of them is no active record.
        """
        missing = [place for place, wanted in enumerate(self._ids, 1) if wanted not in self._found]
        if missing:
            raise NotFoundError(f"id {missing[0]} of {len(self._ids)} is no active record")
        return {"format": EXPORT_FORMAT, "items": [self._found[wanted] for wanted in self._ids]}
