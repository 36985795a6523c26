"""Lines that reading commands print on standard error: protocol hints and interrupted work."""

from __future__ import annotations

import os

from mc_schema.protocol import (
    FOREIGN,
    INVALID,
    MISSING,
    NEWER,
    OLDER,
    PROTOCOL_VERSION,
    REPEATED,
)

TYPE_CHECKING = False  # importing `typing` would cost a command more than its work
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Final

    from mc_schema.protocol import Metadata

    from mc_cli.location import Location

MIGRATION_HINT: Final = f"`memory-custodian migrate` shows what Protocol {PROTOCOL_VERSION} changes"
_PLACE_KEY_CHARS: Final = 32
_MAX_SHOWN_CHARS: Final = 16
_INTERRUPTED: Final = (
    "warning: an interrupted change was found, what is read may be half of it; "
    "`memory-custodian recover` shows what to do"
)
_READ_ONLY: Final = "it can be read, and nothing will be written into it"


def protocol_message(metadata: Metadata) -> str:
    """Return what there is to say about the protocol of a project; empty when it is current."""
    version = metadata.version if len(metadata.version) <= _MAX_SHOWN_CHARS else "…"
    return {
        OLDER: f"this project follows Protocol {version}; {MIGRATION_HINT}",
        MISSING: f"the manifest states no `protocol_version`; {MIGRATION_HINT}",
        NEWER: f"Protocol {version} is newer than this command ({PROTOCOL_VERSION}); {_READ_ONLY}",
        INVALID: f"`protocol_version: {version}` is no version; {_READ_ONLY}",
        REPEATED: f"the manifest states `protocol_version` more than once; {_READ_ONLY}",
        FOREIGN: f"another tool wrote the metadata of this project; {_READ_ONLY}",
    }.get(metadata.state, "")


def protocol_notices(metadata: Metadata) -> tuple[str, ...]:
    """Return the one line for standard error: a hint on an older project, else a warning."""
    message = protocol_message(metadata)
    if not message:
        return ()
    kind = "hint" if metadata.state in (OLDER, MISSING) else "warning"
    return (f"{kind}: {message}",)


def journal_files(location: Location) -> list[Path]:
    """Return the journals of interrupted changes of this place; nothing is opened."""
    from mc_lock.location import find_candidates

    name = f"{place_key(location.memory_path)}.json"
    if not any(os.path.lexists(f"{place}/journal/{name}") for place in find_candidates()):
        return []
    from mc_lock import resolve_state_directory

    state = resolve_state_directory(location.root)
    places = [place.journal / name for place in (state, state.spare) if place is not None]
    return [place for place in places if os.path.lexists(place)]


def journal_notices(location: Location, project_id: str | None) -> tuple[str, ...]:
    """Return the one line for standard error when a change of this place was interrupted.

    While somebody alive holds the lock the journal is work in progress (reliability 5.3).
    """
    if not journal_files(location) or _is_locked(location, project_id):
        return ()
    return (_INTERRUPTED,)


def _is_locked(location: Location, project_id: str | None) -> bool:
    from mc_lock import StateError, describe_holder, resolve_state_directory

    state = resolve_state_directory(location.root)
    try:
        holder = describe_holder(state, project_id, location.memory_path)
    except StateError:
        return False
    return holder is not None and holder.state == "alive"


def place_key(memory_path: Path) -> str:
    """Return the 32 hex digits that name the place of a memory directory in the state directory.

    The same as `mc_plan.project.Project.place_key`, without the start-up of that package.
    """
    import hashlib

    place = os.fsencode(os.path.realpath(memory_path))
    return hashlib.sha256(place).hexdigest()[:_PLACE_KEY_CHARS]
