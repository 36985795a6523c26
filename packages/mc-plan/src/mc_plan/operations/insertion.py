"""Where new text goes in a memory file, and that it is safe there."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from mc_schema.document import HEADING_KINDS, PREAMBLE, Document, normalise_newlines
from mc_schema.errors import SchemaError
from mc_schema.lines import dominant_newline, scan_lines

from mc_plan.errors import MalformedFileError
from mc_plan.operations.verify import reads_as_meant, require_readable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mc_plan.operations.memory_set import MemorySet

NEWEST_FIRST: Final = "newest-first"
APPENDED: Final = "appended"
BULLET: Final = "bullet"
"""Below the last bullet that no heading owns: the list of an older protocol."""

PLACEHOLDER: Final = "No unprocessed memory candidates."
"""The paragraph of an empty inbox of Protocol 0.5 (protocol-0.5.md A8)."""
_MAX_PLACES: Final = 20
MAX_FILE_BYTES: Final = 8_388_608
"""Readers leave a larger file out (cortex.md 2), so nothing is put into one."""


def insert(memory: MemorySet, name: str, block: str, *, order: str) -> None:
    """Put *block*, units with LF line ends, into the file *name* of *memory*.

    Args:
        memory: The file must be there, from a template if need be.
        name: Relative to the memory directory.
        block: One or more units.
        order: `NEWEST_FIRST`, `APPENDED` or `BULLET`.

    Raises:
        MalformedFileError: Readers would not see exactly this change, or the file has conflict
            markers or would be too large for them.
    """
    memory.require_no_conflict(name)
    text = memory.text(name) or ""
    where = memory.project.memory_file(name)
    _require_room(text, block, where)
    places = {
        NEWEST_FIRST: Document.insert_newest_first,
        APPENDED: Document.append,
        BULLET: Document.insert_bullet,
    }
    after = _attempt(text, block, places[order], where)
    try:
        require_readable(text, after, added=block, where=where)
    except MalformedFileError:
        after = _other_place(text, block, order)
        if not after:
            raise
    memory.write(name, after)


def without_placeholder(text: str) -> str:
    """Return the inbox *text* without the paragraph that says it is empty.

    Only a paragraph of its own in the introduction goes, never a quoted or nested line
    (protocol-0.5.md, fault 42).
    """
    document = Document.parse(text)
    end = next((unit.start for unit in document.units if unit.kind != PREAMBLE), len(document.text))
    lines = scan_lines(text).lines
    for index, line in enumerate(lines):
        if line.start >= end:
            break
        above = lines[index - 1].is_blank if index else True
        below = lines[index + 1].is_blank if index + 1 < len(lines) else True
        is_alone = above and below and not line.is_opaque
        if is_alone and line.content.rstrip() == PLACEHOLDER:
            has_blank_below = index + 1 < len(lines)
            last = lines[index + 1] if has_blank_below else line
            return text[: line.start] + text[last.end :]
    return text


def _require_room(text: str, block: str, where: str) -> None:
    # A blank line and line ends come on top; nobody needs the last few bytes.
    if len(text.encode()) + 2 * len(block.encode()) <= MAX_FILE_BYTES:
        return
    raise MalformedFileError(
        f"the file would be larger than {MAX_FILE_BYTES:,} bytes, which readers leave out",
        where=where,
        hint="move old entries to the archive, then run the command again",
        code="too_large",
    )


def _attempt(text: str, block: str, place: Callable[[Document, str], str], where: str) -> str:
    try:
        return place(Document.parse(text), block)
    except SchemaError as error:
        line = error.where.rpartition(" ")[2]
        raise MalformedFileError(
            f"{error.what}, so what is added would be hidden in it",
            where=f"{where}:{line}" if line.isdigit() else where,
            hint="close it by hand, then run the command again",
            code=error.code,
        ) from None


def _other_place(text: str, block: str, order: str) -> str:
    """Return the text with *block* at the first place where readers see it, else an empty string.

    The usual place can lie inside a private span that holds headings of its own.
    """
    if order != NEWEST_FIRST:
        return ""
    for after in islice(_headings(text, block), _MAX_PLACES):
        if reads_as_meant(text, after, block):
            return after
    try:
        after = Document.parse(text).append(block)
    except SchemaError:
        return ""
    return after if reads_as_meant(text, after, block) else ""


def _headings(text: str, block: str) -> Iterator[str]:
    document = Document.parse(text)
    newline = dominant_newline(text)
    written = normalise_newlines(block).replace("\n", newline) + newline + newline
    for unit in document.units:
        if unit.kind in HEADING_KINDS:
            yield text[: unit.start] + written + text[unit.start :]
