"""Terms for every script and for code: the analyser behind ``--tokenizer unicode``.

Text is brought to NFKC, then cut into

* words of letters, marks and digits, folded. An identifier also gives its parts, cut at case
  changes and between letters and digits, and its words joined: ``parseHttpHeader`` gives
  ``parsehttpheader``, ``parse``, ``http``, ``header``; ``ERR_CONN`` gives ``err``, ``conn`` and
  ``errconn``;
* runs of Han, of kana and of Hangul, as overlapping pairs of characters. A pair never crosses a
  space or another script.

A run of one character is a term of its own. A query that is one such character, standing alone,
also finds it inside longer runs.
"""

from __future__ import annotations

import re
from functools import lru_cache
from unicodedata import category, normalize

TYPE_CHECKING = False  # importing `typing` costs a command more than reading a hundred records
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

_HAN: Final = (
    "\u2e80-\u2fd5\u3005\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U000323af"
)
_KANA: Final = (
    "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\U0001b000-\U0001b16f"
)
_HANGUL: Final = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7fb"
_CONNECTORS: Final = "_.:/-"
_ASCII_PIECE: Final = re.compile(f"[A-Za-z0-9]+(?:[{_CONNECTORS}][A-Za-z0-9]+)*")
_ASCII_PART: Final = re.compile("[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_CONNECTOR: Final = re.compile(f"[{_CONNECTORS}]")
_MAX_REMEMBERED: Final = 1 << 16
_MAX_REMEMBERED_LENGTH: Final = 80
_INSIDE: Final = "*"
_DIGIT: Final = "digit"
_UPPER: Final = "upper"
_LETTER: Final = "letter"


def analyse(text: str) -> list[str]:
    """Return the terms of *text*, in order, repeats kept."""
    terms: list[str] = []
    for piece, is_run in _pieces(text):
        terms += _pairs(piece) if is_run else _identifier_terms(piece)
    return terms


def analyse_query(text: str) -> list[str]:
    """Return the terms that a query asks for: its own, and ``x*`` for a character standing alone.

    ``x*`` stands for that character inside a run of two and more.
    """
    terms = analyse(text)
    for word in text.split():
        pieces = _pieces(word)
        if len(pieces) == 1 and pieces[0][1] and len(pieces[0][0]) == 1:
            terms.append(pieces[0][0] + _INSIDE)
    return terms


class AnalysedCounter:
    """Counts query terms in what the analyser makes of a record."""

    def __init__(self, terms: Sequence[str]) -> None:
        self._places = {term: place for place, term in enumerate(terms)}
        self._inside = [term for term in terms if term.endswith(_INSIDE)]
        self._lengths = _Lengths(self._places)

    def __call__(
        self, title: str, content: bytes, folded: bytes | None
    ) -> tuple[int, Sequence[int]]:
        """Return the number of terms of a record, and how often each query term is among them."""
        del folded  # the contract's folding loses what this analyser looks at
        text = f"{title} {content.decode('utf-8')}"
        counts = [0] * len(self._places)
        if text.isascii():
            return self._count_identifiers(_ASCII_PIECE.findall(text), counts), counts
        identifiers: list[str] = []
        length = 0
        for piece, is_run in _pieces(text):
            if is_run:
                length += self._count_run(piece, counts)
            else:
                identifiers.append(piece)
        return length + self._count_identifiers(identifiers, counts), counts

    def _count_identifiers(self, pieces: list[str], counts: list[int]) -> int:
        length = sum(map(self._lengths.__getitem__, pieces))
        asked_for = self._lengths.asked_for
        for piece in pieces:
            if piece in asked_for:
                for place in asked_for[piece]:
                    counts[place] += 1
        return length

    def _count_run(self, run: str, counts: list[int]) -> int:
        terms = _pairs(run)
        for term in terms:
            if term in self._places:
                counts[self._places[term]] += 1
        if len(run) > 1:
            for term in self._inside:
                counts[self._places[term]] += run.count(term[0])
        return len(terms)


class _Lengths(dict[str, int]):
    """How many terms an identifier gives, and which of those asked for: worked out once each."""

    def __init__(self, places: dict[str, int]) -> None:
        super().__init__()
        self._places = places
        self.asked_for: dict[str, list[int]] = {}
        """By identifier, the places of the query terms that it gives; only where there are any."""

    def __missing__(self, identifier: str) -> int:
        terms = _identifier_terms(identifier)
        found = [self._places[term] for term in terms if term in self._places]
        if found:
            # As many as the query has words in other spellings: few.
            self.asked_for[identifier] = found
        if len(self) < _MAX_REMEMBERED and len(identifier) <= _MAX_REMEMBERED_LENGTH:
            self[identifier] = len(terms)
        return len(terms)


def _pieces(text: str) -> list[tuple[str, bool]]:
    """Return identifiers, and runs of the scripts that are written without spaces (then true)."""
    if text.isascii():
        return [(piece, False) for piece in _ASCII_PIECE.findall(text)]
    matches = _unicode_piece().finditer(normalize("NFKC", text))
    return [(match[0], match["run"] is not None) for match in matches]


def _pairs(run: str) -> list[str]:
    if len(run) == 1:
        return [run]
    return [run[index : index + 2] for index in range(len(run) - 1)]


def _identifier_terms(identifier: str) -> tuple[str, ...]:
    words = _CONNECTOR.split(identifier)
    terms: list[str] = []
    for word in words:
        terms.append(_fold(word))
        parts = _ASCII_PART.findall(word) if word.isascii() else _parts(word)
        if len(parts) > 1:
            terms += map(_fold, parts)
    if len(words) > 1:
        terms.append(_fold("".join(words)))
    return tuple(terms)


def _fold(word: str) -> str:
    return word.lower() if word.isascii() else normalize("NFKC", word.casefold())


def _parts(word: str) -> list[str]:
    """Cut *word* where letters meet digits, and before the capital that begins a new word."""
    kinds = [_kind(character) for character in word]
    cuts = [0]
    for place in range(1, len(word)):
        before, here = kinds[place - 1], kinds[place]
        after = kinds[place + 1] if place + 1 < len(word) else here
        is_capital = here == _UPPER and (
            before == _LETTER or (before == _UPPER and after == _LETTER)
        )
        if is_capital or (_DIGIT in {before, here} and before != here):
            cuts.append(place)
    return [word[start:end] for start, end in zip(cuts, [*cuts[1:], len(word)], strict=True)]


def _kind(character: str) -> str:
    if character.isdigit():
        return _DIGIT
    return _UPPER if character.isupper() else _LETTER


@lru_cache(maxsize=1)
def _unicode_piece() -> re.Pattern[str]:
    # `\w` has no marks, without which the words of many scripts fall apart.
    marks = "".join(
        character for character in map(chr, range(0x300, 0xFE30)) if category(character)[0] == "M"
    )
    word = f"(?:[^\\W_{_HAN}{_KANA}{_HANGUL}][{marks}]*)+"
    return re.compile(
        f"{word}(?:[{_CONNECTORS}]{word})*|(?P<run>[{_HAN}]+|[{_KANA}]+|[{_HANGUL}]+)"
    )
