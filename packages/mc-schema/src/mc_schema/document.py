"""Lossless Markdown documents: a head, then units with exact source spans."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from mc_schema.errors import SchemaError
from mc_schema.ids import claimed_entry_id
from mc_schema.lines import BOM, Line, dominant_newline, newline_behind, scan_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PREAMBLE: Final = "preamble"
"""Text between the title and the first bullet or `##` heading."""
ENTRY: Final = "entry"
"""A `##` unit whose heading claims an entry id; its bullets belong to it."""
SECTION: Final = "section"
"""A `##` unit without an id that is one legacy entry."""
GROUP: Final = "group"
"""A `##` heading, with its own prose, over bullets that are units of their own."""
BULLET: Final = "bullet"
"""A top-level bullet outside an entry, with its indented continuation."""
PROSE: Final = "prose"
"""Loose text between or after bullets."""

HEADING_KINDS: Final = (ENTRY, SECTION, GROUP)

_LABEL: Final = re.compile(
    r"(?:Decision|Constraint|Preference|Rejected|Rule|Profile|Statement|Reason|Status|Scope|"
    r"Evidence|Mode):",
    re.ASCII,
)
_FRONT_MATTER_LINES: Final = 200


class Unit(NamedTuple):
    """A unit of a document; the units and the head cover the text exactly, in order."""

    kind: str
    start: int
    """Offset of the first character."""
    content_end: int
    """Offset after the last character that is not a trailing blank line or its line end."""
    end: int
    """Offset after the blank lines that follow."""
    line: int
    """1-based line number of the first line."""
    heading: str
    """Text after `## `, stripped; empty for other kinds."""
    ordinal: int
    """Position among the units of the document, from 0."""
    section: int
    """Ordinal of the group this unit stands in, or -1."""


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
        first, self.title = _head(scan.lines)
        self.head_end = scan.lines[first].start if first < len(scan.lines) else len(text)
        self.units = tuple(_split(scan.lines, first))

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
        return _spliced(self.text, edits)

    def remove_units(self, units: Iterable[Unit]) -> str:
        """Return the text without *units* and the blank lines that follow each.

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
        edits = [(self.units[n].start, self._removal_end(n), "") for n in sorted(gone | emptied)]
        return _spliced(self.text, edits)

    def _removal_end(self, number: int) -> int:
        unit = self.units[number]
        if not self.loose_comment:
            return unit.end
        # Without the blank line a comment opener in the paragraph above could find a closer below.
        return _line_end(self.text, unit.content_end)

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
            raise SchemaError(
                f"a {mark} is never closed",
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


def _spliced(text: str, edits: Sequence[tuple[int, int, str]]) -> str:
    parts, position = [], 0
    for start, end, replacement in sorted(edits):
        parts += [text[position:start], replacement]
        position = end
    parts.append(text[position:])
    return "".join(parts)


def _head(lines: Sequence[Line]) -> tuple[int, str]:
    """Return the index of the first line after the head, and the title."""
    first = _front_matter_end(lines)
    probe = first
    while probe < len(lines) and lines[probe].is_blank:
        probe += 1
    title = ""
    if probe < len(lines) and lines[probe].content.startswith("# ") and not lines[probe].is_opaque:
        title = lines[probe].content[2:].strip()
        probe += 1
        while probe < len(lines) and lines[probe].is_blank:
            probe += 1
    return probe, title


def _front_matter_end(lines: Sequence[Line]) -> int:
    if not lines or lines[0].content.rstrip() != "---":
        return 0
    for number, line in enumerate(lines[1:_FRONT_MATTER_LINES], 1):
        if line.content.rstrip() in ("---", "..."):
            return number + 1
        if line.content.startswith("## "):
            return 0
    return 0


def _is_heading(line: Line) -> bool:
    return line.content.startswith("## ") and not line.is_opaque


def _is_bullet(line: Line) -> bool:
    # The line `- ~~~` is opaque and all the same a bullet: the fence begins inside the item.
    is_outside = not line.is_opaque or line.opaque_from == line.number
    return line.content[:2] in ("- ", "* ", "+ ") and is_outside


def _split(lines: Sequence[Line], first: int) -> list[Unit]:
    blocks = [first, *(n for n in range(first, len(lines)) if _is_heading(lines[n])), len(lines)]
    units: list[Unit] = []
    for begin, end in pairwise(blocks):
        if begin < end:
            units += _split_block(lines, begin, end, len(units))
    return units


def _split_block(lines: Sequence[Line], begin: int, end: int, ordinal: int) -> list[Unit]:
    """Split one `##` block, or the block before the first heading, into its units."""
    heading = lines[begin].content[3:].strip() if _is_heading(lines[begin]) else ""
    if not _is_heading(lines[begin]):
        cuts = _loose_cuts(lines, begin, end, PREAMBLE)
    elif claimed_entry_id(heading):
        cuts = [(begin, ENTRY)]
    elif _is_atomic(lines, begin, end, heading):
        cuts = [(begin, SECTION)]
    else:
        cuts = _loose_cuts(lines, begin, end, GROUP)
    stops = [start for start, _ in cuts[1:]] + [end]
    grouped = cuts[0][1] == GROUP
    units = []
    for offset, ((start, kind), stop) in enumerate(zip(cuts, stops, strict=True)):
        unit = _unit(lines, start, stop)._replace(
            kind=kind,
            heading="" if offset else heading,
            ordinal=ordinal + offset,
            section=ordinal if grouped and offset else -1,
        )
        units.append(unit)
    return units


def _is_atomic(lines: Sequence[Line], begin: int, end: int, heading: str) -> bool:
    if heading.lower().startswith("tombstone:"):
        return True
    body = lines[begin + 1 : end]
    if any(_LABEL.match(line.content) and not line.is_opaque for line in body):
        return True
    return not any(_is_bullet(line) for line in body)


def _loose_cuts(lines: Sequence[Line], begin: int, end: int, kind: str) -> list[tuple[int, str]]:
    """Return where units begin in text that no entry owns: bullets, and prose between them."""
    cuts: list[tuple[int, str]] = []
    if kind == GROUP or not _is_bullet(lines[begin]):
        cuts.append((begin, kind))
    for number in range(begin, end):
        line = lines[number]
        if line.is_blank or (number == begin and kind == GROUP):
            continue
        if _is_bullet(line):
            cuts.append((number, BULLET))
        elif (
            cuts
            and cuts[-1][1] == BULLET
            and line.content[:1] not in (" ", "\t")
            and not (line.is_opaque and _continues_opaque(lines, number))
        ):
            # A bullet ends where the list ends (protocol-0.5.md A7).
            cuts.append((number, PROSE))
    return cuts


def _continues_opaque(lines: Sequence[Line], number: int) -> bool:
    """Say whether an opaque line goes on from the line before: a fence is never cut."""
    return lines[number].opaque_from == lines[number - 1].opaque_from != 0


def _unit(lines: Sequence[Line], start: int, stop: int) -> Unit:
    """Return the span of the lines *start* to *stop* (excluded); the caller says what it is."""
    last = stop - 1
    while last > start and lines[last].is_blank:
        last -= 1
    return Unit(
        kind=PREAMBLE,
        start=lines[start].start,
        content_end=lines[last].content_end,
        end=lines[stop - 1].end,
        line=start + 1,
        heading="",
        ordinal=0,
        section=-1,
    )
