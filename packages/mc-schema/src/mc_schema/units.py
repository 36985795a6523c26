"""Units: how a Markdown text divides into a head, `##` blocks and top-level bullets."""

from __future__ import annotations

import re
from itertools import pairwise

from mc_schema.ids import claimed_entry_id

TYPE_CHECKING = False  # importing `typing` would cost a command more than its work
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final, NamedTuple

    from mc_schema.lines import Line
else:
    from mc_schema.value import NamedTuple

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


def find_head(lines: Sequence[Line]) -> tuple[int, str]:
    """Return the index of the first line after the head, and the title.

    A BOM, front matter and a `# ` title form the head.
    """
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


def split_units(lines: Sequence[Line], first: int) -> list[Unit]:
    """Return the units of *lines* from the index *first* on; they cover the rest of the text."""
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
