"""Credentials that have a place rather than a prefix: URLs, headers, JWTs, SAS queries.

Source: rules page, section 2 (`url-credential`, `auth-header`, `jwt`, `azure-secret` SAS).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mc_scan.candidate import (
    RANK_AUTH_HEADER,
    RANK_JWT,
    RANK_SAS,
    RANK_URL,
    REDACTED,
    Candidate,
)
from mc_scan.checksum import decode_base64, decode_base64url, has_entropy
from mc_scan.finding import ERROR, WARNING
from mc_scan.pattern import lazy
from mc_scan.placeholder import is_cut_short, is_dummy, is_filler
from mc_scan.value import has_telling_digit, is_made_of_words
from mc_scan.vendor import starts_token

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_SCHEME: Final = 31
_MIN_SCHEME: Final = 2
_SCHEME_CHARACTERS: Final = "abcdefghijklmnopqrstuvwxyz0123456789+.-"
# No `/`, space, quote or angle bracket before the `@`. The password may hold `@`: the last counts.
_USERINFO: Final = lazy(
    r"://(?P<user>[^\s/\"'`<>:@]{0,256}):(?P<password>[^\s/\"'`<>]{1,256})@(?=(?P<host>[^\s/\"'`>)|,;?#]{1,255}))"
)
_PORT: Final = lazy(r"[0-9]{1,5}[?#&]")
_LOCAL_HOST: Final = lazy(
    r"(?:localhost|127(?:\.[0-9]{1,3}){1,3}|\[::1\]|[A-Za-z0-9.-]{1,200}\.local)(?::[0-9]{1,5})?\.?",
    re.IGNORECASE,
)
_KNOWN_NON_SECRETS: Final = frozenset(["x-oauth-basic"])

_SCHEMES: Final = ("Bearer ", "Token ", "Basic ")
_HEADER_NAME: Final = lazy(
    r"uthorization\\?[\"'`]?[ \t]{0,4}[:=][ \t]{0,4}\\?[\"'`]?(?=(?:bearer|token|basic) )",
    re.IGNORECASE,
)
_HEADER_VALUE: Final = lazy(
    r"(?P<scheme>Bearer|Token|Basic) {1,4}(?P<value>[A-Za-z0-9._~+/=-]{8,4096})", re.IGNORECASE
)
_MIN_HEADER_VALUE: Final = 16
_MIN_HEADER_ENTROPY: Final = 3.0
_BASIC: Final = lazy(r"[A-Za-z0-9+/]{8,4096}={0,2}")
_PRINTABLE: Final = lazy(r"[^\x00-\x1f\x7f]{1,2048}")

_JWT: Final = lazy(
    r"(?:(?<![A-Za-z0-9_.-])|(?<=\\[nrt]))(?P<head>eyJ[A-Za-z0-9_-]{8,8192})"
    r"\.(?P<claims>[A-Za-z0-9_-]{2,8192})\.(?P<signature>[A-Za-z0-9_-]{1,8192})"
)

_SAS: Final = lazy(r"(?<=[?&;])sig=(?P<value>[A-Za-z0-9%/+=_-]{40,256})")
_QUERY_REACH: Final = 1_024
_QUERY_BREAK: Final = lazy(r"[\s\"'`<>|]")


def find_url_credentials(text: str) -> Iterator[Candidate]:
    """Yield ``scheme://[user]:password@host``; the match ends with the ``@``."""
    at = text.find("://")
    while at >= 0:
        match = _USERINFO.match(text, at)
        if match is not None:
            candidate = _judge_url(text, match)
            if candidate is not None:
                yield candidate
        at = text.find("://", at + 3)


def _judge_url(text: str, match: re.Match[str]) -> Candidate | None:
    at = match.start()
    head = text[max(0, at - _MAX_SCHEME) : at]
    scheme = head[len(head.rstrip(_SCHEME_CHARACTERS)) :].lstrip("0123456789+.-")
    password = match["password"]
    if len(scheme) < _MIN_SCHEME or _PORT.match(password) or password in _KNOWN_NON_SECRETS:
        return None
    is_local = _LOCAL_HOST.fullmatch(match["host"]) is not None
    if is_filler(password, text, match.end("password")) or (is_local and password == match["user"]):
        return None
    severity = WARNING if is_local else ERROR
    return Candidate(
        at - len(scheme),
        match.end(),
        RANK_URL,
        "url-credential",
        severity,
        f"{scheme}://{REDACTED}@…",
    )


