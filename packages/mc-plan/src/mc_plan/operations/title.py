"""Titles taken from messages."""

from __future__ import annotations

import re
from typing import Final

TITLE_CHARS: Final = 72
_SENTENCE_END: Final = re.compile(r"[.!?](?=\s|$)|[。！？]")
_FENCE: Final = re.compile(r"\s*(?:`{3,}|~{3,})")
_COMMENT_MARK: Final = re.compile(r"<!-*|-*->")
_ELLIPSIS: Final = "…"


def title_of(message: str) -> str:
    """Return the first sentence or line of *message*, whichever is shorter, as a title.

    It ends before the first ``.``, ``!`` or ``?`` that white space follows, or before ``。！？``;
    white space is folded; more than 72 characters are cut at a word boundary, with ``…``. Lines
    that open a code fence and comment marks are left out. Source: design section 4.
    """
    for line in message.split("\n"):
        text = " ".join(_COMMENT_MARK.sub(" ", line).split())
        if not text or _FENCE.match(text):
            continue
        sentence = _SENTENCE_END.split(text, maxsplit=1)[0].rstrip()
        return shortened(sentence or text)
    return ""


def shortened(text: str) -> str:
    """Return *text*, one line, cut at a word boundary to at most 72 characters."""
    if len(text) <= TITLE_CHARS:
        return text
    head = text[:TITLE_CHARS]
    # The cut is a word boundary when the next character is a blank, too.
    kept = head[: TITLE_CHARS - 1]
    words = kept if text[TITLE_CHARS - 1] == " " else kept.rpartition(" ")[0]
    return (words or kept).rstrip() + _ELLIPSIS


def folded_title(message: str) -> str:
    """Return the title of Protocol 0.5: white space folded, the first 72 characters (A8)."""
    return " ".join(_COMMENT_MARK.sub(" ", message).split())[:TITLE_CHARS].rstrip()
