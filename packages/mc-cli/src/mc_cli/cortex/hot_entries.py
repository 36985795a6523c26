"""Hot memory as text: one entry a line between two markers, and everything else kept.

The parser is lenient, since people edit these files; the writer is canonical, and writing what it
wrote changes nothing. Nothing is dropped silently: what would be lost refuses the write.

Source: governed writes, "Hot memory".
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from mc_schema.private import WHITE_SPACE, strip_private

from mc_cli.cortex import bounds
from mc_cli.cortex.governance import EINVAL_TARGET, GovernanceError

BEGIN: Final = "<!-- BEGIN ENTRIES -->"
END: Final = "<!-- END ENTRIES -->"
PREFIXES: Final = ("NAME", "ROLE", "RELATION", "PREFERENCE", "RULE")

_ENTRY: Final = re.compile(rf"({'|'.join(PREFIXES)}):([^\n]*)")
_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
_FENCE: Final = "---"


class HotEntry(NamedTuple):
    """One entry as it stands in a file."""

    text: str
    """Canonical: ``RULE: text``."""
    line: int
    """1-based."""


class HotFile(NamedTuple):
    """A hot memory file, taken apart."""

    before: tuple[str, ...]
    """Lines, with their ends, that come before the entries; no entries and no markers."""
    entries: tuple[HotEntry, ...]
    after: tuple[str, ...]
    """The lines that come after the entries."""
    newline: str
    """The file's dominant line end."""
    has_frontmatter: bool


def parse_entry(text: str, name: str) -> str:
    """Return the entry *text* in its canonical form.

    Args:
        text: One line, ``NAME: ``, ``ROLE: ``, ``RELATION: ``, ``PREFERENCE: `` or ``RULE: `` and
            1 to 256 units of text.
        name: How an error calls it.

    Raises:
        GovernanceError: It is none.
    """
    line = text.strip(WHITE_SPACE)
    entry = None if re.search(r"[\n\t\u2028\u2029]", line) else _canonical(line, strict=True)
    if entry is None:
        prefixes = ", ".join(f"`{prefix}: `" for prefix in PREFIXES)
        raise GovernanceError(
            f"{name} is not an entry",
            hint=f"write one line that begins with one of {prefixes} and goes on with text",
        )
    length = bounds.units(entry.partition(": ")[2])
    if length > bounds.MAX_ENTRY:
        raise GovernanceError(
            f"{name} is {length - bounds.MAX_ENTRY} characters over",
            hint=f"keep an entry to {bounds.MAX_ENTRY} characters after its prefix",
        )
    return entry


def parse_hot_file(text: str, path: str) -> HotFile:
    """Return *text*, the content of *path*, taken apart.

    Entries are the lines between the markers, and lines after the frontmatter that begin like one.

    Raises:
        GovernanceError: ``EINVAL_TARGET``: a line between the markers is no entry, or an entry lies
            in a private span; the line is named, nothing of it is repeated.
    """
    parsed = _parse(text, path)
    if strip_private(text) != text:
        visible = _parse(strip_private(text), path)
        if [entry.text for entry in visible.entries] != [entry.text for entry in parsed.entries]:
            raise GovernanceError(
                "the file has entries inside a private span, and rewriting it could show them",
                where=path,
                hint="take the entries or the private marks out by hand",
                code=EINVAL_TARGET,
            )
    return parsed


def format_hot_file(file: HotFile, entries: tuple[str, ...]) -> str:
    """Return the text of *file* with *entries* between its markers."""
    end = file.newline
    before = "".join(file.before)
    if before and not before.endswith("\n"):
        before += end
    text = before + end.join([BEGIN, *entries, END]) + end + "".join(file.after)
    # Without the entry that stood above it, a `---` could become the first line of the file, and
    # what follows its frontmatter, the entries too.
    if not file.has_frontmatter and _after_frontmatter(_LINE.findall(text)):
        return end + text
    return text


def require_sound(file: HotFile, path: str) -> None:
    """Check the entries that a write would keep.

    Raises:
        GovernanceError: ``EINVAL_TARGET``: one is over-long or repeats another; its line is named.
    """
    seen: set[str] = set()
    for entry in file.entries:
        fault = ""
        if entry.text in seen:
            fault = "repeats another one"
        elif bounds.units(entry.text.partition(": ")[2]) > bounds.MAX_ENTRY:
            fault = f"has more than {bounds.MAX_ENTRY} characters"
        if fault:
            raise GovernanceError(
                f"an entry in the file {fault}",
                where=f"{path}:{entry.line}",
                hint="correct that line by hand, or replace all entries with `op` set",
                code=EINVAL_TARGET,
            )
        seen.add(entry.text)


def dominant_newline(text: str) -> str:
    """Return the line end that most lines of *text* have; LF where it has none."""
    crlf = text.count("\r\n")
    return "\r\n" if crlf > text.count("\n") - crlf else "\n"


def _parse(text: str, path: str) -> HotFile:
    lines = _LINE.findall(text)
    newline = dominant_newline(text)
    bare = [line.strip(" \t\r\n\ufeff") for line in lines]
    start = _after_frontmatter(lines)
    begin = next((at for at in range(start, len(lines)) if bare[at] == BEGIN), None)
    stop = None
    if begin is not None:
        stop = next((at for at in range(begin, len(lines)) if bare[at] == END), None)
    before = list(lines[:start])
    after: list[str] = []
    entries: list[HotEntry] = []
    for at in range(start, len(lines)):
        inside = begin is not None and stop is not None and begin < at < stop
        entry = _canonical(bare[at]) if inside else _canonical(lines[at].rstrip("\r\n"))
        if bare[at] in (BEGIN, END):
            continue
        if entry is not None:
            entries.append(HotEntry(entry, at + 1))
        elif not inside:
            (before if begin is None or at < begin else after).append(lines[at])
        elif bare[at]:
            raise GovernanceError(
                "a line between the markers is not an entry",
                where=f"{path}:{at + 1}",
                hint="make it an entry, or move it out of the markers, by hand",
                code=EINVAL_TARGET,
            )
    return HotFile(tuple(before), tuple(entries), tuple(after), newline, start > 0)


def _canonical(line: str, *, strict: bool = False) -> str | None:
    match = _ENTRY.fullmatch(line)
    if match is None or (strict and not match[2].startswith(" ")):
        return None
    text = match[2].strip(WHITE_SPACE)
    return f"{match[1]}: {text}" if text else None


def _after_frontmatter(lines: list[str]) -> int:
    """Return the index of the first line after the frontmatter, 0 where there is none."""
    if not lines or lines[0].lstrip("\ufeff").rstrip("\r\n") != _FENCE:
        return 0
    for at in range(2, len(lines)):
        if lines[at].rstrip("\r\n") == _FENCE:
            return at + 1
    return 0
