"""Where state lives, and whether that place is safe to use.

State is what must not lie in a project: locks, journals of interrupted changes, pending seeds. It
lives in one private directory of the user. Source: reliability section 1.
"""

# The calls of `os` are used by name: their flags, descriptors and errno are the subject here.
# ruff: noqa: PTH101, PTH110, PTH112, PTH120

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from mc_lock.errors import StateError, name_of_error
from mc_lock.location import find_fallback, find_location, is_creatable, is_inside
from mc_lock.private_file import GROUP_AND_OTHER, is_ours

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

DIRECTORY_MODE: Final = 0o700
FOLDERS: Final = ("locks", "journal", "plans")

_WRITABLE_BY_OTHERS: Final = 0o022
_ON_POSIX: Final = os.name == "posix"
_REPARSE_POINT: Final = 0x400  # stat.FILE_ATTRIBUTE_REPARSE_POINT: a junction or the like
NO_ACCESS: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})

_NOT_CREATABLE: Final = NO_ACCESS | {errno.ENOENT}


class StateDirectory(NamedTuple):
    """The state directory of this user, as computed; it need not exist yet.

    Call `ensure` before writing, and go on with what it returns. Call `verify` before reading.
    """

    path: Path
    fallback: str = ""
    """Why the usual place is not used, one line for standard error; ``""`` if it is used."""
    refusal: str = ""
    """Why no state may be written at all; ``""`` if it may."""
    spare: StateDirectory | None = None
    """What `ensure` returns instead if the usual place turns out not to be creatable."""

    @property
    def locks(self) -> Path:
        """Lock files; empty when nobody holds a lock."""
        return self.path / "locks"

    @property
    def journal(self) -> Path:
        """Journals of changes that are being applied or were interrupted."""
        return self.path / "journal"

    @property
    def plans(self) -> Path:
        """Pending seeds of previews."""
        return self.path / "plans"

    def ensure(self, *, make_directory: Callable[[str, int], None] = os.mkdir) -> StateDirectory:
        """Create what is missing, check everything, and return the directory to use.

        That is this one, or the fallback of rule 1.2 when a missing base cannot be created; then
        ``fallback`` of the returned value says why. Directories get mode 0700 whatever the umask.

        Args:
            make_directory: The system call; tests make it fail.

        Raises:
            StateError: The place is not safe or cannot be written; nothing was written in it.
        """
        self._require_permitted()
        try:
            _create_base(str(self.path.parent), make_directory)
        except OSError as error:
            if self.spare is not None and error.errno in _NOT_CREATABLE:
                return self.spare.ensure(make_directory=make_directory)
            raise unwritable_state(self.path, error) from error
        for directory in (self.path, *(self.path / name for name in FOLDERS)):
            _ensure_directory(directory, make_directory)
        return self

    def verify(self) -> bool:
        """Check the directory without changing anything; ``False`` if there is none yet.

        Raises:
            StateError: It exists and is not safe to read: a link, another owner, open to others.
        """
        for directory in (self.path, *(self.path / name for name in FOLDERS)):
            try:
                facts = os.lstat(directory)
            except (FileNotFoundError, NotADirectoryError):
                if directory == self.path:
                    return False
                continue
            except OSError as error:
                raise _unsafe(directory, name_of_error(error)) from error
            _require_real_and_ours(directory, facts)
            _require_closed(directory, facts, _WRITABLE_BY_OTHERS)
        return True

    def _require_permitted(self) -> None:
        if self.refusal:
            raise StateError(
                self.refusal,
                where=str(self.path),
                hint="set `XDG_STATE_HOME` to a directory outside the project",
                code="state_in_project",
            )


def resolve_state_directory(
    project_root: Path | None = None,
    *,
    environ: Mapping[str, str] = os.environ,
    system: str = os.name,
    user_home: Callable[[], str] | None = None,
    windows_state: Callable[[], str] | None = None,
) -> StateDirectory:
    r"""Return where state lives for this user; nothing is created.

    POSIX: ``$XDG_STATE_HOME/memory-custodian`` if that variable is absolute, else
    ``~/.local/state/memory-custodian``. Windows: ``%LOCALAPPDATA%\MemoryCustodian\state``.
    Otherwise, or if that place lies inside the project, a directory in the temporary folder.

    Args:
        project_root: State never lives below it.
        environ: Environment variables.
        system: ``"posix"`` or ``"nt"``.
        user_home: Home directory from the user database, asked only without ``HOME``.
        windows_state: Local application data folder of this product, asked on Windows only.

    Source: reliability rules 1.1, 1.2, 1.6.
    """
    location = find_location(environ, system, user_home, windows_state)
    if location is None:
        return _spare(environ, system, "no home directory is known", project_root)
    path = Path(location)
    if is_inside(path, project_root):
        return _spare(environ, system, f"`{path}` lies inside the project", project_root)
    # `%LOCALAPPDATA%` is the base there; the product's own folder below it is ours to create.
    base = path.parent.parent if system == "nt" else path.parent
    if os.path.exists(base):
        return StateDirectory(path)
    reason = f"`{base}` cannot be created"
    spare = _spare(environ, system, reason, project_root)
    return StateDirectory(path, spare=spare) if is_creatable(base) else spare


