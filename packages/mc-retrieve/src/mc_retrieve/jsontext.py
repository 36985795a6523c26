"""JSON text as the contract writes it: no blanks, nothing escaped that need not be.

The form is that of ECMAScript's ``JSON.stringify``, so that digests of equal values agree whatever
program computed them.

Source: Cortex contract, section 1.
"""

from __future__ import annotations

from math import isfinite

TYPE_CHECKING = False  # importing `typing` costs a command more than reading a hundred records
if TYPE_CHECKING:
    from typing import Any, Final

_ESCAPES: Final = {code: f"\\u{code:04x}" for code in range(0x20)} | {8: "\\b", 12: "\\f"}
_NEEDS_NO_ESCAPE: Final = bytes(range(0x20, 0x100))
_SURROGATE_LEAD: Final = b"\xed"
_FIRST_SURROGATE: Final = 0xD800
_LAST_SURROGATE: Final = 0xDFFF
# Outside these powers of ten a number is written with an exponent.
_SMALLEST_PLAIN: Final = -6
_LARGEST_PLAIN: Final = 21


def format_json(value: Any) -> str:
    """Return the JSON text of *value*: mappings, lists, tuples, texts, numbers, booleans, ``None``.

    Raises:
        TypeError: *value* holds something else, or a key that is not a text.
    """
    if isinstance(value, str):
        return format_text(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return format_number(value)
    if isinstance(value, dict):
        return "{" + ",".join([_format_member(key, value[key]) for key in value]) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join([format_json(item) for item in value]) + "]"
    raise TypeError(f"a {type(value).__name__} has no JSON form")


def format_text(text: str) -> str:
    """Return *text* as a JSON string; half a surrogate pair is written as an escape."""
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    text = text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    if not text.isprintable():
        # Translating is slow and almost never needed: memory holds no other control characters.
        data = text.encode("utf-8", "surrogatepass")
        if data.translate(None, _NEEDS_NO_ESCAPE):
            text = text.translate(_ESCAPES)
        if _SURROGATE_LEAD in data:
            text = "".join([_escape_surrogate(character) for character in text])
    return f'"{text}"'


def format_number(number: float) -> str:
    """Return *number* as ECMAScript writes it: 1.0 is ``1``, 1e-06 is ``0.000001``.

    A number that is not finite is ``null``.
    """
    if isinstance(number, int):
        return str(number)
    if not isfinite(number):
        return "null"
    if number == 0:
        return "0"
    sign = "-" if number < 0 else ""
    digits, point = _shortest_digits(abs(number))
    return sign + _place_point(digits, point)


def _format_member(key: object, value: object) -> str:
    if not isinstance(key, str):
        raise TypeError("a key that is not a text has no JSON form")
    return f"{format_text(key)}:{format_json(value)}"


def _escape_surrogate(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if _FIRST_SURROGATE <= code <= _LAST_SURROGATE else character


def _shortest_digits(number: float) -> tuple[str, int]:
    """Return the shortest digits that read back as *number*, and where their point stands."""
    mantissa, _, exponent = repr(number).partition("e")
    whole, _, fraction = mantissa.partition(".")
    point = len(whole) + int(exponent or 0)
    digits = (whole + fraction).lstrip("0")
    point -= len(whole + fraction) - len(digits)
    return digits.rstrip("0") or "0", point


def _place_point(digits: str, point: int) -> str:
    count = len(digits)
    if count <= point <= _LARGEST_PLAIN:
        return digits + "0" * (point - count)
    if 0 < point <= _LARGEST_PLAIN:
        return f"{digits[:point]}.{digits[point:]}"
    if _SMALLEST_PLAIN < point <= 0:
        return f"0.{'0' * -point}{digits}"
    mantissa = digits if count == 1 else f"{digits[0]}.{digits[1:]}"
    return f"{mantissa}e{point - 1:+d}"
