"""Protocol 0.5 to 0.6: metadata, trust boundary, and ids for clear decisions.

Source: guide section 十一, design 7.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mc_plan.draft import Blocker
from mc_schema.document import Document
from mc_schema.manifest import parse_manifest
from mc_schema.manifest_edit import add_section_after, set_metadata
from mc_schema.protocol import (
    ADMISSION_POLICY,
    ENTRY_SCHEMA_VERSION,
    METADATA_HEADING,
    PACKAGE_VERSION,
    PROTOCOL_VERSION,
    TRUST_HEADING,
    Metadata,
)
from mc_schema.trust import wrapped

from mc_migrate.decisions import give_ids
from mc_migrate.unclear import find_unclear
from mc_migrate.workspace import ARCHIVE, MANIFEST

if TYPE_CHECKING:
    from mc_migrate.workspace import Workspace


def run(workspace: Workspace) -> None:
    """Lead the project to Protocol 0.6; nothing that is there is rewritten or dropped."""
    for name, text in workspace.after.items():
        line = Document.parse(text).conflict
        if line and not name.startswith(ARCHIVE):
            workspace.blockers.append(_conflict(workspace.path(name), line))
    _migrate_manifest(workspace)
    give_ids(workspace)
    find_unclear(workspace)


def _migrate_manifest(workspace: Workspace) -> None:
    text = workspace.after[MANIFEST]
    metadata = parse_manifest(text).metadata
    project_id = _project_id(workspace, metadata)
    values = {
        "protocol_version": PROTOCOL_VERSION,
        "entry_schema_version": ENTRY_SCHEMA_VERSION,
        "initialized_with": metadata.get("initialized_with") or "unknown",
        "last_migrated_with": f"memory-custodian {PACKAGE_VERSION}",
        "project_id": project_id,
        "admission_policy": ADMISSION_POLICY,
    }
    workspace.replace(MANIFEST, set_metadata(text, values), "Write the metadata of Protocol 0.6")
    text = workspace.after[MANIFEST]
    if not parse_manifest(text).has_trust_boundary():
        lines = wrapped().split("\n")
        added = add_section_after(text, METADATA_HEADING, TRUST_HEADING, lines)
        workspace.replace(MANIFEST, added, "Add the trust boundary")


def _project_id(workspace: Workspace, metadata: Metadata) -> str:
    if metadata.project_id is not None:
        return metadata.get("project_id")
    if metadata.count("project_id"):
        workspace.blockers.append(
            Blocker(
                "invalid_project_id",
                "`project_id` is repeated or no UUIDv4",
                workspace.path(MANIFEST),
                "keep one valid line, or remove it so that the migration writes one",
            )
        )
        return metadata.get("project_id")
    workspace.project_id = workspace.seed.project_id()
    return workspace.project_id


def _conflict(path: str, line: int) -> Blocker:
    return Blocker(
        "conflict_markers",
        "the file holds merge-conflict markers",
        f"{path}:{line}",
        "resolve the conflict, then preview again",
    )
