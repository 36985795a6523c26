"""The manifest that a command cannot do without."""

from __future__ import annotations

from mc_retrieve.memorydir import UNREADABLE, Fault
from mc_retrieve.memoryset import MANIFEST, ManifestFile, load_manifest

from mc_cli import exits
from mc_cli.errors import CommandError

TYPE_CHECKING = False  # importing `typing` would cost a command more than its work
if TYPE_CHECKING:
    from mc_cli.location import Location


def require_manifest(location: Location) -> ManifestFile:
    """Return the manifest at *location*.

    Raises:
        CommandError: There is none or it is malformed (exit 2), or the operating system refuses to
            read it (exit 1).
    """
    found = load_manifest(location.memory_path)
    where = f"{location.memory_dir}/{MANIFEST}"
    if found is None:
        raise CommandError(
            "the memory directory has no manifest",
            where=where,
            hint="`memory-custodian init --repair` writes the missing files",
            code="no_manifest",
            exit_code=exits.BAD_INPUT,
        )
    if isinstance(found, Fault):
        line = f":{found.line}" if found.line else ""
        raise CommandError(
            f"the manifest cannot be used: {found.message}",
            where=f"{where}{line}",
            hint="correct that file, then run the command again",
            code=f"manifest_{found.code}",
            exit_code=exits.NO if found.code == UNREADABLE else exits.BAD_INPUT,
        )
    return found
