"""All files of one memory directory, as a builder reads them, and the edits it makes to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mc_schema.ids import find_entry_ids
from mc_schema.lines import scan_lines
from mc_schema.memoryfile import parse_memory_file, with_unique_ids

from mc_plan.errors import MalformedFileError
from mc_plan.operations.protocol import read_manifest

if TYPE_CHECKING:
    from mc_schema.manifest import Manifest
    from mc_schema.memoryfile import MemoryFile

    from mc_plan.pending import Seed
    from mc_plan.snapshot import Snapshot

MANIFEST: Final = "manifest.md"
CORE_FILES: Final = (
    MANIFEST,
    "brief.md",
    "decisions.md",
    "constraints.md",
    "do-not-use.md",
    "inbox.md",
)
"""The files that every memory set has (protocol-0.5.md A2)."""


class MemorySet:
    """The memory files of one snapshot; paths are relative to the memory directory.

    A file is read when it is first asked for. What needs ids reads all of them, archive and inbox
    included, because an id must be unique over the whole directory. Edits are collected and become
    the changes of a draft.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.project = snapshot.project
        listed = (self.project.in_memory(path) for path in snapshot.list_memory())
        self.names = tuple(name for name in listed if name is not None)
        """Every Markdown file that is there, sorted."""
        self.before: dict[str, str] = {}
        """The files read so far, as they are."""
        self.after: dict[str, str] = {}
        """The files read or written so far, with the edits."""
        self._parsed: list[MemoryFile] | None = None
        self._taken: set[str] | None = None
        self._without_conflict: set[str] = set()

    def text(self, name: str) -> str | None:
        """Return the text of the file *name* with the edits so far, ``None`` without such a file.

        Raises:
            MalformedFileError: It is not UTF-8.
            UnsafeFileError, UnreadableFileError: It is no plain file or cannot be read.
        """
        if name not in self.after:
            text = self.snapshot.read_text(self.project.memory_file(name))
            if text is None:
                return None
            self.before[name] = self.after[name] = text
        return self.after[name]

    def write(self, name: str, text: str) -> None:
        """Let the file *name* hold *text*.

        Raises:
            MalformedFileError: The file that is there has merge-conflict markers.
        """
        self.require_no_conflict(name)
        self.after[name] = text

    def require_no_conflict(self, name: str) -> None:
        """Raise `MalformedFileError` when the file *name* has merge-conflict markers."""
        if name in self._without_conflict:
            return
        self.text(name)
        line = scan_lines(self.before.get(name, "")).conflict
        if line:
            raise MalformedFileError(
                "the file has merge-conflict markers",
                where=f"{self.project.memory_file(name)}:{line}",
                hint="resolve the conflict, then run the command again",
                code="conflict_markers",
            )
        self._without_conflict.add(name)

    def changed(self) -> dict[str, str]:
        """Return the edited files by name."""
        return {name: text for name, text in self.after.items() if self.before.get(name) != text}

    def changes(self) -> dict[str, bytes | None]:
        """Return the edited files as a draft wants them."""
        return {
            self.project.memory_file(name): text.encode() for name, text in self.changed().items()
        }

    def manifest(self) -> Manifest:
        """Return the manifest, without the edits.

        Raises:
            MalformedFileError: It is missing, or has merge-conflict markers.
        """
        if self.text(MANIFEST) is None:
            raise MalformedFileError(
                "the memory directory has no manifest",
                where=self.project.memory_file(MANIFEST),
                hint=f"run `{self.project.command('init', '--repair')}`",
                code="no_manifest",
            )
        self.require_no_conflict(MANIFEST)
        return read_manifest(self.snapshot)

    def new_id(self, seed: Seed, code: str) -> str:
        """Return an entry id that no memory file mentions; letter case does not count."""
        if self._taken is None:
            self._read_all()
            self._taken = {found for text in self.before.values() for found in find_entry_ids(text)}
        while (found := seed.entry_id(code)) in self._taken:
            continue
        self._taken.add(found)
        return found

    def parsed(self) -> list[MemoryFile]:
        """Return every file as readers see it, without the edits."""
        if self._parsed is None:
            self._read_all()
            files = (parse_memory_file(name, text) for name, text in self.before.items())
            self._parsed = with_unique_ids(files)
        return self._parsed

    def _read_all(self) -> None:
        for name in self.names:
            self.text(name)
