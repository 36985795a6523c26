"""Option values as numbers, read as the contract reads them.

Source: Cortex contract, section 0 ("Number").
"""

from __future__ import annotations

from math import inf, isfinite, nan

from mc_schema.private import WHITE_SPACE

TYPE_CHECKING = False  # importing `typing` costs a command more than reading a hundred records
if TYPE_CHECKING:
    from typing import Final

_BASES: Final = {"0x": 16, "0o": 8, "0b": 2}
_INFINITIES: Final = {"Infinity": inf, "+Infinity": inf, "-Infinity": -inf}
_DECIMAL_CHARACTERS: Final = frozenset("0123456789+-.eE")
_BASE_DIGITS: Final = "0123456789abcdef"


def parse_number(text: str) -> float:
    """Return the number that ECMAScript's ``Number`` makes of *text*, not-a-number if it is none.

    White space at both ends is ignored, a blank text is 0, ``0x10`` is 16, ``1_000`` is no number.
    """
    text = text.strip(WHITE_SPACE)
    if not text:
        return 0.0
    if text in _INFINITIES:
        return _INFINITIES[text]
    base = _BASES.get(text[:2].lower())
    if base is not None:
        return _parse_digits(text[2:].lower(), base)
    if not _DECIMAL_CHARACTERS.issuperset(text):
        return nan
    try:
        return float(text)
    except ValueError:
        return nan


def parse_integer(text: str) -> int | None:
    """Return *text* as an integer (``2.0`` and ``1e1`` are some), else ``None``."""
    number = parse_number(text)
    return int(number) if isfinite(number) and number == int(number) else None


def _parse_digits(text: str, base: int) -> float:
    if not text or not set(_BASE_DIGITS[:base]).issuperset(text):
        return nan
    try:
        return float(int(text, base))
    except OverflowError:
        return inf
