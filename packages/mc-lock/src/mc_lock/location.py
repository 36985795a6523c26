"""The path of the state directory, computed from environment and user database alone.

On POSIX that is a few lines, because importing platformdirs costs more than a whole command; a test
binds both to the same answer. Source: reliability rules 1.1, 1.2, 1.6.
"""

# The calls of `os` are used by name: their flags, descriptors and errno are the subject here.
# ruff: noqa: PTH110, PTH112, PTH114, PTH117, PTH118, PTH121

from __future__ import annotations

import os
from pathlib import Path

TYPE_CHECKING = False  # importing `typing` would cost a command more than its work
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Final

POSIX_NAME: Final = "memory-custodian"
WINDOWS_NAME: Final = "MemoryCustodian"
FALLBACK_PREFIX: Final = "memory-custodian-state-"

_HOME_HASH_CHARS: Final = 16
_TEMP_VARIABLES: Final = ("TMPDIR", "TEMP", "TMP")
_POSIX_TEMP: Final = ("/tmp", "/var/tmp", "/usr/tmp")  # noqa: S108 - the fallback of last resort
_WINDOWS_TEMP: Final = ("C:\\TEMP", "C:\\TMP", "\\TEMP", "\\TMP")


def find_location(
    environ: Mapping[str, str],
    system: str,
    user_home: Callable[[], str] | None = None,
    windows_state: Callable[[], str] | None = None,
) -> str | None:
    """Return the usual place of the state directory, absolute, or ``None`` if no home is known."""
    if system == "nt":
        base = (windows_state or ask_platformdirs)()
        return os.path.join(base, "state") if os.path.isabs(base) else None
    base = environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(base):
        home = environ.get("HOME") or (user_home or ask_user_database)()
        if not os.path.isabs(home):
            return None
        base = os.path.join(home, ".local", "state")
    return os.path.join(base, POSIX_NAME)


def find_fallback(environ: Mapping[str, str], system: str) -> str:
    """Return the place that rule 1.2 names, such as ``/tmp/memory-custodian-state-1000``.

    There is one name per user and never a second choice: if somebody else took it, using it is
    refused.
    """
    return os.path.join(
        _temporary_folder(environ, system), f"{FALLBACK_PREFIX}{_user_mark(environ)}"
    )


def find_candidates(
    environ: Mapping[str, str] = os.environ, system: str = os.name
) -> tuple[str, ...]:
    """Return every place that the state directory of this user can have, usable or not.

    Which one it is depends on the project and the disk: `mc_lock.resolve_state_directory` tells.
    Whoever only wants to see that nothing lies in any of them need not ask it.
    """
    location = find_location(environ, system)
    fallback = find_fallback(environ, system)
    return (fallback,) if location is None else (location, fallback)


def is_inside(path: Path, folder: Path | None) -> bool:
    """Say whether *path* is *folder* or lies below it, whatever the spelling of either.

    Links are resolved, and existing parents are compared by device and inode: on a file system that
    ignores letter case two spellings are one folder.
    """
    if folder is None:
        return False
    real = Path(os.path.realpath(path))
    target = Path(os.path.realpath(folder))
    return any(parent == target or _is_same(parent, target) for parent in (real, *real.parents))


def is_creatable(directory: Path) -> bool:
    """Predict whether a missing directory could be made, without making it.

    Only the reasons of rule 1.2 say no (no permission, read-only, a parent that leads nowhere). A
    parent that is a file is somebody's mistake, which creating it will report.
    """
    parent = directory
    while not os.path.exists(parent):
        if os.path.islink(parent) or parent == parent.parent:
            return False
        parent = parent.parent
    return not os.path.isdir(parent) or os.access(
        parent, os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids
    )


def ask_platformdirs() -> str:
    """Return the product's local application data folder on Windows, or ``""``."""
    from platformdirs.windows import Windows

    try:
        return Windows(appname=WINDOWS_NAME, appauthor=False).user_state_dir
    except (OSError, ValueError, KeyError):
        return ""


def ask_user_database() -> str:
    """Return the effective user's home directory, or ``""`` if the user has no entry."""
    import pwd

    try:
        return pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:
        return ""


def _temporary_folder(environ: Mapping[str, str], system: str) -> str:
    # `tempfile.gettempdir` tries by writing a file, and may answer with the current directory,
    # which can be the project.
    candidates = [environ.get(name, "") for name in _TEMP_VARIABLES]
    candidates += _WINDOWS_TEMP if system == "nt" else _POSIX_TEMP
    for folder in candidates:
        if os.path.isabs(folder) and os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK):
            return os.path.normpath(folder)
    return candidates[-1]


def _user_mark(environ: Mapping[str, str]) -> str:
    if hasattr(os, "geteuid"):
        return str(os.geteuid())
    import hashlib

    home = environ.get("USERPROFILE", "") or environ.get("USERNAME", "")
    return hashlib.sha256(home.encode("utf-8", "surrogatepass")).hexdigest()[:_HOME_HASH_CHARS]


def _is_same(one: Path, other: Path) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False
