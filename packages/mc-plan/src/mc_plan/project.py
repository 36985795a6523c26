"""Where a project lies, and which paths a plan may name.

Every path in a plan is repo-relative and POSIX: ``docs/memory/decisions.md``. The memory directory
is resolved once, here, so that two spellings of it give one lock, one journal and one plan id.

Source: reliability specification 3.2 and 4.1; protocol 0.5 page, A1.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from mc_plan.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mc_lock import StateDirectory

DEFAULT_MEMORY_DIR: Final = "docs/memory"
ROOT_MEMORY_DIR: Final = "."
_PROGRAM: Final = "memory-custodian"
_DOCS: Final = "docs"
_UNPRINTABLE: Final = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


class Project(NamedTuple):
    """One memory directory and the root that its plans' paths start from.

    `root` is real and absolute. `memory_dir` is repo-relative, POSIX and free of symlinks, for
    example ``docs/memory``; it is ``.`` where the root itself is the memory (a Cortex layout).
    """

    root: Path
    memory_dir: str
    state: StateDirectory

    @property
    def memory_path(self) -> Path:
        """The memory directory, absolute and real."""
        return self.path(self.memory_dir)

    @property
    def place_key(self) -> str:
        """32 hex digits that name the memory directory's place on this machine."""
        from mc_lock.place import place_of

        return place_of(self.memory_path)

    def command(self, *words: str) -> str:
        """Return a whole command line for this place, such as ``memory-custodian recover``."""
        where: tuple[str, ...] = ()
        if self.memory_dir == ROOT_MEMORY_DIR:
            where = ("--memory-root", str(self.root))
        elif self.memory_dir != DEFAULT_MEMORY_DIR:
            where = ("--memory-dir", self.memory_dir)
        if not where:
            return " ".join((_PROGRAM, *words))
        import shlex

        return " ".join((_PROGRAM, words[0], where[0], shlex.quote(where[1]), *words[1:]))

    def rebased(self, memory_dir: str) -> Project | None:
        """Return this place as seen from the root that *memory_dir* starts from, if it fits."""
        root = self.memory_path
        for part in reversed(memory_dir.split("/") if memory_dir != ROOT_MEMORY_DIR else []):
            if root.name != part:
                return None
            root = root.parent
        return Project(root, memory_dir, self.state)

    def with_usable_state(self) -> Project:
        """Return the project with its state directory created and checked, or the fallback of it.

        Raises:
            StateError: No state can be written; nothing was written there.
        """
        return self._replace(state=self.state.ensure())

    def path(self, relative: str) -> Path:
        """Return the absolute path of the repo-relative path *relative*."""
        # A plan's paths are UTF-8 on every machine, whatever the locale makes of file names.
        native = os.fsdecode(path_bytes(relative))
        return self.root.joinpath(*(part for part in native.split("/") if part != "."))

    def memory_file(self, name: str) -> str:
        """Return the repo-relative path of *name* (``areas/api.md``) in the memory directory."""
        return name if self.memory_dir == ROOT_MEMORY_DIR else f"{self.memory_dir}/{name}"

    def in_memory(self, relative: str) -> str | None:
        """Return *relative* as seen from the memory directory, or ``None`` if it is not below."""
        if self.memory_dir == ROOT_MEMORY_DIR:
            return relative
        prefix = f"{self.memory_dir}/"
        return relative[len(prefix) :] if relative.startswith(prefix) else None


def open_project(
    root: Path | str,
    memory_dir: str = DEFAULT_MEMORY_DIR,
    *,
    environ: Mapping[str, str] = os.environ,
    state: StateDirectory | None = None,
) -> Project:
    """Return the project at *root* whose memory is *memory_dir*; neither needs to exist.

    Args:
        root: The project root, in any spelling.
        memory_dir: Relative to *root* or absolute; it must lie strictly below ``<root>/docs/``,
            symlinks followed.
        environ: Decides the state directory.
        state: The state directory, if it is known already.

    Raises:
        InputError: *memory_dir* is ``docs`` itself or lies outside of it.

    Source: protocol 0.5 page, A1; design 6.
    """
    real_root = Path(os.path.realpath(Path(root).expanduser()))
    real_memory = Path(os.path.realpath(real_root / Path(memory_dir).expanduser()))
    docs = real_root / _DOCS
    if docs not in real_memory.parents:
        raise InputError(
            "the memory directory must lie below `docs/` of the project root",
            where=memory_dir,
            hint="use a directory such as `docs/memory`, and no symlink that leads out of `docs/`",
            code="unsafe_memory_dir",
        )
    relative = require_repo_path(path_text(real_memory.relative_to(real_root).as_posix()))
    return Project(real_root, relative, state or _state(real_root, environ))


def open_memory_root(
    root: Path | str,
    *,
    environ: Mapping[str, str] = os.environ,
    state: StateDirectory | None = None,
) -> Project:
    """Return a project whose root is itself the memory, as a Cortex layout is."""
    real_root = Path(os.path.realpath(Path(root).expanduser()))
    return Project(real_root, ROOT_MEMORY_DIR, state or _state(real_root, environ))


def path_bytes(path: str) -> bytes:
    """Return the bytes of a repo-relative path: its name on disk, and what paths are sorted by."""
    return path.encode("utf-8", "surrogateescape")


def path_text(native: str) -> str:
    """Return a file name of the operating system as plans write it, the opposite of `path`."""
    return os.fsencode(native).decode("utf-8", "surrogateescape")


def require_repo_path(path: str) -> str:
    """Return *path* if it is repo-relative and POSIX, such as ``docs/memory/areas/api.md``.

    Raises:
        InputError: It is absolute, empty, not normalised, climbs out, has a backslash, a drive
            letter, a control character or text that UTF-8 cannot hold.
    """
    if _is_repo_path(path):
        return path
    shown = path.encode("unicode_escape", "backslashreplace").decode("ascii")
    raise InputError(
        "a plan cannot name this path",
        where=shown,
        hint="use printable characters and a path below the project root, such as"
        " `docs/memory/areas/api.md`",
        code="unsafe_path",
    )


def _is_repo_path(path: str) -> bool:
    parts = path.split("/")
    if any(part in {"", ".", ".."} for part in parts) or "\\" in path or ":" in parts[0]:
        return False
    return _UNPRINTABLE.search(path) is None


def _state(root: Path, environ: Mapping[str, str]) -> StateDirectory:
    from mc_lock import resolve_state_directory

    return resolve_state_directory(root, environ=environ)
