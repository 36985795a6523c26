r"""Lines end at ``\n``, ``\r\n`` or ``\r``, and at nothing else.

Not `str.splitlines`, which also splits at U+2028, so that no editor would agree.

Source: rules page, 5.1.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from itertools import accumulate
from typing import Final, NamedTuple

from mc_scan.pattern import lazy

_BREAK: Final = lazy(r"\r\n|\n|\r")


class Place(NamedTuple):
    """Where a span stands; lines and columns count from 1, columns in code points."""

    line: int
    column: int
    end_line: int
    end_column: int  # after the last character
    line_start: int  # offset of the first line; negative when before the window
    line_end: int  # offset after the last line, its break included


class LineIndex:
    """Where the lines of one window start, numbered on from the line that its core starts in."""

    def __init__(self, text: str, core_start: int, first_line: int, first_line_start: int) -> None:
        """Read the line ends of *text*.

        Args:
            text: The window.
            core_start: Offset into *text* whose line is known.
            first_line: Number of that line.
            first_line_start: Offset into *text* where that line starts; negative when before it.
        """
        if "\r" in text:
            self.starts = array("L", [match.end() for match in _BREAK.finditer(text)])
        else:  # the usual case, in two thirds of the time
            lines = text.split("\n")[:-1]
            self.starts = array("L", accumulate([len(line) + 1 for line in lines]))
        self._first_line = first_line - bisect_right(self.starts, core_start)
        self._first_line_start = first_line_start
        self._size = len(text)

    def locate(self, start: int, end: int) -> Place:
        """Return where ``text[start:end]`` stands."""
        starts, size = self.starts, len(self.starts)
        first = last = bisect_right(starts, start)
        if last < size and starts[last] <= end:
            last = bisect_right(starts, end)
        line_start = starts[first - 1] if first else self._first_line_start
        last_start = line_start if last == first else starts[last - 1]
        return Place(
            self._first_line + first,
            start - line_start + 1,
            self._first_line + last,
            end - last_start + 1,
            line_start,
            starts[last] if last < size else self._size,
        )


def count_breaks(text: str, start: int, end: int) -> int:
    """Count the line ends whose last character lies in ``text[start:end]``."""
    total = text.count("\n", start, end)
    returns = text.count("\r", start, end)
    if returns:
        # `\r` ends a line only when no `\n` follows; that one may lie just behind *end*.
        total += returns - text.count("\r\n", start, end + 1)
    return total


def last_line_start(text: str, start: int, end: int) -> int | None:
    """Return the start of the last line that starts behind *start* and up to *end*, if any."""
    newline = text.rfind("\n", start, end)
    single = text.rfind("\r", start, end)
    if single >= 0 and text.startswith("\n", single + 1):
        if single + 1 >= end:  # the pair is cut: its line starts behind *end*
            single = text.rfind("\r", start, single)
        else:
            single = -1 if newline > single else single
    last = max(newline, single)
    return last + 1 if last >= 0 else None
