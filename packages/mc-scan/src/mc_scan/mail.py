"""E-mail addresses of people.

Source: rules page, section 4 (`email`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mc_scan.candidate import RANK_EMAIL, Candidate
from mc_scan.finding import WARNING
from mc_scan.pattern import lazy
from mc_scan.word_sets import FILE_SUFFIXES, ROLE_LOCALS

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOCAL_CHARACTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._%+-"
_MAX_LOCAL: Final = 64
_DOMAIN: Final = lazy(r"[A-Za-z0-9.-]{1,255}")
_TLD: Final = lazy(r"[A-Za-z]{2,24}")
_LABEL: Final = lazy(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
_PIXEL_RATIO: Final = lazy(r"[0-9]{1,2}x")
_SSH_PATH: Final = lazy(r":(?:[~/]|\.{1,2}/|[A-Za-z0-9_.~-]{1,80}(?:/|\.git\b))")
_USERINFO_REACH: Final = 330
_RESERVED_TLDS: Final = frozenset(["example", "test", "invalid", "localhost"])
_MACHINE_DOMAINS: Final = ("users.noreply.github.com", ".gserviceaccount.com")


def find_emails(text: str) -> Iterator[Candidate]:
    """Yield addresses of people, not of roles, reserved domains, packages or SSH remotes."""
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
    if labels[-1] in _RESERVED_TLDS or labels[-1] in FILE_SUFFIXES:
        return False
    if any(len(label) < 2 or _LABEL.fullmatch(label) is None for label in labels):  # noqa: PLR2004
        return False
    if "example" in labels or _PIXEL_RATIO.fullmatch(labels[0]) or "yourcompany" in domain.lower():
        return False
    if ("." + domain.lower()).endswith(_MACHINE_DOMAINS):
        return False
    name = local.lower().partition("+")[0]
    is_blanked = len(name) > 1 and len(set(name)) == 1  # `xxx@harrow.dev`
    return not is_blanked and name not in ROLE_LOCALS


def _is_userinfo(text: str, start: int) -> bool:
    """Say whether it is the user part of a URL, a handle such as ``@a@b.c``, or a package."""
    if text[start - 1 : start] == "@":
        return True
    head = text[max(0, start - _USERINFO_REACH) : start].split()
    word = head[-1] if head and not text[start - 1 : start].isspace() else ""
    scheme = word.rfind("://")
    if scheme >= 0 and "/" not in word[scheme + 3 :] and "mailto:" not in word[scheme:]:
        return True
    return word.endswith("/") and "@" in word
