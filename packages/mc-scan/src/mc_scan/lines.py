"""
Lines end at ``\\n``, ``\\r\\n`` or ``\\r``, and at nothing else. Not `str.splitlines`, which also splits at U+2028.

Source: rules page, 5.1.
"""

from __future__ import annotations


def count_breaks(text: str, start: int, end: int) -> int:
    """Count the line ends whose last character lies in ``text[start:end]``."""
    total = text.count("\n", start, end)
    returns = text.count("\r", start, end)
    if returns:
        # `\r` ends a line only when no `\n` follows; that one may lie just behind *end*.
        total += returns - text.count("\r\n", start, min(end + 1, len(text)))
    return total


def find_line_start(text: str, at: int, low: int) -> int:
    """Return where the line of *at* starts, or -1 when it starts before *low*."""
    newline = text.rfind("\n", low, at)
    single = text.rfind("\r", low, at)
    if single == at - 1 and single >= 0 and text.startswith("\n", at):
        single = text.rfind("\r", low, single)  # *at* stands between `\r` and `\n`
    return max(newline, single) + 1 if max(newline, single) >= 0 else (0 if low <= 0 else -1)


def find_line_end(text: str, at: int, high: int) -> int:
    """Return where the line of *at* ends, its break not included, or -1 when that lies behind *high*."""
    ends = [place for place in (text.find("\n", at, high), text.find("\r", at, high)) if place >= 0]
    if ends:
        return min(ends)
    return len(text) if high >= len(text) else -1
