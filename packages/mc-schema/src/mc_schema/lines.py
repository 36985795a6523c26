"""Lines of a Markdown text, and which of them are opaque (inside a fence or an HTML comment)."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_FENCE: Final = re.compile(r"([ \t]*)(`{3,}|~{3,})([^\r\n]*)")
_LIST_MARKER: Final = re.compile(r"( {0,3})([-*+]|[0-9]{1,9}[.)])([ \t]+|$)", re.ASCII)
_INDENT: Final = re.compile(r"[ \t]*")
_CODE_SPAN: Final = re.compile(r"`[^`]*`")
_CONFLICT: Final = ("<<<<<<< ", "||||||| ", ">>>>>>> ")
_TAB: Final = 4
_MAX_INDENT: Final = 3
BOM: Final = "\ufeff"


class Line(NamedTuple):
    """One line of a text."""

    start: int
    """Offset of its first character; a BOM before the first line is skipped."""
    content_end: int
    """Offset of its line end."""
    end: int
    """Offset after its line end."""
    content: str
    """The line without its line end and, on the first line, without a BOM."""
    in_fence: bool
    """Whether the line belongs to a fenced code block, its fence lines included."""
    in_comment: bool
    """Whether the line began inside, or begins, a multi-line HTML comment."""

    @property
    def is_opaque(self) -> bool:
        """Whether the line can be no structure."""
        return self.in_fence or self.in_comment

    @property
    def is_blank(self) -> bool:
        """Whether the line holds nothing but white space."""
        return not self.content.strip()


class Scan(NamedTuple):
    """The lines of a text and what was left open at its end."""

    lines: list[Line]
    open_fence: int
    """1-based number of the line that opens an unclosed fence, else 0."""
    open_comment: int
    """1-based number of the line that opens an unclosed comment, else 0."""
    conflict: int
    """1-based number of the first merge-conflict marker outside fences, else 0."""


class _Fence(NamedTuple):
    marker: str
    container: int
    line: int


def scan_lines(text: str) -> Scan:
    """Split *text* into lines and mark the opaque ones.

    Lines end at LF, CRLF or a lone CR only: U+2028 and form feeds stay inside a line. Fences are
    those of CommonMark (backticks or tildes, three or more, indented at most three columns or
    inside a list item, closed by the same character at least as long); a fence inside a list item
    ends with the item. Source: design section 3.
    """
    return _Scanner(text).run()


def dominant_newline(text: str) -> str:
    """Return the line end that *text* uses most, LF when it has none."""
    crlf = text.count("\r\n")
    lf = text.count("\n") - crlf
    cr = text.count("\r") - crlf
    if crlf > lf and crlf >= cr:
        return "\r\n"
    return "\r" if cr > lf else "\n"


def indent_width(content: str) -> int:
    """Return the columns of leading white space; a tab reaches the next multiple of four."""
    width = 0
    for character in content:
        if character == " ":
            width += 1
        elif character == "\t":
            width += _TAB - width % _TAB
        else:
            break
    return width


class _Scanner:
    """The state of one pass: at most one open fence or comment, and the open list item."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.fence: _Fence | None = None
        self.comment = 0
        self.container = 0
        self.conflict = 0
        self.last_close = text.rfind("-->")

    def run(self) -> Scan:
        lines: list[Line] = []
        for number, match in enumerate(_LINE.finditer(self.text), 1):
            start, content = match.start(), match[0].rstrip("\r\n")
            content_end = start + len(content)
            if number == 1 and content.startswith(BOM):
                start, content = 1, content[1:]
            in_comment = self._comment_line(content)
            in_fence = not in_comment and self._fence_line(content, number)
            if not in_fence and not self.conflict and content.startswith(_CONFLICT):
                self.conflict = number
            if not in_fence and not in_comment:
                self._list_line(content)
                in_comment = self._opens_comment(content, start, number)
            lines.append(Line(start, content_end, match.end(), content, in_fence, in_comment))
        return Scan(lines, self.fence.line if self.fence else 0, self.comment, self.conflict)

    def _comment_line(self, content: str) -> bool:
        if not self.comment:
            return False
        if "-->" in content:
            self.comment = 0
        return True

    def _fence_line(self, content: str, number: int) -> bool:
        if self.fence is None:
            self.fence = self._opened_fence(content, number)
            return self.fence is not None
        stripped = content.strip()
        width = indent_width(content)
        if stripped and width < self.fence.container:
            # The list item is over, and its fence with it; this line may open another one.
            self.fence = None
            self.container = 0
            return self._fence_line(content, number)
        marker = self.fence.marker
        if (
            stripped.startswith(marker)
            and not stripped.strip(marker[0])
            and width <= self.fence.container + _MAX_INDENT
        ):
            self.fence = None
        return True

    def _opened_fence(self, content: str, number: int) -> _Fence | None:
        if "```" not in content and "~~~" not in content:
            return None
        body, container = content, self.container
        item = _LIST_MARKER.match(content)
        if item and indent_width(content) < max(self.container, _MAX_INDENT + 1):
            # A fence may stand directly behind a list marker: `- ~~~`.
            body, container = content[item.end() :], item.end()
        match = _FENCE.match(body)
        if match is None or (match[2][0] == "`" and "`" in match[3]):
            return None
        width = indent_width(body) if item else indent_width(content)
        if not item and width < self.container:
            container = 0
        if width > (_MAX_INDENT if item or not container else container + _MAX_INDENT):
            return None
        return _Fence(match[2], container, number)

    def _list_line(self, content: str) -> None:
        if not content.strip():
            return
        marker = _LIST_MARKER.match(content)
        if marker and indent_width(content) < max(self.container, _MAX_INDENT + 1):
            self.container = marker.end() if marker[3] else marker.end() + 1
        elif indent_width(content) < self.container:
            self.container = 0

    def _opens_comment(self, content: str, offset: int, number: int) -> bool:
        if "<!--" not in content:
            return False
        bare = _CODE_SPAN.sub(lambda span: " " * len(span[0]), content)
        position = 0
        while (position := bare.find("<!--", position)) >= 0:
            close = bare.find("-->", position + 2)
            if close < 0:
                at_start = not bare[:position].strip()
                # Prose that mentions an opener hides nothing unless something closes it.
                if at_start or self.last_close > offset + position:
                    self.comment = number
                return at_start
            position = close + 3
        return False
