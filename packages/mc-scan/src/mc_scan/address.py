"""Street addresses: a number and a street count only with a unit, a city or a postcode behind.

Source: rules page, section 4 (`street-address`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mc_scan.candidate import RANK_ADDRESS, Candidate
from mc_scan.finding import WARNING
from mc_scan.pattern import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator

_STREET_WORDS: Final = (
    "Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Place|Pl"
    "|Terrace|Close|Way|Parkway"
)
_STREET: Final = lazy(
    r"[0-9]{1,5}[A-Za-z]? (?:[A-Z][A-Za-z.'’-]{0,24} ){1,3}?(?:" + _STREET_WORDS + r")\b\.?"
)
_GAP: Final = r"(?:,?[ \t]{1,4}|,?[ \t]{0,4}\r?\n[ \t>]{0,8})"
_CITY: Final = r"[A-Z][A-Za-z.'’-]{1,24}(?: [A-Z][A-Za-z.'’-]{1,24}){0,3}"
_UNIT: Final = lazy(
    _GAP + r"(?:(?:Apt|Apartment|Unit|Suite|Ste|Flat|Floor|Fl|Room|Rm)\.? ?#?|#)[0-9A-Za-z-]{1,6}\b"
)
_CITY_AND_ZIP: Final = lazy(_GAP + _CITY + r",? [A-Z]{2},? [0-9]{5}(?:-[0-9]{4})?\b")
_UK_POSTCODE: Final = r"[A-Z]{1,2}[0-9][A-Z0-9]? ?[0-9][A-Z]{2}\b"
_CITY_AND_POSTCODE: Final = lazy(rf"(?:{_GAP}{_CITY}){{0,2}}{_GAP}{_UK_POSTCODE}")
_NUMBER_BEFORE_NAME: Final = lazy(r"[0-9][A-Za-z]? [A-Z]")
_GERMAN: Final = lazy(
    r"(?:straße|strasse|Straße|Strasse|str\.|Str\.) [0-9]{1,4} ?[a-z]?, (?:D-)?[0-9]{5} "
    r"[A-ZÄÖÜ][a-zäöüß]{1,30}"
)
_GERMAN_WORDS: Final = ("traße ", "trasse ", "tr. ")
_GERMAN_NAME_REACH: Final = 32
_CHINESE: Final = lazy(
    r"[\u4e00-\u9fff]{2,4}市[\u4e00-\u9fff]{1,6}[区县][\u4e00-\u9fff]{1,10}[路街道巷弄][0-9]{1,5}(?:[弄巷][0-9]{1,5})?号"
)
_CHINESE_REACH: Final = 48
_PREVIEW: Final = "[REDACTED address]"


def find_addresses(text: str) -> Iterator[Candidate]:
    """Yield street addresses in the US, UK, German and Chinese forms."""
    for match in _NUMBER_BEFORE_NAME.finditer(text):
        yield from _judge_street(text, match.start())
    for word in _GERMAN_WORDS:
        at = text.find(word)
        while at >= 0:
            yield from _judge_german(text, at - 1)
            at = text.find(word, at + len(word))
    if not text.isascii():
        at = text.find("号")
        while at >= 0:
            yield from _judge_chinese(text, at + 1)
            at = text.find("号", at + 1)


def _found(start: int, end: int) -> Candidate:
    return Candidate(start, end, RANK_ADDRESS, "street-address", WARNING, _PREVIEW)


def _judge_street(text: str, at: int) -> Iterator[Candidate]:
    head = text[max(0, at - 5) : at]
    start = at - len(head) + len(head.rstrip("0123456789"))
    before = text[start - 1 : start] if start else ""
    if before.isalnum() or before in ("_", ".", "-", "#", "$", "/"):
        return
    street = _STREET.match(text, start)
    if street is None:
        return
    second = [
        match
        for match in (
            pattern.match(text, street.end())
            for pattern in (_UNIT, _CITY_AND_ZIP, _CITY_AND_POSTCODE)
        )
        if match is not None
    ]
    if second:
        yield _found(start, max(match.end() for match in second))


def _judge_german(text: str, at: int) -> Iterator[Candidate]:
    match = _GERMAN.match(text, at) if at >= 0 else None
    if match is None:
        return
    head = text[max(0, at - _GERMAN_NAME_REACH) : at]
    name = re.search(r"[A-ZÄÖÜa-zäöüß-]{1,30} ?\Z", head)
    yield _found(name.start() - len(head) + at if name else at, match.end())


def _judge_chinese(text: str, end: int) -> Iterator[Candidate]:
    match = _CHINESE.search(text, max(0, end - _CHINESE_REACH), end)
    if match is not None and match.end() == end:
        yield _found(match.start(), end)
