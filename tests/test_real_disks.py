"""A disk that is really full, and one that is really read-only: small memory file systems.

Only in torture, on Linux, where a user namespace may mount; elsewhere the injected ENOSPC and EROFS
of `test_fault_injection.py` stand for it.

Source: reliability specification 7, "faults".
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Final

import pytest
from place import Place, files_below, new_place

if TYPE_CHECKING:
    from pathlib import Path

EVIDENCE: Final = ["--evidence", "user-confirmed"]
ADD: Final = ["add", "Use UTC.", "--type", "rule", "--name", "time", *EVIDENCE]
# What is mounted is gone with the namespace, so the tree is copied out before it ends.
SCRIPT: Final = """
set -e
mount -t tmpfs -o size=96k,mode=755 none "$1/$2"
cp -a "$1/kept/." "$1/$2/"
case "$3" in
full) head -c 200000 /dev/zero > "$1/$2/filler" 2>/dev/null || true ;;
read-only) mount -o remount,ro "$1/$2" ;;
esac
shift 3
set +e
"$@"
code=$?
cp -a "$MOUNTED/." "$OUT/"
exit $code
"""


def can_mount() -> bool:
    if sys.platform != "linux" or shutil.which("unshare") is None:
        return False
    words = ["unshare", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(words, check=False, capture_output=True).returncode == 0


@pytest.mark.torture
@pytest.mark.parametrize("kind", ["full", "read-only"])
@pytest.mark.parametrize("mounted", ["project", "state"])
def test_disk_that_takes_nothing_leaves_everything_as_it_was(
    tmp_path: Path, mounted: str, kind: str
) -> None:
    if not can_mount():
        return
    place = new_place(tmp_path / "machine")
    place.add("Answer in trains.")
    shutil.copytree(place.base / mounted, place.base / "kept")
    out = tmp_path / "out"
    out.mkdir()
    before = files_below(place.base / "kept")
    other = "state" if mounted == "project" else "project"
    untouched = files_below(place.base / other)
    environment = {"MOUNTED": str(place.base / mounted), "OUT": str(out)}
    prefix = ["unshare", "--map-root-user", "--mount", "sh", "-c", SCRIPT, "sh"]

    # From the base: a shell that stood in the project would not see what is mounted over it.
    answer = place.run(
        *ADD,
        "--project-root",
        str(place.root),
        cwd=place.base,
        prefix=[*prefix, str(place.base), mounted, kind],
        env=environment,
    )

    after = files_below(out)
    after.pop("filler", None)
    assert answer.code in (1, 4), answer
    assert "no files were written" in answer.err
    assert "No space left" in answer.err or "ENOSPC" in answer.err or kind != "full", answer
    assert after == before
    assert files_below(place.base / other) == untouched
    assert Place(place.base).leftovers() == []
