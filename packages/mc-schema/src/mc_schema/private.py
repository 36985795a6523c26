"""The private-span boundary: what is inside ``<private>`` never leaves, and doubt hides.

Two passes over a text. The first fails closed: it cuts the text at the first bracket that reads
like ``<private`` after normalisation and is not well formed. The second removes the spans. Removed
tags can join what stood around them into new tags, so both are repeated until nothing changes.
Everything is linear in the text: each bracket looks no further than the next one.

Source: Cortex contract, sections 0, 4 and 13 (D3, D4, D23).
"""

from __future__ import annotations

# Spelt out, because every retrieval command starts by importing this: `typing`, and compiling the
# same rules as regular expressions, would cost as much as reading a thousand records.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Final

    from typing_extensions import Self

    from mc_schema.capture import CaptureEnvelope, ingest, is_valid_at

__all__ = [
    "CLOSE_BRACKETS",
    "OPEN_BRACKETS",
    "WHITE_SPACE",
    "CaptureEnvelope",
    "Origin",
    "StrippedText",
    "ingest",
    "is_valid_at",
    "strip_private",
    "strip_private_spans",
    "strip_with_origin",
]

WHITE_SPACE: Final = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""The white space of the contract. ``str.isspace`` and ``\\s`` differ from it on both sides."""

OPEN_BRACKETS: Final = "<\ufe64\uff1c"
"""Every character whose NFKC form is ``<``."""

CLOSE_BRACKETS: Final = ">\ufe65\uff1e"
"""Every character whose NFKC form is ``>``."""

_NAME: Final = "private"
_ODD_OPEN_BRACKETS: Final = OPEN_BRACKETS[1:]
_ODD_CLOSE_BRACKETS: Final = CLOSE_BRACKETS[1:]
_BRACKETS: Final = frozenset(OPEN_BRACKETS + CLOSE_BRACKETS)
_IGNORED_CATEGORIES: Final = frozenset({"Cc", "Cf"})
# Characters that Unicode marks default-ignorable without being format characters (Cf).
_INVISIBLE: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2065\u3164\uffa0")
_INVISIBLE_RANGES: Final = (
    ("\u180b", "\u180f"),
    ("\ufe00", "\ufe0f"),
    ("\ufff0", "\ufff8"),
    ("\U000e0000", "\U000e0fff"),
)
_MAX_ROUNDS: Final = 16
_OPENER: Final = "opener"
_CLOSER: Final = "closer"
_MALFORMED: Final = "malformed opener"


class StrippedText(tuple[str, int, "int | None"]):
    """A text without its private spans: ``(text, removed, cut_at)``."""

    __slots__ = ()

    def __new__(cls, text: str, removed: int, cut_at: int | None) -> Self:
        """Return the three values as one."""
        return super().__new__(cls, (text, removed, cut_at))

    @property
    def text(self) -> str:
        """What may be shown."""
        return self[0]

    @property
    def removed(self) -> int:
        """Number of closed spans that were taken out, nested ones counted once."""
        return self[1]

    @property
    def cut_at(self) -> int | None:
        """Offset in the given text of the unclosed or malformed opener that hides the rest."""
        return self[2]


class Origin:
    """Maps offsets of a text that lost parts, perhaps several times, to the first text."""

    def __init__(self) -> None:
        self._rounds: list[tuple[list[int], list[int]]] = []

    def narrow(self, kept: list[tuple[int, int]]) -> None:
        """Take note of one more loss: of the last text the stretches *kept* are left."""
        begins: list[int] = []
        length = 0
        for start, end in kept:
            begins.append(length)
            length += end - start
        self._rounds.append((begins, [start for start, _ in kept]))

    def locate(self, offset: int) -> int:
        """Return where the character at *offset* of the last text stands in the first one."""
        from bisect import bisect_right

        for begins, starts in reversed(self._rounds):
            index = bisect_right(begins, offset) - 1
            if index >= 0:
                offset += starts[index] - begins[index]
        return offset


def strip_private(text: str) -> str:
    """Return *text* without private spans and without what an unsafe opener hides.

    ``a <private>x</private> b`` gives ``a  b``; ``a <private/> b`` gives ``a ``. Stripping the
    result again changes nothing, and it never holds an opener.
    """
    if _has_no_bracket(text):
        return text
    return strip_private_spans(text).text


def strip_private_spans(text: str) -> StrippedText:
    """Return *text* as :func:`strip_private` leaves it, and what was taken out of it."""
    if _has_no_bracket(text):
        return StrippedText(text, 0, None)
    return strip_with_origin(text)[0]


def strip_with_origin(text: str) -> tuple[StrippedText, Origin]:
    """Return *text* stripped, and where each offset of the result lies in *text*."""
    origin = Origin()
    removed = 0
    cut_at: int | None = None
    for _ in range(_MAX_ROUNDS):
        kept, spans, cut = _strip_once(text)
        if kept is None:
            return StrippedText(text, removed, cut_at), origin
        removed += spans
        if cut is not None:
            cut_at = _earlier(cut_at, origin.locate(cut))
        text = "".join([text[start:end] for start, end in kept])
        origin.narrow(kept)
    # Tags that keep joining after so many rounds were built to do so. One more cut ends it.
    end = next((start for start, _, _ in _tags(text)), len(text))
    if end < len(text):
        cut_at = _earlier(cut_at, origin.locate(end))
    return StrippedText(text[:end], removed, cut_at), origin


def __getattr__(name: str) -> Any:
    if name in {"CaptureEnvelope", "ingest", "is_valid_at"}:
        from mc_schema import capture

        return getattr(capture, name)
    raise AttributeError(f"module `{__name__}` has no attribute `{name}`")


def _has_no_bracket(text: str) -> bool:
    if "<" in text:
        return False
    return text.isascii() or ("\uff1c" not in text and "\ufe64" not in text)


def _strip_once(text: str) -> tuple[list[tuple[int, int]] | None, int, int | None]:
    """Return the stretches that survive one pass (``None`` for all), closed spans, and the cut."""
    limit = len(text)
    kept: list[tuple[int, int]] = []
    position = depth = spans = opened = 0
    for start, end, kind in _tags(text):
        if kind is _MALFORMED:
            limit = start
            break
        if depth == 0:
            opened = start
            if start > position:
                kept.append((position, start))
        if kind is _OPENER:
            depth += 1
        elif depth > 0:
            depth -= 1
            spans += depth == 0
        position = end
    if position == 0 and limit == len(text):
        return None, 0, None
    if depth > 0:
        return kept, spans, opened
    if limit > position:
        kept.append((position, limit))
    return kept, spans, limit if limit < len(text) else None


def _tags(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and kind of every tag, in order.

    The end of a malformed opener means nothing. Every bracket is judged by what stands between it
    and the next one, so no character is looked at twice.
    """
    for start, stop in _stretches(text):
        if "!" <= text[start + 1 : start + 2] <= "~" and text[start + 1] not in "pP/":
            continue
        inner = text[start + 1 : stop].lstrip(WHITE_SPACE)
        closed = text[start] == "<" and text[stop : stop + 1] == ">"
        if closed and _is_named(inner):
            yield start, stop + 1, _OPENER
        elif inner[:1] == "/":
            if closed and _is_named(inner[1:].lstrip(WHITE_SPACE)):
                yield start, stop + 1, _CLOSER
        elif _reads_private(inner):
            yield start, stop, _MALFORMED


