"""Which active records a search or a timeline looks at.

Source: Cortex contract, section 6.
"""

from __future__ import annotations

from mc_schema.validity import parse_timestamp

from mc_retrieve.errors import InvalidInputError

TYPE_CHECKING = False  # importing `typing` costs a command more than reading a hundred records
if TYPE_CHECKING:
    from collections.abc import Mapping

    from mc_retrieve.record import Record


class Filters:
    """Exact type, source and session, and a closed range of creation instants."""

    __slots__ = ("first_ms", "is_open", "last_ms", "session", "source", "type")

    def __init__(self, options: Mapping[str, str]) -> None:
        """Read the filters from *options*.

        Raises:
            InvalidInputError: ``--from`` or ``--to`` is no timestamp.
        """
        self.type = options.get("--type")
        self.source = options.get("--source")
        self.session = options.get("--session")
        self.first_ms = _read_instant(options, "--from")
        self.last_ms = _read_instant(options, "--to")
        values = (self.type, self.source, self.session, self.first_ms, self.last_ms)
        self.is_open = all(value is None for value in values)

    def accept(self, record: Record) -> bool:
        """Return whether *record* passes."""
        if self.is_open:
            return True
        return (
            (self.type is None or record.type == self.type)
            and (self.source is None or record.source == self.source)
            and (self.session is None or record.session == self.session)
            and (self.first_ms is None or record.created_ms >= self.first_ms)
            and (self.last_ms is None or record.created_ms <= self.last_ms)
        )


def _read_instant(options: Mapping[str, str], name: str) -> int | None:
    text = options.get(name)
    if text is None:
        return None
    instant = parse_timestamp(text)
    if instant is None:
        raise InvalidInputError(f"`{name}` is not a valid timestamp")
    return instant
