"""Small, healthy projects for tests: write one, then break what the test is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mc_schema.entry import ACTIVE, Entry, format_entry
from mc_schema.ids import parse_entry_id
from mc_schema.trust import TRUST_BOUNDARY

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PROJECT_ID: Final = "3f2b8c1e-7a45-4d19-9c02-5e6f7a8b9c0d"
METADATA: Final = f"""\
## MemoryCustodian Protocol
- protocol_version: 0.6
- entry_schema_version: 1
- initialized_with: memory-custodian 0.10.0
- last_migrated_with: memory-custodian 0.10.0
- project_id: {PROJECT_ID}
- admission_policy: evidence-required
"""
MANIFEST_TEXT: Final = f"""\
# Memory Manifest

{METADATA}
## Trust boundary

{TRUST_BOUNDARY}

## Always load
Load:
- brief.md

## Load by task

### Planning / architecture / refactoring
Load:
- decisions.md
- constraints.md
- do-not-use.md

### Implementation / execution / debugging
Load:
- decisions.md
- constraints.md
- do-not-use.md
Load if present:
- preferences.md

### User-facing artifact / output
Load:
- do-not-use.md
Load if present:
- rules/output.md

### Preferences
Load if present:
- preferences.md

### Change history / recap
Load:
- decisions.md
Load if present:
- changelog.md

### Memory maintenance
Load:
- inbox.md
- do-not-use.md

## Optional module index
### Enabled areas
- `areas/sync.md`: work on sync
- `rules/output.md`: written output, `profiles/git.md`: commits

## Explicit only
- archive/

## Context budget
- brief.md: 500 tokens max
- decisions.md: 800 tokens max
- constraints.md: 400 tokens max
"""
_HEALTHY: Final = {
    "manifest.md": MANIFEST_TEXT,
    "brief.md": "# Project Brief\n\nPurpose:\n- Keep the tests honest.\n",
    "decisions.md": "# Decisions\n\nNewest entries come first.\n",
    "constraints.md": "# Constraints\n",
    "do-not-use.md": "# Do Not Use / Tombstones\n\nNewest come first.\n",
    "inbox.md": "# Memory Inbox\n\nNo unprocessed memory candidates.\n",
}


def write_project(root: Path, files: Mapping[str, str | bytes | None] | None = None) -> Path:
    """Write a healthy Protocol 0.6 project at *root* and return its memory directory.

    Args:
        root: Made when it is not there.
        files: Contents below the memory directory that replace or join the healthy ones; ``None``
            leaves a file out.
    """
    memory = root / "docs" / "memory"
    memory.mkdir(parents=True, exist_ok=True)
    for path, content in {**_HEALTHY, **(files or {})}.items():
        if content is None:
            continue
        target = memory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
    return memory


def entry_text(
    entry_id: str = "MC-DEC-20260726-a1b2c3d4",
    body: str = "Keep exports in CSV.",
    *,
    title: str = "An entry",
    status: str = ACTIVE,
    scope: str = "project",
    evidence: tuple[str, ...] = ("user-confirmed",),
    label: str = "Decision",
    **fields: str,
) -> str:
    """Return the text of one entry with a blank line after it; *fields* are those of `Entry`."""
    entry = Entry(
        id=parse_entry_id(entry_id),
        title=title,
        status=status,
        scope=scope,
        evidence=evidence,
        body_label=label,
        body=body,
        claimed=entry_id,
        **fields,  # type: ignore[arg-type]
    )
    return format_entry(entry) + "\n\n"


def numbered_id(number: int, code: str = "DEC") -> str:
    """Return the valid id with *number* as its suffix."""
    return f"MC-{code}-20260726-{number:08x}"
