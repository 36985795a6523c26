"""Write one version into every file that spells it: `python tools/bump_version.py X.Y.Z [ROOT]`."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Final

from workspace import ROOT, find_version_literals

_VERSION: Final = re.compile(r"(?:0|[1-9][0-9]*)(?:\.(?:0|[1-9][0-9]*)){2}")
_ARGUMENTS: Final = (1, 2)


def main(arguments: list[str]) -> int:
    """Bump the workspace and print each changed file; 2 when no version `X.Y.Z` was given."""
    if len(arguments) not in _ARGUMENTS or _VERSION.fullmatch(arguments[0]) is None:
        print("error: expected one version `X.Y.Z`\n\nhint: nox -s bump -- 0.11.0", file=sys.stderr)
        return 2
    root = Path(arguments[1]) if len(arguments) > 1 else ROOT
    for path in write_version(root, arguments[0]):
        print(path)
    return 0


def write_version(root: Path, version: str) -> list[str]:
    """Replace every version literal below *root*; return the changed files, sorted."""
    changed = set()
    # From the last offset to the first, so that a longer version does not move what is still to do.
    for place in sorted(find_version_literals(root), reverse=True):
        if place.version == version:
            continue
        path = root / place.path
        data = path.read_bytes()
        end = place.start + len(place.version.encode())
        path.write_bytes(data[: place.start] + version.encode() + data[end:])
        changed.add(place.path)
    return sorted(changed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
