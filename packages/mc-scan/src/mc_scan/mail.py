"""
E-mail addresses of people.

Source: rules page, section 4 (`email`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mc_scan.candidate import RANK_EMAIL, Candidate
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
