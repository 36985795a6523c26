"""`enable` as a process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

import jsonschema
import pytest

if TYPE_CHECKING:
    from conftest import RunCommand

SCHEMA: Final = Path(__file__).parents[3] / "docs" / "schemas" / "enable.schema.json"


@pytest.fixture
def project(tmp_path: Path, memory_custodian: RunCommand) -> Path:
    assert memory_custodian(["init"], cwd=tmp_path).returncode == 0
    return tmp_path


def test_a_module_is_written_indexed_and_then_already_enabled(
    project: Path, memory_custodian: RunCommand
) -> None:
    done = memory_custodian(["enable", "area/sync"], cwd=project)
    again = memory_custodian(["enable", "areas/sync"], cwd=project)

    assert done.stdout == (
        "docs/memory/areas/sync.md: written\n"
        "docs/memory/manifest.md: indexed docs/memory/areas/sync.md\n"
        "Files written:\n"
        "- docs/memory/areas/sync.md\n"
        "- docs/memory/manifest.md\n"
    )
    assert (again.returncode, again.stdout, again.stderr) == (
        0,
        "docs/memory/areas/sync.md: already enabled\n",
        "",
    )


def test_json_follows_its_schema(project: Path, memory_custodian: RunCommand) -> None:
    for result in ("written", "kept"):
        done = memory_custodian(["enable", "changelog", "--json"], cwd=project)
        data = json.loads(done.stdout)["data"]
        jsonschema.validate(data, json.loads(SCHEMA.read_text("utf-8")))
        assert data["result"] == result


@pytest.mark.parametrize(
    "words", [["areas"], ["rules/README"], ["x"], [], ["rules/a b"], ["--force"]]
)
def test_an_unknown_or_reserved_feature_is_refused(
    project: Path, memory_custodian: RunCommand, words: list[str]
) -> None:
    done = memory_custodian(["enable", *words], cwd=project)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("\nno files were written\n")
