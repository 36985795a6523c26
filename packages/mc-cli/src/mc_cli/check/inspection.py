"""What every check looks at: a memory directory, read once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mc_retrieve.memorydir import Fault, Listing, list_markdown
from mc_retrieve.memoryset import (
    MANIFEST,
    ManifestFile,
    MemorySet,
    load_manifest,
    load_memory_set,
    original_line,
)
from mc_schema.storage import ARCHIVE

from mc_cli.check.finding import ERROR, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mc_schema.manifest import Manifest
    from mc_schema.memoryfile import JudgedUnit, MemoryFile

    from mc_cli.location import Location


class Inspection(NamedTuple):
    """A memory directory as the checks see it."""

    location: Location
    listing: Listing
    manifest_file: ManifestFile | None
    """``None`` when there is no manifest, or none that can be read."""
    manifest_fault: Fault | None
    memory: MemorySet

    @property
    def manifest(self) -> Manifest | None:
        """The parsed manifest, if there is one that can be read."""
        return self.manifest_file.manifest if self.manifest_file else None

    @property
    def is_current(self) -> bool:
        """Whether the project follows Protocol 0.6."""
        return self.manifest is not None and self.manifest.metadata.is_current

    def repo_path(self, path: str) -> str:
        """Return *path*, below the memory directory, as seen from the project root."""
        return f"{self.location.memory_dir}/{path}"

    def exists(self, path: str) -> bool:
        """Say whether there is something at *path*, readable or not."""
        return path in self.listing.paths or any(f.path == path for f in self.faults())

    def faults(self) -> tuple[Fault, ...]:
        """Return everything that cannot be read, the manifest included."""
        own = (self.manifest_fault,) if self.manifest_fault else ()
        return (*own, *(f for f in self.memory.faults if f.path != MANIFEST))

    def files(self, *, archive: bool = True) -> Iterator[MemoryFile]:
        """Yield the readable files, the manifest left out; *archive* says whether archived ones."""
        for file in self.memory.files:
            if archive or not file.path.startswith(ARCHIVE):
                yield file

    def line(self, file: MemoryFile, line: int) -> int:
        """Return the line of the file on disk that *line* of the shown text stands on."""
        return original_line(self.memory.texts[file.path], file, line)

    def manifest_line(self, line: int) -> int:
        """Return the line of the manifest on disk that *line* of its shown text stands on."""
        found = self.manifest_file
        return original_line(found.text, found.file, line) if found and line else line

    def at_unit(
        self,
        file: MemoryFile,
        unit: JudgedUnit,
        code: str,
        message: str,
        *,
        severity: str = ERROR,
        offset: int = 0,
        hint: str = "",
    ) -> Finding:
        """Return a finding about *unit*, *offset* lines below its first one."""
        line = self.line(file, unit.unit.line + offset)
        return Finding(self.repo_path(file.path), line, severity, code, message, hint)


def inspect(location: Location) -> Inspection:
    """Return what there is at *location*; nothing is locked or written."""
    found = load_manifest(location.memory_path)
    return Inspection(
        location,
        list_markdown(location.memory_path),
        None if isinstance(found, Fault) else found,
        found if isinstance(found, Fault) else None,
        load_memory_set(location.memory_path),
    )
