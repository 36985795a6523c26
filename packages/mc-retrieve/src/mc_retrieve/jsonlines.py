"""A JSON Lines file as records: one non-blank line, one record.

Source: Cortex contract, sections 3.2 and 13 (D2).
"""

from __future__ import annotations

import json

from mc_schema.private import WHITE_SPACE, strip_private

from mc_retrieve.characters import check_value
from mc_retrieve.errors import IntegrityError
from mc_retrieve.record import DEFAULT_SOURCE, Record

TYPE_CHECKING = False  # importing `typing` costs a command more than reading a hundred records
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Final, NoReturn

_REQUIRED: Final = ("id", "type", "title", "created", "updated", "content")
_NAMES: Final = ("source_kind", "source")
_NULLABLE: Final = ("source_session", "valid_from", "valid_until")
_KEYS: Final = frozenset((*_REQUIRED, *_NAMES, *_NULLABLE, "related"))
_ODD_BRACKETS: Final = ("\ufe64", "\uff1c")
# The escapes that can spell a character which the raw text may not hold.
_TELLING_ESCAPES: Final = ("\\u", "\\b", "\\f")


def parse_json_lines(text: str, path: str) -> Iterator[tuple[Record, str]]:
    """Yield every record of *text*, a whole file, and its content.

    Whether timestamps make sense is not looked at here.

    Raises:
        IntegrityError: A line is no record; the error names it.
    """
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip(WHITE_SPACE)
        if not stripped:
            continue
        try:
            yield _parse_line(line, path)
        except IntegrityError as error:
            raise IntegrityError(error.what, where=f"{path}:{number}") from None


def _parse_line(line: str, path: str) -> tuple[Record, str]:
    has_bracket = "<" in line or (
        not line.isascii() and (_ODD_BRACKETS[0] in line or _ODD_BRACKETS[1] in line)
    )
    if has_bracket:
        line = strip_private(line)
    row = _parse_object(line)
    if not _KEYS.issuperset(row):
        raise IntegrityError("a record has an unknown field")
    _check_types(row)
    if "\\" in line and any(escape in line for escape in _TELLING_ESCAPES):
        _check_escaped(row)
        has_bracket = True
    if has_bracket:
        row = _strip_values(row)
    return _record(row, path), row["content"]


def _record(row: dict[str, Any], path: str) -> Record:
    record = Record(
        row["id"],
        row["type"],
        row["title"],
        row["created"],
        row["updated"],
        row.get("source_kind") or row.get("source") or DEFAULT_SOURCE,
        row.get("source_session"),
        path,
    )
    record.valid_from = row.get("valid_from")
    record.valid_until = row.get("valid_until")
    record.related = row.get("related", [])
    return record


def _parse_object(line: str) -> dict[str, Any]:
    try:
        row = _decode(line)
    except (ValueError, RecursionError):
        raise IntegrityError("a line is not JSON") from None
    if not isinstance(row, dict):
        raise IntegrityError("a line is not a JSON object")
    return row


def _check_types(row: dict[str, Any]) -> None:
    for key in _REQUIRED:
        if not _is_name(row.get(key)):
            raise IntegrityError(f"`{key}` is not a text with something in it")
    for key in _NAMES:
        if key in row and not _is_name(row[key]):
            raise IntegrityError(f"`{key}` is not a text with something in it")
    for key in _NULLABLE:
        if not isinstance(row.get(key, ""), (str, type(None))):
            raise IntegrityError(f"`{key}` is neither a text nor null")
    related = row.get("related", [])
    if not isinstance(related, list) or not all(map(_is_name, related)):
        raise IntegrityError("`related` is not a list of texts with something in them")


def _is_name(value: object) -> bool:
    return (
        isinstance(value, str)
        and value != ""
        and (value[0] not in WHITE_SPACE or value.strip(WHITE_SPACE) != "")
    )


def _check_escaped(row: dict[str, Any]) -> None:
    for key, value in row.items():
        for text in value if isinstance(value, list) else [value]:
            if text is not None:
                check_value(text, key)


def _strip_values(row: dict[str, Any]) -> dict[str, Any]:
    """Return *row* stripped once more: escapes may have spelt a private span."""
    clean: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, list):
            links = [strip_private(link) for link in value]
            clean[key] = [link for link in links if link.strip(WHITE_SPACE)]
        else:
            clean[key] = None if value is None else strip_private(value)
    for key in _REQUIRED[:-1]:
        if not _is_name(clean[key]):
            raise IntegrityError(f"`{key}` is empty without its private spans")
    return clean


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


_decode: Final = json.JSONDecoder(parse_constant=_refuse_constant).decode
