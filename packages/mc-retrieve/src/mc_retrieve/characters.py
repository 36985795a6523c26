"""Bytes to text, and the characters that no corpus file may hold.

Source: Cortex contract, section 3.
"""

from __future__ import annotations

from mc_schema.private import strip_private

from mc_retrieve.errors import IntegrityError

TYPE_CHECKING = False  # importing `typing` costs a command more than reading a hundred records
if TYPE_CHECKING:
    from typing import Final

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_FORBIDDEN_ASCII: Final = bytes([*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), 0x7F])
_ALLOWED: Final = bytes(code for code in range(0x100) if code not in _FORBIDDEN_ASCII)
_NOT_C1: Final = bytes(code for code in range(0x100) if not 0x80 <= code <= 0x9F)  # noqa: PLR2004
_C1_LEAD: Final = b"\xc2"
_ODD_BRACKETS: Final = ("\ufe64".encode(), "\uff1c".encode())

# One translation answers two questions about a file: whether it holds a forbidden character (then a
# NUL is left), and what its terms are (letters in lower case and digits stay, the rest is blank).
FOLD: Final = bytes(
    code if chr(code) in "abcdefghijklmnopqrstuvwxyz0123456789"
    else code + 0x20 if chr(code) in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    else 0 if code in _FORBIDDEN_ASCII
    else 0x20
    for code in range(0x100)
)  # fmt: skip
_KELVIN_SIGN: Final = "\u212a".encode()
_DOTTED_CAPITAL_I: Final = "\u0130".encode()


def fold(text: bytes) -> bytes:
    """Return *text*, valid UTF-8, in lower case with a blank for all that is not ``[a-z0-9]``.

    Of all characters beyond ASCII, two have an ASCII letter in their lower case.
    """
    if not text.isascii():
        text = text.replace(_KELVIN_SIGN, b"k").replace(_DOTTED_CAPITAL_I, b"i ")
    return text.translate(FOLD)


def decode_file(data: bytes, where: str) -> str:
    """Return *data* as text, strictly.

    Raises:
        IntegrityError: The bytes are not UTF-8.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise IntegrityError(f"is not UTF-8 at byte {error.start}", where=where) from None


def check_characters(
    data: bytes, text: str | None, where: str, folded: bytes | None = None
) -> None:
    """Refuse control characters anywhere in a file.

    Args:
        data: The bytes of the file.
        text: The same as text; ``None`` says that they are ASCII.
        where: Named in the error.
        folded: ``data.translate(FOLD)`` where it is at hand.

    Raises:
        IntegrityError: A control character other than TAB, LF and CR is there.
    """
    is_bad = data.translate(None, _ALLOWED) if folded is None else b"\0" in folded
    if not is_bad and text is not None and _C1_LEAD in data:
        is_bad = bool(text.encode("latin-1", "ignore").translate(None, _NOT_C1))
    if is_bad:
        raise IntegrityError("holds a control character", where=where)


def check_value(text: str, where: str) -> None:
    """Refuse control characters and half surrogate pairs in a value that was written with escapes.

    Raises:
        IntegrityError: There is one.
    """
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:
        raise IntegrityError("holds half a surrogate pair", where=where) from None
    check_characters(data, None if text.isascii() else text, where)


def may_hold_a_tag(data: bytes) -> bool:
    """Return whether any character of *data* could open a private span."""
    if b"<" in data:
        return True
    return not data.isascii() and (_ODD_BRACKETS[0] in data or _ODD_BRACKETS[1] in data)


def strip_bytes(data: bytes) -> bytes:
    """Return *data*, valid UTF-8, without its private spans; the same object if it has none."""
    text = data.decode("utf-8")
    stripped = strip_private(text)
    return data if stripped is text or stripped == text else stripped.encode("utf-8")
