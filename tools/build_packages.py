"""Build each sdist, and each wheel from its sdist: `python tools/build_packages.py DIST`."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from copy_templates import SOURCE, read_tree
from wheel_checks import check_wheel
from workspace import ROOT, STREET, find_version_literals, import_name


def main(arguments: list[str]) -> int:
    """Build into an emptied DIST and check every wheel; 1 when one is not as it must be."""
    dist = Path(arguments[0]).resolve()
    shutil.rmtree(dist, ignore_errors=True)
    version = next(find_version_literals(ROOT)).version
    templates = tuple(read_tree(ROOT / SOURCE))
    problems = []
    for package in STREET:
        wheel = build(package, version, dist)
        print(f"{wheel.name}: {wheel.stat().st_size:,} bytes", flush=True)
        problems += check_wheel(wheel, package, version, templates)
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    return 1 if problems else 0


def build(package: str, version: str, dist: Path) -> Path:
    """Build *package* into *dist* and return its wheel."""
    # Without `--wheel` or `--sdist`, `build` makes the wheel from the sdist that it has just made.
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(dist)]
    done = subprocess.run(
        [*command, str(ROOT / "packages" / package)],
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode != 0:
        sys.stderr.buffer.write(done.stdout)
        sys.exit(f"error: {package} cannot be built")
    return dist / f"{import_name(package)}-{version}-py3-none-any.whl"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
