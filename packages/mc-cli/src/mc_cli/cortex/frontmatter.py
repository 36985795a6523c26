"""Editing the frontmatter of a note line by line, with the reader's own idea of what it is.

Source: Cortex contract, section 3.1; governed writes ("nothing else of it changes").
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from mc_retrieve.markdown import LINE_TERMINATORS, find_links
from mc_schema.private import WHITE_SPACE

from mc_cli.cortex.governance import EINVAL_TARGET, GovernanceError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mc_cli.cortex.items import Link

_START: Final = re.compile(r"\ufeff?---\r?\n")
_CLOSE: Final = re.compile(r"\n---(?=\r?\n|\Z)")
_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
_QUOTES: Final = ('"', "'")
_RELATED: Final = "related"
_EMPTY_LIST: Final = "[]"


class Frontmatter(NamedTuple):
    """A note, cut at its frontmatter. Joined again it is the same text."""

    opening: str
    lines: tuple[str, ...]
    """Between the fences, each with its line end."""
    rest: str
    """The closing fence and all that follows."""

    def text(self) -> str:
        """Return the whole note."""
        return self.opening + "".join(self.lines) + self.rest

    def value(self, key: str) -> str | None:
        """Return the value of *key* as the reader sees it; ``None`` when it has none."""
        at = self._last(key)
        return None if at is None else _value(self.lines[at]) or None

    def with_value(self, key: str, value: str, *, after: str) -> Frontmatter:
        """Return the frontmatter with *key* set; a new line comes after the line of *after*."""
        at = self._last(key)
        if at is not None:
            end = _end_of(self.lines[at])
            return self._spliced(at, at + 1, [f"{key}: {value}{end}"])
        neighbour = self._last(after)
        at = len(self.lines) if neighbour is None else neighbour + 1
        return self._spliced(at, at, [f"{key}: {value}{self._newline()}"])

    def with_links(self, links: Iterable[Link], path: str) -> Frontmatter:
        """Return the frontmatter with those *links* added whose slugs its `related` lacks.

        Raises:
            GovernanceError: ``EINVAL_TARGET``: `related` is written in another form; *path* is
                named.
        """
        start, stop = self._related_block(path)
        known = set(find_links("".join(self.lines)))
        added = [link for link in links if link.slug not in known]
        if not added:
            return self
        end = self._newline()
        lines = related_lines(added, end)
        if start == stop:
            return self._spliced(start, stop, [f"{_RELATED}:{end}", *lines])
        head = [f"{_RELATED}:{_end_of(self.lines[start])}", *self.lines[start + 1 : stop]]
        return self._spliced(start, stop, [*head, *lines])

    def link_count(self) -> int:
        """Return how many links the frontmatter has."""
        return len(find_links("".join(self.lines)))

    def _related_block(self, path: str) -> tuple[int, int]:
        start = self._last(_RELATED)
        if start is None:
            return len(self.lines), len(self.lines)
        stop = start + 1
        while stop < len(self.lines) and self.lines[stop][:1] in (" ", "\t", "-"):
            stop += 1
        value = self.lines[start].partition(":")[2].strip(WHITE_SPACE)
        if value not in ("", _EMPTY_LIST) or (value and stop > start + 1):
            raise GovernanceError(
                "the note's `related` is not a list of `- slug:` lines",
                where=path,
                hint="rewrite it in that form by hand",
                code=EINVAL_TARGET,
            )
        return start, stop

    def _last(self, key: str) -> int | None:
        found = None
        for at, line in enumerate(self.lines):
            if line.startswith(f"{key}:") and _value(line) is not None:
                found = at
        return found

    def _newline(self) -> str:
        return "\r\n" if self.opening.endswith("\r\n") else "\n"

    def _spliced(self, start: int, stop: int, lines: list[str]) -> Frontmatter:
        return self._replace(lines=(*self.lines[:start], *lines, *self.lines[stop:]))


def split_frontmatter(text: str) -> Frontmatter | None:
    """Return *text* cut at its frontmatter, or ``None`` when the reader would see none."""
    opening = _START.match(text)
    if opening is None:
        return None
    close = _CLOSE.search(text, opening.end())
    if close is None:
        return None
    start = close.start() + 1
    lines = _LINE.findall(text[opening.end() : start])
    return Frontmatter(opening[0], tuple(lines), text[start:])


def related_lines(links: Iterable[Link], newline: str = "\n") -> list[str]:
    """Return *links* as lines below ``related:``."""
    return [
        line
        for link in links
        for line in (f"  - slug: {link.slug}{newline}", f"    type: {link.type}{newline}")
    ]


def quote(value: str) -> str:
    """Return the one-line text *value* so that the reader gives exactly it.

    The reader takes one quote off each end and knows no escapes. Where no choice of quotes would
    be YAML too, the double ones are used all the same.
    """
    mark = "'" if ('"' in value or "\\" in value) and "'" not in value else '"'
    return f"{mark}{value}{mark}"


def _value(line: str) -> str | None:
    """Return the value of a ``key: value`` line, ``None`` where a stray line end voids it."""
    value = line.partition(":")[2].removesuffix("\n").removesuffix("\r").lstrip(WHITE_SPACE)
    if any(terminator in value for terminator in LINE_TERMINATORS):
        return None
    value = value.rstrip(WHITE_SPACE)
    if value.startswith(_QUOTES):
        value = value[1:]
    return value[:-1] if value.endswith(_QUOTES) else value


def _end_of(line: str) -> str:
    return "\r\n" if line.endswith("\r\n") else "\n"
