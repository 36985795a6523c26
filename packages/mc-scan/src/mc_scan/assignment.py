"""
A secret name, an operator, a value: ``password=...``, ``"api_key": "..."``, ``| token | ... |``, ``密码：...``.

Key words are found with plain searches in the lower-case text; the name and the value are read only
where an operator follows. Covers `generic-assignment`, `env-credential` and `aws-secret-key`.

Source: rules page, 2 and 2.1.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from mc_scan.candidate import RANK_ASSIGNMENT, RANK_ENV, RANK_VENDOR, REDACTED, Candidate
from mc_scan.checksum import entropy
from mc_scan.finding import ERROR, WARNING
from mc_scan.placeholder import is_dummy, is_filler
from mc_scan.value import is_secret_value

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME_REACH: Final = 60
_NAME_CHARACTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
_QUOTES: Final = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "「": "」", "『": "』"}
_CLOSE: Final = r"(?:\\?[\"'`*\]_]){0,4}"
_OPERATOR: Final = (
    r"(?P<operator>[ \t]{0,8}(?::=|=>|\?=|=(?![=~>])|::?=|[:：＝](?![:：]))[*_]{0,2}[ \t]{0,8}"
    r"|[ \t]{0,40}\|[ \t]{0,40}"
    r"|[ \t]{1,4}(?:is|was)[ \t]{1,4}(?=\\?[\"'`“‘「『])"
    r"|[ \t]{0,4}[是为][:：]?[ \t]{0,4}(?=\\?[\"'`“‘「『]))"
)


def _tail(ending: str) -> re.Pattern[str]:
    return re.compile(f"(?P<ending>{ending}){_CLOSE}{_OPERATOR}")


# Key word to search for, and what may complete it before the operator.
_KEYWORDS: Final = {
    "pass": _tail("word|wd|phrase|"),
    "pwd": _tail(""),
    "secret": _tail(""),
    "token": _tail(""),
    "credential": _tail("s?"),
    "pat": _tail(""),
    "key": _tail(""),
}
_CJK_KEYWORDS: Final = {word: _tail("") for word in ("密码", "口令", "密钥", "令牌")}
_PASSWORD_WORDS: Final = frozenset(["pass", "pwd", "密码", "口令"])
_WHOLE_WORDS: Final = frozenset(["pass", "pat"])  # `bypass` and `compat` are no names
_KEY_OWNER: Final = re.compile(
    r"(?:api|access|auth|secret|private|signing|encryption|account)\\?[-_. ]?\Z"
)
_KEY_OWNER_REACH: Final = 12
_NOT_TOKEN: Final = re.compile(r"(?:max|min|stop|eos|pad|csrf)\\?[-_. ]?\Z")
_ENV_NAME: Final = re.compile(r"[A-Z][A-Z0-9_]{0,79}")
_NAME_BREAK: Final = re.compile(r"[^a-z0-9_. \\-]")
_ENV_WORDS: Final = frozenset(
    "PASSWORD PASSWD PASS PWD PGPASSWORD SECRET TOKEN CREDENTIALS PASSPHRASE KEY".split()
)
_PUBLIC_KEYS: Final = ("PUBLIC_KEY", "PUBLISHABLE_KEY")
_LINE_HEAD: Final = re.compile(
    r"[ \t>]{0,40}(?:[-*+][ \t]{1,4})?(?:(?:export|set|declare -x|ENV)[ \t]{1,4})?\Z"
)
_LINE_REACH: Final = 120
_MIN_ENV_KEY: Final = 16
_MIN_ENV_KEY_ENTROPY: Final = 3.0
_BARE: Final = re.compile(r"[^\s,;&|\"'`)<>\]}，。；、！？）】》」』”’…]{1,513}")
_BARE_END: Final = ".:*~\\?_"
_TYPED: Final = re.compile(r"[ \t]{0,4}(?:[A-Za-z_][A-Za-z0-9_.\[\]]{1,40})(?: \| None)?[ \t]{1,4}=[ \t]{1,4}")
_LINE_END: Final = re.compile(r"[\"']?[ \t]{0,20}(?=[\r\n]|\Z)")
_PROSE: Final = re.compile(r"[ \t]{1,4}[A-Za-z\u4e00-\u9fff]")
_OPENERS: Final = "{[<%@"

_AWS_VALUE: Final = re.compile(r"[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=_-])")
_AWS_LOOSE: Final = re.compile(r"(?<![A-Za-z0-9/+_-])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=_-])")
_AWS_ENTROPY: Final = 4.0
_AWS_LINES: Final = 3
_AWS_REACH: Final = 2_000
_BREAK: Final = re.compile(r"\r\n|\n|\r")


class _Value(NamedTuple):
    start: int
    end: int
    is_quoted: bool


def find_assignments(text: str, lower: str) -> Iterator[Candidate]:
    """
    Yield values next to secret names.

    Args:
        text: The text.
        lower: The same text in lower case, character for character.
    """
    keywords = _KEYWORDS if lower.isascii() else {**_KEYWORDS, **_CJK_KEYWORDS}
    for word, tail in keywords.items():
        at = lower.find(word)
        while at >= 0:
            match = tail.match(lower, at + len(word))
            if match is not None:
                candidate = _judge(text, lower, at, word, match)
                if candidate is not None:
                    yield candidate
            at = lower.find(word, at + len(word))


def find_aws_secrets_near(text: str, start: int, end: int) -> Iterator[Candidate]:
    """Yield 40-character values within 3 lines of the access key ID at ``text[start:end]``."""
    low = _line_edge_before(text, start)
    high = _line_edge_after(text, end)
    for match in _AWS_LOOSE.finditer(text, low, high):
        if is_aws_secret(match.group()) and not is_dummy(match.group(), text, match.end()):
            yield _aws(match.start(), match.end())


def is_aws_secret(value: str) -> bool:
    """Say whether 40 characters are mixed enough for an AWS secret key; SHA-1 digests are not."""
    return (
        any(c.isupper() for c in value)
        and any(c.islower() for c in value)
        and any(c.isdigit() for c in value)
        and entropy(value) >= _AWS_ENTROPY
    )


def _aws(start: int, end: int, context: int = -1) -> Candidate:
    return Candidate(
        start, end, RANK_VENDOR, "aws-secret-key", ERROR, f"aws secret {REDACTED}", "", context
    )


def _line_edge_before(text: str, at: int) -> int:
    low = max(0, at - _AWS_REACH)
    breaks = [match.end() for match in _BREAK.finditer(text, low, at)]
    return breaks[-_AWS_LINES - 1] if len(breaks) > _AWS_LINES else low


def _line_edge_after(text: str, at: int) -> int:
    high = min(len(text), at + _AWS_REACH)
    for count, match in enumerate(_BREAK.finditer(text, at, high)):
        if count == _AWS_LINES:
            return match.start()
    return high


def _judge(text: str, lower: str, at: int, word: str, match: re.Match[str]) -> Candidate | None:
    name_start = _name_start(text, at)
    env = _env_name(text, name_start, match)
    is_named = _is_secret_name(text, lower, at, word, name_start, match["ending"])
    if not is_named and env is None:
        return None
    value = _read_value(text, match)
    if value is None:
        return None
    aws = _aws_assignment(text, lower, name_start, match, value)
    if aws is not None:
        return aws
    is_line = _is_whole_line(text, name_start, match, value)
    is_password = word in _PASSWORD_WORDS and match["ending"] != "phrase"
    if not _is_secret(text, value, is_line=is_line, is_password=is_password):
        return None
    if env is not None and is_line:
        is_long_enough = not env.endswith("KEY") or _is_env_key(text[value.start : value.end])
        return _found(RANK_ENV, value, env, name_start) if is_long_enough else None
    name = text[name_start : match.end("ending")]
    return _found(RANK_ASSIGNMENT, value, name, name_start) if is_named else None


def _found(rank: int, value: _Value, name: str, name_start: int) -> Candidate:
    rule, sign = ("env-credential", "=") if rank == RANK_ENV else ("generic-assignment", ": ")
    return Candidate(value.start, value.end, rank, rule, WARNING, sign, name, name_start)


def _is_secret(text: str, value: _Value, *, is_line: bool, is_password: bool) -> bool:
    body = text[value.start : value.end]
    is_in_prose = not value.is_quoted and _PROSE.match(text, value.end) is not None
    return is_secret_value(
        body,
        is_quoted=value.is_quoted,
        is_whole_line=is_line,
        is_in_prose=is_in_prose,
        is_password=is_password,
    ) and not is_filler(body, text, value.end, value.start)


def _name_start(text: str, at: int) -> int:
    """Return where the unbroken name that holds the key word at *at* starts."""
    head = text[max(0, at - _NAME_REACH) : at]
    return at - len(head) + len(head.rstrip(_NAME_CHARACTERS))


def _is_secret_name(
    text: str, lower: str, at: int, word: str, name_start: int, ending: str
) -> bool:
    if name_start and text[name_start - 1] in ":/":
        return False  # ARNs, URNs, paths
    if word == "key":
        return _KEY_OWNER.search(lower, max(0, at - _KEY_OWNER_REACH), at) is not None
    if word == "token":
        return _NOT_TOKEN.search(lower, max(0, at - _KEY_OWNER_REACH), at) is None
    if word in _WHOLE_WORDS and not ending:
        before = text[at - 1 : at] if at else ""
        return not before.isalpha() or (before.islower() and text[at].isupper())
    return True


def _env_name(text: str, name_start: int, match: re.Match[str]) -> str | None:
    """Return the upper-case name whose ``=`` follows directly, or ``None``."""
    if not match["operator"].startswith("=") or match.start("operator") != match.end("ending"):
        return None
    name = text[name_start : match.end("ending")]
    if _ENV_NAME.fullmatch(name) is None or name.endswith(_PUBLIC_KEYS):
        return None
    return name if name.rpartition("_")[2] in _ENV_WORDS else None


def _is_env_key(body: str) -> bool:
    return (
        len(body) >= _MIN_ENV_KEY
        and entropy(body) >= _MIN_ENV_KEY_ENTROPY
        and (body.upper() != body != body.lower() or any(c.isdigit() for c in body))
    )


def _read_value(text: str, match: re.Match[str]) -> _Value | None:
    at = match.end()
    if match["operator"].strip() == ":":
        typed = _TYPED.match(text, at)
        if typed is not None:
            at = typed.end()
    start = at + 1 if text.startswith("\\", at) and text[at + 1 : at + 2] in ('"', "'") else at
    closing = _QUOTES.get(text[start : start + 1])
    if closing is not None:
        start += 1
        value = _quoted(text, start, closing)
        if value is not None:
            return value
    elif text[start : start + 1] in _OPENERS and text[start : start + 2] != "@M":
        return None  # a template, a list or a mapping
    bare = _BARE.match(text, start)
    if bare is None:
        return None
    body = bare.group()
    if "..." not in body and not text.startswith("…", bare.end()):
        body = body.rstrip(_BARE_END) if not body.endswith("***") else body
    return _Value(start, start + len(body), is_quoted=False)


def _quoted(text: str, start: int, closing: str) -> _Value | None:
    end = text.find(closing, start, start + 514)
    if end < 0 or "\n" in text[start:end] or "\r" in text[start:end]:
        return None
    if text[end - 1 : end] == "\\":
        end -= 1  # the quote was escaped: `\"value\"`
    return _Value(start, end, is_quoted=True) if end > start else None


def _is_whole_line(text: str, name_start: int, match: re.Match[str], value: _Value) -> bool:
    """Say whether the line is nothing but ``name=value``, after an optional quote or list mark."""
    if not text.startswith("=", match.start("operator")):
        return False
    if match.end() - match.start("operator") != 1 or _LINE_END.match(text, value.end) is None:
        return False
    head = text[max(0, name_start - _LINE_REACH) : name_start]
    return _LINE_HEAD.match(_BREAK.split(head)[-1]) is not None


def _aws_assignment(
    text: str, lower: str, name_start: int, match: re.Match[str], value: _Value
) -> Candidate | None:
    """Read ``aws_secret_access_key = ...`` and its relatives; the name may hold spaces."""
    body = _AWS_VALUE.match(text, value.start)
    if body is None:
        return None
    name = lower[max(0, match.end("ending") - _NAME_REACH) : match.end("ending")]
    name = _NAME_BREAK.split(name)[-1]
    if not ("secret" in name and "key" in name and ("aws" in name or "access" in name)):
        return None
    if not is_aws_secret(body.group()) or is_dummy(body.group(), text, body.end(), body.start()):
        return None
    return _aws(body.start(), body.end(), name_start)
