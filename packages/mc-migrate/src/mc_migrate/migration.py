"""`migrate`: every step that a project still has to take, as one plan.

Source: guide section 十一, design 7.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mc_plan.draft import ALWAYS, Draft, Request
from mc_plan.errors import InputError
from mc_plan.operations.changelog import with_record
from mc_schema.manifest import parse_manifest
from mc_schema.protocol import PROTOCOL_VERSION

from mc_migrate.registry import steps_for
from mc_migrate.workspace import MANIFEST, NewId, Place, Workspace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mc_plan.pending import Seed
    from mc_plan.snapshot import Snapshot

MANUAL: Final = "Manual migration recommended"
_CHANGELOG: Final = "changelog.md"


class MigrationResult(NamedTuple):
    """What a migration does; paths are repo-relative."""

    from_version: str
    """Empty when the manifest has no version."""
    to_version: str
    project_id: str
    ids: tuple[NewId, ...]
    manual: tuple[Place, ...]

    def as_data(self) -> Mapping[str, Any]:
        """Return JSON values."""
        return {
            "from_version": self.from_version or None,
            "to_version": self.to_version,
            "project_id": self.project_id,
            "ids": [{"id": n.entry_id, "path": n.path, "line": n.line} for n in self.ids],
            "manual": [{"path": p.path, "line": p.line, "what": p.what} for p in self.manual],
        }


def migrate_request(*, apply_command: str = "") -> Request:
    """Return the request of `migrate`; it always needs a plan id."""
    return Request(command="migrate", confirmation=ALWAYS, apply_command=apply_command)


def build_migration(snapshot: Snapshot, seed: Seed) -> Draft:
    """Return the draft that leads the project to the current protocol; empty when it is there.

    Raises:
        InputError: There is no manifest to migrate.
        MalformedFileError, UnsafeFileError, UnreadableFileError: A memory file cannot be read.
    """
    path = snapshot.project.memory_file(MANIFEST)
    text = snapshot.read_text(path)
    if text is None:
        raise InputError(
            "there is no manifest to migrate",
            where=path,
            hint="`memory-custodian init --repair` creates one and keeps every file",
            code="missing_manifest",
        )
    metadata = parse_manifest(text).metadata
    steps = steps_for(metadata)
    if not steps:
        return Draft(
            result=MigrationResult(
                metadata.version, metadata.version, metadata.project_id or "", (), ()
            )
        )
    workspace = Workspace(snapshot, seed)
    for step in steps:
        step.run(workspace)
    _record(workspace)
    return Draft(
        operations=workspace.operations,
        changes=workspace.changes(),
        warnings=[
            f"{MANUAL}: {workspace.path(place.path)}:{place.line} ({place.what})"
            for place in workspace.manual
        ],
        blockers=workspace.blockers,
        new_project_id=workspace.project_id or None,
        result=_result(workspace, metadata.version),
    )


def _record(workspace: Workspace) -> None:
    text = workspace.after.get(_CHANGELOG)
    if text is not None:
        message = (
            f"Migrated to Protocol {PROTOCOL_VERSION}; {len(workspace.ids)} decisions got an id."
        )
        record = with_record(text, workspace.seed.iso_date, message)
        workspace.replace(_CHANGELOG, record, "Record the migration")


def _result(workspace: Workspace, version: str) -> MigrationResult:
    metadata = parse_manifest(workspace.after[MANIFEST]).metadata
    return MigrationResult(
        version,
        PROTOCOL_VERSION,
        metadata.project_id or "",
        tuple(new._replace(path=workspace.path(new.path)) for new in workspace.ids),
        tuple(place._replace(path=workspace.path(place.path)) for place in workspace.manual),
    )
