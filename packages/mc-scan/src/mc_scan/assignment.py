"""A secret name, an operator, a value: ``password=...``, ``"api_key": "..."``, ``| token | ... |``.

Key words are found with plain searches in the lower-case text; the name and the value are read only
where an operator follows. Covers `generic-assignment`, `env-credential` and `aws-secret-key`.

Source: rules page, 2 and 2.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from mc_scan.candidate import RANK_ASSIGNMENT, RANK_ENV, RANK_VENDOR, REDACTED, Candidate
from mc_scan.checksum import has_entropy
from mc_scan.finding import ERROR, WARNING
from mc_scan.pattern import lazy
from mc_scan.placeholder import is_dummy, is_filler
from mc_scan.value import MAX_VALUE, is_secret_value
from mc_scan.word_sets import ENV_WORDS

if TYPE_CHECKING:
    import re
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
    return lazy(f"(?P<ending>{ending}){_CLOSE}{_OPERATOR}")


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
_KEY_OWNER: Final = lazy(
    r"(?:api|access|auth|secret|private|signing|encryption|account)\\?[-_. ]?\Z"
)
_KEY_OWNER_REACH: Final = 12
_NOT_TOKEN: Final = lazy(r"(?:max|min|stop|eos|pad|csrf)\\?[-_. ]?\Z")
_ENV_NAME: Final = lazy(r"[A-Z][A-Z0-9_]{0,79}")
_NAME_BREAK: Final = lazy(r"[^a-z0-9_. \\-]")
_PUBLIC_KEYS: Final = ("PUBLIC_KEY", "PUBLISHABLE_KEY")
_LINE_HEAD: Final = lazy(
    r"[ \t>]{0,40}(?:[-*+][ \t]{1,4})?(?:(?:export|set|declare -x|ENV)[ \t]{1,4})?\Z"
)
_LINE_REACH: Final = 120
_MIN_ENV_KEY: Final = 16
_MIN_ENV_KEY_ENTROPY: Final = 3.0
# An ampersand ends a value only where the next parameter of a query follows.
_BARE: Final = lazy(
    r"(?:[^\s,;&|\"'`)<>\]}，。；、！？）】》」』”’…]|&(?![A-Za-z_][A-Za-z0-9_.-]{0,40}=)){1,513}"
)
_BARE_END: Final = ".:*~\\?_"
_TYPED: Final = lazy(
    r"[ \t]{0,4}(?:[A-Za-z_][A-Za-z0-9_.\[\]]{1,40})(?: \| None)?[ \t]{1,4}=[ \t]{1,4}"
)
_LINE_END: Final = lazy(r"[\"']?[ \t]{0,20}(?=[\r\n]|\Z)")
_PROSE: Final = lazy(r"[ \t]{1,4}[A-Za-z\u4e00-\u9fff]")
_OPENERS: Final = ("{", "[")
_ESCAPED_QUOTES: Final = ('\\"', "\\'")
_CUTS: Final = ("...", "***")

_AWS_VALUE: Final = lazy(r"[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=_-])")
_AWS_LOOSE: Final = lazy(r"(?<![A-Za-z0-9/+_-])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=_-])")
_AWS_ENTROPY: Final = 4.0
_AWS_LINES: Final = 3
_AWS_REACH: Final = 2_000
_BREAK: Final = lazy(r"\r\n|\n|\r")


class _Hit(NamedTuple):
    """A key word with an operator behind it."""

    text: str
    lower: str
    at: int  # where the key word starts
    word: str
    tail: re.Match[str]  # from behind the word up to the value
    name_start: int  # of the unbroken name around the word

    @property
    def name_end(self) -> int:
        return self.tail.end("ending")

    @property
    def name(self) -> str:
        return self.text[self.name_start : self.name_end]


class _Value(NamedTuple):
    """What stands behind the operator."""

    text: str
    start: int
    end: int
    is_quoted: bool


def find_assignments(text: str, lower: str) -> Iterator[Candidate]:
    """Yield values next to secret names.

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
                hit = _Hit(text, lower, at, word, match, _name_start(text, at))
                candidate = _judge(hit)
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
        and has_entropy(value, _AWS_ENTROPY)
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


def _judge(hit: _Hit) -> Candidate | None:
    is_named, is_env = _is_secret_name(hit), _is_env_name(hit)
    value = _read_value(hit) if is_named or is_env else None
    if value is None:
        return None
    aws = _aws_assignment(hit, value)
    if aws is not None:
        return aws
    is_line = _is_whole_line(hit, value)
    if not _is_secret(hit, value, is_line=is_line):
        return None
    if is_env and is_line:
        if hit.word == "key" and not _is_env_key(value.text):
            return None
        return _found(hit, value, RANK_ENV)
    return _found(hit, value, RANK_ASSIGNMENT) if is_named else None


def _found(hit: _Hit, value: _Value, rank: int) -> Candidate:
    rule, sign = ("env-credential", "=") if rank == RANK_ENV else ("generic-assignment", ": ")
    return Candidate(value.start, value.end, rank, rule, WARNING, sign, hit.name, hit.name_start)


