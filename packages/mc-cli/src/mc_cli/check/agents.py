"""Agent instruction files at the project root: the managed block and copied memory."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mc_retrieve.memorydir import SYMLINK, Fault, read_text
from mc_schema.lines import scan_lines
from mc_schema.private import strip_private
from mc_schema.tokens import estimate_tokens
from mc_schema.trust import is_stated_in

from mc_cli.check.finding import WARNING, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mc_cli.check.inspection import Inspection

AGENT_FILES: Final = ("AGENTS.md", "CLAUDE.md", "GEMINI.md")
MAX_TOKENS: Final = 500
_START: Final = "<!-- memory-custodian:start -->"
_END: Final = "<!-- memory-custodian:end -->"
_COPIED: Final = ("# Decisions", "# Constraints", "# Do Not Use", "# Memory Inbox")
_IMPORT: Final = re.compile(r"@(?:\./|/)?docs/memory/")
_REFRESH: Final = "`memory-custodian init --repair` refreshes the block"


def agent_findings(inspection: Inspection) -> Iterator[Finding]:
    """Yield what is wrong with the agent files; a file that is not there is no fault."""
    for name in AGENT_FILES:
        found = read_text(inspection.location.root, name)
        if isinstance(found, Fault):
            # `CLAUDE.md` is often a link to `AGENTS.md`, which is looked at under its own name.
            if found.code != SYMLINK:
                yield Finding(name, found.line, WARNING, "agent_file", found.message)
        elif found is not None:
            yield from _file_findings(name, found.text)


def _file_findings(name: str, text: str) -> Iterator[Finding]:
    yield from _block_findings(name, text)
    tokens = estimate_tokens(strip_private(text))
    if tokens > MAX_TOKENS:
        message = f"{tokens} tokens, more than {MAX_TOKENS}: every session loads all of it"
        yield Finding(name, 0, WARNING, "agent_file_long", message, "move memory to the memory set")
    for number, line in enumerate(scan_lines(text).lines, 1):
        content = line.content.strip()
        if not line.is_opaque and content.startswith(_COPIED):
            message = "a section title of the memory set: copied memory goes stale"
            yield Finding(name, number, WARNING, "copied_memory", message, "remove the copy")
        if name == "GEMINI.md" and not line.is_opaque and _IMPORT.search(content):
            message = "the import loads memory without the manifest"
            yield Finding(name, number, WARNING, "memory_import", message, "remove the import")


def _block_findings(name: str, text: str) -> Iterator[Finding]:
    lines = [line.content.strip() for line in scan_lines(text).lines if not line.in_fence]
    starts = [index for index, line in enumerate(lines) if line == _START]
    ends = [index for index, line in enumerate(lines) if line == _END]
    if not starts and not ends:
        return
    if len(starts) != 1 or len(ends) != 1 or starts[0] > ends[0]:
        message = "the markers of the managed block are not one start and one end"
        yield Finding(name, 0, WARNING, "agent_block_malformed", message, "correct the markers")
    elif not is_stated_in("\n".join(lines[starts[0] : ends[0]])):
        message = "the managed block does not state the trust boundary"
        yield Finding(name, 0, WARNING, "agent_block_without_trust", message, _REFRESH)
