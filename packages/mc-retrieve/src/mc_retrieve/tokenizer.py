"""What a term is: the contract's rule, and one for people who do not write in ASCII.

A counter is made for one query. It says of each record how many terms it has and how often each
query term is among them.

Source: Cortex contract, sections 6 and 13 (D26).
"""

from __future__ import annotations

from mc_retrieve.characters import fold

TYPE_CHECKING = False  # importing `typing` costs a command more than reading a hundred records
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

    from mc_retrieve.bm25 import Counter

CONTRACT: Final = "contract"
UNICODE: Final = "unicode"
TOKENIZERS: Final = (CONTRACT, UNICODE)

# Up to this many query terms, searching the text for each costs less than cutting it up.
_MAX_SEARCHED_TERMS: Final = 5
_TERM_BYTES: Final = b"abcdefghijklmnopqrstuvwxyz0123456789"
_MARK_TERMS: Final = bytes(1 if code in _TERM_BYTES else 0 for code in range(0x100))


def query_terms(query: str, tokenizer: str) -> list[str]:
    """Return the terms of *query*, in order, repeats kept."""
    if tokenizer == UNICODE:
        from mc_retrieve.analyser import analyse_query

        return analyse_query(query)
    return contract_terms(query)


def make_counter(terms: Sequence[str], tokenizer: str) -> Counter:
    """Return the counter of *terms*, which are distinct."""
    if tokenizer == UNICODE:
        from mc_retrieve.analyser import AnalysedCounter

        return AnalysedCounter(terms)
    if len(terms) > _MAX_SEARCHED_TERMS:
        return _SplitCounter(terms)
    return _SearchCounter(terms)


def contract_terms(text: str) -> list[str]:
    """Return the runs of ``[a-z0-9]`` in *text* in lower case."""
    # A NUL stands for a control character, which only a query can hold.
    folded = fold(text.encode("utf-8", "surrogatepass")).replace(b"\0", b" ")
    return folded.decode("ascii").split()


def count_terms(folded: bytes) -> int:
    """Return how many terms *folded* text has, without making a list of them.

    A byte of 1 stands for each character of a term and of 0 for each other one, all bytes as one
    number. That number against itself one byte further has two bits for every run of ones: where
    it begins and where it ends.
    """
    ones = int.from_bytes(folded.translate(_MARK_TERMS), "little")
    return (ones ^ (ones << 8)).bit_count() >> 1


class _SearchCounter:
    """Counts few terms, by searching for each with a blank on both sides.

    Neighbours share a blank, so a search that moves on behind it misses every other one of a row
    of equal terms. Pairs are counted too and make up for that in rows of two and three.
    """

    def __init__(self, terms: Sequence[str]) -> None:
        self._needles = [f" {term} ".encode() for term in terms]
        self._pairs = [f" {term} {term} ".encode() for term in terms]
        self._rows = [f" {term} {term} {term} {term} ".encode() for term in terms]
        self._terms = [term.encode() for term in terms]

    def __call__(
        self, title: str, content: bytes, folded: bytes | None
    ) -> tuple[int, Sequence[int]]:
        text = _document(title, content, folded)
        counts = list(map(text.count, self._needles))
        for index, times in enumerate(counts):
            if times:
                pairs = text.count(self._pairs[index])
                if pairs and self._rows[index] in text:
                    counts[index] = text.split().count(self._terms[index])
                else:
                    counts[index] = times + pairs
        return count_terms(text), counts


class _SplitCounter:
    """Counts many terms, by cutting the text up once."""

    def __init__(self, terms: Sequence[str]) -> None:
        self._places = {term.encode(): place for place, term in enumerate(terms)}

    def __call__(
        self, title: str, content: bytes, folded: bytes | None
    ) -> tuple[int, Sequence[int]]:
        words = _document(title, content, folded).split()
        places = self._places
        counts = [0] * len(places)
        for word in words:
            if word in places:
                counts[places[word]] += 1
        return len(words), counts


def _document(title: str, content: bytes, folded: bytes | None) -> bytes:
    if folded is None:
        folded = fold(content)
    return b" %b %b " % (fold(title.encode()), folded)
