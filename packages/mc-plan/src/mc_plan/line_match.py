"""Which lines of two texts correspond, in time linear in their number.

`difflib` alone needs time that grows with the square of a file in which every entry changes, which
is what a migration does. Here lines that occur once on both sides are the anchors (Bram Cohen's
"patience" comparison), and `difflib` compares only the short stretches between them.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Pair = tuple[int, int]

MAX_GAP_PRODUCT: Final = 40_000
"""Lines of one side times lines of the other; a longer stretch without an anchor is one change."""


def match_lines(old: Sequence[str], new: Sequence[str]) -> list[Pair]:
    """Return the pairs of indices of corresponding lines, increasing on both sides."""
    head = _common_head(old, new, (0, 0), (len(old), len(new)))
    tail = _common_tail(old, new, (head, head), (len(old), len(new)))
    end = (len(old) - tail, len(new) - tail)
    pairs = [(index, index) for index in range(head)]
    at = (head, head)
    for anchor in (*_anchors(old, new, at, end), end):
        pairs += _gap(old, new, at, anchor)
        if anchor != end:
            pairs.append(anchor)
        at = (anchor[0] + 1, anchor[1] + 1)
    pairs += [(end[0] + index, end[1] + index) for index in range(tail)]
    return pairs


def _common_head(old: Sequence[str], new: Sequence[str], at: Pair, end: Pair) -> int:
    size, most = 0, min(end[0] - at[0], end[1] - at[1])
    while size < most and old[at[0] + size] == new[at[1] + size]:
        size += 1
    return size


def _common_tail(old: Sequence[str], new: Sequence[str], at: Pair, end: Pair) -> int:
    size, most = 0, min(end[0] - at[0], end[1] - at[1])
    while size < most and old[end[0] - 1 - size] == new[end[1] - 1 - size]:
        size += 1
    return size


def _anchors(old: Sequence[str], new: Sequence[str], at: Pair, end: Pair) -> list[Pair]:
    """Return the longest increasing row of lines that occur once on either side."""
    places = _once(old, at[0], end[0])
    found = _once(new, at[1], end[1])
    shared = [(place, found[line]) for line, place in places.items() if line in found]
    return _increasing(shared)


def _once(lines: Sequence[str], begin: int, end: int) -> dict[str, int]:
    places: dict[str, int] = {}
    repeated: set[str] = set()
    for index in range(begin, end):
        line = lines[index]
        if line in places:
            repeated.add(line)
        places[line] = index
    return {line: place for line, place in places.items() if line not in repeated}


def _increasing(pairs: Sequence[Pair]) -> list[Pair]:
    """Return a longest part of *pairs*, sorted by the first, that increases in the second too."""
    tops: list[int] = []
    piles: list[int] = []
    below: list[int] = []
    for number, (_, place) in enumerate(pairs):
        pile = bisect_left(tops, place)
        below.append(piles[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(place)
            piles.append(number)
        else:
            tops[pile], piles[pile] = place, number
    row: list[Pair] = []
    number = piles[-1] if piles else -1
    while number >= 0:
        row.append(pairs[number])
        number = below[number]
    return row[::-1]


def _gap(old: Sequence[str], new: Sequence[str], at: Pair, end: Pair) -> Iterator[Pair]:
    """Yield the pairs between two anchors."""
    head = _common_head(old, new, at, end)
    yield from ((at[0] + index, at[1] + index) for index in range(head))
    at = (at[0] + head, at[1] + head)
    tail = _common_tail(old, new, at, end)
    inner = (end[0] - tail, end[1] - tail)
    if 0 < (inner[0] - at[0]) * (inner[1] - at[1]) <= MAX_GAP_PRODUCT:
        yield from _compared(old[at[0] : inner[0]], new[at[1] : inner[1]], at)
    yield from ((inner[0] + index, inner[1] + index) for index in range(tail))


def _compared(old: Sequence[str], new: Sequence[str], at: Pair) -> Iterator[Pair]:
    from difflib import SequenceMatcher

    for block in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        yield from ((at[0] + block.a + n, at[1] + block.b + n) for n in range(block.size))
