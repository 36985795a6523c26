"""Text that goes into memory files is data: it must not read as structure (design section 4)."""

from __future__ import annotations

import re
from typing import Final

from mc_schema.entry import LABELS
from mc_schema.errors import InvalidTextError
from mc_schema.lines import BOM, scan_lines
from mc_schema.private import strip_private

MAX_BODY_CHARS: Final = 65_536
MAX_METADATA_CHARS: Final = 1_024

_UNPRINTABLE: Final = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
    r"|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
    r"|[\ud800-\udfff]"
)
_HEADING: Final = re.compile(r"\s{0,3}#{1,6}(?:\s|$)")
_LABEL: Final = re.compile(rf"\s*(?:{'|'.join(LABELS)}):", re.IGNORECASE | re.ASCII)
_MARKER: Final = re.compile(r"<!--\s*memory-custodian:", re.IGNORECASE | re.ASCII)
_METADATA: Final = re.compile(
    r"\s*(?:[-*+]\s+)?(?:protocol_version|entry_schema_version|initialized_with|last_migrated_with"
    r"|project_id|admission_policy)\s*:",
    re.IGNORECASE | re.ASCII,
)
_ROUTE: Final = re.compile(r"\s*(?:load|also load|load if present):\s*", re.IGNORECASE | re.ASCII)
_CONFLICT: Final = re.compile(r"(?:<{7}|\|{7}|>{7}) |={7}\s*$")
# No line ends here, but to an editor or another tool that shows the text.
_FOREIGN_LINE_END: Final = re.compile(r"[\u2028\u2029]")
_LINE_END: Final = re.compile(r"[\r\n\u2028\u2029\x0b\x0c\x85]")

_EDGE: Final = (
    BOM + "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""White space as `str.strip` knows it, and the byte order mark, which it does not."""

_REWRITE: Final = "write it in a fenced code block, or begin the line with another word"


def require_body(text: str, name: str) -> str:
    """Return *text*, trimmed and with LF line ends, when it can be a body.

    Args:
        text: A message or reason without private spans.
        name: How the caller names it in an error, for example ``message``.

    Raises:
        InvalidTextError: It is empty, longer than 65,536 characters, holds control or direction
            characters, lone surrogates or private marks, or has a line outside code fences that
            would read as structure. ``where`` names the line.
    """
    text = _trimmed(text.replace("\r\n", "\n").replace("\r", "\n"))
    _require_printable(text, name, MAX_BODY_CHARS)
    scan = scan_lines(text)
    if scan.open_fence:
        raise _refused(name, "opens a code fence that is never closed", scan.open_fence, "close it")
    open_comment = scan.open_comment or scan.loose_comment
    if open_comment:
        fault = "opens an HTML comment that is never closed"
        raise _refused(name, fault, open_comment, "close it with `-->`, or write it in back-ticks")
    for number, line in enumerate(scan.lines, 1):
        if line.in_fence:
            continue
        for part in _FOREIGN_LINE_END.split(line.content):
            fault = _line_fault(part)
            if fault:
                raise _refused(name, fault, number, _REWRITE)
    return text


def require_line(text: str, name: str) -> str:
    """Return *text*, trimmed, when it can be a metadata string on one line.

    Raises:
        InvalidTextError: It is empty, longer than 1,024 characters, has a line end, holds control
            or direction characters, lone surrogates, private marks or an HTML comment mark.
    """
    text = _trimmed(text)
    if _LINE_END.search(text):
        raise _refused(name, "has more than one line", 0, "write it on one line")
    _require_printable(text, name, MAX_METADATA_CHARS)
    if "<!--" in text or "-->" in text:
        raise _refused(name, "holds an HTML comment mark", 0, "leave the mark out")
    return text


def require_title(text: str) -> str:
    """Return *text*, trimmed, when it can be a title: a line that reads as nothing else.

    Raises:
        InvalidTextError: As `require_line`; or it would read as structure on a line of its own, as
            a title does in the formats and tools that list titles.
    """
    text = require_line(text, "title")
    fault = _line_fault(text)
    if fault:
        raise _refused(
            "title", fault.removeprefix("has a line that "), 0, "begin it with another word"
        )
    return text


def _trimmed(text: str) -> str:
    """Return *text* without white space and byte order marks at its ends."""
    return text.strip(_EDGE)


def _require_printable(text: str, name: str, limit: int) -> None:
    if len(text) > limit:
        raise _refused(name, f"is longer than {limit:,} characters", 0, "shorten it")
    match = _UNPRINTABLE.search(text)
    if match:
        line = text.count("\n", 0, match.start()) + 1
        if "\ud800" <= match[0] <= "\udfff":
            # How Python hands over bytes of the command line that it cannot decode.
            raise _refused(name, "holds bytes that are not UTF-8", line, "give it in UTF-8")
        character = f"U+{ord(match[0]):04X}"
        raise _refused(
            name, f"holds the control or direction character {character}", line, "remove it"
        )
    if not any(character.isprintable() and not character.isspace() for character in text):
        raise _refused(name, "is empty", 0, "give some text; private spans are removed first")
    if strip_private(text) != text:
        raise _refused(name, "holds a private mark", 0, "leave out `<private>` and what it hides")


def _line_fault(content: str) -> str:
    if _HEADING.match(content):
        return "has a line that would read as a heading"
    if _LABEL.match(content):
        return "has a line that would read as a field label"
    if _MARKER.search(content) or _ROUTE.fullmatch(content) or _METADATA.match(content):
        return "has a line that would read as a manifest or managed-block marker"
    if _CONFLICT.match(content):
        return "has a line that would read as a merge-conflict marker"
    return ""


def _refused(name: str, fault: str, line: int, hint: str) -> InvalidTextError:
    where = f"{name}, line {line}" if line else ""
    return InvalidTextError(f"the {name} {fault}", where=where, hint=hint)