def unwritable_state(path: str | Path, error: OSError) -> StateError:
    """Return the error for a state directory, or a folder of it, that cannot be written."""
    hint = f"make it possible to write in `{path}`, then run the command again"
    if error.errno in NO_ACCESS:
        hint = (
            f"allow writing to `{path}` in the sandbox, "
            "or set `XDG_STATE_HOME` to a directory you can write"
        )
    return StateError(
        f"state directory cannot be written ({name_of_error(error)})",
        where=str(path),
        hint=hint,
        code="state_not_writable",
    )


def _spare(
    environ: Mapping[str, str], system: str, reason: str, project_root: Path | None
) -> StateDirectory:
    path = Path(find_fallback(environ, system))
    refusal = ""
    if is_inside(path, project_root):
        refusal = "no state directory is left outside the project"
    line = (
        f"{reason}: state is kept in `{path}`, and processes that do not share it are not excluded"
    )
    return StateDirectory(path, fallback=line, refusal=refusal)


def _create_base(base: str, make_directory: Callable[[str, int], None]) -> None:
    missing: list[str] = []
    while not os.path.exists(base):
        missing.append(base)
        parent = os.path.dirname(base)
        if parent == base:
            break
        base = parent
    for directory in reversed(missing):
        _make(directory, make_directory)
        if not os.path.isdir(directory):
            # A dangling link has the name; whatever it points to is not there.
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), directory)


def _make(directory: str, make_directory: Callable[[str, int], None]) -> None:
    try:
        make_directory(directory, DIRECTORY_MODE)
    except FileExistsError:
        return  # another process was faster, or it is no directory: the check that follows tells
    if _ON_POSIX:
        os.chmod(directory, DIRECTORY_MODE)  # a umask of 0777 would close it to ourselves


def _ensure_directory(directory: Path, make_directory: Callable[[str, int], None]) -> None:
    try:
        try:
            facts = os.lstat(directory)
        except FileNotFoundError:
            _make(str(directory), make_directory)
            facts = os.lstat(directory)
    except OSError as error:
        raise unwritable_state(directory, error) from error
    _require_real_and_ours(directory, facts)
    if _ON_POSIX and facts.st_mode & GROUP_AND_OTHER:
        _close_to_others(directory)
        _require_closed(directory, os.lstat(directory), GROUP_AND_OTHER)


def _close_to_others(directory: Path) -> None:
    # By descriptor: a name could become a link to somebody's directory between look and chmod.
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise _unsafe(directory, name_of_error(error)) from error
    try:
        if is_ours(os.fstat(descriptor)):
            os.fchmod(descriptor, DIRECTORY_MODE)
    except OSError as error:
        raise _unsafe(directory, name_of_error(error)) from error
    finally:
        os.close(descriptor)


def _require_real_and_ours(directory: Path, facts: os.stat_result) -> None:
    if stat.S_ISLNK(facts.st_mode):
        raise _unsafe(directory, "a symbolic link")
    if getattr(facts, "st_file_attributes", 0) & _REPARSE_POINT:
        raise _unsafe(directory, "a junction")
    if not stat.S_ISDIR(facts.st_mode):
        raise _unsafe(directory, "not a directory")
    if not is_ours(facts):
        raise _unsafe(directory, f"owned by uid {facts.st_uid}, not by uid {os.geteuid()}")


def _require_closed(directory: Path, facts: os.stat_result, forbidden: int) -> None:
    if _ON_POSIX and facts.st_mode & forbidden:
        raise _unsafe(directory, f"open to others (mode {stat.S_IMODE(facts.st_mode):04o})")


def _unsafe(directory: Path, reason: str) -> StateError:
    return StateError(
        f"state directory is not safe to use ({reason})",
        where=str(directory),
        hint=f"check who made `{directory}`, then remove it or set `XDG_STATE_HOME`",
        code="state_unsafe",
    )
