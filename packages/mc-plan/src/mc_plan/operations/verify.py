"""Look before writing: the new text is parsed as a reader would parse it.

A new entry must be visible exactly as meant and every other unit must be what it was. An open
fence, comment or private span in a file could otherwise swallow what is put below it, or new text
could close a comment that was harmless until then.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from mc_schema.document import ENTRY, Document, normalise_newlines
from mc_schema.ids import claimed_entry_id, parse_entry_id
from mc_schema.memoryfile import line_at
from mc_schema.private import strip_private_spans

from mc_plan.errors import MalformedFileError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

    Shape: TypeAlias = tuple[str, str, str]


def require_readable(
    before: str,
    after: str,
    *,
    added: str = "",
    edited: Mapping[str, str] | None = None,
    where: str,
) -> None:
    """Check that *after* reads as *before* with the edits that were meant.

    Args:
        before: The old text of a file.
        after: Its new text.
        added: The new units, one after the other, with LF line ends; empty for none.
        edited: The new text of existing entries by id.
        where: The repo-relative path, for the error.

    Raises:
        MalformedFileError: A reader would see something else; it names the line of the unclosed
            fence, comment or private opener when there is one.
    """
    old, new = _View(before), _View(after)
    block = _View(added).shapes() if added else []
    if _is_inserted(old.shapes(edited or {}), block, new.shapes()):
        return
    raise _refusal(old, new, where)


def reads_as_meant(before: str, after: str, added: str) -> bool:
    """Say whether `require_readable` would let *after* pass."""
    try:
        require_readable(before, after, added=added, where="")
    except MalformedFileError:
        return False
    return True


class _View:
    """One text as readers see it: private spans removed, then cut into units."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.stripped = strip_private_spans(text)
        self.document = Document.parse(self.stripped.text)

    def shapes(self, edited: Mapping[str, str] | None = None) -> list[Shape]:
        """Return kind, heading and text of each unit, line ends as LF, with *edited* texts."""
        shapes = []
        for unit in self.document.units:
            text = self.document.unit_text(unit)
            if edited and unit.kind == ENTRY:
                entry_id = parse_entry_id(claimed_entry_id(unit.heading) or "")
                text = edited.get(str(entry_id), text)
            shapes.append((unit.kind, unit.heading, normalise_newlines(text)))
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


def _refusal(old: _View, new: _View, where: str) -> MalformedFileError:
    for line, what, hint in _suspects(old, new):
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


def _suspects(old: _View, new: _View) -> list[tuple[int, str, str]]:
    raw = Document.parse(old.text)
    comment = raw.open_comment or raw.loose_comment or new.document.open_comment
    return [
        (
            _hidden_line(old) or _hidden_line(new),
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


def _hidden_line(view: _View) -> int:
    cut_at = view.stripped.cut_at
    return 0 if cut_at is None else line_at(view.text, cut_at)
