r"""Lines end at ``\n``, ``\r\n`` or ``\r``, and at nothing else.

Not `str.splitlines`, which also splits at U+2028, so that no editor would agree.

Source: rules page, 5.1.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from typing import Final

_BREAK: Final = re.compile(r"\r\n|\n|\r")
_PLAIN_BREAK: Final = re.compile(r"\n")


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
        pattern = _BREAK if "\r" in text else _PLAIN_BREAK
        self.starts = array("L", [match.end() for match in pattern.finditer(text)])
        self._first_line = first_line - bisect_right(self.starts, core_start)
        self._first_line_start = first_line_start
        self._size = len(text)

    def position(self, offset: int) -> tuple[int, int, int]:
        """Return line and column of *offset*, both from 1, and where its line starts.

        The last is negative when the line starts before the window.
        """
        index = bisect_right(self.starts, offset)
        start = self.starts[index - 1] if index else self._first_line_start
        return self._first_line + index, offset - start + 1, start

    def line_end(self, offset: int) -> int:
        """Return where the line of *offset* ends, its break included."""
        index = bisect_right(self.starts, offset)
        return self.starts[index] if index < len(self.starts) else self._size


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
