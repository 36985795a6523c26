"""The managed block in `AGENTS.md`, `CLAUDE.md` and `GEMINI.md` that points agents to the memory.

Source: protocol-0.5.md A10, B1 and faults 2, 29, 30; guide section 九 (the trust boundary).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from mc_schema.document import Document, normalise_newlines
from mc_schema.errors import SchemaError
from mc_schema.lines import dominant_newline, scan_lines
from mc_schema.manifest import fold_heading
from mc_schema.trust import wrapped

from mc_plan.errors import MalformedFileError
from mc_plan.project import DEFAULT_MEMORY_DIR
from mc_plan.template import render_template

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mc_schema.lines import Line

AGENT_FILES: Final = {"codex": "AGENTS.md", "claude": "CLAUDE.md", "gemini": "GEMINI.md"}
START: Final = "<!-- memory-custodian:start -->"
END: Final = "<!-- memory-custodian:end -->"

WRITTEN: Final = "written"
KEPT: Final = "kept"
ADDED: Final = "block added"
REPLACED: Final = "block replaced"
UNMANAGED: Final = "kept (unmanaged legacy section)"

_TITLE: Final = "memorycustodian"
_LEGACY_MARKS: Final = ("This project uses MemoryCustodian", "manifest.md")


class Span(NamedTuple):
    """A stretch of a text, without the line end behind it."""

    start: int
    end: int


def block_of(memory_dir: str) -> str:
    """Return the block for the memory directory *memory_dir*, LF line ends, no final newline."""
    option = "" if memory_dir == DEFAULT_MEMORY_DIR else f" with `--memory-dir {memory_dir}`"
    values = {
        "memory_dir": memory_dir,
        "memory_dir_option": option,
        "trust_boundary": wrapped(),
    }
    return render_template("agents/block.md", values).rstrip("\n")


def with_block(text: str | None, block: str, *, path: str, replace: bool) -> tuple[str, str]:
    """Return the agent file with *block*, and what was done to it.

    Args:
        text: The file; ``None`` when there is none.
        block: From `block_of`.
        path: Repo-relative, for errors.
        replace: Whether an existing block, or an older section, is replaced.

    Raises:
        MalformedFileError: The markers are not one pair, there are two older sections or one that
            is not ours, or an unclosed fence or comment would hide the block.
    """
    if text is None:
        return f"{render_template('agents/new-file.md')}\n{block}\n", WRITTEN
    span, done = find_block(text, path), REPLACED
    if span is None:
        span, done = _legacy_section(text, path, required=replace), REPLACED
        if span is not None and not replace:
            return text, UNMANAGED
    if span is None:
        after, done = _appended(text, block, path), ADDED
    elif not replace or normalise_newlines(text[span.start : span.end]) == block:
        return text, KEPT
    else:
        written = block.replace("\n", dominant_newline(text))
        after = text[: span.start] + written + text[span.end :]
    found = find_block(after, path)
    if found is None or normalise_newlines(after[found.start : found.end]) != block:
        raise MalformedFileError(
            "the block would be hidden by a code fence or comment",
            where=path,
            hint="close the fence or comment by hand, then run the command again",
        )
    return after, done


def find_block(text: str, path: str) -> Span | None:
    """Return where the managed block is, markers included; ``None`` without one.

    Markers are lines of their own outside code fences.

    Raises:
        MalformedFileError: There is not exactly one start and one end, in this order.
    """
    lines = [line for line in scan_lines(text).lines if not line.is_opaque]
    starts = [line for line in lines if line.content.strip() == START]
    ends = [line for line in lines if line.content.strip() == END]
    if not starts and not ends:
        return None
    if len(starts) != 1 or len(ends) != 1 or starts[0].start > ends[0].start:
        raise MalformedFileError(
            "malformed block: expected one start marker and one end marker below it",
            where=path,
            hint=f"leave one `{START}` and one `{END}` around the block, or remove both",
            code="malformed_block",
        )
    return Span(starts[0].start, ends[0].content_end)


def _legacy_section(text: str, path: str, *, required: bool) -> Span | None:
    """Return the section that old versions wrote without markers.

    Raises:
        MalformedFileError: *required*, and there are two or the one there is not ours.
    """
    lines = scan_lines(text).lines
    found = [index for index, line in enumerate(lines) if _is_title(line)]
    if not found:
        return None
    span = _section(lines, found[0])
    is_ours = all(mark in text[span.start : span.end] for mark in _LEGACY_MARKS)
    if required and (len(found) > 1 or not is_ours):
        count = "more than one section" if len(found) > 1 else "a section that is not ours"
        raise MalformedFileError(
            f"{count} called `## MemoryCustodian`",
            where=f"{path}:{found[-1] + 1}",
            hint="remove or rename it by hand, then run the command again",
            code="malformed_block",
        )
    return span


def _is_title(line: Line) -> bool:
    return (
        line.content.startswith("## ")
        and not line.is_opaque
        and fold_heading(line.content) == _TITLE
    )


def _section(lines: Sequence[Line], index: int) -> Span:
    last = index
    for number in range(index + 1, len(lines)):
        line = lines[number]
        if line.content.startswith(("# ", "## ")) and not line.is_opaque:
            break
        if not line.is_blank:
            last = number
    return Span(lines[index].start, lines[last].content_end)


def _appended(text: str, block: str, path: str) -> str:
    try:
        return Document.parse(text).append(block)
    except SchemaError as error:
        raise MalformedFileError(
            error.what, where=path, hint="close it by hand, then run the command again"
        ) from None
