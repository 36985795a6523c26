"""Bytes to text, and text to windows: a large file is scanned piece by piece in bounded memory.

Source: rules page, 5.6 to 5.8.
"""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PIECE_BYTES: Final = 512 * 1024
CORE_CHARS: Final = 512 * 1024  # findings that start here belong to the window
MARGIN_CHARS: Final = 16 * 1024  # context on both sides; no match is longer

# UTF-32 first: its little-endian mark starts with the one of UTF-16.
_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE_BYTES: Final = 4096
_PLAIN_BYTES: Final = bytes(range(0x20, 0x7F)) + b"\t\r\n"
_PLAIN_SHARE: Final = 0.8


class Window(NamedTuple):
    """A stretch of text with context around its core; offsets count in the whole text."""

    text: str
    base: int  # offset of text[0]
    core_start: int  # offset of the first character that belongs to this window
    core_end: int  # offset after the last one


def decode_pieces(chunks: Iterable[bytes]) -> Iterator[str]:
    """Decode *chunks* one by one: UTF-16 and UTF-32 by their mark, everything else as UTF-8.

    Bytes that are no UTF-8 become one lone surrogate each (``surrogateescape``): nothing is
    skipped. A UTF-8 byte order mark stays as U+FEFF. Bad units of UTF-16/32 become U+FFFD.
    """
    source = iter(chunks)
    first = b""
    for chunk in source:
        first += chunk
        if len(first) >= _SAMPLE_BYTES:
            break
    name, skip, errors = "utf-8", 0, "surrogateescape"
    for mark, encoding in _MARKS:
        if first.startswith(mark) and _is_wide(first[len(mark) : _SAMPLE_BYTES]):
            name, skip, errors = encoding, len(mark), "replace"
            break
    decoder = codecs.getincrementaldecoder(name)(errors)
    yield decoder.decode(first[skip:])
    for chunk in source:
        yield decoder.decode(chunk)
    yield decoder.decode(b"", final=True)


def _is_wide(sample: bytes) -> bool:
    """Say whether bytes after a mark of UTF-16 or UTF-32 can be such text.

    Stray bytes at the start of a UTF-8 file can look like a mark. Wide text with any ASCII in it,
    a line end for one, has zero bytes, and never consists of plain ASCII bytes alone.
    """
    if b"\0" not in sample:
        return not sample
    plain = len(sample) - len(sample.translate(None, _PLAIN_BYTES))
    return plain <= len(sample) * _PLAIN_SHARE


def split_bytes(data: bytes) -> Iterator[bytes]:
    """Cut *data* into pieces so that only one of them is decoded at a time."""
    for at in range(0, len(data), PIECE_BYTES):
        yield data[at : at + PIECE_BYTES]


def cut_windows(
    pieces: Iterable[str], *, core: int = CORE_CHARS, margin: int = MARGIN_CHARS
) -> Iterator[Window]:
    """Join *pieces* into overlapping windows.

    Every offset of the text is in exactly one core. A window reaches *margin* characters beyond its
    core on both sides, or to the start or end of the text.
    """
    buffer, base, core_start = "", 0, 0
    for piece in pieces:
        buffer = buffer + piece if buffer else piece
        while base + len(buffer) >= core_start + core + margin:
            core_end = core_start + core
            yield Window(buffer[: core_end + margin - base], base, core_start, core_end)
            keep = max(base, core_end - margin)
            buffer, base, core_start = buffer[keep - base :], keep, core_end
    if buffer or not core_start:
        yield Window(buffer, base, core_start, base + len(buffer))
