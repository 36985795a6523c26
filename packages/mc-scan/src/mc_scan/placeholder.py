"""Values that stand in for a secret: templates, references, runs, sequences, stop words.

A placeholder is never reported. The lists are the ones of the rules page, section 3: short on
purpose, because a marker such as ``test`` or ``password`` also occurs inside real values.
"""

from __future__ import annotations

import re
from typing import Final

from mc_scan.pattern import lazy
from mc_scan.word_sets import STOP_WORDS

_RUN: Final = 6
_SEQUENCE: Final = 8
_ASCENDING: Final = ("abcdefghijklmnopqrstuvwxyz", "0123456789")
_SEQUENCES: Final = tuple(
    row[at : at + _SEQUENCE] for row in _ASCENDING for at in range(len(row) - _SEQUENCE + 1)
)
# Every sequence holds one of these, so most values need four looks instead of twenty-two.
_SEQUENCE_PARTS: Final = ("gh", "no", "uv", "234567")
_CUTS: Final = ("...", "…", "[...]", "***")
_MARKERS: Final = (
    "example",
    "placeholder",
    "changeme",
    "change-me",
    "change_me",
    "change me",
    "replace",
    "redacted",
    "dummy",
    "sample",
)
_YOUR: Final = lazy(r"(?:^|[-_ ])your")
_LONGEST_STOP_WORD: Final = max(map(len, STOP_WORDS))
_LONGEST_STOP_VALUE: Final = 64
_WORD: Final = lazy(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_BRACKETED: Final = lazy(
    r"<[^>]{0,200}>|\{[^}]{0,200}\}{1,2}|\[[^\]]{0,200}\]|%[A-Za-z_][A-Za-z0-9_.-]{0,80}%|@@.{1,80}@@|<%.{0,200}%>"
)
_REFERENCE: Final = lazy(
    r"""\$(?:[A-Za-z_][A-Za-z0-9_]{0,80}(?:$|[^A-Za-z0-9_!@\#%^*+=?~-])|[{(\[]|env:|ANSIBLE_VAULT)
    |!(?:vault|secret|Ref|Sub|GetAtt|ImportValue|FindInMap|env|ENV|reference)\b
    |(?:process|import\.meta|Deno|Bun)\.env\b|os\.environ|environ[\[.(]|(?:os\.|System\.|std::)?(?:getenv|env::var)\b
    |ENV\[|ENV\.|env\(|env\.[A-Za-z_]|secrets\.[A-Za-z_]
    |op://|vault:|ref\+[a-z0-9]{1,20}://|sm://|ssm:|ssm/|arn:[a-z-]{0,20}:secretsmanager:|projects/[^/\s]{1,80}/secrets/
    |@Microsoft\.KeyVault\(|ENC\[|ENC\(|\$\{\{|\{\{|\#\{|<%""",
    re.VERBOSE,
)
_REFERENCE_LEADS: Final = frozenset("$!piDBoeEsSgrva@{#<")


def is_dummy(body: str, text: str, end: int, start: int = 0) -> bool:
    """Say whether a vendor token's *body* is filler: runs, cut short, sequences, markers.

    Args:
        body: The token without its public prefix.
        text: The text it stands in; ``text[start:end]`` is the whole token.
        end: Where the token ends in *text*, to see an ellipsis right after it.
        start: Where the token starts, so that ``***bold***`` is not taken for an ellipsis.
    """
    return has_run(body) or is_cut_short(body, text, end, start) or has_filler_words(body)


def has_filler_words(value: str) -> bool:
    """Say whether *value* holds 8 ascending characters or a marker word such as ``example``."""
    low = value.lower()
    for part in _SEQUENCE_PARTS:
        if part in low and any(row in low for row in _SEQUENCES):
            return True
    for marker in _MARKERS:
        if marker in low:
            return True
    return "your" in low and _YOUR.search(low) is not None


def has_run(body: str) -> bool:
    """Say whether one character fills more than half of *body* or stands 6 times in a row."""
    # A run of 6 covers one of the places 5, 11, 17, ...
    for character in body[_RUN - 1 :: _RUN]:
        if character * _RUN in body:
            return True
    size = len(body)
    # What fills more than half of it fills more than half of one of its halves.
    if not (_may_repeat(body[: size // 2]) or _may_repeat(body[size // 2 :])):
        return False
    # ... and it is in the middle of the sorted characters.
    return body.count(sorted(body)[size // 2]) * 2 > size if size else False


def _may_repeat(body: str) -> bool:
    """Say whether one character can fill more than half of *body*: are the others few enough?"""
    return (len(body) - len(set(body)) + 1) * 2 > len(body)


def is_cut_short(body: str, text: str, end: int, start: int = 0) -> bool:
    """Say whether an ellipsis stands inside *body* or right after it at *end*."""
    if "..." in body or "…" in body or "***" in body:
        return True
    if not text.startswith(_CUTS, end):
        return False
    return not (text.startswith("***", end) and text[max(start - 3, 0) : start] == "***")


def is_reference(value: str) -> bool:
    """Say whether *value* names a secret kept elsewhere: ``$VAR``, ``op://...``, ``!vault``."""
    return value[:1] in _REFERENCE_LEADS and _REFERENCE.match(value) is not None


def is_bracketed(value: str) -> bool:
    """Say whether the whole *value* is a template: ``<...>``, ``{{...}}``, ``%NAME%``."""
    return value[:1] in "<{[%@" and _BRACKETED.fullmatch(value) is not None


def is_stop_value(value: str) -> bool:
    """Say whether *value* is made of stop words only: ``my-secret-key-here``, ``abc123``.

    Digits count as a stop word only as an ascending run (``123``).
    """
    if len(value) > _LONGEST_STOP_VALUE:
        return False
    covered = 0
    for match in _WORD.finditer(value):
        word = match.group()
        covered += len(word)
        if not (_is_ascending(word) if word.isdigit() else _is_stop_word(word.lower())):
            return False
    return covered > 0 and covered == sum(map(str.isalnum, value))


def is_filler(value: str, text: str, end: int, start: int = 0) -> bool:
    """Say whether a generic value or a URL password is a placeholder of any kind in section 3."""
    return (
        is_bracketed(value)
        or is_reference(value)
        or is_dummy(value, text, end, start)
        or is_stop_value(value)
    )


def _is_ascending(digits: str) -> bool:
    return digits in "0123456789" or digits in "1234567890"


def _is_stop_word(word: str) -> bool:
    return word in STOP_WORDS or _is_made_of_stop_words(word)


def _is_made_of_stop_words(word: str) -> bool:
    """Split a joined word such as ``yourapikey``, in time linear in its length."""
    reached = [True] + [False] * len(word)
    for end in range(1, len(word) + 1):
        reached[end] = any(
            reached[start] and word[start:end] in STOP_WORDS
            for start in range(max(0, end - _LONGEST_STOP_WORD), end)
        )
    return reached[-1]
