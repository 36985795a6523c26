"""Other readings of a text: without invisible characters, and without Markdown's backslashes.

A view is matched in place of the text, and every offset is mapped back. Normalising happens before
matching, never after. Source: rules page, 5.3 and 5.4.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Final, NamedTuple

from mc_scan.pattern import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator

# Category Cf, further blanks that show nothing, and variation selectors.
_INVISIBLE: Final = (
    "\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u2064\u2066-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f\U000e0100-\U000e01ef"
)
_FULL_WIDTH: Final = "\uff01-\uff5e"
# Full-width letters, digits and joiners. Chinese punctuation alone is no disguise.
_TELLING: Final = lazy(f"[{_INVISIBLE}\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff3f\uff0d]")
_TOUCHED: Final = lazy(f"[{_INVISIBLE}{_FULL_WIDTH}]")
_WIDE_OFFSET: Final = 0xFEE0  # from U+FF01 to U+0021
_ESCAPE: Final = lazy(r"\\(?=[_*\-.~])")
_BLANK: Final = lazy(r"\s")
_TOKEN_REACH: Final = 8_192


class View(NamedTuple):
    """A text made of slices of another one, and where each slice came from."""

    text: str
    starts: array[int]  # offsets into the view, ascending; the first is 0
    sources: array[int]  # the same places in the source
    touched: array[int]  # source offsets of characters that were dropped or folded, ascending

    def source_span(self, start: int, end: int) -> tuple[int, int]:
        """Map ``text[start:end]`` of the view to the span in the source that covers it."""
        index = bisect_right(self.starts, start) - 1
        source = self.sources[index] + start - self.starts[index]
        if index + 1 == len(self.starts) or end <= self.starts[index + 1]:
            return source, source + end - start  # inside of one slice
        index = bisect_right(self.starts, end - 1) - 1
        return source, self.sources[index] + end - self.starts[index]

    def is_touched(self, start: int, end: int) -> bool:
        """Say whether a character of ``source[start:end]`` was dropped or folded."""
        at = bisect_left(self.touched, start)
        return at < len(self.touched) and self.touched[at] < end


def fold_view(text: str) -> View | None:
    """Return *text* without invisible characters and with full-width ASCII folded.

    ``None`` if it has neither.
    """
    if text.isascii() or _TELLING.search(text) is None:
        return None
    pieces = _Pieces(text)
    at = 0
    for match in _TOUCHED.finditer(text):
        place, character = match.start(), match.group()
        pieces.keep(at, place)
        pieces.touched.append(place)
        at = place + 1
        if "\uff01" <= character <= "\uff5e":
            pieces.put(chr(ord(character) - _WIDE_OFFSET), place)
    pieces.keep(at, len(text))
    return pieces.view()


def unescaped_view(text: str) -> View | None:
    """Return the words of *text* that hold Markdown escapes, without their backslashes, one a line.

    ``None`` when there is no backslash before ``_ * - . ~``. Only the words around an escape are
    kept, at most 8,192 characters on either side: the rest reads the same in both.
    """
    if "\\" not in text:
        return None
    pieces = _Pieces(text)
    for word_start, word_end in _escaped_words(text):
        at = word_start
        for match in _ESCAPE.finditer(text, word_start, word_end):
            pieces.touched.append(match.start())
            pieces.keep(at, match.start())
            at = match.end()
        pieces.keep(at, word_end)
        pieces.put("\n", word_end)
    return pieces.view() if pieces.touched else None


def _escaped_words(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans between blanks that hold an escape; they do not overlap."""
    start = end = 0
    for match in _ESCAPE.finditer(text):
        place = match.start()
        if place >= end:
            if end:
                yield start, end
            start = _word_start(text, place, max(end, place - _TOKEN_REACH))
        if place + 1 >= end or place + _TOKEN_REACH > end:
            blank = _BLANK.search(text, max(place, end), place + _TOKEN_REACH)
            end = blank.start() if blank else min(len(text), place + _TOKEN_REACH)
    if end:
        yield start, end


def _word_start(text: str, place: int, low: int) -> int:
    head = text[low:place]
    return place - len(head.split()[-1]) if head and not head[-1].isspace() else place


class _Pieces:
    """Collects the slices of a view."""

    def __init__(self, text: str) -> None:
        self.touched = array("L")
        self._text = text
        self._slices: list[str] = []
        self._starts, self._sources = array("L"), array("L")
        self._size = 0

    def keep(self, start: int, end: int) -> None:
        """Take over ``text[start:end]``."""
        if end > start:
            self.put(self._text[start:end], start)

    def put(self, slice_: str, source: int) -> None:
        """Add *slice_*, whose first character stands for the one at *source*."""
        self._starts.append(self._size)
        self._sources.append(source)
        self._slices.append(slice_)
        self._size += len(slice_)

    def view(self) -> View:
        """Return the view of what was added."""
        return View("".join(self._slices), self._starts, self._sources, self.touched)
