"""The private-span boundary: what is inside ``<private>`` never leaves, and doubt hides.

Two passes over a text. The first fails closed: it cuts the text at the first bracket that reads
like ``<private`` after normalisation and is not well formed. The second removes the spans. Removed
tags can join what stood around them into new tags, so both are repeated until nothing changes.
Everything is linear in the text.

Source: Cortex contract, sections 0, 4 and 13 (D3, D4, D23).
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mc_schema.errors import SchemaError
from mc_schema.validity import is_active, parse_timestamp

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

WHITE_SPACE: Final = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""The white space of the contract. ``str.isspace`` and ``\\s`` differ from it on both sides."""

OPEN_BRACKETS: Final = "<\ufe64\uff1c"
"""Every character whose NFKC form is ``<``."""

CLOSE_BRACKETS: Final = ">\ufe65\uff1e"
"""Every character whose NFKC form is ``>``."""

_NAME: Final = "private"
_WS: Final = f"[{WHITE_SPACE}]"
_NAME_ANY_CASE: Final = "".join(f"[{letter}{letter.upper()}]" for letter in _NAME)
# Each alternative starts with a different character: with `WS+[^<>]*` instead of `WS[^<>]*` a long
# run of blanks would be tried in every possible split.
_WELL_FORMED: Final = re.compile(
    f"<{_WS}*{_NAME_ANY_CASE}(?:{_WS}[^{OPEN_BRACKETS}{CLOSE_BRACKETS}]*)?>"
)
_TAG: Final = re.compile(f"<{_WS}*(/{_WS}*)?{_NAME_ANY_CASE}(?:{_WS}[^<>]*)?>")
_SUSPECT: Final = re.compile(
    f"[{OPEN_BRACKETS}](?=[\\x00-\\x20\\x7f]*[pP\\x80-\\ufe63\\ufe66-\\uff1b\\uff1d\\uff1f-\\U0010ffff])"
)
_PLAIN_NAME: Final = re.compile(f"{_WS}*{_NAME_ANY_CASE}(?![\\x80-\\U0010ffff])")
# Characters that Unicode marks default-ignorable without being format characters (Cf).
_INVISIBLE: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8"
    "\U000e0000-\U000e0fff]"
)
_MAX_ROUNDS: Final = 16


class StrippedText(NamedTuple):
    """A text without its private spans."""

    text: str
    removed: int
    """Number of closed spans that were taken out, nested ones counted once."""
    cut_at: int | None
    """Offset in the given text of the unclosed or malformed opener that hides the rest."""


class CaptureEnvelope(NamedTuple):
    """Something captured from a host, whichever host it was."""

    source: str
    channel: str
    captured_at: str
    content: str
    session_id: str | None = None
    source_at: str | None = None
    valid_from: str | None = None
    valid_until: str | None = None

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> CaptureEnvelope:
        """Return the envelope written as ``{source, channel, timestamps, session_id, content}``.

        ``timestamps`` is ``{captured_at, source_at?}``; ``valid_from`` and ``valid_until`` may be
        absent; ``session_id`` may be null.

        Raises:
            SchemaError: A key is missing or unknown, or a value has the wrong type.
        """
        _require_keys(
            mapping,
            required=("source", "channel", "timestamps", "session_id", "content"),
            optional=("valid_from", "valid_until"),
            where="envelope",
        )
        timestamps = mapping["timestamps"]
        _require_keys(
            timestamps,
            required=("captured_at",),
            optional=("source_at",),
            where="envelope.timestamps",
        )
        return cls(
            source=_require_name(mapping, "source"),
            channel=_require_name(mapping, "channel"),
            captured_at=_require_name(timestamps, "captured_at"),
            content=_require_text(mapping, "content"),
            session_id=_optional_text(mapping, "session_id"),
            source_at=_optional_text(timestamps, "source_at"),
            valid_from=_optional_text(mapping, "valid_from"),
            valid_until=_optional_text(mapping, "valid_until"),
        )

    def to_mapping(self) -> dict[str, Any]:
        """Return the mapping form; what is ``None`` is left out, except ``session_id``."""
        timestamps = {"captured_at": self.captured_at}
        if self.source_at is not None:
            timestamps["source_at"] = self.source_at
        mapping: dict[str, Any] = {
            "source": self.source,
            "channel": self.channel,
            "timestamps": timestamps,
        }
        if self.valid_from is not None:
            mapping["valid_from"] = self.valid_from
        if self.valid_until is not None:
            mapping["valid_until"] = self.valid_until
        mapping["session_id"] = self.session_id
        mapping["content"] = self.content
        return mapping


