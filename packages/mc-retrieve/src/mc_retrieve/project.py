"""A memory directory as a corpus: its entries and legacy units as records of the contract.

Unlike a Cortex layout it is judged per file and entry: what cannot be read is left out and listed,
and the rest is served.

Source: design, section 8.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from mc_schema.admission import INADMISSIBLE
from mc_schema.document import BULLET, GROUP, PREAMBLE, PROSE
from mc_schema.entry import CANDIDATE, FORGOTTEN
from mc_schema.ids import parse_entry_id
from mc_schema.manifest import parse_manifest
from mc_schema.private import strip_private
from mc_schema.protocol import METADATA_HEADING
from mc_schema.routes import GENERAL_HEADING
from mc_schema.storage import ARCHIVE, INBOX_PATH, MATRIX, entry_type
from mc_schema.validity import parse_timestamp

from mc_retrieve.contextpack import PRIVATE, UNREADABLE, Omitted
from mc_retrieve.corpus import MAX_RECORDS
from mc_retrieve.errors import IntegrityError
from mc_retrieve.layout import MAX_FILE_BYTES, MAX_FILES, MAX_TOTAL_BYTES
from mc_retrieve.memorydir import Fault, TextFile, list_markdown, read_text
from mc_retrieve.memoryset import MANIFEST, load_file, original_line
from mc_retrieve.record import EPOCH, Record, settle, utf16_units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mc_schema.memoryfile import JudgedUnit, MemoryFile

    from mc_retrieve.corpus import Sink

SOURCE: Final = "memory-custodian"

_BRIEF: Final = "brief.md"
_MAX_TITLE: Final = 72
_DATE: Final = re.compile(r"(?<![0-9])[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])", re.ASCII)
_BULLET: Final = re.compile(r"[-*+][ \t]+")
_SKIPPED: Final = ("_", ".")
_TYPES_BY_FILE: Final = {row.path: row.type for row in MATRIX if "{" not in row.path}
_TYPES_BY_FOLDER: Final = {"areas/": "area", "rules/": "rule", "profiles/": "profile"}


class ProjectRecord(NamedTuple):
    """One unit of a memory directory as a record."""

    record: Record
    content: bytes
    status: str
    """``active``, ``legacy``, ``superseded``, ``candidate``, ``promoted`` or ``inadmissible``."""
    line: int
    """1-based, in the file as it is."""


class ProjectCorpus(NamedTuple):
    """What a memory directory holds for retrieval, in file order."""

    records: tuple[ProjectRecord, ...]
    omitted: tuple[Omitted, ...]
    """What default searches leave out: entries by id or place, and files that cannot be read."""
    faults: int
    """How many files, and parts of files, cannot be read."""

    @property
    def complete(self) -> bool:
        """Whether nothing is left out that ought to be served."""
        reasons = {item.reason for item in self.omitted}
        return reasons.isdisjoint({INADMISSIBLE, PRIVATE, UNREADABLE})


def is_memory_directory(root: str) -> bool:
    """Return whether the bare *root* has the manifest of a memory directory."""
    found = read_text(Path(root), MANIFEST)
    if not isinstance(found, TextFile):
        return False
    manifest = parse_manifest(strip_private(found.text))
    return any(manifest.section(title) for title in (METADATA_HEADING, GENERAL_HEADING))


def read_project(
    root: str, sink: Sink, *, now_ms: int, warn: Callable[[str], object] | None = None
) -> int:
    """Hand every record of the memory directory at *root* to *sink*, and return their number.

    Args:
        root: A pinned root for which `is_memory_directory` holds.
        sink: As in `mc_retrieve.corpus.read_corpus`.
        now_ms: The instant that decides which records are active.
        warn: Told in one line how much could not be read.

    Raises:
        IntegrityError: A limit is passed, a link lies in the directory, or no file can be read.
    """
    corpus = load_project(root, now_ms=now_ms)
    if corpus.faults and warn is not None:
        parts = "part" if corpus.faults == 1 else "parts"
        warn(
            f"warning: {corpus.faults} {parts} of the memory directory cannot be read; "
            "`memory-custodian check` names them"
        )
    for item in corpus.records:
        sink(item.record, item.content, None)
    return len(corpus.records)


def load_project(root: str, *, now_ms: int, with_archive: bool = False) -> ProjectCorpus:
    """Return the records of the memory directory at *root*, a real path.

    Args:
        root: The memory directory.
        now_ms: The instant that decides which records are active.
        with_archive: Also read the archive, whose records are never active; it is no part of the
            corpus.

    Raises:
        IntegrityError: A limit is passed, a link lies in the directory, or no file can be read.
    """
    memory_dir = Path(root)
    reader = _Reader(now_ms)
    paths, faults = _find_files(memory_dir, with_archive=with_archive)
    for fault in faults:
        reader.omit_file(fault)
    is_served = not paths and not faults
    for path in paths:
        found = load_file(memory_dir, path)
        if isinstance(found, Fault):
            reader.omit_file(found)
        elif found is not None:
            is_served = True
            reader.take(*found)
    if not is_served:
        raise IntegrityError(
            "no file of the memory directory can be read",
            hint="`memory-custodian check` names what is wrong with each",
        )
    return ProjectCorpus(tuple(reader.records), tuple(reader.omitted), reader.faults)


class _Reader:
    """What the records of a memory directory are collected in."""

    def __init__(self, now_ms: int) -> None:
        self.records: list[ProjectRecord] = []
        self.omitted: list[Omitted] = []
        self.faults = 0
        self._now_ms = now_ms
        self._ids: set[str] = set()

    def omit_file(self, fault: Fault) -> None:
        self.faults += 1
        self.omitted.append(Omitted(fault.path, "", fault.line, UNREADABLE, fault.message))

    def take(self, file: MemoryFile, text: str) -> None:
        """Take in every unit of *file*, whose content with private spans is *text*."""
        for unit in _record_units(file):
            line = original_line(text, file, unit.unit.line)
            self._add(file, unit, line)
        if file.hidden_line:
            self.faults += 1
            detail = "an unclosed or malformed private opener hides the rest of the file"
            self.omitted.append(Omitted(file.path, "", file.hidden_line, PRIVATE, detail))

    def _add(self, file: MemoryFile, unit: JudgedUnit, line: int) -> None:
        status = unit.standing.status
        # Codes, not messages: those quote the entry, and lists of what is omitted are not framed.
        codes = dict.fromkeys(problem.code for problem in unit.standing.problems)
        detail = ", ".join(code.replace("_", " ") for code in codes)
        record = _record(file, unit)
        if record.id in self._ids:
            # Of equal ids the first in file order counts.
            self._omit(unit, line, INADMISSIBLE, "the id occurs before")
            return
        if len(self.records) == MAX_RECORDS:
            raise IntegrityError(f"the corpus has more than {MAX_RECORDS} records")
        self._ids.add(record.id)
        content = unit.text.encode("utf-8")
        settle(record, self._now_ms, unit.path)
        record.is_active = unit.standing.is_served and not unit.path.startswith(ARCHIVE)
        record.units = utf16_units(content)
        self.records.append(ProjectRecord(record, content, status, line))
        if not record.is_active and not unit.path.startswith(ARCHIVE):
            self._omit(unit, line, status, detail)

    def _omit(self, unit: JudgedUnit, line: int, reason: str, detail: str) -> None:
        self.omitted.append(Omitted(unit.path, unit.entry_id, line, reason, detail))


def _find_files(memory_dir: Path, *, with_archive: bool) -> tuple[list[str], list[Fault]]:
    """Return the files of the corpus and what stands where one should be; limits come first."""
    listing = list_markdown(memory_dir)
    links = [path for path in listing.links if _is_corpus_path(path)]
    if links:
        raise IntegrityError("is a symbolic link", where=links[0])
    paths = [path for path in listing.paths if _is_corpus_path(path)]
    if with_archive:
        paths += [path for path in listing.paths if path.startswith(ARCHIVE)]
    if len(paths) > MAX_FILES:
        raise IntegrityError(f"the corpus has more than {MAX_FILES} files")
    total = 0
    for path in paths:
        size = _size(memory_dir / path)
        if size > MAX_FILE_BYTES:
            raise IntegrityError(f"is larger than {MAX_FILE_BYTES} bytes", where=path)
        total += size
    if total > MAX_TOTAL_BYTES:
        raise IntegrityError(f"the corpus is larger than {MAX_TOTAL_BYTES} bytes")
    faults = [fault for fault in listing.faults if _is_corpus_path(fault.path)]
    return paths, faults


def _is_corpus_path(path: str) -> bool:
    if path == MANIFEST or f"{path}/".startswith(ARCHIVE):
        return False
    return path == "." or not any(part.startswith(_SKIPPED) for part in path.split("/"))


def _size(path: Path) -> int:
    try:
        found = os.lstat(path)
    except OSError:
        return 0
    return found.st_size if stat.S_ISREG(found.st_mode) else 0


def _record_units(file: MemoryFile) -> Iterator[JudgedUnit]:
    """Yield the units that are memory of their own.

    An introduction is none: templates bring one. Only a brief may be one paragraph and no more.
    """
    found = [unit for unit in file.units if _is_memory(unit)]
    if not found and file.path == _BRIEF:
        found = [unit for unit in file.units if unit.text.strip()]
    yield from found


def _is_memory(unit: JudgedUnit) -> bool:
    if unit.unit.kind == PROSE:
        # A line such as `Purpose:` above a list says nothing without it.
        return "\n" in unit.text or not unit.text.rstrip().endswith(":")
    if unit.unit.kind == GROUP:
        return bool(_below_heading(unit.text).strip())
    return unit.unit.kind != PREAMBLE


def _below_heading(text: str) -> str:
    return text.replace("\r", "\n").partition("\n")[2]


def _record(file: MemoryFile, unit: JudgedUnit) -> Record:
    entry = unit.standing.entry
    if entry is None or entry.id is None:
        created = _legacy_date(file, unit)
        record = Record(
            _place_id(unit),
            _legacy_type(unit),
            _legacy_title(unit),
            created,
            created,
            SOURCE,
            None,
            unit.path,
        )
        record.related = []
        return record
    created = _date_of(str(entry.id)) or EPOCH
    changes = [_date_of(other) for other in (entry.superseded_by, entry.promoted_to)]
    updated = max([created, *(change for change in changes if change)], key=_instant)
    record = Record(
        str(entry.id),
        entry_type(entry),
        entry.title or str(entry.id),
        created,
        updated,
        SOURCE,
        None,
        unit.path,
    )
    record.related = _links(entry.supersedes, entry.promoted_to)
    return record


def _links(*values: str) -> list[str]:
    return [value for value in values if value and value != FORGOTTEN]


def _date_of(text: str) -> str:
    """Return the date in the entry id *text*, empty if it is no id or no real date."""
    found = parse_entry_id(text)
    if found is None:
        return ""
    digits = found.created
    date = f"{digits[:4]}-{digits[4:6]}-{digits[6:]}"
    return date if parse_timestamp(date) is not None else ""


def _instant(text: str) -> int:
    return parse_timestamp(text) or 0


def _place_id(unit: JudgedUnit) -> str:
    place = f"{unit.path}#{unit.unit.ordinal}"
    return f"path:{hashlib.sha256(place.encode('utf-8', 'surrogateescape')).hexdigest()[:16]}"


def _legacy_type(unit: JudgedUnit) -> str:
    if unit.path == INBOX_PATH:
        return CANDIDATE
    folders = [kind for folder, kind in _TYPES_BY_FOLDER.items() if unit.path.startswith(folder)]
    return folders[0] if folders else _TYPES_BY_FILE.get(unit.path, Path(unit.path).stem)


def _legacy_title(unit: JudgedUnit) -> str:
    first = unit.unit.heading or unit.text.lstrip().replace("\r", "\n").partition("\n")[0]
    if unit.unit.kind == BULLET:
        first = _BULLET.sub("", first, count=1)
    first = " ".join(first.split())
    if len(first) <= _MAX_TITLE:
        return first or unit.path
    return first[: _MAX_TITLE - 1].rsplit(" ", 1)[0] + "…"


def _legacy_date(file: MemoryFile, unit: JudgedUnit) -> str:
    """Return the first date in the heading of *unit*, or of the group it stands in."""
    group = unit.unit.section
    # Units stand in the file in the order of their ordinals.
    above = file.units[group].unit.heading if group >= 0 else ""
    for heading in (unit.unit.heading, above):
        for date in _DATE.findall(heading):
            if parse_timestamp(date) is not None:
                return str(date)
    return EPOCH
