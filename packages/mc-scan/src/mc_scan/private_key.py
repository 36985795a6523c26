r"""Private keys: a header and the base64 below it, told apart from a header in a sentence.

Body lines may carry a common prefix (``> ``, ``# ``, an indent), end in CR, or be joined by literal
``\\n``. Source: rules page, 2 (`private-key`, `gcp-service-account`) and 5.2.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from mc_scan.candidate import (
    RANK_PRIVATE_KEY,
    RANK_SERVICE_ACCOUNT,
    REDACTED,
    Candidate,
)
from mc_scan.finding import ERROR, WARNING
from mc_scan.pattern import lazy
from mc_scan.placeholder import has_filler_words

if TYPE_CHECKING:
    from collections.abc import Iterator

_REACH: Final = 15_000  # characters below a header that may belong to the key
_HEAD_REACH: Final = 4_096  # the first base64 must stand within this
_LINE_REACH: Final = 1_024
_ACCOUNT_REACH: Final = 2_048
_NAME_REACH: Final = 48
_DIRECT_BASE64: Final = 8
_MIN_BASE64: Final = 32
_SENTENCE_REACH: Final = 128

_HEADER: Final = lazy(
    r"-----BEGIN (?P<pem>(?:(?:RSA|EC|DSA|OPENSSH|ENCRYPTED|ANY) )?PRIVATE KEY)-----"
    r"|-----BEGIN (?P<pgp>PGP PRIVATE KEY BLOCK)-----"
    r"|---- BEGIN (?P<ssh2>SSH2 ENCRYPTED PRIVATE KEY) ----"
    r"|(?P<putty>PuTTY-User-Key-File-[23]):"
)
# Searched for with plain `str.find`: much faster than a pattern that starts with a dash.
_ANCHORS: Final = ("-----BEGIN ", "---- BEGIN SSH2", "PuTTY-User-Key-File-")
_BREAK: Final = lazy(r"\\{1,2}r\\{1,2}n|\\{1,2}n|\r\n|\n|\r")
_AFTER_HEADER: Final = lazy(r"[ \t]{0,8}[\"'`,;+]{0,3}[ \t]{0,8}(?=\\{1,2}[rn]|[\r\n])")
_TO_END: Final = lazy(r"[ \t\"'`*_)>|-]{0,12}\Z")
_SPACED: Final = lazy(r"[ \t]{1,4}(?=[A-Za-z0-9+/]{16})")
_BASE64: Final = lazy(r"[A-Za-z0-9+/]{1,1024}={0,2}|=[A-Za-z0-9+/]{4}")
_BASE64_LINE: Final = lazy(r"([A-Za-z0-9+/]{1,1024}={0,2}|=[A-Za-z0-9+/]{4})[ \t\"'`,;)+\\]{0,8}")
_LINE_PREFIX: Final = lazy(r"(?:[ \t>#*|;\"'`(,-]|//[ \t]|\+[ \t]){0,80}")
_ARMOR: Final = lazy(r"[A-Za-z][A-Za-z0-9-]{1,30}: .{0,200}", re.DOTALL)
_CUT: Final = lazy(r"\.\.\.|…|\*\*\*|[<\[(]|\bsnip\b", re.IGNORECASE)
_MARKS: Final = " \t>#*|;+/\"'`(),-"
_END_LINE: Final = lazy(r"-----END [A-Z0-9 ]{0,40}-----|---- END [A-Z0-9 ]{0,40} ----")
_PRIVATE_LINES: Final = lazy(r"Private-Lines: {0,4}[0-9]{1,4}")
_PRIVATE_MAC: Final = lazy(r"(?:\\n|[\r\n]){1,2}[ \t>]{0,8}Private-MAC: [0-9a-fA-F]{0,64}")
_FIELD: Final = lazy(r"\\?\"private_key\\?\"[ \t\r\n]{0,8}:[ \t\r\n]{0,8}\\?\"$")
_ACCOUNT: Final = lazy(r"\\?\"type\\?\"[ \t\r\n]{0,8}:[ \t\r\n]{0,8}\\?\"service_account\\?\"")


class _Body(NamedTuple):
    """What stands below a header."""

    width: int  # base64 characters
    end: int  # where they end, or the END line
    stop: str  # what came next: "end", "text", "cut", "begin" or "nothing"
    is_direct: bool  # no blank line before the first base64, or armor headers before it


def find_private_keys(text: str) -> Iterator[Candidate]:
    """Yield every private key in *text*, from its header to its END line or last base64 line."""
    for anchor in _ANCHORS:
        at = text.find(anchor)
        while at >= 0:
            header = _HEADER.match(text, at)
            if header is not None:
                candidate = _judge(text, header)
                if candidate is not None:
                    yield candidate
            at = text.find(anchor, at + len(anchor))


def find_bare_headers(text: str) -> Iterator[Candidate]:
    """Yield every private key header in *text* that is not quoted as code, whatever is below."""
    for anchor in _ANCHORS:
        at = text.find(anchor)
        while at >= 0:
            header = _HEADER.match(text, at)
            if header is not None and text[at - 1 : at] != "`":
                yield _found(text, header, header.end(), WARNING)
            at = text.find(anchor, at + len(anchor))


def _judge(text: str, header: re.Match[str]) -> Candidate | None:
    body = _putty_body(text, header) if header["putty"] else _body_below(text, header.end())
    if body is None or body.stop == "cut":
        return None
    if body.width >= (_DIRECT_BASE64 if body.is_direct else _MIN_BASE64):
        return _found(text, header, body.end, ERROR)
    if body.stop == "nothing" and not body.width and _is_alone(text, header):
        return _found(text, header, header.end(), WARNING)
    return None


def _found(text: str, header: re.Match[str], end: int, severity: str) -> Candidate:
    start = header.start()
    label = header["pem"] or header["pgp"] or header["ssh2"] or header["putty"]
    field = text[max(0, start - _NAME_REACH) : start]
    if severity == ERROR and "private_key" in field and _FIELD.search(field):
        around = text[max(0, start - _ACCOUNT_REACH) : end + _ACCOUNT_REACH]
        if _ACCOUNT.search(around):
            label = "service_account private_key"
            return Candidate(
                start,
                end,
                RANK_SERVICE_ACCOUNT,
                "gcp-service-account",
                ERROR,
                f"{label} {REDACTED}",
            )
    return Candidate(start, end, RANK_PRIVATE_KEY, "private-key", severity, f"{label} {REDACTED}")


def _is_alone(text: str, header: re.Match[str]) -> bool:
    """Say whether nothing but list, quote or assignment marks stand before *header* on its line."""
    head = text[max(0, header.start() - _SENTENCE_REACH) : header.start()]
    line = _BREAK.split(head)[-1].strip(_MARKS)
    return not line or line.endswith(("=", ":"))


def _body_below(text: str, at: int) -> _Body | None:
    """Walk the lines below a header that ends at *at*; ``None`` when it stands in a sentence."""
    after = _AFTER_HEADER.match(text, at)
    if after is None:
        if _TO_END.match(text, at):
            return _Body(0, at, "nothing", is_direct=True)
        return _spaced_body(text, at)
    return _walk(text, after.end(), at)


def _spaced_body(text: str, at: int) -> _Body | None:
    """Read a key whose line breaks became spaces, as in a variable of a shell."""
    if _SPACED.match(text, at) is None:
        return None
    ending = _END_LINE.search(text, at, at + _REACH)
    stop = ending.start() if ending else min(len(text), at + _LINE_REACH)
    count, end = 0, at
    for piece in re.finditer(r"[^ \t\r\n\"'`\\]{1,1024}", text[at:stop]):
        if not _BASE64.fullmatch(piece.group()):
            break
        count += len(piece.group())
        end = at + piece.end()
    if count < _MIN_BASE64 or has_filler_words(text[at:end]):
        return None
    if ending is not None:
        return _Body(count, ending.end(), "end", is_direct=True)
    return _Body(count, end, "text", is_direct=True)


def _walk(text: str, at: int, header_end: int) -> _Body:
    """Read lines from the break at *at* on until something is no part of a key."""
    count, end, blanks, is_direct, stop = 0, header_end, 0, True, "nothing"
    limit = min(len(text), header_end + _REACH)
    while at < limit and (count or at - header_end <= _HEAD_REACH):
        at = _skip_break(text, at)
        following = _BREAK.search(text, at, min(limit, at + _LINE_REACH))
        line_end = following.start() if following else min(limit, at + _LINE_REACH)
        kind, width, offset = _classify(text[at:line_end], is_first=not count)
        if kind == "base64":
            is_direct = is_direct if count else not blanks
            count, end, blanks = count + width, at + offset + width, 0
        elif kind == "end":
            return _Body(count + width, at + offset, "end", is_direct)
        elif kind == "armor":
            blanks = -1  # the blank line after armor headers belongs to the key
        elif kind == "blank":
            blanks += 1
        else:
            stop = "cut" if kind == "cut" and count < _MIN_BASE64 else kind
            stop = "nothing" if stop == "text" and not count and blanks > 0 else stop
            break
        if following is None or (count and blanks > 1):
            break
        at = line_end
    return _Body(count, end, stop, is_direct)


def _skip_break(text: str, at: int) -> int:
    match = _BREAK.match(text, at)
    return match.end() if match else at


def _classify(line: str, *, is_first: bool) -> tuple[str, int, int]:
    """Return the kind of a line, its base64 characters, and where they start (or END ends)."""
    ending = _END_LINE.search(line)
    if ending is not None:
        before = line[: ending.start()].strip(_MARKS)
        return "end", len(before) if _BASE64.fullmatch(before) else 0, ending.end()
    if "BEGIN " in line:
        return "begin", 0, 0
    prefix = _LINE_PREFIX.match(line)
    offset = prefix.end() if prefix else 0
    content = line[offset:].rstrip(" \t\\")
    if not content:
        return "blank", 0, 0
    if _CUT.search(line):
        return "cut", 0, 0
    base64 = _BASE64_LINE.fullmatch(content)
    if base64 is not None:
        if is_first and _is_filler_line(base64[1]):
            return "cut", 0, 0
        return "base64", len(base64[1]), offset
    return ("armor" if is_first and _ARMOR.fullmatch(content) else "text"), 0, 0


def _is_filler_line(content: str) -> bool:
    # Not the rule for 6 equal characters: an OpenSSH key starts with long runs of `A`.
    most = max(content.count(character) for character in set(content))
    return most > len(content) / 2 or has_filler_words(content)


def _putty_body(text: str, header: re.Match[str]) -> _Body | None:
    at = header.end()
    following = text.find("PuTTY-User-Key-File-", at, at + _HEAD_REACH)
    lines = _PRIVATE_LINES.search(text, at, following if following >= 0 else at + _HEAD_REACH)
    if lines is None:
        return None
    body = _walk(text, lines.end(), lines.end())
    if body.width < _MIN_BASE64:
        return None
    mac = _PRIVATE_MAC.match(text, body.end)
    return _Body(body.width, mac.end() if mac else body.end, "end", is_direct=True)
