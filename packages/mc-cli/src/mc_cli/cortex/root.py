"""`cortex init-root`: an empty memory root with the marker that no index is used."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

FOLDERS: Final = ("KNOWLEDGE", "OBSERVABILITY", "BENCHMARKS")
TEMPLATE: Final = "cortex/CORTEX_INDEX_POLICY.json"


class RootError(Exception):
    """The folder cannot become a memory root."""

    def __init__(self, what: str, *, where: str, hint: str) -> None:
        super().__init__(f"{what}: {where}")
        self.what = what
        self.where = where
        self.hint = hint


def make_root(text: str) -> dict[str, Any]:
    """Make the folder *text* an empty memory root and return what was created and kept.

    Nothing is ever overwritten: a root that is there already keeps every file.

    Raises:
        RootError: The folder holds something else, is no folder, or cannot be written.
    """
    from mc_plan.template import read_template
    from mc_retrieve.health_evidence import policy_of

    root = Path(os.path.abspath(Path(text).expanduser()))  # noqa: PTH100 - links stay as written
    policy = Path(policy_of(str(root)))
    _require_free(root, policy)
    created: list[str] = []
    kept: list[str] = []
    try:
        for folder in (root, *(root / name for name in FOLDERS)):
            (kept if folder.is_dir() else created).append(str(folder))
            folder.mkdir(parents=True, exist_ok=True)
        try:
            with policy.open("x", encoding="utf-8", newline="\n") as file:
                file.write(read_template(TEMPLATE))
            created.append(str(policy))
        except FileExistsError:
            kept.append(str(policy))
    except OSError as error:
        raise RootError(
            f"the root cannot be made ({error.strerror or type(error).__name__})",
            where=str(error.filename or root),
            hint="choose a folder that you may write",
        ) from None
    return {"root": str(root), "created": created, "kept": kept, "index_policy": str(policy)}


def _require_free(root: Path, policy: Path) -> None:
    if root.is_symlink() or (root.exists() and not root.is_dir()):
        raise RootError("expected a real folder", where=str(root), hint="choose another folder")
    if not root.is_dir() or (root / FOLDERS[0]).is_dir():
        return
    foreign = sorted(p.name for p in root.iterdir() if p.name not in (*FOLDERS, policy.name))
    if foreign:
        raise RootError(
            "the folder is not empty and is no memory root",
            where=str(root),
            hint="choose an empty or a new folder",
        )
