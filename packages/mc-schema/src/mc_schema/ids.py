"""Stable entry ids such as ``MC-DEC-20260726-a1b2c3d4``, and project ids."""

from __future__ import annotations

import re

TYPE_CHECKING = False  # importing `typing` would cost a command more than its work
if TYPE_CHECKING:
    from typing import Final, NamedTuple
else:
    from mc_schema.value import NamedTuple

ENTRY_TYPES: Final = ("DEC", "CON", "DNU", "PREF", "AREA", "INBOX", "TOMB")
"""The type codes of guide section 四 4.1."""

_ENTRY_ID: Final = re.compile(r"MC-([A-Z]+)-([0-9]{8})-([0-9A-F]{8})", re.IGNORECASE | re.ASCII)
# Wide enough to catch a mistyped id, narrow enough to leave prose such as "MC-Hammer" alone.
_CLAIMED_ID: Final = re.compile(r"(MC-[A-Z]+-[0-9][^\s\u2013\u2014]*)", re.IGNORECASE | re.ASCII)
_ID_IN_TEXT: Final = r"(?<![0-9A-Za-z-])MC-[A-Z]+-[0-9]{8}-[0-9A-F]{8}(?![0-9A-Za-z-])"
_PROJECT_ID: Final = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
    re.IGNORECASE | re.ASCII,
)
_DAYS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class EntryId(NamedTuple):
    """A stable entry id, for example ``MC-DEC-20260726-a1b2c3d4``.

    Two ids are equal when they are written the same apart from letter case: values come from
    `parse_entry_id`, which stores the canonical form.
    """

    type: str
    """One of `ENTRY_TYPES`."""
    created: str
    """Local date ``YYYYMMDD``; eight digits that need not be a real day."""
    suffix: str
    """Eight lower-case hexadecimal digits."""

    def __str__(self) -> str:
        """The canonical form: upper-case type, lower-case digits."""
        return f"MC-{self.type}-{self.created}-{self.suffix}"


def parse_entry_id(text: str) -> EntryId | None:
    """Return the entry id written in *text*, or ``None`` if it is not one. Case is ignored."""
    match = _ENTRY_ID.fullmatch(text)
    if match is None or match[1].upper() not in ENTRY_TYPES:
        return None
    return EntryId(match[1].upper(), match[2], match[3].lower())


def require_entry_id(text: str, *, where: str = "") -> EntryId:
    """Return the entry id written in *text*.

    Raises:
        SchemaError: *text* is not an entry id.
    """
    from mc_schema.errors import SchemaError

    found = parse_entry_id(text.strip())
    if found is None:
        raise SchemaError(
            "not an entry id",
            where=where,
            hint="an entry id looks like `MC-DEC-20260726-a1b2c3d4`; "
            "`memory-custodian search` lists the ids of this project",
            code="invalid_id",
        )
    return found


def format_entry_id(entry_type: str, date: str, suffix: str) -> str:
    """Return the canonical id of *entry_type*, created on *date* (``YYYYMMDD``)."""
    return str(EntryId(entry_type, date, suffix.lower()))


def claimed_entry_id(heading: str) -> str | None:
    """Return the word of *heading* that claims to be an id, well formed or not, else ``None``.

    A heading with a mistyped id is an entry that `check` must report, not a legacy unit.
    """
    match = _CLAIMED_ID.match(heading)
    return match[1] if match else None


def find_entry_ids(text: str) -> list[str]:
    """Return every well-formed id that *text* mentions, canonical, in order, repeats kept."""
    matches = re.finditer(_ID_IN_TEXT, text, re.IGNORECASE | re.ASCII)
    found = (parse_entry_id(match[0]) for match in matches)
    return [str(entry_id) for entry_id in found if entry_id is not None]


def is_project_id(text: str) -> bool:
    """Say whether *text* is a UUIDv4, the only form of a ``project_id`` (guide section 三)."""
    return _PROJECT_ID.fullmatch(text) is not None


def is_calendar_date(digits: str) -> bool:
    """Say whether *digits* (``YYYYMMDD``, ASCII) name a real day from the year 1 on."""
    if len(digits) != 8 or not (digits.isascii() and digits.isdigit()):  # noqa: PLR2004
        return False
    year, month, day = int(digits[:4]), int(digits[4:6]), int(digits[6:])
    if year < 1 or not 1 <= month <= len(_DAYS):
        return False
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    last = _DAYS[month - 1] + (1 if month == 2 and leap else 0)  # noqa: PLR2004
    return 1 <= day <= last