def _stretches(text: str) -> Iterator[tuple[int, int]]:
    """Yield the place of every opening bracket and of the bracket of either kind that follows."""
    if text.isascii() or not any(odd in text for odd in _ODD_OPEN_BRACKETS + _ODD_CLOSE_BRACKETS):
        start = text.find("<")
        while start >= 0:
            follower = text.find("<", start + 1)
            limit = follower if follower >= 0 else len(text)
            stop = text.find(">", start + 1, limit)
            yield start, stop if stop >= 0 else limit
            start = follower
        return
    start = -1
    for place, character in enumerate(text):
        if character in _BRACKETS:
            if start >= 0:
                yield start, place
            start = place if character in OPEN_BRACKETS else -1
    if start >= 0:
        yield start, len(text)


def _is_named(inner: str) -> bool:
    """Return whether *inner* is ``private``, in any letter case, alone or before white space."""
    name = inner[: len(_NAME)]
    if not name.isascii() or name.lower() != _NAME:
        return False
    return len(inner) == len(_NAME) or inner[len(_NAME)] in WHITE_SPACE


def _reads_private(inner: str) -> bool:
    """Return whether *inner* reads ``private`` at its start, looked at as a person would.

    That is the NFKC form, in lower case, without controls, format characters and white space. One
    character is normalised at a time: only combining marks compose across characters, and a mark
    anywhere in the name makes it another word.
    """
    name = inner[: len(_NAME) + 1]
    if not name:
        return False
    if name.isascii() and name[:-1].isalpha():
        return name.lower().startswith(_NAME)
    from unicodedata import category, normalize

    wanted = 0
    for index, character in enumerate(inner):
        for letter in normalize("NFKC", character):
            if wanted == len(_NAME):
                return True
            if category(letter) in _IGNORED_CATEGORIES or letter in WHITE_SPACE:
                continue
            if _is_invisible(letter):
                continue
            if letter.lower() != _NAME[wanted]:
                return False
            wanted += 1
        if wanted == len(_NAME):
            return not _mark_composes(inner, index)
    return False


def _is_invisible(letter: str) -> bool:
    if letter in _INVISIBLE:
        return True
    return any(first <= letter <= last for first, last in _INVISIBLE_RANGES)


def _mark_composes(text: str, index: int) -> bool:
    """Return whether the letter that ends at *index* is composed with a mark that follows it."""
    from unicodedata import combining, normalize

    letter = normalize("NFKC", text[index])[-1]
    # Canonical order sorts the marks by class, and only the first of a class can reach the letter.
    first_of_class: dict[int, str] = {}
    for position in range(index + 1, len(text)):
        if combining(text[position]) == 0:
            break
        for mark in normalize("NFKD", text[position]):
            first_of_class.setdefault(combining(mark), mark)
    return any(len(normalize("NFC", letter + mark)) == 1 for mark in first_of_class.values())


def _earlier(left: int | None, right: int) -> int:
    return right if left is None else min(left, right)
