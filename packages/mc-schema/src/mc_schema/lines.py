"""Lines of a Markdown text, and which of them are opaque (inside a fence or an HTML comment)."""

from __future__ import annotations

import re

TYPE_CHECKING = False  # importing `typing` would cost a command more than its work
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Final, NamedTuple
else:
    from mc_schema.value import NamedTuple

_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_FENCE: Final = re.compile(r"(`{3,}|~{3,})([^\r\n]*)")
_LIST_MARKER: Final = re.compile(r"(?:[-*+]|[0-9]{1,9}[.)])(?=[ \t]|$)", re.ASCII)
_BLANKS: Final = re.compile(r"[ \t]*")
_COMMENT_TOKEN: Final = re.compile(r"`+|<!--")
_BLOCK_STARTS: Final = frozenset(("", *" \t-*+`~0123456789"))
"""First characters of the lines that can open a fence, continue a list item or leave one open."""
_FENCE_MARKERS: Final = ("```", "~~~")
_OPENERS: Final = (*_FENCE_MARKERS, "<!--")
"""Without one of these no line of a text is opaque."""
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
    number: int = 0
    """1-based number of the line."""
    opaque_from: int = 0
    """Number of the line that opens its fence or comment, 0 when it is in none."""

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
    swallowing: int = 0
    """Like the two above, but 0 when a line at column 0 behind the text would end the block."""
    loose_comment: int = 0
    """1-based number of the first line with a comment opener in prose that nothing closes."""


class _Fence(NamedTuple):
    marker: str
    container: int
    line: int


def scan_lines(text: str) -> Scan:
    """Split *text* into lines and mark the opaque ones.

    Lines end at LF, CRLF or a lone CR only: U+2028 and form feeds stay inside a line. Fences are
    those of CommonMark (backticks or tildes, three or more, indented at most three columns or
    inside a list item, closed by the same character at least as long); a fence inside a list item
    ends with the item. A comment that begins a line ends at its closer or never; one that begins
    in prose is a comment only when the same paragraph closes it, so that a closer written
    elsewhere later can swallow nothing. Source: design section 3.
    """
    if any(opener in text for opener in _OPENERS):
        return _Scanner(text).run()
    return _scan_plain(text)


def dominant_newline(text: str) -> str:
    """Return the line end that *text* uses most, LF when it has none."""
    crlf = text.count("\r\n")
    lf = text.count("\n") - crlf
    cr = text.count("\r") - crlf
    if crlf > lf and crlf >= cr:
        return "\r\n"
    return "\r" if cr > lf else "\n"


def newline_behind(head: str, newline: str) -> str:
    """Return the line end to write directly behind *head*, *newline* when it can be.

    An LF behind a lone CR would not end a line of its own: the two would be one CRLF.
    """
    return "\r" if newline == "\n" and head.endswith("\r") else newline


