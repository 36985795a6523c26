"""Edits of single field lines of an entry that leave every other byte as it is."""

from __future__ import annotations

import re
from typing import Final

from mc_schema.entry import REASON
from mc_schema.lines import Line, dominant_newline, scan_lines

_LABEL: Final = re.compile(r"([A-Z][A-Za-z0-9-]*):", re.ASCII)


def set_field(unit: str, name: str, value: str, *, after: str = "Status") -> str:
    """Return the entry text *unit* with the line ``name: value``.

    An existing line of that name is replaced in place; else the line is put below the field
    *after*, or below the heading when that is missing too.
    """
    newline = dominant_newline(unit)
    lines = scan_lines(unit).lines
    found = _find(lines, name)
    if found is not None:
        return unit[: found.start] + f"{name}: {value}" + unit[found.content_end :]
    anchor = _find(lines, after) or lines[0]
    return unit[: anchor.content_end] + f"{newline}{name}: {value}" + unit[anchor.content_end :]


def remove_field(unit: str, name: str) -> str:
    """Return the entry text *unit* without the line of the field *name*, its line end included."""
    found = _find(scan_lines(unit).lines, name)
    return unit if found is None else unit[: found.start] + unit[found.end :]


def _find(lines: list[Line], name: str) -> Line | None:
    for line in lines[1:]:
        match = None if line.is_opaque else _LABEL.match(line.content)
        if match is None:
            continue
        if match[1] == name:
            return line
        if match[1] == REASON:
            # Whatever follows `Reason:` is its text, however much it looks like a field.
            return None
    return None