def strip_private(text: str) -> str:
    """Return *text* without private spans and without what an unsafe opener hides.

    ``a <private>x</private> b`` gives ``a  b``; ``a <private/> b`` gives ``a ``. Stripping the
    result again changes nothing, and it never holds an opener.
    """
    if _has_no_bracket(text):
        return text
    return strip_private_spans(text).text


def strip_private_spans(text: str) -> StrippedText:
    """Return *text* as :func:`strip_private` leaves it, and what was taken out of it."""
    if _has_no_bracket(text):
        return StrippedText(text, 0, None)
    origin = _Origin()
    removed = 0
    cut_at: int | None = None
    for _ in range(_MAX_ROUNDS):
        kept, spans, cut = _strip_once(text)
        if kept is None:
            return StrippedText(text, removed, cut_at)
        removed += spans
        if cut is not None:
            cut_at = _earlier(cut_at, origin.locate(cut))
        text = "".join([text[start:end] for start, end in kept])
        origin.narrow(kept)
    # Tags that keep joining after so many rounds were built to do so. One more cut ends it.
    end = _first_tag(text)
    if end < len(text):
        cut_at = _earlier(cut_at, origin.locate(end))
    return StrippedText(text[:end], removed, cut_at)


def ingest(
    envelope: CaptureEnvelope | Mapping[str, Any],
    consumer: Callable[[CaptureEnvelope], Any],
) -> Any:
    """Strip *envelope*, hand the clean copy to *consumer*, and return what that returns.

    Source, channel, session and content are stripped. The consumer never sees the original.

    Raises:
        SchemaError: The envelope is malformed, or its source or channel was private as a whole.
    """
    given = _as_envelope(envelope)
    clean = given._replace(
        source=_strip_name(given.source, "source"),
        channel=_strip_name(given.channel, "channel"),
        captured_at=_strip_name(given.captured_at, "timestamps.captured_at"),
        source_at=None if given.source_at is None else strip_private(given.source_at),
        session_id=None if given.session_id is None else strip_private(given.session_id),
        content=strip_private(given.content),
    )
    return consumer(clean)


def is_valid_at(envelope: CaptureEnvelope | Mapping[str, Any], at: str | int) -> bool:
    """Return whether *envelope* is valid at an instant: a timestamp, or milliseconds since 1970.

    ``valid_from`` is inclusive, ``valid_until`` is not, and an absent bound is open. A bound or an
    instant that cannot be read is not valid.
    """
    given = _as_envelope(envelope)
    instant = parse_timestamp(at) if isinstance(at, str) else at
    start = None if given.valid_from is None else parse_timestamp(given.valid_from)
    end = None if given.valid_until is None else parse_timestamp(given.valid_until)
    unreadable = (start is None) != (given.valid_from is None)
    unreadable = unreadable or (end is None) != (given.valid_until is None)
    return instant is not None and not unreadable and is_active(start, end, instant)


class _Origin:
    """Maps offsets of a text that lost parts, perhaps several times, to the first text."""

    def __init__(self) -> None:
        self._rounds: list[tuple[list[int], list[int]]] = []

    def narrow(self, kept: list[tuple[int, int]]) -> None:
        begins: list[int] = []
        length = 0
        for start, end in kept:
            begins.append(length)
            length += end - start
        self._rounds.append((begins, [start for start, _ in kept]))

    def locate(self, offset: int) -> int:
        for begins, starts in reversed(self._rounds):
            index = bisect_right(begins, offset) - 1
            offset += starts[index] - begins[index]
        return offset


def _has_no_bracket(text: str) -> bool:
    if "<" in text:
        return False
    return text.isascii() or ("\uff1c" not in text and "\ufe64" not in text)


def _strip_once(text: str) -> tuple[list[tuple[int, int]] | None, int, int | None]:
    """Return the stretches that survive one pass (``None`` for all), closed spans, and the cut."""
    limit = _first_malformed(text)
    kept: list[tuple[int, int]] = []
    start = depth = spans = 0
    opened = 0
    for match in _TAG.finditer(text, 0, limit):
        if depth == 0:
            if match.start() > start:
                kept.append((start, match.start()))
            opened = match.start()
        if match[1] is None:
            depth += 1
        elif depth > 0:
            depth -= 1
            spans += depth == 0
        start = match.end()
    if depth == 0 and limit > start:
        kept.append((start, limit))
    if kept == [(0, len(text))] or not text:
        return None, 0, None
    if depth > 0:
        return kept, spans, opened
    return kept, spans, limit if limit < len(text) else None