def spliced(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """Return *text* with each ``(start, end, replacement)`` put in; edits do not overlap."""
    parts, position = [], 0
    for start, end, replacement in sorted(edits):
        parts += [text[position:start], replacement]
        position = end
    parts.append(text[position:])
    return "".join(parts)


def indent_width(content: str) -> int:
    """Return the columns of leading white space; a tab reaches the next multiple of four."""
    return _column_after(0, _blanks(content, 0))


def _blanks(content: str, position: int) -> str:
    match = _BLANKS.match(content, position)
    return match[0] if match else ""


def _column_after(column: int, blanks: str) -> int:
    for character in blanks:
        column += 1 if character == " " else _TAB - column % _TAB
    return column


class _Scanner:
    """The state of one pass: at most one open fence or comment, and the open list items."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.raw = _raw_lines(text)
        self.fence: _Fence | None = None
        self.comment = 0
        self.closed = 0
        self.unclosed_until = 0
        self.items: list[int] = []
        self.conflict = 0
        self.loose_comment = 0

    def run(self) -> Scan:
        lines = [self._line(index, *raw) for index, raw in enumerate(self.raw)]
        open_fence = self.fence.line if self.fence else 0
        in_item = self.fence is not None and self.fence.container > 0
        return Scan(
            lines,
            open_fence,
            self.comment,
            self.conflict,
            swallowing=0 if in_item else open_fence or self.comment,
            loose_comment=self.loose_comment,
        )

    def _line(self, index: int, start: int, content_end: int, end: int, content: str) -> Line:
        opaque_from = self.comment
        in_comment = opaque_from > 0
        if in_comment:
            self._comment_line(index, content)
        in_fence = not in_comment and self._fence_line(content, index + 1)
        if in_fence:
            opaque_from = self.fence.line if self.fence else self.closed
        elif not self.conflict and content.startswith(_CONFLICT):
            self.conflict = index + 1
        if not in_fence and not in_comment and "<!--" in content:
            in_comment = self._opens_comment(index, 0)
            opaque_from = index + 1 if in_comment else 0
        return Line(start, content_end, end, content, in_fence, in_comment, index + 1, opaque_from)

    def _comment_line(self, index: int, content: str) -> None:
        close = content.find("-->")
        if close >= 0:
            self.comment = 0
            if "<!--" in content[close:]:
                self._opens_comment(index, close + 3)

    def _fence_line(self, content: str, number: int) -> bool:
        if self.fence is None:
            if content[:1] not in _BLOCK_STARTS:
                # Most lines: text at column 0 opens nothing and ends every list item.
                self.items.clear()
                return False
            if not content.strip():
                return False
            column, position = self._enter_items(content)
            self.fence = self._opened_fence(content, position, column, number)
            return self.fence is not None
        stripped = content.strip()
        width = indent_width(content)
        if stripped and width < self.fence.container:
            # The list item is over, and its fence with it; this line may open another one.
            self.fence = None
            return self._fence_line(content, number)
        marker = self.fence.marker
        if (
            stripped.startswith(marker)
            and not stripped.strip(marker[0])
            and width <= self.fence.container + _MAX_INDENT
        ):
            self.closed = self.fence.line
            self.fence = None
        return True

    def _enter_items(self, content: str) -> tuple[int, int]:
        """Leave the list items that *content* is no part of and enter those that it opens.

        Returns the column and the offset where the innermost block of the line begins.
        """
        blanks = _blanks(content, 0)
        column, position = _column_after(0, blanks), len(blanks)
        while self.items and column < self.items[-1]:
            self.items.pop()
        while column - self._container() <= _MAX_INDENT:
            marker = _LIST_MARKER.match(content, position)
            if marker is None:
                break
            column, position = column + len(marker[0]), marker.end()
            blanks = _blanks(content, position)
            inner = _column_after(column, blanks)
            # More than four columns behind a marker are one blank and indented code.
            is_code = inner - column > _TAB
            position += len(blanks)
            is_empty = position == len(content)
            self.items.append(column + 1 if is_code or is_empty else inner)
            column = inner
        return column, position

    def _container(self) -> int:
        return self.items[-1] if self.items else 0

    def _opened_fence(self, content: str, position: int, column: int, number: int) -> _Fence | None:
        if not content.startswith(_FENCE_MARKERS, position):
            return None
        match = _FENCE.match(content, position)
        if match is None or (match[1][0] == "`" and "`" in match[2]):
            return None
        if column - self._container() > _MAX_INDENT:
            return None
        return _Fence(match[1], self._container(), number)

    def _opens_comment(self, index: int, position: int) -> bool:
        """Look for an opener from *position* on that its line leaves open; say if it hides."""
        content = self.raw[index][3]
        begins_block = position == 0 and indent_width(content) <= _MAX_INDENT
        opener = _unclosed_opener(content, position)
        if opener < 0:
            return False
        if begins_block and not content[:opener].strip():
            self.comment = index + 1
            return True
        if self._is_closed_in_paragraph(index):
            self.comment = index + 1
        else:
            self.loose_comment = self.loose_comment or index + 1
        # The line itself begins outside the comment: it can be a heading or a bullet.
        return False

    def _is_closed_in_paragraph(self, index: int) -> bool:
        """Say whether a later line of the paragraph of line *index* holds a closer.

        The end of a paragraph without one is remembered: many openers in it look only once.
        """
        if index < self.unclosed_until:
            return False
        for later in range(index + 1, len(self.raw)):
            stripped = self.raw[later][3].strip()
            if not stripped or stripped.startswith(_FENCE_MARKERS):
                self.unclosed_until = later
                return False
            if "-->" in stripped:
                return True
        self.unclosed_until = len(self.raw)
        return False


def _scan_plain(text: str) -> Scan:
    lines = [
        Line(start, content_end, end, content, in_fence=False, in_comment=False, number=number)
        for number, (start, content_end, end, content) in enumerate(_raw_lines(text), 1)
    ]
    conflict = 0
    if any(marker in text for marker in _CONFLICT):
        conflict = next((line.number for line in lines if line.content.startswith(_CONFLICT)), 0)
    return Scan(lines, open_fence=0, open_comment=0, conflict=conflict)


def _raw_lines(text: str) -> list[tuple[int, int, int, str]]:
    """Return ``(start, content_end, end, content)`` of each line; a BOM is left out."""
    raw: list[tuple[int, int, int, str]] = []
    for match in _LINE.finditer(text):
        start, content = match.start(), match[0].rstrip("\r\n")
        content_end = start + len(content)
        if not raw and content.startswith(BOM):
            start, content = 1, content[1:]
        raw.append((start, content_end, match.end(), content))
    return raw


def _unclosed_opener(content: str, position: int) -> int:
    """Return the offset of the comment opener that the line leaves open, or -1.

    Openers inside code spans are text, and what looks like a code span inside a comment is not
    one: whichever comes first wins.
    """
    tokens = list(_COMMENT_TOKEN.finditer(content, position))
    last = {token[0]: number for number, token in enumerate(tokens) if token[0] != "<!--"}
    number = 0
    while number < len(tokens):
        token = tokens[number]
        if token[0] != "<!--":
            number = _after_code_span(tokens, last, number)
            continue
        close = content.find("-->", token.start() + 2)
        if close < 0:
            return token.start()
        number += 1
        while number < len(tokens) and tokens[number].start() < close + 3:
            number += 1
    return -1


def _after_code_span(tokens: Sequence[re.Match[str]], last: dict[str, int], number: int) -> int:
    """Return the number of the token behind the code span that *number* opens, if it does."""
    run = tokens[number][0]
    if last[run] <= number:
        return number + 1
    while True:
        number += 1
        if tokens[number][0] == run:
            return number + 1
