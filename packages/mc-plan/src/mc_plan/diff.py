"""Unified diffs for previews.

Lines end at LF here; a carriage return stays part of its line. Private spans are taken out of both
sides first, since a diff also prints lines that do not change.
"""

from __future__ import annotations

from difflib import unified_diff as compare
from typing import TYPE_CHECKING, Final

from mc_plan.mutation import APPEND

if TYPE_CHECKING:
    from mc_plan.mutation import Mutation

_ABSENT: Final = "/dev/null"
_NO_NEWLINE: Final = "\n\\ No newline at end of file\n"


def unified_diff(mutation: Mutation) -> str:
    """Return the diff of one file, such as ``--- a/docs/memory/inbox.md`` and what follows it."""
    path = mutation.path
    if mutation.kind == APPEND:
        added = [f"+{line}" for line in _lines(mutation.addition)]
        return "".join([f"--- a/{path}\n", f"+++ b/{path}\n", "@@ appended @@\n", *added])
    old, new = mutation.before.data, mutation.after
    return "".join(
        line if line.endswith("\n") else line + _NO_NEWLINE
        for line in compare(
            _lines(old),
            _lines(new),
            _ABSENT if old is None else f"a/{path}",
            _ABSENT if new is None else f"b/{path}",
        )
    )


def _lines(data: bytes | None) -> list[str]:
    from mc_schema.private import strip_private

    text = strip_private((data or b"").decode("utf-8", "replace"))
    # A body may hold U+2028 or a lone carriage return: neither ends a line of a diff.
    parts = text.split("\n")
    ended = [part + "\n" for part in parts[:-1]]
    return [*ended, parts[-1]] if parts[-1] else ended