def _is_secret(hit: _Hit, value: _Value, *, is_line: bool) -> bool:
    is_in_prose = not value.is_quoted and _PROSE.match(hit.text, value.end) is not None
    return is_secret_value(
        value.text,
        is_quoted=value.is_quoted,
        is_whole_line=is_line,
        is_in_prose=is_in_prose,
        is_password=hit.word in _PASSWORD_WORDS,
        is_passphrase=hit.tail["ending"] == "phrase",
    ) and not is_filler(value.text, hit.text, value.end, value.start)


def _name_start(text: str, at: int) -> int:
    """Return where the unbroken name that holds the key word at *at* starts."""
    head = text[max(0, at - _NAME_REACH) : at]
    return at - len(head) + len(head.rstrip(_NAME_CHARACTERS))


def _is_secret_name(hit: _Hit) -> bool:
    """Say whether the name ends in a secret word as a word of its own, and is no part of a path."""
    text, at = hit.text, hit.at
    if hit.name_start and text[hit.name_start - 1] in ":/":
        return False  # ARNs, URNs, paths
    if hit.word == "key":
        return _KEY_OWNER.search(hit.lower, max(0, at - _KEY_OWNER_REACH), at) is not None
    if hit.word == "token":
        return _NOT_TOKEN.search(hit.lower, max(0, at - _KEY_OWNER_REACH), at) is None
    if hit.word in _WHOLE_WORDS and not hit.tail["ending"]:
        before = text[at - 1 : at] if at else ""
        return not before.isalpha() or (before.islower() and text[at].isupper())
    return True


def _is_env_name(hit: _Hit) -> bool:
    """Say whether it is an upper-case name that ends in a credential word, ``=`` right behind."""
    if not hit.tail["operator"].startswith("=") or hit.tail.start("operator") != hit.name_end:
        return False
    name = hit.name
    if _ENV_NAME.fullmatch(name) is None or name.endswith(_PUBLIC_KEYS):
        return False
    return name.rpartition("_")[2] in ENV_WORDS


def _is_env_key(body: str) -> bool:
    return (
        len(body) >= _MIN_ENV_KEY
        and has_entropy(body, _MIN_ENV_KEY_ENTROPY)
        and (body.upper() != body != body.lower() or any(c.isdigit() for c in body))
    )


def _read_value(hit: _Hit) -> _Value | None:
    text, at = hit.text, hit.tail.end()
    if hit.tail["operator"].strip() == ":":
        typed = _TYPED.match(text, at)  # `password: str = "..."`
        at = typed.end() if typed is not None else at
    start = at + 1 if text.startswith(_ESCAPED_QUOTES, at) else at
    closing = _QUOTES.get(text[start : start + 1])
    if closing is not None:
        start += 1
        value = _read_quoted(text, start, closing)
        if value is not None:
            return value
    elif text.startswith(_OPENERS, start):
        return None  # a template, a list or a mapping
    bare = _BARE.match(text, start)
    if bare is None:
        return None
    body = bare.group()
    if not body.endswith(_CUTS) and not text.startswith("…", bare.end()):
        body = body.rstrip(_BARE_END)
    return _Value(body, start, start + len(body), is_quoted=False)


def _read_quoted(text: str, start: int, closing: str) -> _Value | None:
    end = text.find(closing, start, start + MAX_VALUE + 2)
    if end < 0 or "\n" in text[start:end] or "\r" in text[start:end]:
        return None
    if text[end - 1 : end] == "\\":
        end -= 1  # the quote was escaped: `\"value\"`
    return _Value(text[start:end], start, end, is_quoted=True) if end > start else None


def _is_whole_line(hit: _Hit, value: _Value) -> bool:
    """Say whether the line is nothing but ``name=value``, after an optional quote or list mark."""
    text, operator = hit.text, hit.tail.start("operator")
    if hit.tail.end() - operator != 1 or not text.startswith("=", operator):
        return False
    if _LINE_END.match(text, value.end) is None:
        return False
    head = text[max(0, hit.name_start - _LINE_REACH) : hit.name_start]
    return _LINE_HEAD.match(_BREAK.split(head)[-1]) is not None


def _aws_assignment(hit: _Hit, value: _Value) -> Candidate | None:
    """Read ``aws_secret_access_key = ...`` and its relatives; the name may hold spaces."""
    body = _AWS_VALUE.match(hit.text, value.start)
    if body is None:
        return None
    head = hit.lower[max(0, hit.name_end - _NAME_REACH) : hit.name_end]
    name = _NAME_BREAK.split(head)[-1]
    if not ("secret" in name and "key" in name and ("aws" in name or "access" in name)):
        return None
    start, end = body.span()
    if not is_aws_secret(body.group()) or is_dummy(body.group(), hit.text, end, start):
        return None
    return _aws(start, end, hit.name_start)
