"""What was captured from a host, and the boundary it crosses before anything else sees it.

Import these names from :mod:`mc_schema.private`; they live apart because retrieval needs only the
spans and starts faster without them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from mc_schema.errors import SchemaError
from mc_schema.private import WHITE_SPACE, strip_private
from mc_schema.validity import is_active, parse_timestamp

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


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
