"""
E-mail addresses and telephone numbers of people.

Source: rules page, section 4 (`email`, `phone`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mc_scan.candidate import RANK_EMAIL, RANK_PHONE, Candidate
from mc_scan.finding import WARNING

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOCAL_CHARACTERS: Final = (
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._%+-"
)
_MAX_LOCAL: Final = 64
_DOMAIN: Final = re.compile(r"[A-Za-z0-9.-]{1,255}")
_TLD: Final = re.compile(r"[A-Za-z]{2,24}")
_LABEL: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
_PIXEL_RATIO: Final = re.compile(r"[0-9]{1,2}x")
_SSH_PATH: Final = re.compile(r":(?:[~/]|\.{1,2}/|[A-Za-z0-9_.~-]{1,80}(?:/|\.git\b))")
_USERINFO_REACH: Final = 330
_ROLE_LOCALS: Final = frozenset(
    "noreply no-reply no_reply donotreply do-not-reply support info help contact sales security abuse admin postmaster"
    " webmaster hello team git user username you your.name yourname your-name your_name name email test foo".split()
)
_RESERVED_TLDS: Final = frozenset(["example", "test", "invalid", "localhost"])
_MACHINE_DOMAINS: Final = ("users.noreply.github.com", ".gserviceaccount.com")
# Only endings that are no top-level domain, or hardly ever one of a person's address.
_FILE_SUFFIXES: Final = frozenset(
    "png jpg jpeg gif svg webp ico bmp avif heic pdf txt js jsx ts tsx mjs cjs css scss less html htm xml json yml yaml"
    " toml lock ini cfg conf csv log go java kt php vue map gz tgz tar bz2 whl exe dll deb rpm dmg jar bin img iso"
    " service timer socket target mount slice path scope swap device automount md rb py sh rs".split()
)

_PHONE_RUN: Final = re.compile(r"[0-9(+][0-9() .-]{7,}")
_INTERNATIONAL: Final = re.compile(
    r"\+[1-9][0-9]{0,14}(?:(?:[ .-]|[ .-]?\(|\)[ .-]?)[0-9]{1,14}){0,8}"
)
_NANP_PARENS: Final = re.compile(r"\((?P<area>[0-9]{3})\) ?(?P<exchange>[0-9]{3})[-. ][0-9]{4}")
_NANP: Final = re.compile(r"(?P<area>[0-9]{3})(?P<sign>[-.])(?P<exchange>[0-9]{3})[-.][0-9]{4}")
_CN_MOBILE: Final = re.compile(r"1[3-9][0-9]-[0-9]{4}-[0-9]{4}")
_CN_PLAIN: Final = re.compile(r"1[3-9][0-9](?P<sign> ?)[0-9]{4} ?[0-9]{4}|0[1-9][0-9]{1,2}-[0-9]{7,8}")
_NATIONAL: Final = re.compile(r"\(?0[1-9][0-9]{0,9}\)?(?:[ .-]?[0-9]{1,9}){1,5}")
_PHONE_WORD: Final = re.compile(
    r"(?<![A-Za-z])(?:(?:tele|cell|smart|home|work)?phones?|tel|mobile|cell|calls?|whatsapp|pager)(?![A-Za-z])"
    r"|电话|手机|座机|联系",
    re.IGNORECASE,
)
_LINE_REACH: Final = 200
_ASCENDING: Final = "012345678901234567890"
_MIN_INTERNATIONAL: Final = 8
_MAX_INTERNATIONAL: Final = 15
_NANP_DIGITS: Final = 10
_FICTION: Final = "555"


def find_emails(text: str) -> Iterator[Candidate]:
    """Yield addresses of people; role accounts, reserved domains, package versions and SSH remotes are none."""
    at = text.find("@")
    while at >= 0:
        candidate = _judge_email(text, at)
        if candidate is not None:
            yield candidate
        at = text.find("@", at + 1)


def _judge_email(text: str, at: int) -> Candidate | None:
    match = _DOMAIN.match(text, at + 1)
    if match is None or at == 0:
        return None
    head = text[max(0, at - _MAX_LOCAL - 1) : at]
    local = head[len(head.rstrip(_LOCAL_CHARACTERS)) :].lstrip(".-%+")
    domain = match.group().rstrip(".-")
    if not local or len(local) > _MAX_LOCAL or not _is_personal(local, domain):
        return None
    start, end = at - len(local), at + 1 + len(domain)
    if _SSH_PATH.match(text, end) or text.startswith("@", end) or _is_userinfo(text, start):
        return None
    return Candidate(start, end, RANK_EMAIL, "email", WARNING, "[REDACTED email]")


def _is_personal(local: str, domain: str) -> bool:
    labels = domain.lower().split(".")
    if len(labels) < 2 or _TLD.fullmatch(labels[-1]) is None:  # noqa: PLR2004
        return False
    if labels[-1] in _RESERVED_TLDS or labels[-1] in _FILE_SUFFIXES:
        return False
    if any(len(label) < 2 or _LABEL.fullmatch(label) is None for label in labels):  # noqa: PLR2004
        return False
    if "example" in labels or _PIXEL_RATIO.fullmatch(labels[0]) or "yourcompany" in domain.lower():
        return False
    if ("." + domain.lower()).endswith(_MACHINE_DOMAINS):
        return False
    return local.lower().partition("+")[0] not in _ROLE_LOCALS


def _is_userinfo(text: str, start: int) -> bool:
    """Say whether the address is the user part of a URL, a handle such as ``@a@b.c``, or a scoped package."""
    if text[start - 1 : start] == "@":
        return True
    head = text[max(0, start - _USERINFO_REACH) : start].split()
    word = head[-1] if head and not text[start - 1 : start].isspace() else ""
    scheme = word.rfind("://")
    if scheme >= 0 and "/" not in word[scheme + 3 :] and "mailto:" not in word[scheme:]:
        return True
    return word.endswith("/") and "@" in word


def find_phones(text: str) -> Iterator[Candidate]:
    """Yield telephone numbers; plain national forms only where the line has a word such as `phone`."""
    for run in _PHONE_RUN.finditer(text):
        start, end = run.span()
        yield from _find_in_run(text, start, end)


def _find_in_run(text: str, start: int, end: int) -> Iterator[Candidate]:
    for match in _INTERNATIONAL.finditer(text, start, end):
        yield from _judge_phone(text, match, is_valid=_is_international(match.group()))
    for match in _NANP_PARENS.finditer(text, start, end):
        yield from _judge_phone(text, match, is_valid=_is_nanp(match["area"], match["exchange"]))
    for match in _CN_MOBILE.finditer(text, start, end):
        yield from _judge_phone(text, match, is_valid=True)
    if not _has_phone_word(text, start):
        return
    for match in _NANP.finditer(text, start, end):
        yield from _judge_phone(text, match, is_valid=_is_nanp(match["area"], match["exchange"]))
    for match in _CN_PLAIN.finditer(text, start, end):
        yield from _judge_phone(text, match, is_valid=True)
    for match in _NATIONAL.finditer(text, start, end):
        digits = _digits(match.group())
        yield from _judge_phone(text, match, is_valid=9 <= len(digits) <= 11)  # noqa: PLR2004


def _judge_phone(text: str, match: re.Match[str], *, is_valid: bool) -> Iterator[Candidate]:
    if not is_valid or _is_pattern(_digits(match.group())):
        return
    if _touches(text, match.start(), match.end()):
        return
    yield Candidate(
        match.start(), match.end(), RANK_PHONE, "phone", WARNING, "[REDACTED phone]"
    )


def _touches(text: str, start: int, end: int) -> bool:
    """Say whether the run goes on: a letter or digit beside it, or a digit behind ``.``, ``-``, ``/``."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if before[-1:] and (_is_word(before[-1]) or before[-1] in "/#$=+" and before[-1:] != "="):
        return True
    if before[-1:] in (".", "-", ",") and (before[:1].isdigit() or before[-1] != ","):
        return True
    if after[:1] and _is_word(after[0]):
        return True
    return after[:1] in (".", "-", ",", "/", ":") and after[1:].isdigit()


def _is_word(character: str) -> bool:
    return character == "_" or (character.isascii() and character.isalnum())


def _digits(text: str) -> str:
    return "".join(character for character in text if character.isdigit())


def _is_pattern(digits: str) -> bool:
    """Say whether digits are all equal or ascending, with or without a country code."""
    national = digits[-9:]
    return len(set(digits)) == 1 or len(set(national[-7:])) == 1 or national in _ASCENDING


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
