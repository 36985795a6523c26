"""Labels of a retrieval benchmark: what was asked, what must be found, and how that is known.

Everything about a label is checked before the corpus is read. Source: Cortex contract, section 11.
"""

from __future__ import annotations

import json
import os
import re
import stat
from typing import TYPE_CHECKING, Any, Final

from mc_schema.private import WHITE_SPACE
from mc_schema.validity import parse_timestamp

from mc_retrieve import tokenizer
from mc_retrieve.errors import InvalidInputError
from mc_retrieve.search import read_query

if TYPE_CHECKING:
    from collections.abc import Collection

PROVENANCE_SCHEMA: Final = "lifeos-cortex-benchmark-label-provenance/v1"
EXECUTION_METHOD: Final = "live-cortex-cli"
VERIFICATION_METHOD: Final = "manual-corpus-verification"
VERIFIER: Final = "upgrade-validation"
MAX_BYTES: Final = 1 << 20
MAX_LABELS: Final = 1_000
MAX_ID_UNITS: Final = 256
MAX_IDS: Final = 100
MAX_WORDS: Final = 32
MAX_COMMAND_BYTES: Final = 16_384

_ROW_KEYS: Final = {
    "id",
    "query",
    "expected_ids",
    "temporal_expected_order",
    "false_ids",
    "provenance",
}
_PROVENANCE_KEYS: Final = {"schema", "query_execution", "expected_ids_verification"}
_EXECUTION_KEYS: Final = {"method", "command", "executed_at", "query", "returned_ids"}
_VERIFICATION_KEYS: Final = {"method", "verified_at", "verifier", "verified_ids"}
_UTC: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z", re.ASCII
)
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def read_labels(path: str) -> list[dict[str, Any]]:
    """Return the rows of the labels file *path*, checked.

    Raises:
        InvalidInputError: It is no plain file of 1 byte to 1 MiB, or a row breaks a rule; the
            message names the row.
    """
    rows = []
    for number, line in enumerate(_text(path).replace("\r\n", "\n").split("\n"), 1):
        if not line.strip(WHITE_SPACE):
            continue
        try:
            row = json.loads(line, parse_constant=_refuse)
        except (ValueError, RecursionError):
            raise InvalidInputError(f"malformed benchmark label JSON at line {number}") from None
        rows.append(row)
    if not rows:
        raise InvalidInputError("the benchmark labels file is empty")
    if len(rows) > MAX_LABELS:
        raise InvalidInputError(f"more than {MAX_LABELS:,} benchmark labels")
    seen: set[str] = set()
    for number, row in enumerate(rows, 1):
        _check_row(row, f"benchmark label {number}")
        if row["id"] in seen:
            raise InvalidInputError(f"benchmark label {number} repeats a label id")
        seen.add(row["id"])
    return rows


def check_ids(labels: list[dict[str, Any]], known: Collection[str]) -> None:
    """Check that every record a label names is in the corpus, active or not.

    Raises:
        InvalidInputError: One is missing; the message names label and field.
    """
    for number, row in enumerate(labels, 1):
        for field in ("expected_ids", "temporal_expected_order", "false_ids"):
            for record_id in row.get(field, ()):
                if record_id not in known:
                    raise InvalidInputError(
                        f"benchmark label {number} names a record in {field} that does not exist"
                    )


def _text(path: str) -> str:
    try:
        found = os.lstat(path)
        if not stat.S_ISREG(found.st_mode):
            raise InvalidInputError("the benchmark labels file is no regular file")
        if found.st_size > MAX_BYTES:
            raise InvalidInputError(f"the benchmark labels file is larger than {MAX_BYTES:,} bytes")
        with open(path, "rb") as file:
            text = file.read(MAX_BYTES + 1).decode("utf-8")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InvalidInputError(f"the benchmark labels file cannot be read: {reason}") from None
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"the benchmark labels file is not UTF-8 at byte {error.start}"
        ) from None
    text = text.removeprefix("\ufeff")
    if not text:
        raise InvalidInputError("the benchmark labels file is empty")
    if _CONTROL.search(text):
        raise InvalidInputError("the benchmark labels file holds a control character")
    return text


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON")


