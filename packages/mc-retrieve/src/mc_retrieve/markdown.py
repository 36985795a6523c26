"""A Markdown file as a record: its frontmatter, and the links in its text.

Source: Cortex contract, sections 3.1 and 13 (D13, D22).
"""

from __future__ import annotations

from mc_schema.private import WHITE_SPACE

from mc_retrieve.record import DEFAULT_SOURCE, EPOCH, Record, path_id

TYPE_CHECKING = False  # importing `typing` costs a command more than reading a hundred records
if TYPE_CHECKING:
    from typing import Final

LINE_TERMINATORS: Final = "\n\r\u2028\u2029"
_BLANKS: Final = "".join(sorted(set(WHITE_SPACE) - set(LINE_TERMINATORS)))
_QUOTES: Final = ('"', "'")
_WORD_ENDS: Final = frozenset(WHITE_SPACE + "#")
_FENCE_AFTER_LINE: Final = b"\n---"
_LINK: Final = "slug:"
_WORK: Final = "WORK/"
_FIELDS: Final = frozenset(
    {
        "id", "type", "title", "name", "created", "date", "ts", "updated", "last_updated",
        "source_kind", "source", "source_session", "valid_from", "valid_until",
    }
)  # fmt: skip


def parse_markdown(content: bytes, path: str) -> Record:
    """Return the record that *content*, a whole file without private spans, is.

    Whether its values make sense is not looked at here.
    """
    get = _parse_frontmatter(content).get
    created = get("created") or get("date") or get("ts") or EPOCH
    record = Record(
        get("id") or path_id(path),
        get("type") or ("work" if _WORK in path else "memory"),
        get("title") or get("name") or path,
        created,
        get("updated") or get("last_updated") or created,
        get("source_kind") or get("source") or DEFAULT_SOURCE,
        get("source_session") or None,
        path,
    )
    record.valid_from = get("valid_from") or None
    record.valid_until = get("valid_until") or None
    return record


def find_links(content: str) -> list[str]:
    """Return the targets of all links in *content*, in order, repeats kept.

    A link is ``slug: target`` or ``- slug: target`` at the start of a line, with the target on the
    same line. No character is looked at more than twice.
    """
    links: list[str] = []
    seen = 0
    start = content.find(_LINK)
    while start >= 0:
        is_link = _starts_line(content[seen:start], is_first=seen == 0)
        seen = start + len(_LINK)
        if is_link:
            word, seen = _next_word(content, seen)
            if word:
                links.append(_unquote(word))
        start = content.find(_LINK, seen)
    return links


def _parse_frontmatter(content: bytes) -> dict[str, str]:
    head = _frontmatter(content)
    if head is None:
        return {}
    text = head.decode("utf-8")
    if "\r" in text or not text.isascii():
        return _parse_fields(text)
    fields: dict[str, str] = {}
    for line in text.split("\n"):
        key, colon, value = line.partition(":")
        if key in _FIELDS and colon:
            value = value.strip(" \t")
            if value and (value[0] in _QUOTES or value[-1] in _QUOTES):
                value = _unquote(value)
            fields[key] = value
    return fields


def _parse_fields(text: str) -> dict[str, str]:
    """Return the fields of *text* when it may hold unusual white space and line terminators."""
    fields: dict[str, str] = {}
    for line in text.split("\n"):
        key, colon, value = line.removesuffix("\r").partition(":")
        if key not in _FIELDS or not colon:
            continue
        value = value.lstrip(WHITE_SPACE)
        if not any(terminator in value for terminator in LINE_TERMINATORS):
            fields[key] = _unquote(value.rstrip(WHITE_SPACE))
    return fields


def _frontmatter(content: bytes) -> bytes | None:
    if content.startswith(b"---\n"):
        start = 4
    elif content.startswith(b"---\r\n"):
        start = 5
    else:
        return None
    close = content.find(_FENCE_AFTER_LINE, start)
    while close >= 0:
        after = close + len(_FENCE_AFTER_LINE)
        if content[after : after + 1] in {b"", b"\n"} or content[after : after + 2] == b"\r\n":
            is_crlf = close > start and content[close - 1] == ord("\r")
            return content[start : close - is_crlf]
        close = content.find(_FENCE_AFTER_LINE, after)
    return None


def _unquote(value: str) -> str:
    if value.startswith(_QUOTES):
        value = value[1:]
    return value[:-1] if value.endswith(_QUOTES) else value


def _starts_line(before: str, *, is_first: bool) -> bool:
    """Return whether *before* ends with the start of a line, blanks and one dash aside."""
    rest = before.rstrip(_BLANKS)
    if rest.endswith("-"):
        rest = rest[:-1].rstrip(_BLANKS)
    return rest[-1] in LINE_TERMINATORS if rest else is_first


def _next_word(content: str, start: int) -> tuple[str, int]:
    """Return the run of characters after the blanks at *start*, and where to go on from."""
    length = len(content)
    line_end = content.find("\n", start)
    line = content[start : line_end if line_end >= 0 else length].strip(" ")
    if line.isascii() and line.isprintable() and " " not in line and "#" not in line:
        return line, start + len(line)
    while start < length and content[start] in _BLANKS:
        start += 1
    end = start
    while end < length and content[end] not in _WORD_ENDS:
        end += 1
    return content[start:end], end
