"""One version everywhere, and one command that moves it."""

from __future__ import annotations

import shutil
from collections import Counter
from typing import TYPE_CHECKING

import bump_version
import pytest
from workspace import STREET, find_version_literals

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def copied_root(repository_root: Path, tmp_path: Path) -> Path:
    for place in find_version_literals(repository_root):
        target = tmp_path / place.path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(repository_root / place.path, target)
    return tmp_path


def test_every_version_literal_and_pin_agrees(repository_root: Path) -> None:
    versions = {place.version for place in find_version_literals(repository_root)}

    assert len(versions) == 1, sorted(find_version_literals(repository_root))


def test_every_package_spells_its_version_and_all_its_pins(repository_root: Path) -> None:
    found = Counter(place.path for place in find_version_literals(repository_root))

    for package, required in STREET.items():
        folder = f"packages/{package}"
        assert found[f"{folder}/pyproject.toml"] == 1 + len(required), package
        assert found[f"{folder}/src/{package.replace('-', '_')}/__init__.py"] == 1, package


def test_bump_moves_every_literal_and_nothing_else(
    repository_root: Path, copied_root: Path
) -> None:
    changed = bump_version.write_version(copied_root, "12.345.6789")

    assert {place.version for place in find_version_literals(copied_root)} == {"12.345.6789"}
    old = next(find_version_literals(repository_root)).version.encode()
    for path in changed:
        after = (copied_root / path).read_bytes()
        assert after.replace(b"12.345.6789", old) == (repository_root / path).read_bytes()
    assert len(changed) >= 2 * len(STREET)


def test_bump_brings_a_stray_literal_back(copied_root: Path) -> None:
    stray = copied_root / "packages" / "mc-lock" / "src" / "mc_lock" / "__init__.py"
    version = next(find_version_literals(copied_root)).version
    stray.write_bytes(stray.read_bytes().replace(version.encode(), b"9.9.9"))

    changed = bump_version.write_version(copied_root, version)

    assert changed == ["packages/mc-lock/src/mc_lock/__init__.py"]


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param([], id="none"),
        pytest.param(["0.11"], id="two-numbers"),
        pytest.param(["v0.11.0"], id="letter"),
        pytest.param(["0.11.0\n"], id="newline"),
        pytest.param(["00.1.0"], id="leading-zero"),
        pytest.param(["0.11.0", "a", "b"], id="too-many"),
    ],
)
def test_bump_refuses_what_is_no_version(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert bump_version.main(arguments) == 2
    assert "hint: nox -s bump -- " in capsys.readouterr().err
