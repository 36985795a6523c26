"""One pass over a corpus: every file read once, every record checked, nothing kept.

Source: Cortex contract, sections 2 and 3; 13 ("one pass over the files with one pinned clock").
"""

from __future__ import annotations

import os

from mc_retrieve.characters import (
    BYTE_ORDER_MARK,
    FOLD,
    check_characters,
    decode_file,
    may_hold_a_tag,
    strip_bytes,
)
from mc_retrieve.errors import IntegrityError, reading_error
from mc_retrieve.layout import JSON_LINES, find_files
from mc_retrieve.markdown import parse_markdown
from mc_retrieve.record import settle, utf16_units

TYPE_CHECKING = False  # importing `typing` costs a command more than reading a hundred records
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final, TypeAlias

    from mc_retrieve.layout import CorpusFile
    from mc_retrieve.record import Record

    Sink: TypeAlias = Callable[[Record, bytes, bytes | None], object]
    Progress: TypeAlias = Callable[[int, int], object]

MAX_RECORDS: Final = 50_000

_READ_FLAGS: Final = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


def read_corpus(root: str, sink: Sink, *, now_ms: int, progress: Progress | None = None) -> int:
    """Hand every record of the Cortex layout at *root* to *sink*, and return how many there are.

    Args:
        root: A pinned root.
        sink: Called with the record, its content as UTF-8 without private spans, and the folded
            content where it is at hand (see `characters.fold`). It must not keep what it does not
            need: contents are as large as the corpus.
        now_ms: The instant that decides which records are active.
        progress: Told the number of each file before it is read, and how many there are.

    Raises:
        IntegrityError: Anything is wrong with any file or record.
        InternalError: A file or folder cannot be read.
    """
    reader = _Reader(sink, now_ms)
    files = find_files(root)
    for number, file in enumerate(files, 1):
        if progress is not None:
            progress(number, len(files))
        reader.read(file)
    reader.check_ids()
    return reader.count


class _Reader:
    def __init__(self, sink: Sink, now_ms: int) -> None:
        self.count = 0
        self._sink = sink
        self._now_ms = now_ms
        self._ids: set[str] = set()
        self._repeated: IntegrityError | None = None

    def read(self, file: CorpusFile) -> None:
        data = read_bytes(file)
        data = data.removeprefix(BYTE_ORDER_MARK)
        if file.path.endswith(JSON_LINES):
            self._read_json_lines(data, file.path)
        else:
            self._read_markdown(data, file.path)

    def check_ids(self) -> None:
        if self._repeated is not None:
            raise self._repeated

    def _read_markdown(self, data: bytes, path: str) -> None:
        text = None if data.isascii() else decode_file(data, path)
        folded: bytes | None = data.translate(FOLD)
        check_characters(data, text, path, folded)
        if text is not None:
            folded = None
        if may_hold_a_tag(data):
            content = strip_bytes(data)
            if content is not data:
                data, folded = content, None
        record = parse_markdown(data, path)
        self._take(record, data, folded, path)

    def _read_json_lines(self, data: bytes, path: str) -> None:
        from mc_retrieve.jsonlines import parse_json_lines

        text = decode_file(data, path)
        check_characters(data, None if data.isascii() else text, path)
        del data
        for record, content in parse_json_lines(text, path):
            self._take(record, content.encode("utf-8"), None, path)

    def _take(self, record: Record, content: bytes, folded: bytes | None, path: str) -> None:
        self.count += 1
        if self.count > MAX_RECORDS:
            raise IntegrityError(f"the corpus has more than {MAX_RECORDS} records")
        settle(record, self._now_ms, path)
        if record.id in self._ids and self._repeated is None:
            self._repeated = IntegrityError("a record has an id that another one has", where=path)
        self._ids.add(record.id)
        record.units = utf16_units(content)
        self._sink(record, content, folded)


def read_bytes(file: CorpusFile) -> bytes:
    """Return the bytes of *file*, all of them or an error.

    Raises:
        IntegrityError: It grew beyond the size the contract allows.
        InternalError: The operating system refuses.
    """
    try:
        descriptor = os.open(file.absolute, _READ_FLAGS)
        try:
            # One byte more than expected: a full answer would mean that the file is growing.
            data = os.read(descriptor, file.size + 1)
            return data if len(data) == file.size else _read_on(descriptor, data, file)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise reading_error(error, file.path) from error


def _read_on(descriptor: int, data: bytes, file: CorpusFile) -> bytes:
    from mc_retrieve.layout import MAX_FILE_BYTES

    parts = [data]
    length = len(data)
    while parts[-1]:
        if length > MAX_FILE_BYTES:
            raise IntegrityError(f"is larger than {MAX_FILE_BYTES} bytes", where=file.path)
        parts.append(os.read(descriptor, MAX_FILE_BYTES + 1 - length))
        length += len(parts[-1])
    return b"".join(parts)
