"""Vendor tokens: rows of the table, tried only where one of their anchors stands.

Source: rules page, sections 2 and 5.7.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mc_scan.candidate import RANK_VENDOR, REDACTED, Candidate
from mc_scan.checksum import has_entropy
from mc_scan.pattern import lazy
from mc_scan.placeholder import is_dummy
from mc_scan.vendor_rows import VENDOR_ROWS, VendorRow

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN_CHARACTERS: Final = frozenset(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
)


def find_vendor(text: str) -> Iterator[Candidate]:
    """Yield every vendor token in *text*, in order of its anchor."""
    for anchor in _ANCHOR.finditer(text):
        at = anchor.start()
        literal = anchor.group()
        if literal in _BOUND and not starts_token(text, at):
            continue
        for row in _ROWS_BY_ANCHOR[literal]:
            match = row.pattern.match(text, at - row.before) if at >= row.before else None
            if match is not None:
                candidate = _judge(row, match, text)
                if candidate is not None:
                    yield candidate
                break


def starts_token(text: str, at: int) -> bool:
    r"""Say whether a token may start at *at*: the character before is outside ``[A-Za-z0-9_-]``.

    The letter of a literal ``\n``, ``\r`` or ``\t`` (JSON on one line) is no part of a token.
    """
    if not at or text[at - 1] not in _TOKEN_CHARACTERS:
        return True
    return text[at - 1] in "nrt" and text[at - 2 : at - 1] == "\\"


def _judge(row: VendorRow, match: re.Match[str], text: str) -> Candidate | None:
    body = match["body"]
    start, end = match.span()
    if is_dummy(body, text, end, start) or (
        row.min_entropy and not has_entropy(body, row.min_entropy)
    ):
        return None
    severity = row.severity if row.check is None else row.check(match)
    if severity is None:
        return None
    return Candidate(
        start, end, RANK_VENDOR, row.rule, severity, (row.label or match["shown"]) + REDACTED
    )


def _rows_by_anchor() -> dict[str, tuple[VendorRow, ...]]:
    table: dict[str, tuple[VendorRow, ...]] = {}
    for row in VENDOR_ROWS:
        for anchor in row.anchors:
            table[anchor] = (*table.get(anchor, ()), row)
    return table


_ROWS_BY_ANCHOR: Final = _rows_by_anchor()
_BOUND: Final = frozenset(
    anchor for anchor, rows in _ROWS_BY_ANCHOR.items() if all(row.is_bound for row in rows)
)


def _trie(words: list[str]) -> str:
    """Return a pattern for *words* with shared beginnings, faster than a plain alternation."""
    by_first: dict[str, list[str]] = {}
    for word in words:
        by_first.setdefault(word[:1], []).append(word[1:])
    # The longer reading first: an end of a word inside another one comes last.
    parts = [re.escape(first) + _trie(rest) for first, rest in by_first.items() if first]
    parts += [""] if "" in by_first else []
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"


_ANCHOR: Final = lazy(lambda: _trie(list(_ROWS_BY_ANCHOR)))
