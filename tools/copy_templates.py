"""Copy `templates/` into mc-plan, which ships them: `python tools/copy_templates.py [ROOT]`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from workspace import ROOT

SOURCE: Final = "templates"
COPY: Final = "packages/mc-plan/src/mc_plan/templates"
_NOT_TEMPLATES: Final = frozenset({"__pycache__", ".DS_Store"})


def main(arguments: list[str]) -> int:
    """Copy, and print each file that was written or removed."""
    for path in copy_templates(Path(arguments[0]) if arguments else ROOT):
        print(path)
    return 0


def read_tree(folder: Path) -> dict[str, bytes]:
    """Return the files below *folder* by relative POSIX path; nothing when there is no folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and _NOT_TEMPLATES.isdisjoint(path.parts)
    }


def copy_templates(root: Path) -> list[str]:
    """Make the copy equal to the source, byte for byte; return the changed files, sorted."""
    source, copy = read_tree(root / SOURCE), read_tree(root / COPY)
    changed = sorted(name for name in source | copy if source.get(name) != copy.get(name))
    for name in changed:
        target = root / COPY / name
        if name in source:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source[name])
        else:
            target.unlink()
    return [f"{COPY}/{name}" for name in changed]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
