"""The one record type, and the rules that every record keeps whatever layout it comes from.

Source: Cortex contract, sections 3.3 and 5.
"""

from __future__ import annotations

from mc_schema.private import WHITE_SPACE
from mc_schema.validity import is_active, parse_timestamp

from mc_retrieve.errors import IntegrityError

TYPE_CHECKING = False  # importing `typing` costs a command more than reading a hundred records
if TYPE_CHECKING:
    from typing import Final

EPOCH: Final = "1970-01-01T00:00:00.000Z"
DEFAULT_SOURCE: Final = "canonical"
UNITS_PER_TOKEN: Final = 4
_FIRST_ASTRAL_BYTE: Final = 0xF0
_BYTES_THAT_START_NO_PAIR: Final = bytes(range(_FIRST_ASTRAL_BYTE))


class Record:
    """What is known of one record besides its content.

    Timestamps are kept as they were written, and as instants in milliseconds.
    """

    __slots__ = (
        "created",
        "created_ms",
        "id",
        "is_active",
        "path",
        "related",
        "session",
        "source",
        "title",
        "type",
        "units",
        "updated",
        "updated_ms",
        "valid_from",
        "valid_until",
    )

    def __init__(  # noqa: PLR0917 - called once a record, where names cost as much as the record
        self,
        record_id: str,
        type_: str,
        title: str,
        created: str,
        updated: str,
        source: str,
        session: str | None,
        path: str,
    ) -> None:
        self.id = record_id
        self.type = type_
        self.title = title
        self.created = created
        self.updated = updated
        self.source = source
        self.session = session
        self.path = path
        self.created_ms = 0
        self.updated_ms = 0
        self.valid_from: str | None = None
        self.valid_until: str | None = None
        self.is_active = True
        self.units = 0
        """Length of the content in UTF-16 units."""
        self.related: list[str] | None = None
        """Ids this record links to; ``None`` when they are still to be read from the content."""

    @property
    def est_tokens(self) -> int:
        """The estimated cost of reading the content."""
        return -(-self.units // UNITS_PER_TOKEN)


def settle(record: Record, now_ms: int, where: str) -> None:
    """Check the rules for every record, and fill in its instants and whether it is active.

    Raises:
        IntegrityError: A blank id, an impossible timestamp, or a wrong order of two of them.
    """
    if not record.id or (record.id[0] in WHITE_SPACE and not record.id.strip(WHITE_SPACE)):
        raise IntegrityError("a record has a blank id", where=where)
    created = parse_timestamp(record.created)
    updated = created if record.updated == record.created else parse_timestamp(record.updated)
    if created is None or updated is None:
        field = "created" if created is None else "updated"
        raise IntegrityError(f"`{field}` is not a valid timestamp", where=where)
    if updated < created:
        raise IntegrityError("`updated` is before `created`", where=where)
    record.created_ms = created
    record.updated_ms = updated
    if record.valid_from is not None or record.valid_until is not None:
        record.is_active = _is_active(record, now_ms, where)


def utf16_units(content: bytes) -> int:
    """Return the length in UTF-16 units of *content*, which is valid UTF-8."""
    if content.isascii():
        return len(content)
    astral = len(content.translate(None, _BYTES_THAT_START_NO_PAIR))
    return len(content.decode("utf-8")) + astral


def path_id(path: str) -> str:
    """Return the id of a record that names none: stable as long as its *path* is."""
    from hashlib import sha256

    return f"path:{sha256(path.encode('utf-8')).hexdigest()[:16]}"


def _is_active(record: Record, now_ms: int, where: str) -> bool:
    start = _parse_bound(record.valid_from, "valid_from", where)
    end = _parse_bound(record.valid_until, "valid_until", where)
    if start is not None and end is not None and start >= end:
        raise IntegrityError("`valid_from` is not before `valid_until`", where=where)
    return is_active(start, end, now_ms)


def _parse_bound(text: str | None, field: str, where: str) -> int | None:
    if text is None:
        return None
    instant = parse_timestamp(text)
    if instant is None:
        raise IntegrityError(f"`{field}` is not a valid timestamp", where=where)
    return instant
