"""Unified diffs for previews.

Lines end at LF here; a carriage return stays part of its line. Private spans are taken out of both
sides first, since a diff also prints lines that do not change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mc_plan.line_match import match_lines
from mc_plan.mutation import APPEND

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mc_plan.mutation import Mutation

    Change = tuple[int, int, int, int]
    """Lines of the old side from and to, lines of the new side from and to; 0-based, half open."""

_ABSENT: Final = "/dev/null"
_CONTEXT: Final = 3
_NO_NEWLINE: Final = "\n\\ No newline at end of file\n"


def unified_diff(mutation: Mutation) -> str:
    """Return the diff of one file, such as ``--- a/docs/memory/inbox.md`` and what follows it."""
    path = mutation.path
    if mutation.kind == APPEND:
        added = [f"+{line}" for line in _lines(mutation.addition)]
        return "".join([f"--- a/{path}\n", f"+++ b/{path}\n", "@@ appended @@\n", *added])
    old, new = mutation.before.data, mutation.after
    old_lines, new_lines = _lines(old), _lines(new)
    hunks = [
        line if line.endswith("\n") else line + _NO_NEWLINE
        for hunk in _hunks(_changes(old_lines, new_lines))
        for line in _hunk_lines(hunk, old_lines, new_lines)
    ]
    if not hunks:
        return ""
    before = _ABSENT if old is None else f"a/{path}"
    after = _ABSENT if new is None else f"b/{path}"
    return "".join([f"--- {before}\n", f"+++ {after}\n", *hunks])


def _changes(old: Sequence[str], new: Sequence[str]) -> Iterator[Change]:
    """Yield the stretches that differ, between the lines that correspond."""
    begin = (0, 0)
    for pair in (*match_lines(old, new), (len(old), len(new))):
        if pair != begin:
            yield begin[0], pair[0], begin[1], pair[1]
        begin = (pair[0] + 1, pair[1] + 1)


def _hunks(changes: Iterator[Change]) -> Iterator[list[Change]]:
    """Group changes whose lines of context would touch."""
    hunk: list[Change] = []
    for change in changes:
        if hunk and change[0] - hunk[-1][1] > 2 * _CONTEXT:
            yield hunk
            hunk = []
        hunk.append(change)
    if hunk:
        yield hunk


def _hunk_lines(hunk: Sequence[Change], old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """Yield the head of one hunk, and its lines with their context."""
    lead = min(_CONTEXT, hunk[0][0])
    trail = min(_CONTEXT, len(old) - hunk[-1][1])
    begin, end = hunk[0][0] - lead, hunk[-1][1] + trail
    new_begin, new_end = hunk[0][2] - lead, hunk[-1][3] + trail
    yield f"@@ -{_range(begin, end)} +{_range(new_begin, new_end)} @@\n"
    at = begin
    for old_from, old_to, new_from, new_to in hunk:
        yield from (f" {line}" for line in old[at:old_from])
        yield from (f"-{line}" for line in old[old_from:old_to])
        yield from (f"+{line}" for line in new[new_from:new_to])
        at = old_to
    yield from (f" {line}" for line in old[at:end])


def _range(begin: int, end: int) -> str:
    """Return a range as a hunk names it: 1-based, and the line before when it is empty."""
    length = end - begin
    if length == 1:
        return str(begin + 1)
    return f"{begin + 1 if length else begin},{length}"


def _lines(data: bytes | None) -> list[str]:
    from mc_schema.private import strip_private

    text = strip_private((data or b"").decode("utf-8", "replace"))
    # A body may hold U+2028 or a lone carriage return: neither ends a line of a diff.
    parts = text.split("\n")
    ended = [part + "\n" for part in parts[:-1]]
    return [*ended, parts[-1]] if parts[-1] else ended
