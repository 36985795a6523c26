"""
Other readings of a text: without invisible characters, and without Markdown's backslashes.

A view is matched in place of the text, and every offset is mapped back. Normalising happens before
matching, never after. Source: rules page, 5.3 and 5.4.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Final, NamedTuple

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
_TELLING: Final = re.compile(f"[{_INVISIBLE}\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff3f\uff0d]")
_TOUCHED: Final = re.compile(f"[{_INVISIBLE}{_FULL_WIDTH}]")
_WIDE_OFFSET: Final = 0xFEE0  # from U+FF01 to U+0021
_ESCAPE: Final = re.compile(r"\\(?=[_*\-.~])")
_BLANK: Final = re.compile(r"\s")
_TOKEN_REACH: Final = 8_192


class View(NamedTuple):
    """A text made of slices of another one, and where each slice came from."""

    text: str
    starts: array[int]  # offsets into the view, ascending; the first is 0
    sources: array[int]  # the same places in the source
    touched: array[int]  # source offsets of characters that were dropped or folded, ascending

    def source_span(self, start: int, end: int) -> tuple[int, int]:
        """Map ``text[start:end]`` of the view to the span in the source that covers it."""
        return self._source_of(start), self._source_of(end - 1) + 1

    def is_touched(self, start: int, end: int) -> bool:
        """Say whether a character of ``source[start:end]`` was dropped or folded."""
        at = bisect_left(self.touched, start)
        return at < len(self.touched) and self.touched[at] < end

    def _source_of(self, offset: int) -> int:
        index = bisect_right(self.starts, offset) - 1
        return self.sources[index] + offset - self.starts[index]


def fold_view(text: str) -> View | None:
    """Return *text* without invisible characters and with full-width ASCII folded, or ``None`` if it has neither."""
    if text.isascii() or _TELLING.search(text) is None:
        return None
    slices: list[str] = []
    starts, sources, touched = array("L"), array("L"), array("L")
    at = size = 0
    for match in _TOUCHED.finditer(text):
        place = match.start()
        touched.append(place)
        size = _append(text, at, place, slices, starts, sources, size)
        at = place + 1
        character = match.group()
        if "\uff01" <= character <= "\uff5e":
            starts.append(size)
            sources.append(place)
            slices.append(chr(ord(character) - _WIDE_OFFSET))
            size += 1
    _append(text, at, len(text), slices, starts, sources, size)
    return View("".join(slices), starts, sources, touched)


def unescaped_view(text: str) -> View | None:
    """
    Return the words of *text* that hold Markdown escapes, without their backslashes, one a line.

    ``None`` when there is no backslash before ``_ * - . ~``. Only the words around an escape are
    kept, at most 8,192 characters on either side: the rest reads the same in both.
    """
    if "\\" not in text:
        return None
    slices: list[str] = []
    starts, sources, touched = array("L"), array("L"), array("L")
    size = 0
    for word_start, word_end in _escaped_words(text):
        at = word_start
        for match in _ESCAPE.finditer(text, word_start, word_end):
            touched.append(match.start())
            size = _append(text, at, match.start(), slices, starts, sources, size)
            at = match.end()
        size = _append(text, at, word_end, slices, starts, sources, size) + 1
        slices.append("\n")
    return View("".join(slices), starts, sources, touched) if touched else None


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


def _append(
    text: str,
    start: int,
    end: int,
    slices: list[str],
    starts: array[int],
    sources: array[int],
    size: int,
) -> int:
    """Add ``text[start:end]`` to a view of *size* characters and return its new size."""
    if end <= start:
        return size
    starts.append(size)
    sources.append(start)
    slices.append(text[start:end])
    return size + end - start
