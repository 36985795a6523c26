"""Lossless Markdown documents: a head, then units with exact source spans."""

from __future__ import annotations

from mc_schema.errors import SchemaError
from mc_schema.lines import BOM, dominant_newline, newline_behind, scan_lines, spliced
from mc_schema.units import (
    BULLET,
    ENTRY,
    GROUP,
    HEADING_KINDS,
    PREAMBLE,
    PROSE,
    SECTION,
    Unit,
    find_head,
    split_units,
)

TYPE_CHECKING = False  # importing `typing` would cost a command more than its work
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "BULLET",
    "ENTRY",
    "GROUP",
    "HEADING_KINDS",
    "PREAMBLE",
    "PROSE",
    "SECTION",
    "Document",
    "Unit",
    "format_bullet",
    "normalise_newlines",
]


class Document:
    """A Markdown text split into units; what is not edited stays byte for byte.

    A `## ` line inside a fence or an HTML comment is no heading; a BOM, front matter and a `# `
    title form the head. Source: design section 3.
    """

    __slots__ = (
        "conflict",
        "head_end",
        "loose_comment",
        "newline",
        "open_comment",
        "open_fence",
        "swallowing",
        "text",
        "title",
        "units",
    )

    def __init__(self, text: str) -> None:
        scan = scan_lines(text)
        self.text = text
        self.newline = dominant_newline(text)
        self.conflict = scan.conflict
        """1-based line of the first merge-conflict marker, else 0."""
        self.open_fence = scan.open_fence
        """1-based line of a fence that is never closed, else 0."""
        self.open_comment = scan.open_comment
        """1-based line of a comment that hides the rest of the text, else 0."""
        self.swallowing = scan.swallowing
        """1-based line of the open fence or comment that text put at the end would fall into."""
        self.loose_comment = scan.loose_comment
        """1-based line of a comment opener in prose that nothing closes, else 0."""
        first, self.title = find_head(scan.lines)
        self.head_end = scan.lines[first].start if first < len(scan.lines) else len(text)
        self.units = tuple(split_units(scan.lines, first))

    @classmethod
    def parse(cls, text: str) -> Document:
        """Return the document of *text*; every text is a document."""
        return cls(text)

    def render(self) -> str:
        """Return the text again, joined from the head and the units."""
        return self.text[: self.head_end] + "".join(
            self.text[unit.start : unit.end] for unit in self.units
        )

    def unit_text(self, unit: Unit) -> str:
        """Return the text of *unit* without the blank lines that follow it."""
        return self.text[unit.start : unit.content_end]

    def entries(self) -> list[Unit]:
        """Return the units that claim an entry id, in file order."""
        return [unit for unit in self.units if unit.kind == ENTRY]

    def replace_units(self, changes: Iterable[tuple[Unit, str]]) -> str:
        """Return the text with each unit's own text replaced; its following blank lines stay."""
        edits = [(unit.start, unit.content_end, text) for unit, text in changes]
        return spliced(self.text, edits)

    def remove_units(self, units: Iterable[Unit]) -> str:
        """Return the text without *units* and the blank lines that follow each.

        Blank lines stay where they alone part what is left on both sides.

        A group whose last bullet goes, and that has no prose of its own, goes with it: an empty
        dated heading would say nothing.

        Raises:
            SchemaError: A group is to go while units under it stay: they would fall to the unit
                above it.
        """
        gone = {unit.ordinal for unit in units}
        members: dict[int, set[int]] = {}
        for unit in self.units:
            if unit.section >= 0:
                members.setdefault(unit.section, set()).add(unit.ordinal)
        emptied = {
            group
            for group, inside in members.items()
            if inside <= gone and not self._has_prose(self.units[group])
        }
        for group in sorted(gone & members.keys()):
            if not members[group] <= gone:
                raise SchemaError(
                    "a heading cannot be removed without the bullets below it",
                    where=f"line {self.units[group].line}",
                    hint="remove the bullets too, or edit the file by hand",
                    code="group_not_empty",
                )
        gone |= emptied
        edits = [(self.units[n].start, self._removal_end(n, gone), "") for n in sorted(gone)]
        return spliced(self.text, edits)

    def _removal_end(self, number: int, gone: set[int]) -> int:
        unit = self.units[number]
        if self.loose_comment or self._closes_a_list(number, gone):
            # Without the blank line a comment opener above could find a closer below, and the last
            # bullet of a list would touch the heading that follows.
            return _line_end(self.text, unit.content_end)
        return unit.end

    def _closes_a_list(self, number: int, gone: set[int]) -> bool:
        """Say whether the blank lines behind a unit to remove part what stays on both sides."""
        after = number + 1
        if after >= len(self.units) or after in gone or self.units[after].kind == BULLET:
            return False
        above = number - 1
        while above in gone:
            above -= 1
        if above < 0:
            return False
        return _line_end(self.text, self.units[above].content_end) == self.units[above].end

    def insert_newest_first(self, block: str) -> str:
        """Return the text with *block* before the first `##` unit, or at the end without one.

        *block* is one unit with LF line ends and no final newline. It is never put above a bullet,
        which would then belong to it.

        Raises:
            SchemaError: The place is the end of the text and an open fence or comment reaches it.
        """
        for unit in self.units:
            if unit.kind in HEADING_KINDS:
                return self._inserted(unit.start, block)
        return self._inserted(len(self.text), block)

    def append(self, block: str) -> str:
        """Return the text with *block* at its end; a missing final newline stays missing.

        Raises:
            SchemaError: An open fence or comment would swallow it.
        """
        return self._inserted(len(self.text), block)

    def insert_bullet(self, block: str) -> str:
        """Return the text with the bullet *block* after the last one that no `##` unit owns.

        *block* is what `format_bullet` returns. Source: protocol-0.5.md, faults 9 to 11: appended
        below a heading it would belong to it.

        Raises:
            SchemaError: The place is the end of the text and an open fence or comment reaches it.
        """
        position = len(self.text)
        for unit in self.units:
            if unit.kind in HEADING_KINDS:
                position = unit.start
                break
        before = [unit for unit in self.units if unit.kind == BULLET and unit.end <= position]
        if before and before[-1].end == position and not self.loose_comment:
            return self._inserted(position, block, joined_to=before[-1])
        return self._inserted(position, block)

    def _inserted(self, position: int, block: str, *, joined_to: Unit | None = None) -> str:
        if position == len(self.text):
            self._require_closed_end()
        head, tail = self.text[:position], self.text[position:]
        newline = newline_behind(head, self.newline)
        block = normalise_newlines(block).replace("\n", newline)
        if joined_to is not None:
            # Bullets of one list follow each other without a blank line.
            head = self.text[: joined_to.content_end]
            return head + newline + block + self.text[joined_to.content_end :]
        if head.removeprefix(BOM):
            head += _missing_blank_line(head, newline)
        if tail:
            return head + block + newline + newline + tail
        return head + block + ("" if _lacks_final_newline(self.text) else newline)

    def _require_closed_end(self) -> None:
        if self.swallowing:
            mark = "code fence" if self.open_fence else "HTML comment"
            article = "a" if self.open_fence else "an"
            raise SchemaError(
                f"{article} {mark} is never closed",
                where=f"line {self.swallowing}",
                hint=f"close the {mark} by hand: what is added below it would be part of it",
                code="unclosed_block",
            )

    def _has_prose(self, group: Unit) -> bool:
        _, _, rest = self.unit_text(group).replace("\r", "\n").partition("\n")
        return bool(rest.strip())


def format_bullet(text: str) -> str:
    """Return *text* as one top-level bullet: LF line ends, later lines indented into the item.

    Without the indentation a fence in *text* would end with its first line, and the lines in it
    would be structure.
    """
    first, *rest = normalise_newlines(text).split("\n")
    return "\n".join([f"- {first}", *(f"  {line}" if line.strip() else "" for line in rest)])


def normalise_newlines(text: str) -> str:
    """Return *text* with every CRLF and lone CR as LF, the form entries are compared in."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _lacks_final_newline(text: str) -> bool:
    return bool(text.removeprefix(BOM)) and text[-1] not in "\r\n"


def _missing_blank_line(head: str, newline: str) -> str:
    if head[-1] not in "\r\n":
        return newline + newline
    before = head[:-2] if head.endswith("\r\n") else head[:-1]
    last = before[max(before.rfind("\n"), before.rfind("\r")) + 1 :]
    return newline if last.removeprefix(BOM).strip() else ""


def _line_end(text: str, position: int) -> int:
    """Return the offset behind the line end that begins at *position*, if one does."""
    if text.startswith("\r\n", position):
        return position + 2
    return position + (text[position : position + 1] in ("\r", "\n"))
