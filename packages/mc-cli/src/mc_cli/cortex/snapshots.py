"""Snapshots of hot memory: the bytes that an overwrite would lose, the newest 30 of each file.

Source: governed writes, "Governance".
"""

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING, Final, NamedTuple

from mc_cli.cortex.audit import OBSERVABILITY
from mc_cli.cortex.governance import HOT_FILES
from mc_cli.cortex.writer import Moment

if TYPE_CHECKING:
    from mc_cli.cortex.place import Place

FOLDER: Final = f"{OBSERVABILITY}/memory-snapshots"
KEPT: Final = 30

_NAME: Final = re.compile(r"([A-Z_]+)__([0-9]{8}T[0-9]{9}Z)\.md", re.ASCII)
_NOT_STAMP: Final = re.compile(r"[-:.]")


class MemorySnapshot(NamedTuple):
    """One snapshot on disk."""

    name: str
    """For example ``DA_MEMORY__20260726T100000000Z.md``; later ones sort after earlier ones."""
    file: str
    """The hot file it is of, below the memory."""
    size: int
    """In bytes."""

    @property
    def path(self) -> str:
        """Its path below the memory."""
        return f"{FOLDER}/{self.name}"

    @property
    def stamp(self) -> str:
        """When it was taken, as an ISO timestamp in UTC."""
        found = _NAME.fullmatch(self.name)
        at = "" if found is None else found[2]
        return f"{at[:4]}-{at[4:6]}-{at[6:11]}:{at[11:13]}:{at[13:15]}.{at[15:18]}Z"


def list_snapshots(place: Place) -> list[MemorySnapshot]:
    """Return the snapshots of all hot files, the oldest of a file first; nothing is opened."""
    folder = place.project.path(place.file(FOLDER))
    found = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                snapshot = _snapshot_of(entry)
                if snapshot is not None:
                    found.append(snapshot)
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(found)


def snapshot_changes(
    place: Place, file: str, data: bytes, moment: Moment
) -> dict[str, bytes | None]:
    """Return the changes that keep *data*, the bytes of the hot *file*, and drop what is too old.

    Args:
        place: Where.
        file: The hot file, below the memory.
        data: Its bytes before they are overwritten.
        moment: When; a name that is taken moves it on by milliseconds.
    """
    kept = [snapshot for snapshot in list_snapshots(place) if snapshot.file == file]
    taken = {snapshot.name for snapshot in kept}
    name = _name_of(file, moment)
    while name in taken:
        moment = Moment(moment.ms + 1)
        name = _name_of(file, moment)
    changes: dict[str, bytes | None] = {f"{FOLDER}/{name}": data}
    # The new one always stays, also where the clock was set back and others look newer.
    for old in kept[: max(0, len(kept) - (KEPT - 1))]:
        changes[old.path] = None
    return changes


def _name_of(file: str, moment: Moment) -> str:
    return f"{file.removesuffix('.md')}__{_NOT_STAMP.sub('', moment.text)}.md"


def _snapshot_of(entry: os.DirEntry[str]) -> MemorySnapshot | None:
    match = _NAME.fullmatch(entry.name)
    if match is None or f"{match[1]}.md" not in HOT_FILES.values():
        return None
    status = entry.stat(follow_symlinks=False)
    if not stat.S_ISREG(status.st_mode):
        return None
    return MemorySnapshot(entry.name, f"{match[1]}.md", status.st_size)
