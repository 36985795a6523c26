"""The texts of one migration while its steps work on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from mc_plan.draft import Blocker, Operation
from mc_plan.errors import MalformedFileError
from mc_schema.ids import find_entry_ids

if TYPE_CHECKING:
    from mc_plan.pending import Seed
    from mc_plan.snapshot import Snapshot

MANIFEST: Final = "manifest.md"
ARCHIVE: Final = "archive/"


class NewId(NamedTuple):
    """An id that a legacy decision gets."""

    entry_id: str
    path: str
    """Below the memory directory."""
    line: int
    """1-based line of the heading before the migration."""


class Place(NamedTuple):
    """A place that only a person can migrate."""

    path: str
    line: int
    what: str


class Workspace:
    """Every Markdown file of the memory directory; steps read and replace texts by name."""

    def __init__(self, snapshot: Snapshot, seed: Seed) -> None:
        self.snapshot = snapshot
        self.seed = seed
        project = snapshot.project
        self.before: dict[str, str] = {}
        for path in snapshot.list_memory():
            name = project.in_memory(path) or path
            text = _read(snapshot, path, name)
            if text is not None:
                self.before[name] = text
        self.after = dict(self.before)
        self.operations: list[Operation] = []
        self.blockers: list[Blocker] = []
        self.manual: list[Place] = []
        self.ids: list[NewId] = []
        self.project_id = ""
        self._taken = {found for text in self.before.values() for found in find_entry_ids(text)}

    def path(self, name: str) -> str:
        """Return the repo-relative path of *name*."""
        return self.snapshot.project.memory_file(name)

    def replace(self, name: str, text: str, what: str) -> None:
        """Give *name* a new text; *what* says so in the plan."""
        if text != self.after[name]:
            self.after[name] = text
            self.operations.append(Operation(what, self.path(name)))

    def free_entry_id(self, type_: str, date: str) -> str:
        """Return a new entry id that no file has; *date* may be empty: the seed's then."""
        while (entry_id := self.seed.entry_id(type_, date=date)) in self._taken:
            continue
        self._taken.add(entry_id)
        return entry_id

    def changes(self) -> dict[str, bytes | None]:
        """Return the new bytes of every changed file, by repo-relative path."""
        return {
            self.path(name): text.encode("utf-8")
            for name, text in self.after.items()
            if text != self.before[name]
        }


def _read(snapshot: Snapshot, path: str, name: str) -> str | None:
    try:
        return snapshot.read_text(path)
    except MalformedFileError:
        # The archive is never migrated, so a note in another encoding there stops nothing.
        if name.startswith(ARCHIVE):
            return None
        raise