def _first_malformed(text: str) -> int:
    """Return the offset of the first opener that reads private and is not well formed."""
    for match in _SUSPECT.finditer(text):
        start = match.start()
        if _WELL_FORMED.match(text, start) is None and _reads_private(text, start + 1):
            return start
    return len(text)


def _first_tag(text: str) -> int:
    """Return the offset of the first opener, however it is spelt, or of the first closer."""
    first = len(text)
    for match in _SUSPECT.finditer(text):
        if _reads_private(text, match.start() + 1):
            first = match.start()
            break
    tag = _TAG.search(text, 0, first)
    return first if tag is None else tag.start()


def _reads_private(text: str, start: int) -> bool:
    """Return whether the text from *start* on reads ``private``, looked at as a person would.

    That is the NFKC form, in lower case, without controls, format characters and white space. One
    character is normalised at a time: only combining marks compose across characters, and a mark
    anywhere in the name makes it another word.
    """
    if _PLAIN_NAME.match(text, start) is not None:
        return True
    wanted = 0
    for index in range(start, len(text)):
        for letter in unicodedata.normalize("NFKC", text[index]):
            if wanted == len(_NAME):
                return True
            if _is_ignored(letter):
                continue
            if letter.lower() != _NAME[wanted]:
                return False
            wanted += 1
        if wanted == len(_NAME):
            return not _mark_composes(text, index)
    return False


def _is_ignored(letter: str) -> bool:
    if letter in WHITE_SPACE or unicodedata.category(letter) in {"Cc", "Cf"}:
        return True
    return _INVISIBLE.match(letter) is not None


def _mark_composes(text: str, index: int) -> bool:
    """Return whether the letter that ends at *index* is composed with a mark that follows it."""
    letter = unicodedata.normalize("NFKC", text[index])[-1]
    # Canonical order sorts the marks by class, and only the first of a class can reach the letter.
    first_of_class: dict[int, str] = {}
    for mark in _marks_after(text, index):
        first_of_class.setdefault(unicodedata.combining(mark), mark)
    return any(
        len(unicodedata.normalize("NFC", letter + first_of_class[key])) == 1
        for key in sorted(first_of_class)
    )


def _marks_after(text: str, index: int) -> list[str]:
    marks: list[str] = []
    for position in range(index + 1, len(text)):
        if unicodedata.combining(text[position]) == 0:
            break
        marks += unicodedata.normalize("NFKD", text[position])
    return marks


def _earlier(left: int | None, right: int) -> int:
    return right if left is None else min(left, right)


def _as_envelope(envelope: CaptureEnvelope | Mapping[str, Any]) -> CaptureEnvelope:
    if isinstance(envelope, CaptureEnvelope):
        return CaptureEnvelope.from_mapping(envelope.to_mapping())
    return CaptureEnvelope.from_mapping(envelope)


def _strip_name(text: str, field: str) -> str:
    clean = strip_private(text)
    if not clean.strip(WHITE_SPACE):
        raise _envelope_error(f"`{field}` is empty without its private spans")
    return clean


def _require_keys(
    mapping: object, *, required: tuple[str, ...], optional: tuple[str, ...], where: str
) -> None:
    if not isinstance(mapping, dict):
        raise _envelope_error(f"`{where}` is not an object")
    missing = [key for key in required if key not in mapping]
    if missing:
        raise _envelope_error(f"`{where}` has no `{missing[0]}`")
    unknown = [key for key in mapping if key not in required + optional]
    if unknown:
        raise _envelope_error(f"`{where}` has a key that no envelope has")


def _require_text(mapping: Mapping[str, Any], key: str) -> str:
    value = mapping[key]
    if not isinstance(value, str):
        raise _envelope_error(f"`{key}` is not a text")
    return value


def _require_name(mapping: Mapping[str, Any], key: str) -> str:
    value = _require_text(mapping, key)
    if not value.strip(WHITE_SPACE):
        raise _envelope_error(f"`{key}` is blank")
    return value


def _optional_text(mapping: Mapping[str, Any], key: str) -> str | None:
    value = mapping.get(key)
    if value is not None and not isinstance(value, str):
        raise _envelope_error(f"`{key}` is not a text")
    return value


def _envelope_error(what: str) -> SchemaError:
    return SchemaError(what, code="invalid_envelope")
