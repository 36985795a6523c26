"""Where the project of a command lies: root, memory directory and configuration."""

from __future__ import annotations

import os
from pathlib import Path

from mc_cli.config import Config, read_config
from mc_cli.errors import CommandError, UsageError

TYPE_CHECKING = False  # importing `typing` would cost a command more than its work
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Final, NamedTuple
else:
    from mc_schema.value import NamedTuple

DEFAULT_MEMORY_DIR: Final = "docs/memory"


class Location(NamedTuple):
    """The place a command works on."""

    root: Path
    """Real, absolute project root."""
    memory_dir: str
    """Repo-relative POSIX path, strictly below ``docs/``, symlinks resolved."""
    config: Config

    @property
    def memory_path(self) -> Path:
        """The memory directory, absolute and real."""
        return self.root.joinpath(*self.memory_dir.split("/"))

    @property
    def exists(self) -> bool:
        """Whether the memory directory is there."""
        return self.memory_path.is_dir()


def locate(args: Namespace, *, here_only: bool = False) -> Location:
    """Return the place that *args* name; the memory directory need not exist.

    Without ``--project-root`` it is the nearest folder from the current directory upwards that has
    the memory directory, else the current directory itself; with *here_only* (``init``) it is the
    current directory.

    Raises:
        UsageError: The root is no folder, or the memory directory does not lie below ``docs/``.
        CommandError: The configuration at the root is wrong or unreadable.
    """
    if args.project_root is not None:
        root = Path(args.project_root).expanduser()
        if not root.is_dir():
            raise UsageError(
                "the project root is not a folder",
                where=args.project_root,
                hint="give an existing folder with `--project-root`",
                code="no_project_root",
            )
        return _at(root, args.memory_dir)
    here = _current_directory()
    if not here_only:
        found = nearest(here, args.memory_dir)
        if found is not None:
            return found
    return _at(here, args.memory_dir)


def require_memory(args: Namespace) -> Location:
    """Return the place that *args* name.

    Raises:
        CommandError: It has no memory directory (exit 1).
    """
    location = locate(args)
    if not location.exists:
        raise CommandError(
            "no memory directory",
            where=str(location.memory_path),
            hint="`memory-custodian init` creates one in the current directory",
            code="no_memory",
        )
    return location


def nearest(start: Path, memory_dir: str | None) -> Location | None:
    """Return the nearest place from *start* upwards that has a memory directory, else ``None``."""
    for folder in (start, *start.parents):
        if memory_dir is None and not (folder / "docs").is_dir():
            continue
        try:
            location = _at(folder, memory_dir)
        except CommandError:
            # A configuration above the project that is not ours must not stop the search ...
            if folder == start:
                # ... but the one right here is what the user is working on.
                raise
            continue
        if location.exists:
            return location
    return None


def _current_directory() -> Path:
    try:
        return Path.cwd()
    except OSError:
        raise UsageError(
            "the current directory does not exist", hint="change to an existing folder"
        ) from None


def _at(root: Path, memory_dir: str | None) -> Location:
    real_root = Path(os.path.realpath(root))
    config = read_config(real_root)
    wanted = memory_dir if memory_dir is not None else config.get("memory-dir", DEFAULT_MEMORY_DIR)
    real = Path(os.path.realpath(real_root / Path(wanted).expanduser()))
    docs = real_root / "docs"
    if docs not in real.parents:
        raise UsageError(
            "the memory directory must lie below `docs/` of the project root",
            where=wanted,
            hint="use a directory such as `docs/memory`, and no symlink that leads out of `docs/`",
            code="unsafe_memory_dir",
        )
    return Location(real_root, real.relative_to(real_root).as_posix(), config)
