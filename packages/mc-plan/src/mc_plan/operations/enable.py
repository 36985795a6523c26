"""`enable`: an optional file or module, made from its template and named in the manifest's index.

Source: protocol-0.5.md B6; design section 6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from mc_schema.storage import MODULE_FOLDERS

from mc_plan.draft import IMMEDIATE, Draft, Operation, Request
from mc_plan.errors import InputError
from mc_plan.operations.memory_set import MANIFEST, MemorySet
from mc_plan.operations.modules import (
    KINDS,
    README,
    ensure_file,
    ensure_indexed,
    require_module,
)
from mc_plan.operations.records import add_record

if TYPE_CHECKING:
    from mc_schema.protocol import Metadata

    from mc_plan.draft import Builder
    from mc_plan.pending import Seed
    from mc_plan.snapshot import Snapshot

COMMAND: Final = "enable"
FILES: Final = {
    "preferences": "preferences.md",
    "changelog": "changelog.md",
    "rules": f"rules/{README}",
    "profiles": f"profiles/{README}",
    "archive": f"archive/{README}",
}
FORMS: Final = (*FILES, "rules/<name>", "profile/<name>", "area/<name>")


class Feature(NamedTuple):
    """What is enabled: a file below the memory directory, and the scope of a module."""

    path: str
    scope: str = ""


class Enabled(NamedTuple):
    """What `enable` does, for the renderer."""

    path: str
    """Repo-relative."""
    is_new: bool
    is_indexed: bool
    """Whether the manifest's index got a line."""
    manifest: str
    """Repo-relative."""
    metadata: Metadata


def parse_feature(text: str) -> Feature:
    """Return the feature that *text* names, for example ``changelog`` or ``area/sync``.

    Raises:
        InputError: It names none.
    """
    if text in FILES:
        return Feature(FILES[text])
    kind, slash, name = text.partition("/")
    kind = KINDS.get(kind, kind)
    if not slash or kind not in MODULE_FOLDERS:
        raise InputError(
            "unknown feature",
            where=f"`{text[:80]}`",
            hint=f"use one of {', '.join(FORMS)}",
            code="unknown_feature",
        )
    return Feature(f"{MODULE_FOLDERS[kind]}/{name}.md", f"{kind}:{name}")


def enable_request(feature: Feature) -> Request:
    """Return the request of an `enable`, which is applied at once."""
    return Request(COMMAND, {"path": feature.path}, IMMEDIATE)


def build_enable(feature: Feature) -> Builder:
    """Return the builder of an `enable`; nothing to do gives a draft without changes.

    It raises `InvalidNameError` for a reserved name and `MalformedFileError` for a manifest that
    cannot be edited.
    """

    def build(snapshot: Snapshot, seed: Seed) -> Draft:
        memory = MemorySet(snapshot)
        metadata = memory.manifest().metadata
        require_module(memory, feature.scope)
        is_new = ensure_file(memory, feature.path)
        is_indexed = ensure_indexed(memory, feature.path, is_current=metadata.is_current)
        path = memory.project.memory_file(feature.path)
        manifest = memory.project.memory_file(MANIFEST)
        operations = [Operation("Create the file", path)] if is_new else []
        if is_indexed:
            operations.append(Operation(f"Index {feature.path}", manifest))
        if operations:
            add_record(memory, seed, f"Enabled optional memory module {feature.path}.")
        return Draft(
            operations=operations,
            changes=memory.changes(),
            result=Enabled(path, is_new, is_indexed, manifest, metadata),
        )

    return build