def find_auth_headers(text: str) -> Iterator[Candidate]:
    """Yield the value after ``Bearer``, ``Token`` or ``Basic``.

    The scheme counts in lower case only after ``Authorization``.
    """
    for scheme in _SCHEMES:
        at = text.find(scheme)
        while at >= 0:
            if starts_token(text, at):
                yield from _judge_header(text, at)
            at = text.find(scheme, at + len(scheme))
    for name in ("uthorization", "UTHORIZATION"):
        at = text.find(name)
        while at >= 0:
            match = _HEADER_NAME.match(text, at)
            if match is not None and not text.startswith(_SCHEMES, match.end()):
                yield from _judge_header(text, match.end())
            at = text.find(name, at + len(name))


def _judge_header(text: str, at: int) -> Iterator[Candidate]:
    match = _HEADER_VALUE.match(text, at)
    if match is None:
        return
    scheme, value = match["scheme"].title(), match["value"].rstrip(".~")
    start = match.start("value")
    end = start + len(value)
    if is_filler(value, text, end, start):
        return
    if _is_basic(value) if scheme == "Basic" else _is_opaque(value):
        yield Candidate(
            start, end, RANK_AUTH_HEADER, "auth-header", WARNING, f"{scheme} {REDACTED}", "", at
        )


def _is_opaque(value: str) -> bool:
    return (
        len(value) >= _MIN_HEADER_VALUE
        and has_telling_digit(value)
        and has_entropy(value, _MIN_HEADER_ENTROPY)
        and not is_made_of_words(value)
    )


def _is_basic(value: str) -> bool:
    """Say whether *value* is base64 of ``user:password`` with a password that is no placeholder."""
    raw = decode_base64(value) if _BASIC.fullmatch(value) else None
    if raw is None or b":" not in raw:
        return False
    try:
        pair = raw.decode()
    except UnicodeDecodeError:
        return False
    password = pair.partition(":")[2]
    return _PRINTABLE.fullmatch(pair) is not None and not is_filler(password, "", 0)


def find_jwts(text: str) -> Iterator[Candidate]:
    """Yield JSON web tokens: part 1 decodes to an object with ``alg``, part 2 to an object."""
    at = text.find("eyJ")
    while at >= 0:
        match = _JWT.match(text, at)
        if match is not None and _is_jwt(match, text):
            yield Candidate(at, match.end(), RANK_JWT, "jwt", WARNING, f"eyJ{REDACTED}")
        at = text.find("eyJ", at + 3)


def _is_jwt(match: re.Match[str], text: str) -> bool:
    import json

    if is_cut_short("", text, match.end()) or is_dummy(match["signature"], "", 0):
        return False
    parts = []
    for name in ("head", "claims"):
        raw = decode_base64url(match[name])
        try:
            parts.append(json.loads(raw or b""))
        except (ValueError, RecursionError):
            return False
    head, claims = parts
    return isinstance(head, dict) and "alg" in head and isinstance(claims, dict)


def find_sas(text: str) -> Iterator[Candidate]:
    """Yield the ``sig=`` of an Azure URL whose query also holds ``se=`` and ``sp=``."""
    at = text.find("sig=")
    while at >= 0:
        match = _SAS.match(text, at)
        if match is not None and _is_signed_query(text, match):
            value = match["value"]
            if not is_dummy(value, text, match.end()):
                yield Candidate(
                    match.start("value"),
                    match.end("value"),
                    RANK_SAS,
                    "azure-secret",
                    WARNING,
                    f"sig={REDACTED}",
                )
        at = text.find("sig=", at + 4)


def _is_signed_query(text: str, match: re.Match[str]) -> bool:
    before = _QUERY_BREAK.split(text[max(0, match.start() - _QUERY_REACH) : match.start()])[-1]
    after = _QUERY_BREAK.split(text[match.end() : match.end() + _QUERY_REACH], maxsplit=1)[0]
    query = f"{before}&{after}"
    return all(re.search(rf"[?&;]{name}=", query) for name in ("se", "sp"))
