"""The wheel checks of `nox -s build` notice each way in which a wheel can be wrong."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING, Final

import pytest
from try_wheels import find_interpreter
from wheel_checks import check_wheel, is_own, read_requirements

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

INFO: Final = "mc_plan-1.2.3.dist-info"
METADATA: Final = (
    "Metadata-Version: 2.4\nName: mc-plan\nVersion: 1.2.3\n"
    "Requires-Dist: mc-lock==1.2.3\nRequires-Dist: mc-schema==1.2.3\n\nText.\n"
)
GOOD: Final[Mapping[str, str]] = {
    "mc_plan/__init__.py": "",
    "mc_plan/py.typed": "",
    "mc_plan/templates/manifest.md": "",
    f"{INFO}/METADATA": METADATA,
    f"{INFO}/licenses/LICENSE": "",
}


def _wheel(folder: Path, files: Mapping[str, str]) -> Path:
    path = folder / "mc_plan-1.2.3-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def _problems(wheel: Path) -> list[str]:
    return check_wheel(wheel, "mc-plan", "1.2.3", ("manifest.md",))


def test_a_right_wheel_has_no_problems(tmp_path: Path) -> None:
    assert _problems(_wheel(tmp_path, GOOD)) == []


@pytest.mark.parametrize("missing", [name for name in GOOD if not name.endswith("METADATA")])
def test_a_missing_file_is_a_problem(tmp_path: Path, missing: str) -> None:
    wheel = _wheel(tmp_path, {name: text for name, text in GOOD.items() if name != missing})

    assert _problems(wheel) == [f"{wheel.name}: no {missing}"]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        pytest.param("mc-lock==1.2.3", "mc-lock>=1.2.3", "requires mc-lock>=1.2.3", id="loose-pin"),
        pytest.param("mc-lock==1.2.3", "mc-scan==1.2.3", "requires mc-scan==1.2.3", id="wrong-way"),
        pytest.param(
            "Requires-Dist: mc-lock==1.2.3\n", "", "does not require mc-lock==1.2.3", id="left-out"
        ),
    ],
)
def test_a_wrong_requirement_is_a_problem(tmp_path: Path, old: str, new: str, problem: str) -> None:
    wheel = _wheel(tmp_path, {**GOOD, f"{INFO}/METADATA": METADATA.replace(old, new)})

    assert f"{wheel.name}: {problem}" in _problems(wheel)


def test_a_foreign_file_is_a_problem(tmp_path: Path) -> None:
    wheel = _wheel(tmp_path, {**GOOD, "tests/test_plan.py": ""})

    assert _problems(wheel) == [f"{wheel.name}: tests/test_plan.py does not belong there"]


def test_a_wheel_of_another_version_is_a_problem(tmp_path: Path) -> None:
    assert "no mc_plan-1.2.4.dist-info/METADATA" in str(
        check_wheel(_wheel(tmp_path, GOOD), "mc-plan", "1.2.4", ())
    )


def test_requirements_are_read_as_written(tmp_path: Path) -> None:
    lines = read_requirements(_wheel(tmp_path, GOOD))

    assert lines == ["mc-lock==1.2.3", "mc-schema==1.2.3"]
    assert all(is_own(line) for line in lines)
    assert not is_own("platformdirs>=4.2")


def test_a_python_that_is_not_there_is_not_found() -> None:
    assert find_interpreter("3.999") is None
