"""Manifests as `init` makes and repairs them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mc_schema.manifest import parse_manifest
from mc_schema.manifest_edit import add_section_after, set_metadata
from mc_schema.protocol import (
    ADMISSION_POLICY,
    ENTRY_SCHEMA_VERSION,
    METADATA_HEADING,
    PACKAGE_VERSION,
    PROTOCOL_VERSION,
    TRUST_HEADING,
)
from mc_schema.trust import wrapped

from mc_plan.errors import MalformedFileError
from mc_plan.operations.memory_set import MANIFEST
from mc_plan.operations.modules import ensure_indexed
from mc_plan.template import render_template

if TYPE_CHECKING:
    from mc_schema.protocol import Metadata

    from mc_plan.operations.memory_set import MemorySet
    from mc_plan.pending import Seed

PACKAGE: Final = f"memory-custodian {PACKAGE_VERSION}"
UNKNOWN: Final = "unknown"


def new_manifest(project_id: str, *, initialized_with: str, last_migrated_with: str) -> str:
    """Return a manifest of Protocol 0.6 with the default routes and budgets."""
    return render_template(
        "memory/manifest.md",
        {
            "protocol_version": PROTOCOL_VERSION,
            "entry_schema_version": ENTRY_SCHEMA_VERSION,
            "initialized_with": initialized_with,
            "last_migrated_with": last_migrated_with,
            "project_id": project_id,
            "admission_policy": ADMISSION_POLICY,
            "trust_boundary": wrapped(),
        },
    )


def index_all(memory: MemorySet, *, is_current: bool) -> None:
    """Let the index name every optional module that is there."""
    # A new line goes above the others, so the last one first.
    for name in sorted({*memory.names, *memory.after}, reverse=True):
        ensure_indexed(memory, name, is_current=is_current)


def repair_metadata(memory: MemorySet, seed: Seed) -> str | None:
    """Complete the metadata and trust boundary of a Protocol 0.6 manifest.

    What is there stays, a valid project id above all. Returns the project id that was given, or
    ``None`` when there was one.

    Raises:
        MalformedFileError: ``project_id`` occurs more than once, or the edit would not be read.
    """
    text = memory.text(MANIFEST) or ""
    found = parse_manifest(text).metadata
    where = memory.project.memory_file(MANIFEST)
    if found.count("project_id") > 1:
        raise MalformedFileError(
            "`project_id` occurs more than once",
            where=where,
            hint="keep the line with the id that other clones use, remove the others by hand",
            code="repeated_project_id",
        )
    new_id = None if found.project_id else seed.project_id()
    text = set_metadata(text, _completed(found, new_id))
    if not parse_manifest(text).has_trust_boundary():
        text = add_section_after(text, METADATA_HEADING, TRUST_HEADING, wrapped().split("\n"))
    after = parse_manifest(text)
    if after.metadata.project_id != (new_id or found.project_id) or not after.has_trust_boundary():
        raise MalformedFileError(
            "the metadata section cannot be completed",
            where=where,
            hint="look for an unclosed code fence or comment in it, and close it",
        )
    memory.write(MANIFEST, text)
    return new_id


def _completed(found: Metadata, new_id: str | None) -> dict[str, str]:
    defaults = {
        "protocol_version": PROTOCOL_VERSION,
        "entry_schema_version": ENTRY_SCHEMA_VERSION,
        "initialized_with": UNKNOWN,
        "last_migrated_with": UNKNOWN,
        "project_id": "",
        "admission_policy": ADMISSION_POLICY,
    }
    values = {key: found.get(key) or default for key, default in defaults.items()}
    if new_id is not None:
        values["project_id"] = new_id
    return values
