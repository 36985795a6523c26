"""Look before writing: the new text is parsed as a reader would parse it.

A new entry must be visible exactly as meant and every other unit must be what it was. An open
fence, comment or private span in a file could otherwise swallow what is put below it, or new text
could close a comment that was harmless until then.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from mc_schema.document import Document, normalise_newlines
from mc_schema.memoryfile import MemoryFile, parse_memory_file

from mc_plan.errors import MalformedFileError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

    Shape: TypeAlias = tuple[str, str, str]


def require_readable(
    name: str,
    before: str,
    after: str,
    *,
    added: str = "",
    edited: Mapping[str, str] | None = None,
    where: str,
) -> None:
    """Check that *after* reads as *before* with the edits that were meant.

    Args:
        name: The file, relative to the memory directory.
        before: Its old text.
        after: Its new text.
        added: The new units, one after the other, with LF line ends; empty for none.
        edited: The new text of existing entries by id.
        where: The repo-relative path, for the error.

    Raises:
        MalformedFileError: A reader would see something else; it names the line of the unclosed
            fence, comment or private opener when there is one.
    """
    old, new = parse_memory_file(name, before), parse_memory_file(name, after)
    expected = _shapes(old, edited or {})
    block = _shapes(parse_memory_file(name, added), {}) if added else []
    is_same_head = (old.removed_spans, old.hidden_line == 0) == (
        new.removed_spans,
        new.hidden_line == 0,
    ) and old.document.title == new.document.title
    if is_same_head and _is_inserted(expected, block, _shapes(new, {})):
        return
    raise _refusal(before, old, new, where)


def reads_as_meant(name: str, before: str, after: str, added: str) -> bool:
    """Say whether `require_readable` would let *after* pass."""
    try:
        require_readable(name, before, after, added=added, where=name)
    except MalformedFileError:
        return False
    return True


def _shapes(file: MemoryFile, edited: Mapping[str, str]) -> list[Shape]:
    """Return kind, heading and text of each unit, line ends as LF."""
    shapes = []
    for unit in file.units:
        text = edited.get(unit.entry_id, unit.text) if unit.entry_id else unit.text
        shapes.append((unit.unit.kind, unit.unit.heading, normalise_newlines(text)))
    return shapes


def _is_inserted(old: Sequence[Shape], block: Sequence[Shape], new: Sequence[Shape]) -> bool:
    """Say whether *new* is *old* with *block* inserted in one place."""
    if len(new) != len(old) + len(block):
        return False
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    size = len(block)
    # Equal units can make the common part reach into the block, by less than its length.
    for start in range(common, max(common - size, 0) - 1, -1):
        if new[start : start + size] == block and new[start + size :] == old[start:]:
            return True
    return False


def _refusal(before: str, old: MemoryFile, new: MemoryFile, where: str) -> MalformedFileError:
    for line, what, hint in _suspects(before, old, new):
        if line:
            return MalformedFileError(
                f"{what}, so readers would not see the change as it is meant",
                where=f"{where}:{line}",
                hint=hint,
                code="unclosed_block",
            )
    return MalformedFileError(
        "readers would not see the change as it is meant",
        where=where,
        hint="look for an HTML comment, code fence or `<private>` tag that reaches too far, "
        "correct it by hand, then run the command again",
        code="unsafe_change",
    )


def _suspects(before: str, old: MemoryFile, new: MemoryFile) -> list[tuple[int, str, str]]:
    raw = Document.parse(before)
    comment = raw.open_comment or raw.loose_comment or new.document.open_comment
    return [
        (
            old.hidden_line or new.hidden_line,
            "an unclosed or malformed `<private>` tag hides the rest of the file",
            "close it with `</private>` or remove it, then run the command again",
        ),
        (
            raw.open_fence or old.document.open_fence,
            "a code fence is never closed",
            "close the fence, then run the command again",
        ),
        (
            comment or old.document.open_comment,
            "an HTML comment is never closed",
            "close it with `-->`, or write `&lt;!--` where text means the mark",
        ),
    ]
