"""Which project this is and whether it may be written: the manifest's id and protocol.

Source: design 7; reliability specification 2.1 and 3.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from mc_plan.errors import MalformedFileError, RefusedError, UnsupportedProtocolError

if TYPE_CHECKING:
    from mc_plan.snapshot import Snapshot

MANIFEST: Final = "manifest.md"


class ProjectIdentity(NamedTuple):
    """What the manifest says; nothing where there is no manifest.

    `protocol` is the version as written. `state` is one of the states of `mc_schema.protocol`.
    """

    project_id: str | None = None
    protocol: str | None = None
    state: str = ""
    is_current: bool = False
    is_writable: bool = True


def read_identity(snapshot: Snapshot) -> ProjectIdentity:
    """Return the identity in the memory directory's manifest.

    Raises:
        MalformedFileError: The manifest is not UTF-8.
        UnsafeFileError, UnreadableFileError: It is no plain file or cannot be read.
    """
    text = snapshot.read_text(snapshot.project.memory_file(MANIFEST))
    if text is None:
        return ProjectIdentity()
    from mc_schema.manifest import parse_manifest

    found = parse_manifest(text).metadata
    return ProjectIdentity(
        found.project_id, found.version or None, found.state, found.is_current, found.is_writable
    )


def read_identity_leniently(snapshot: Snapshot) -> ProjectIdentity:
    """Return the identity, or none where the manifest is damaged: `recover` must work then too."""
    try:
        return read_identity(snapshot)
    except (MalformedFileError, RefusedError):
        return ProjectIdentity()


def require_writable_protocol(identity: ProjectIdentity, where: str) -> None:
    """Raise `UnsupportedProtocolError` if writers must leave the project alone.

    Source: design 7: a newer, unreadable or repeated version; every writer refuses.
    """
    if identity.is_writable:
        return
    shown = f" `{identity.protocol}`" if identity.protocol else ""
    raise UnsupportedProtocolError(
        f"the protocol version{shown} is {identity.state}, so nothing may be written",
        where=where,
        hint="install a memory-custodian that knows this version, or correct `protocol_version`"
        f" in `{where}`",
    )