def _require(condition: object, label: str, fault: str) -> None:
    if not condition:
        raise InvalidInputError(f"{label} {fault}")


def _check_row(row: Any, label: str) -> None:
    _require(isinstance(row, dict), label, "is no object")
    _require(set(row) <= _ROW_KEYS, label, "has unknown fields")
    _require(_is_id(row.get("id")), label, "has a malformed id")
    query = row.get("query")
    _require(isinstance(query, str) and query.strip(WHITE_SPACE), label, "has no query")
    try:
        read_query(query, tokenizer.CONTRACT)
    except InvalidInputError as error:
        raise InvalidInputError(f"{label}: {error.what}") from None
    _require(row.get("expected_ids"), label, "has malformed expected_ids")
    for field in ("expected_ids", "temporal_expected_order", "false_ids"):
        if field in row:
            _require(_is_id_list(row[field]), label, f"has malformed {field}")
            _require(len(set(row[field])) == len(row[field]), label, f"repeats an id in {field}")
    _check_provenance(row, label)


def _check_provenance(row: dict[str, Any], label: str) -> None:
    provenance = row.get("provenance")
    sound = isinstance(provenance, dict) and set(provenance) == _PROVENANCE_KEYS
    _require(sound and provenance is not None, label, "has malformed provenance")
    assert isinstance(provenance, dict)  # noqa: S101 - _require saw to it, mypy cannot know
    _require(provenance["schema"] == PROVENANCE_SCHEMA, label, "has an unknown provenance schema")
    _check_execution(provenance["query_execution"], row, label)
    _check_verification(provenance["expected_ids_verification"], row, label)


def _check_execution(execution: Any, row: dict[str, Any], label: str) -> None:
    has_keys = isinstance(execution, dict) and set(execution) == _EXECUTION_KEYS
    _require(has_keys, label, "query_execution has unknown or missing fields")
    is_live = execution["method"] == EXECUTION_METHOD and execution["query"] == row["query"]
    _require(is_live, label, "provenance does not match a live query execution")
    _require(_is_command(execution["command"], row["query"]), label, "has a malformed command")
    _require(
        _is_utc(execution["executed_at"]), label, "query execution time is no canonical UTC time"
    )
    _require(_is_id_list(execution["returned_ids"]), label, "has malformed returned_ids")
    missing = set(row["expected_ids"]) - set(execution["returned_ids"])
    _require(not missing, label, "expects an id that the query did not return")


def _check_verification(verification: Any, row: dict[str, Any], label: str) -> None:
    has_keys = isinstance(verification, dict) and set(verification) == _VERIFICATION_KEYS
    _require(has_keys, label, "expected_ids_verification has unknown or missing fields")
    is_manual = (verification["method"], verification["verifier"]) == (
        VERIFICATION_METHOD,
        VERIFIER,
    )
    _require(is_manual, label, "records no manual verification of the corpus")
    _require(
        _is_utc(verification["verified_at"]), label, "verification time is no canonical UTC time"
    )
    same = verification["verified_ids"] == row["expected_ids"]
    _require(same, label, "verified_ids do not equal expected_ids")


def _is_id(value: object) -> bool:
    if not isinstance(value, str) or not value.strip(WHITE_SPACE):
        return False
    return len(value.encode("utf-16-le", "surrogatepass")) // 2 <= MAX_ID_UNITS


def _is_id_list(value: object) -> bool:
    return isinstance(value, list) and len(value) <= MAX_IDS and all(map(_is_id, value))


def _is_command(value: object, query: str) -> bool:
    if not isinstance(value, list) or not 1 <= len(value) <= MAX_WORDS:
        return False
    if not all(isinstance(word, str) and word.strip(WHITE_SPACE) for word in value):
        return False
    size = len("\0".join(value).encode("utf-8", "surrogatepass"))
    return size <= MAX_COMMAND_BYTES and "search" in value and query in value


def _is_utc(value: object) -> bool:
    if not isinstance(value, str) or not _UTC.fullmatch(value):
        return False
    return parse_timestamp(value) is not None
