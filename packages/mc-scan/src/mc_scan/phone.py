"""Telephone numbers: international forms anywhere, national ones next to a phone word.

Source: rules page, section 4 (`phone`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mc_scan.candidate import RANK_PHONE, Candidate
from mc_scan.finding import WARNING
from mc_scan.pattern import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator

# Stretches of digits and their separators, and the places in one where a number may start.
_RUN: Final = lazy(r"[0-9(+][0-9() .-]{7,}")
_START: Final = lazy(
    r"\+[1-9][0-9 ().-]{6}"
    r"|\([0-9][0-9]{2}\) ?[0-9]{3}"
    r"|1[3-9][0-9][- ]?[0-9]{4}[- ]?[0-9]{4}"
    r"|[0-9][0-9]{2}[-.][0-9]{3}[-.][0-9]{4}"
    r"|\(0[1-9][0-9() .-]{6}"
    r"|0[1-9][0-9() .-]{6}"
)
_INTERNATIONAL: Final = lazy(r"\+[1-9][0-9]{0,14}(?:(?:[ .-]|[ .-]?\(|\)[ .-]?)[0-9]{1,14}){0,8}")
_NANP_PARENS: Final = lazy(r"\((?P<area>[0-9]{3})\) ?(?P<exchange>[0-9]{3})[-. ][0-9]{4}")
_NANP: Final = lazy(r"(?P<area>[0-9]{3})(?P<sign>[-.])(?P<exchange>[0-9]{3})[-.][0-9]{4}")
_CN_MOBILE: Final = lazy(r"1[3-9][0-9]-[0-9]{4}-[0-9]{4}")
_CN_PLAIN: Final = lazy(r"1[3-9][0-9] ?[0-9]{4} ?[0-9]{4}|0[1-9][0-9]{1,2}-[0-9]{7,8}")
_NATIONAL: Final = lazy(r"\(?0[1-9][0-9]{0,9}\)?(?:[ .-]?[0-9]{1,9}){1,5}")
_PHONE_WORD: Final = lazy(
    r"(?<![A-Za-z])(?:(?:tele|cell|smart|home|work)?phones?|tel|mobile|cell|calls?|whatsapp|pager)(?![A-Za-z])"
    r"|电话|手机|座机|联系",
    re.IGNORECASE,
)
_LINE_REACH: Final = 200
_ASCENDING: Final = "012345678901234567890"
_SEQUENCES: Final = ("01234567", "12345678", "23456789")
_MIN_INTERNATIONAL: Final = 8
_MAX_INTERNATIONAL: Final = 15
_MIN_NATIONAL: Final = 9
_MAX_NATIONAL: Final = 11
_NANP_DIGITS: Final = 10
_FICTION: Final = "555"
_NOT_BEFORE: Final = frozenset("/#$+.-")
_NOT_BETWEEN: Final = frozenset(".-,/:")


def find_phones(text: str) -> Iterator[Candidate]:
    """Yield the telephone numbers in *text*."""
    for run in _RUN.finditer(text):
        for start in _START.finditer(text, run.start(), run.end()):
            at = start.start()
            if not _goes_on_before(text, at):
                yield from _judge(text, at)


def _judge(text: str, at: int) -> Iterator[Candidate]:
    for match, is_valid in _readings(text, at):
        if is_valid and not _is_pattern(_digits(match.group())) and not _goes_on(text, match.end()):
            yield Candidate(at, match.end(), RANK_PHONE, "phone", WARNING, "[REDACTED phone]")
            return


def _readings(text: str, at: int) -> Iterator[tuple[re.Match[str], bool]]:
    """Yield the forms that match at *at*, each with whether its digits are possible."""
    match = _INTERNATIONAL.match(text, at)
    if match is not None:
        yield match, _is_international(match.group())
        return
    match = _NANP_PARENS.match(text, at)
    if match is not None:
        yield match, _is_nanp(match["area"], match["exchange"])
    match = _CN_MOBILE.match(text, at)
    if match is not None:
        yield match, True
    if not _has_phone_word(text, at):
        return
    match = _NANP.match(text, at)
    if match is not None:
        yield match, _is_nanp(match["area"], match["exchange"])
    match = _CN_PLAIN.match(text, at)
    if match is not None:
        yield match, True
    match = _NATIONAL.match(text, at)
    if match is not None:
        yield match, _MIN_NATIONAL <= len(_digits(match.group())) <= _MAX_NATIONAL


def _goes_on_before(text: str, at: int) -> bool:
    """Say whether a longer run, a price or a path leads to *at*."""
    before = text[max(0, at - 2) : at]
    last = before[-1:]
    if _is_word(last) or last in _NOT_BEFORE:
        return True
    return last == "," and before[:1].isdigit()


def _goes_on(text: str, end: int) -> bool:
    """Say whether a letter or digit follows at *end*, or a digit behind ``.`` or ``-``."""
    first = text[end : end + 1]
    if first == " " and text[end + 1 : end + 2] == "-" and text[end + 2 : end + 3].isdigit():
        return True  # `+12345678 -90`, a count of changed lines
    return _is_word(first) or (first in _NOT_BETWEEN and text[end + 1 : end + 2].isdigit())


def _is_word(character: str) -> bool:
    return character == "_" or (character.isalnum() and character.isascii())


def _digits(text: str) -> str:
    return "".join(character for character in text if character.isdigit())


def _is_pattern(digits: str) -> bool:
    """Say whether digits are all equal or ascending, with or without a country code."""
    if len(set(digits)) == 1 or len(set(digits[-7:])) == 1 or digits[-9:] in _ASCENDING:
        return True
    return digits.startswith(_SEQUENCES)


def _is_international(number: str) -> bool:
    digits = _digits(number)
    if not _MIN_INTERNATIONAL <= len(digits) <= _MAX_INTERNATIONAL:
        return False
    if number.count("(") != number.count(")"):
        return False
    if digits[0] == "1":
        return len(digits) == _NANP_DIGITS + 1 and _is_nanp(digits[1:4], digits[4:7])
    return not digits.startswith(("447700900", "4407700900"))


def _is_nanp(area: str, exchange: str) -> bool:
    return all(
        part[0] not in "01" and part[1:] != "11" and part != _FICTION for part in (area, exchange)
    )


def _has_phone_word(text: str, at: int) -> bool:
    low, high = max(0, at - _LINE_REACH), at + _LINE_REACH
    low = max(text.rfind("\n", low, at), text.rfind("\r", low, at), low)
    ends = [end for end in (text.find("\n", at, high), text.find("\r", at, high)) if end >= 0]
    return _PHONE_WORD.search(text, low, min(ends, default=high)) is not None
