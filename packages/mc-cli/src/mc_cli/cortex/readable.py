"""Nothing is written that the reader would refuse or show otherwise.

Source: governed writes, "What is written must be readable back"; Cortex contract, sections 2 and 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mc_retrieve.characters import BYTE_ORDER_MARK, check_characters, strip_bytes
from mc_retrieve.errors import IntegrityError
from mc_retrieve.layout import (
    JSON_LINES,
    MAX_FILE_BYTES,
    MAX_FILES,
    MAX_TOTAL_BYTES,
    find_files,
)
from mc_retrieve.markdown import parse_markdown
from mc_retrieve.record import settle

from mc_cli.cortex.governance import EAT_CAP, EINVAL_TARGET, GovernanceError

if TYPE_CHECKING:
    from mc_retrieve.layout import CorpusFile
    from mc_retrieve.record import Record

MAX_RECORDS: Final = 50_000
_SMALLEST_ROW: Final = 64
"""Bytes; the six required keys of a JSONL record alone take more."""


def require_readable(data: bytes, addition: str, path: str, now_ms: int) -> Record:
    """Return the record that a reader would make of *data*.

    Args:
        data: The whole new file.
        addition: What was added; it must still be there when private spans are removed.
        path: As seen from the root.
        now_ms: The instant.

    Raises:
        GovernanceError: ``EINVAL_TARGET``: a reader would refuse the file, or not show what was
            added; ``EAT_CAP``: it would be larger than a reader allows.
    """
    if len(data) > MAX_FILE_BYTES:
        over = len(data) - MAX_FILE_BYTES
        raise GovernanceError(
            f"the file would be {over} bytes over the {MAX_FILE_BYTES} of a note",
            where=path,
            hint="start another note",
            code=EAT_CAP,
        )
    content = data.removeprefix(BYTE_ORDER_MARK)
    try:
        check_characters(content, content.decode("utf-8"), path)
        stripped = strip_bytes(content)
        record = parse_markdown(stripped, path)
        settle(record, now_ms, path)
    except IntegrityError as error:
        raise GovernanceError(
            f"a reader would refuse the file: it {error.what}",
            where=path,
            hint="correct the file by hand",
            code=EINVAL_TARGET,
        ) from error
    if addition.encode("utf-8") not in stripped:
        raise GovernanceError(
            "the text would not be shown: a private mark in the file, or one that its parts join"
            " into, would hide it",
            where=path,
            hint="take the mark out, or begin and end the texts without `<` and `>`",
            code=EINVAL_TARGET,
        )
    return record


def require_room(root: str, size: int) -> None:
    """Check that a corpus has room for one more note of *size* bytes.

    A corpus that no reader serves anyway stops nothing here.

    Raises:
        GovernanceError: ``EAT_CAP``: it would have too many files, bytes or records.
    """
    try:
        files = find_files(root)
    except IntegrityError:
        return
    total = sum(file.size for file in files) + size
    for count, limit, unit in (
        (len(files) + 1, MAX_FILES, "files"),
        (total, MAX_TOTAL_BYTES, "bytes"),
        (_record_count(files) + 1, MAX_RECORDS, "records"),
    ):
        if count > limit:
            raise GovernanceError(
                f"the corpus would be {count - limit} over the {limit} {unit} that a reader serves",
                hint="continue an existing note, or take notes out",
                code=EAT_CAP,
            )


def _record_count(files: list[CorpusFile]) -> int:
    rows = [file for file in files if file.path.endswith(JSON_LINES)]
    notes = len(files) - len(rows)
    if notes + sum(file.size for file in rows) // _SMALLEST_ROW < MAX_RECORDS:
        return notes
    return notes + sum(_count_rows(file) for file in rows)


def _count_rows(file: CorpusFile) -> int:
    from mc_retrieve.corpus import read_bytes
    from mc_schema.private import WHITE_SPACE

    lines = read_bytes(file).decode("utf-8", "replace").split("\n")
    return sum(1 for line in lines if line.strip(WHITE_SPACE))
