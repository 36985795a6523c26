"""Bringing a snapshot of hot memory back; what it overwrites becomes a snapshot itself.

Source: governed writes, "Snapshots".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from mc_plan import Draft, RefusedError

from mc_cli.cortex.governance import MEMORY, GovernanceError
from mc_cli.cortex.queue import people_command
from mc_cli.cortex.readable import require_readable
from mc_cli.cortex.snapshots import list_snapshots, snapshot_changes
from mc_cli.cortex.writer import Moment, draft_write, read_target

if TYPE_CHECKING:
    from mc_plan import Builder, Seed, Snapshot

    from mc_cli.cortex.snapshots import MemorySnapshot
    from mc_cli.cortex.writer import Writer

_NS_PER_MS: Final = 1_000_000


class Restored(NamedTuple):
    """A restored file, for the renderer."""

    file: str
    """As seen from the root."""
    snapshot: str


def build_restore(name: str, writer: Writer) -> Builder:
    """Return the builder that puts the snapshot *name* in the place of its hot file.

    It raises `RefusedError` for an unknown name. What governance refuses is a blocker of the plan.
    """

    def build(snapshot: Snapshot, seed: Seed) -> Draft:  # noqa: ARG001 - a builder has both
        chosen = _require_snapshot(name, writer)
        try:
            return _restore(snapshot, chosen, writer)
        except GovernanceError as error:
            return Draft(blockers=[error.as_blocker()])

    return build


def _require_snapshot(name: str, writer: Writer) -> MemorySnapshot:
    for found in list_snapshots(writer.place):
        if found.name == name:
            return found
    raise RefusedError(
        "there is no snapshot with this name",
        where=name,
        hint=f"`{people_command(writer.place, 'cortex-restore', 'list')}` shows the names",
        code="unknown_snapshot",
    )


def _restore(snapshot: Snapshot, chosen: MemorySnapshot, writer: Writer) -> Draft:
    place = writer.place
    moment = writer.moment()
    data = snapshot.read(place.file(chosen.path)) or b""
    shown = place.file(chosen.file)
    text = _text_of(data, place.file(chosen.path))
    require_readable(data, "", shown, moment.ms)
    changes: dict[str, bytes | None] = {chosen.file: data}
    current = read_target(snapshot, writer, MEMORY, chosen.file)
    if current is not None and current.encode("utf-8") != data:
        written = _written_at(snapshot, shown)
        changes |= snapshot_changes(place, chosen.file, current.encode("utf-8"), written)
    drafted = draft_write(
        writer,
        moment,
        item_type=MEMORY,
        path=chosen.file,
        content=text,
        changes=changes,
        detail={},
        what=f"Restore the snapshot {chosen.name}",
        extra={"op": "restore"},
    )
    return drafted._replace(result=Restored(shown, chosen.name))


def _written_at(snapshot: Snapshot, path: str) -> Moment:
    """Return when the file was written last.

    The clock would give the new snapshot another name in the preview than in the apply, and so the
    plan another id.
    """
    identity = snapshot.state(path).identity
    return Moment(0 if identity is None else max(0, identity.mtime_ns // _NS_PER_MS))


def _text_of(data: bytes, path: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        hint = "choose another snapshot"
        raise GovernanceError("the snapshot is not UTF-8", where=path, hint=hint) from error
