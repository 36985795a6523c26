"""Search: cards of the records that hold the words of a query, best first.

Source: Cortex contract, sections 1.2, 6 and 13 (D10, D26).
"""

from __future__ import annotations

from math import isfinite

from mc_retrieve import bm25, tokenizer
from mc_retrieve.disclosure import card
from mc_retrieve.errors import InvalidInputError
from mc_retrieve.filters import Filters
from mc_retrieve.graph import Budget, Graph
from mc_retrieve.numeral import parse_number
from mc_retrieve.paging import read_page

TYPE_CHECKING = False  # importing `typing` costs a command more than reading a hundred records
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Final

    from mc_retrieve.record import Record

MAX_QUERY_UNITS: Final = 2_048
MAX_QUERY_TERMS: Final = 64
_LAST_OF_ONE_UNIT: Final = "\uffff"


class Search:
    """One search: give it every record, then ask for the answer.

    A request that is wrong is refused only by :meth:`answer`, because the contract judges the
    corpus first.
    """

    def __init__(self, query: str, options: Mapping[str, str]) -> None:
        self._options = options
        self._refusal: InvalidInputError | None = None
        self._graph = Graph() if "--expand" in options else None
        try:
            kind = options.get("--tokenizer", tokenizer.CONTRACT)
            terms = list(dict.fromkeys(read_query(query, kind)))
            self._filters = Filters(options)
            self._recency = _read_recency(options)
            self._ranking = bm25.Ranking(tokenizer.make_counter(terms, kind), len(terms))
        except InvalidInputError as error:
            self._refusal = error

    def take(self, record: Record, content: bytes, folded: bytes | None) -> None:
        """Consider one record of the corpus."""
        if self._refusal is not None or not record.is_active:
            return
        if self._graph is not None:
            self._graph.add(record, content)
        if self._filters.accept(record):
            self._ranking.add(record, content, folded)

    def answer(self) -> dict[str, Any]:
        """Return ``{items, total, page, page_size}``, and ``expansion`` when asked for.

        Raises:
            InvalidInputError: The query or an option is not allowed.
            NotFoundError: The record to expand is not an active one.
        """
        if self._refusal is not None:
            raise self._refusal
        hits = self._ranking.hits(self._recency)
        page = read_page(self._options)
        budget = Budget(self._options)
        data: dict[str, Any] = {
            "items": [card(hit.record, hit.key) for hit in bm25.top(hits, page.start, page.end)],
            "total": len(hits),
            "page": page.number,
            "page_size": page.size,
        }
        if self._graph is not None:
            data["expansion"] = self._graph.expand(self._options["--expand"], budget)
        return data


def read_query(query: str, kind: str) -> list[str]:
    """Return the terms of *query*, in order, repeats kept.

    Raises:
        InvalidInputError: It is too long, has too many terms, or none.
    """
    if len(query) > MAX_QUERY_UNITS or _utf16_units(query) > MAX_QUERY_UNITS:
        raise InvalidInputError(f"the query is longer than {MAX_QUERY_UNITS} characters")
    terms = tokenizer.query_terms(query, kind)
    if len(terms) > MAX_QUERY_TERMS:
        raise InvalidInputError(f"the query has more than {MAX_QUERY_TERMS} terms")
    if not terms:
        raise InvalidInputError(_no_terms(kind))
    return terms


def _no_terms(kind: str) -> str:
    if kind == tokenizer.UNICODE:
        return "the query has no letter or digit"
    return (
        "the query has no term of ASCII letters or digits; "
        "`--tokenizer unicode` searches other scripts"
    )


def _utf16_units(text: str) -> int:
    return len(text) + sum(character > _LAST_OF_ONE_UNIT for character in text)


def _read_recency(options: Mapping[str, str]) -> float:
    number = parse_number(options.get("--recency", "0"))
    if not isfinite(number) or number < 0:
        raise InvalidInputError("`--recency` takes a finite number that is not negative")
    return number
