"""Timeline: the records around a moment or around one of them.

Source: Cortex contract, sections 1.2, 7 and 13 (D1, D11, "time").
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from mc_schema.validity import (
    EARLIEST_FORMATTED_MS,
    LATEST_FORMATTED_MS,
    format_timestamp,
    parse_timestamp,
)

from mc_retrieve.disclosure import card
from mc_retrieve.errors import InvalidInputError, NotFoundError
from mc_retrieve.filters import Filters
from mc_retrieve.paging import read_bounded, read_page

TYPE_CHECKING = False  # importing `typing` costs a command more than reading a hundred records
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Final

    from mc_retrieve.record import Record

MAX_NEIGHBOURS: Final = 100
DEFAULT_NEIGHBOURS: Final = 5


class Timeline:
    """One timeline: give it every record, then ask for the answer.

    A request that is wrong is refused only by :meth:`answer`, because the contract judges the
    corpus first.
    """

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = options
        self._refusal: InvalidInputError | None = None
        self._anchor: Record | None = None
        self._records: list[Record] = []
        try:
            self._anchor_text = _read_anchor(options)
            self._filters = Filters(options)
            self._before = _read_neighbours(options, "--before")
            self._after = _read_neighbours(options, "--after")
        except InvalidInputError as error:
            self._refusal = error

    def take(self, record: Record, content: bytes, folded: bytes | None) -> None:
        """Consider one record of the corpus."""
        del content, folded
        if self._refusal is not None or not record.is_active:
            return
        if record.id == self._anchor_text:
            self._anchor = record
        if self._filters.accept(record):
            self._records.append(record)

    def answer(self) -> dict[str, Any]:
        """Return ``{items, total, page, page_size, anchor}``.

        Raises:
            InvalidInputError: An option is not allowed.
            NotFoundError: The anchor is neither an active record nor a date.
        """
        if self._refusal is not None:
            raise self._refusal
        window, anchor = self._around_record() if self._anchor else self._around_date()
        page = read_page(self._options)
        return {
            "items": [card(record) for record in window[page.start : page.end]],
            "total": len(window),
            "page": page.number,
            "page_size": page.size,
            "anchor": anchor,
        }

    def _around_record(self) -> tuple[list[Record], dict[str, Any]]:
        anchor = self._anchor
        if anchor is None:
            return [], {}
        self._records.sort(key=_order)
        keys = [_order(record) for record in self._records]
        place = bisect_left(keys, _order(anchor))
        behind = bisect_right(keys, _order(anchor))
        window = self._records[max(0, place - self._before) : behind + self._after]
        return window, {"id": anchor.id, "date": anchor.created}

    def _around_date(self) -> tuple[list[Record], dict[str, Any]]:
        instant = parse_timestamp(self._anchor_text)
        if instant is None or not EARLIEST_FORMATTED_MS <= instant <= LATEST_FORMATTED_MS:
            raise NotFoundError("the anchor is neither an active record nor a valid date")
        self._records.sort(key=_order)
        # A record of that very instant counts as after it.
        place = bisect_left([record.created_ms for record in self._records], instant)
        window = self._records[max(0, place - self._before) : place + self._after]
        return window, {"id": None, "date": format_timestamp(instant)}


def _order(record: Record) -> tuple[int, str]:
    return record.created_ms, record.id


def _read_anchor(options: Mapping[str, str]) -> str:
    if "--anchor" not in options:
        raise InvalidInputError("`--anchor` takes the id of a record, or a date")
    return options["--anchor"]


def _read_neighbours(options: Mapping[str, str], name: str) -> int:
    return read_bounded(options, name, default=DEFAULT_NEIGHBOURS, low=0, high=MAX_NEIGHBOURS)
