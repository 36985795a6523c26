"""Inline marks: ``mc-scan: allow RULE`` for its own line, ``allow-next`` for the line below.

They work inside an HTML comment or after ``#``, ``//`` or ``--``, need a rule id, and silence
warnings only: what an agent writes into a file must not clear an error. Source: rules page, 7.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mc_scan.lines import count_breaks
from mc_scan.pattern import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator

_WORD: Final = "mc-scan:"
_MARK: Final = lazy(
    r"mc-scan:[ \t]{0,8}allow(?P<next>-next)?[ \t]{1,8}"
    r"(?P<rules>[a-z0-9-]{1,40}(?:[ \t]{0,4},[ \t]{0,4}[a-z0-9-]{1,40}){0,20})"
    r"(?=[ \t]{0,8}(?:-->|[\r\n]|\Z)|[ \t]{1,8}-)"
)
_LINE_COMMENT: Final = lazy(
    r"(?:^|[\s`;,)}\]\"'])(?:#{1,6}|//|--)[ \t][^\r\n]*\Z|(?:#|//|--)[ \t]{0,8}\Z"
)
_REACH: Final = 400


def find_marks(text: str, start: int, end: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the inline marks whose key word stands in ``text[start:end]``.

    Yields:
        The line a mark is for, counted from 0 at the line of *start*, and its rule ids.
    """
    at = text.find(_WORD, start, end)
    while at >= 0:
        match = _MARK.match(text, at)
        if match is not None and _is_in_comment(text, at):
            line = count_breaks(text, start, at) + (1 if match["next"] else 0)
            yield line, [rule.strip() for rule in match["rules"].split(",")]
        at = text.find(_WORD, at + len(_WORD), end)


def _is_in_comment(text: str, at: int) -> bool:
    """Say whether *at* lies in an HTML comment or behind ``#``, ``//`` or ``--`` on its line."""
    head = text[max(0, at - _REACH) : at]
    opened = head.rfind("<!--")
    if opened >= 0 and "-->" not in head[opened:]:
        return True
    line = head[max(head.rfind("\n"), head.rfind("\r")) + 1 :]
    return _LINE_COMMENT.search(line) is not None
