"""Bounds of typed items: how long a text may be, and what it may not hold.

Lengths count UTF-16 units, as everywhere in the contract. No error repeats any of the text.

Source: governed writes, "Typed items"; Cortex contract, sections 0 and 10.
"""

from __future__ import annotations

import re
from typing import Final

from mc_schema.private import WHITE_SPACE

from mc_cli.cortex.governance import GovernanceError

MAX_FREE_TEXT: Final = 65_536
MAX_METADATA: Final = 1_024
MAX_TARGET: Final = 4_096
MAX_ENTRIES: Final = 48
MAX_ENTRY: Final = 256
MAX_LINKS: Final = 64
MAX_EVIDENCE: Final = 64
MAX_COUNT: Final = 2**53 - 1

_LAST_OF_ONE_UNIT: Final = "\uffff"
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_CONTROL_IN_LINE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
_FENCE: Final = re.compile(r"(?:\A|[\n\u2028\u2029])[ \t]*---[ \t]*(?=[\n\u2028\u2029]|\Z)")
_COMMENT: Final = re.compile(r"<!--|-->")
_SESSION: Final = re.compile(rf"[{re.escape(WHITE_SPACE)}#:\"'`]")
_SLUG: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*", re.ASCII)


def units(text: str) -> int:
    """Return the length of *text* in UTF-16 units: a character beyond U+FFFF is two."""
    if text.isascii():
        return len(text)
    return len(text) + sum(map(_LAST_OF_ONE_UNIT.__lt__, text))


def is_blank(text: str) -> bool:
    """Return whether *text* is empty without the white space of the contract."""
    return not text.strip(WHITE_SPACE)


def require_text(text: str, name: str) -> str:
    """Return *text* when it can be free text: 65,536 units, tabs and line feeds allowed.

    Raises:
        GovernanceError: It is blank, too long, or holds a control character, half a surrogate
            pair, a line that would fence frontmatter, or an HTML comment mark.
    """
    if is_blank(text):
        raise _refused(name, "is empty without its private spans", "give some text")
    return _require(text, name, MAX_FREE_TEXT, _CONTROL)


def require_line(text: str, name: str, limit: int = MAX_METADATA) -> str:
    """Return *text*, trimmed, when it can be metadata: one line of at most *limit* units.

    Raises:
        GovernanceError: It is blank, too long, has a line end, or is refused as free text is.
    """
    _require(text, name, limit, _CONTROL_IN_LINE)
    if is_blank(text):
        raise _refused(name, "is empty without its private spans", "give some text")
    return text.strip(WHITE_SPACE)


def require_session(text: str, name: str) -> str | None:
    """Return *text* when it can be a session id; ``None`` when it is blank.

    Raises:
        GovernanceError: It holds white space, ``#``, ``:`` or a quote, or is refused as a line is.
    """
    if is_blank(text):
        return None
    if _SESSION.search(text):
        raise _refused(name, "holds white space, `#`, `:` or a quote", "give the plain session id")
    return require_line(text, name)


def require_slug(text: str, name: str) -> str:
    """Return *text* when it can be the slug of a link: letters, digits, ``.``, ``_`` and ``-``.

    Raises:
        GovernanceError: It is not.
    """
    require_line(text, name)
    if not _SLUG.fullmatch(text):
        hint = "use letters, digits, `.`, `_` and `-`, a letter or digit first"
        raise _refused(name, "is not a slug", hint)
    return text


def _require(text: str, name: str, limit: int, control: re.Pattern[str]) -> str:
    if _SURROGATE.search(text):
        raise _refused(name, "holds half a surrogate pair", "send valid Unicode text")
    if units(text) > limit:
        raise _refused(name, f"is longer than {limit:,} characters", "shorten it")
    if control.search(text):
        raise _refused(name, "holds a control character or line end it cannot have", "remove it")
    if _FENCE.search(text):
        raise _refused(name, "has a line that would fence frontmatter", "write `***` for a rule")
    if _COMMENT.search(text):
        raise _refused(name, "holds an HTML comment mark", "leave `<!--` and `-->` out")
    return text


def _refused(name: str, fault: str, hint: str) -> GovernanceError:
    return GovernanceError(f"`{name}` {fault}", hint=hint)
