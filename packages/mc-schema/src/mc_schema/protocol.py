"""Protocol versions and the metadata fields of a manifest (guide section 三)."""

from __future__ import annotations

import re

from mc_schema.ids import is_project_id

TYPE_CHECKING = False  # importing `typing` would cost a command more than its work
if TYPE_CHECKING:
    from typing import Final, NamedTuple
else:
    from mc_schema.value import NamedTuple

PROTOCOL_VERSION: Final = "0.6"
ENTRY_SCHEMA_VERSION: Final = "1"
ADMISSION_POLICY: Final = "evidence-required"
PACKAGE_VERSION: Final = "0.10.0"
METADATA_HEADING: Final = "MemoryCustodian Protocol"
TRUST_HEADING: Final = "Trust boundary"

CURRENT: Final = "current"
OLDER: Final = "older"
NEWER: Final = "newer"
INVALID: Final = "invalid"
REPEATED: Final = "repeated"
FOREIGN: Final = "foreign"
MISSING: Final = "missing"
WRITABLE: Final = (CURRENT, OLDER, MISSING)
"""States in which commands may write; in all others every writer refuses (design section 7)."""

_VERSION: Final = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})*", re.ASCII)


class MetadataField(NamedTuple):
    """One ``- key: value`` line of the metadata section."""

    key: str
    value: str
    line: int
    """1-based line number in the manifest."""


class Metadata(NamedTuple):
    """The metadata of one manifest."""

    fields: tuple[MetadataField, ...]
    state: str
    """`CURRENT`, `OLDER`, `NEWER`, `INVALID`, `REPEATED`, `FOREIGN` or `MISSING`."""
    version: str
    """The protocol version as written, empty when there is none."""
    line: int
    """1-based line of the section heading, 0 without a section."""

    def get(self, key: str) -> str:
        """Return the value of the first field *key*, or an empty string."""
        return next((field.value for field in self.fields if field.key == key), "")

    def count(self, key: str) -> int:
        """Return how often *key* occurs."""
        return sum(field.key == key for field in self.fields)

    @property
    def project_id(self) -> str | None:
        """The project id, lower case, when there is exactly one and it is a UUIDv4."""
        value = self.get("project_id")
        return value.lower() if self.count("project_id") == 1 and is_project_id(value) else None

    @property
    def is_current(self) -> bool:
        """Whether the project follows the protocol of this package."""
        return self.state == CURRENT

    @property
    def is_writable(self) -> bool:
        """Whether commands may write into the project."""
        return self.state in WRITABLE


def parse_version(text: str) -> tuple[int, ...] | None:
    """Return the numbers of a dotted version in ASCII digits, else ``None``.

    Trailing zeros do not count: ``0.6`` and ``0.6.0`` are equal (protocol-0.5.md A5.2, fault 48).
    """
    if not _VERSION.fullmatch(text):
        return None
    numbers = [int(part) for part in text.split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def version_state(versions: list[str]) -> str:
    """Return the state of a project whose metadata section holds these protocol versions."""
    if not versions:
        return MISSING
    if len(versions) > 1:
        return REPEATED
    found, current = parse_version(versions[0]), parse_version(PROTOCOL_VERSION)
    if found is None or current is None:
        return INVALID
    if found == current:
        return CURRENT
    return NEWER if found > current else OLDER
