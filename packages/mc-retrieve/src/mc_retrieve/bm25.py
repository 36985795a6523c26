"""BM25 exactly as the contract adds it up, over counts that need no list of tokens.

Source: Cortex contract, section 6.
"""

from __future__ import annotations

from math import log

from mc_retrieve.errors import InvalidInputError

TYPE_CHECKING = False  # importing `typing` costs a command more than reading a hundred records
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Final, TypeAlias

    from mc_retrieve.record import Record

    Counter: TypeAlias = Callable[[str, bytes, bytes | None], tuple[int, Sequence[int]]]

SATURATION: Final = 2.5
TERM_WEIGHT: Final = 1.5
LENGTH_FLOOR: Final = 0.25
LENGTH_WEIGHT: Final = 0.75
RECENCY_DIVISOR: Final = 1e13


class Scored:
    """One hit: a record and the key it is ranked by."""

    __slots__ = ("key", "record")

    def __init__(self, record: Record, key: float) -> None:
        self.record = record
        self.key = key


class Ranking:
    """Statistics of the records a query is ranked over, gathered one by one.

    Args:
        count: Returns the number of terms of a record, and how often each query term is among them.
        terms: How many query terms that are.
    """

    def __init__(self, count: Counter, terms: int) -> None:
        self._count = count
        self._records = 0
        self._length = 0
        self._frequencies = [0] * terms
        self._found: list[tuple[Record, int, Sequence[int]]] = []

    def add(self, record: Record, content: bytes, folded: bytes | None) -> None:
        """Take *record* into the statistics."""
        length, counts = self._count(record.title, content, folded)
        self._records += 1
        self._length += length
        if any(counts):
            self._found.append((record, length, counts))
            frequencies = self._frequencies
            for index, times in enumerate(counts):
                if times:
                    frequencies[index] += 1

    def hits(self, recency: float) -> list[Scored]:
        """Return every record that holds a query term, in no order.

        Raises:
            InvalidInputError: *recency* times the instant of a hit is not a finite number.
        """
        weights = [inverse_frequency(self._records, count) for count in self._frequencies]
        average = max(1.0, self._length / self._records) if self._records else 1.0
        hits: list[Scored] = []
        for record, length, counts in self._found:
            norm = TERM_WEIGHT * (LENGTH_FLOOR + LENGTH_WEIGHT * length / average)
            score = 0.0
            for weight, times in zip(weights, counts, strict=True):
                if times:
                    score += weight * times * SATURATION / (times + norm)
            if score > 0:
                hits.append(Scored(record, score))
        if recency:
            _add_recency(hits, recency)
        return hits


def inverse_frequency(records: int, frequency: int) -> float:
    """Return the weight of a term that *frequency* of *records* records hold."""
    return log(1 + (records - frequency + 0.5) / (frequency + 0.5))


def top(hits: list[Scored], start: int, end: int) -> list[Scored]:
    """Return the hits of ranks *start* to *end* (from 0, *end* excluded), best first.

    Equal keys are ordered by id. Only what the page needs is sorted by both.
    """
    if start >= len(hits):
        return []
    if end < len(hits):
        lowest = sorted([hit.key for hit in hits], reverse=True)[end - 1]
        hits = [hit for hit in hits if hit.key >= lowest]
    return sorted(hits, key=_rank)[start:end]


def _rank(hit: Scored) -> tuple[float, str]:
    return -hit.key, hit.record.id


def _add_recency(hits: list[Scored], recency: float) -> None:
    largest = float("inf")
    for hit in hits:
        weighted = recency * hit.record.updated_ms
        if abs(weighted) == largest:
            raise InvalidInputError("`--recency` is too large for the dates of the records found")
        hit.key += weighted / RECENCY_DIVISOR
