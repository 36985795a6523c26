from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import mc_lock
import pytest

README = Path(__file__).parents[1] / "README.md"
HEAVY = {"dataclasses", "platformdirs", "tempfile", "uuid", "socket", "subprocess", "ctypes"}


def imported_by(code: str) -> set[str]:
    script = f"import json, sys\n{code}\nsys.stdout.write(json.dumps(list(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
    return set(json.loads(done.stdout))


def test_every_public_name_is_there() -> None:
    assert [name for name in mc_lock.__all__ if getattr(mc_lock, name, None) is None] == []
    assert sorted(mc_lock.__all__) == mc_lock.__all__
    assert set(mc_lock.__all__) <= set(dir(mc_lock))


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        mc_lock.nonsense  # noqa: B018


def test_every_public_name_is_documented() -> None:
    values = [getattr(mc_lock, name) for name in mc_lock.__all__ if name != "__version__"]

    assert [value for value in values if not value.__doc__] == []


@pytest.mark.parametrize(
    "code",
    [
        "import mc_lock",
        "from mc_lock import resolve_state_directory; resolve_state_directory()",
        "from mc_lock import acquire_mutation_lock, SignalGuard, describe_holder",
    ],
    ids=["package", "reader", "writer"],
)
def test_import_stays_light(code: str) -> None:
    """A command's start-up is paid at every call of every agent."""
    assert set() == HEAVY & imported_by(code)


def test_package_alone_loads_none_of_its_modules() -> None:
    loaded = {name for name in imported_by("import mc_lock") if name.startswith("mc_lock.")}

    assert set() == loaded


def test_reader_does_not_pay_for_the_lock() -> None:
    """Every command looks for an interrupted change, and few of them write."""
    code = "from mc_lock import resolve_state_directory as r, read_private_file; r().verify()"
    loaded = {name for name in imported_by(code) if name.startswith("mc_lock.")}

    names = ("errors", "file_calls", "location", "private_file", "state")

    assert {f"mc_lock.{name}" for name in names} == loaded


def test_uncontended_lock_pays_for_nothing_heavy(tmp_path: Path) -> None:
    code = f"""
from pathlib import Path
from mc_lock import acquire_mutation_lock, StateDirectory
root = Path({str(tmp_path)!r})
acquire_mutation_lock(
    StateDirectory(root / "state"), read_identity=lambda: None, memory_dir=root,
    project_root=root, command="add", notify=print).release()
"""

    assert set() == (HEAVY | {"datetime"}) & imported_by(code)


def test_readme_example_runs(tmp_path: Path) -> None:
    """What a stranger copies from the README has to work as it stands."""
    [example] = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    project = tmp_path / "project"
    project.mkdir()
    environ = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
    runs = [
        subprocess.run(
            [sys.executable, "-c", example],
            cwd=project,
            env=environ,
            check=False,
            capture_output=True,
            text=True,
        )
        for _ in range(2)
    ]

    assert [(run.returncode, run.stderr) for run in runs] == [(0, ""), (0, "")]
    assert "2" in runs[1].stdout
    assert list((tmp_path / "state" / "memory-custodian" / "locks").iterdir()) == []
