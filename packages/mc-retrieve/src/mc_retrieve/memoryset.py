"""The files of a memory directory, parsed and judged together."""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache

from mc_schema.ids import find_entry_ids
from mc_schema.manifest import Manifest, parse_manifest
from mc_schema.memoryfile import MemoryFile, parse_memory_file, with_unique_ids
from mc_schema.private import strip_with_origin

from mc_retrieve.memorydir import Fault, TextFile, list_markdown, read_text

TYPE_CHECKING = False  # importing `typing` would cost a command more than its work
if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Final, NamedTuple
else:
    from mc_schema.value import NamedTuple

MANIFEST: Final = "manifest.md"
CONFLICT: Final = "conflict"
_PRIVATE: Final = "private"
_ID_START: Final = "mc-"


class ManifestFile(NamedTuple):
    """The manifest of a memory directory."""

    manifest: Manifest
    """Parsed from what may be shown: the text without private spans."""
    file: MemoryFile
    text: str
    """As it is, never to be shown."""


class MemorySet(NamedTuple):
    """Every memory file but the manifest."""

    files: tuple[MemoryFile, ...]
    """What can be read, sorted by path; an entry whose id occurs twice is inadmissible."""
    faults: tuple[Fault, ...]
    """What cannot be read, files with conflict markers included, sorted by path."""
    texts: dict[str, str]
    """The text of each file as it is, private spans included: never to be shown."""


def load_manifest(memory_dir: Path) -> ManifestFile | Fault | None:
    """Return the manifest below *memory_dir*, a fault, or ``None`` when there is none."""
    found = load_file(memory_dir, MANIFEST)
    if found is None or isinstance(found, Fault):
        return found
    file, text = found
    return ManifestFile(parse_manifest(file.document.text), file, text)


def load_memory_set(memory_dir: Path) -> MemorySet:
    """Return every file below *memory_dir* except the manifest; nothing hides the rest."""
    listing = list_markdown(memory_dir)
    texts: dict[str, str] = {}
    files: list[MemoryFile] = []
    faults = list(listing.faults)
    for path in listing.paths:
        if path == MANIFEST:
            continue
        found = load_file(memory_dir, path)
        if isinstance(found, Fault):
            faults.append(found)
        elif found is not None:
            file, texts[path] = found
            files.append(file)
    return MemorySet(tuple(with_unique_ids(files)), tuple(sorted(faults)), texts)


def load_file(memory_dir: Path, path: str) -> tuple[MemoryFile, str] | Fault | None:
    """Return the file *path* parsed, and its text; a fault; or ``None`` when there is none.

    A file with conflict markers is a fault: it is not served (design section 3).
    """
    found = read_text(memory_dir, path)
    if not isinstance(found, TextFile):
        return found
    file = parse_memory_file(path, found.text)
    if file.conflict:
        line = original_line(found.text, file, file.conflict)
        return Fault(path, CONFLICT, "the file holds merge-conflict markers", line)
    return file, found.text


def with_ids_judged(memory_dir: Path, files: Sequence[MemoryFile]) -> list[MemoryFile]:
    """Return *files* with repeated ids judged over the whole memory directory.

    Ids count over all files, inbox and archive included (design section 4); a file that mentions
    none of the ids is not parsed, which keeps reading fast beside a large archive.
    """
    ids = {unit.entry_id.lower() for file in files for unit in file.units if unit.entry_id}
    if not ids:
        return list(files)
    known = {file.path for file in files}
    others = [path for path in list_markdown(memory_dir).paths if path not in known]
    claiming = [file for path in others if (file := _claiming(memory_dir, path, ids))]
    judged = with_unique_ids([*files, *claiming])
    return judged[: len(files)]


def original_line(text: str, file: MemoryFile, line: int) -> int:
    """Return the 1-based line of *text*, the file as it is, that *line* of the document stands on.

    Where a private span was removed the document has fewer lines than the file.
    """
    if not file.removed_spans:
        return line
    lines = _original_lines(text)
    return lines[min(line, len(lines)) - 1]


@lru_cache(maxsize=8)
def _original_lines(text: str) -> tuple[int, ...]:
    """Return, for each line of *text* stripped, the 1-based line of *text* it begins on."""
    stripped, origin = strip_with_origin(text)
    starts = _line_starts(text)
    return tuple(
        bisect_right(starts, origin.locate(start)) for start in _line_starts(stripped.text)
    )


def _claiming(memory_dir: Path, path: str, ids: set[str]) -> MemoryFile | None:
    if path == MANIFEST:
        return None
    found = read_text(memory_dir, path)
    if not isinstance(found, TextFile):
        return None
    if not _may_claim(found.text, ids):
        return None
    file = parse_memory_file(path, found.text)
    return None if file.conflict else file


def _may_claim(text: str, ids: set[str]) -> bool:
    folded = text.lower()
    # Removing a span can join what looks like no id into one.
    if _PRIVATE in folded:
        return True
    return _ID_START in folded and not ids.isdisjoint(map(str.lower, find_entry_ids(text)))


def _line_starts(text: str) -> list[int]:
    from mc_schema.lines import scan_lines

    return [line.start for line in scan_lines(text).lines] or [0]
