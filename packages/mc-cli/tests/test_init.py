"""`init` as a process: its options, its refusals, and its answers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import jsonschema
import pytest
from referencing import Registry, Resource

if TYPE_CHECKING:
    from conftest import RunCommand

SCHEMAS: Final = Path(__file__).parents[3] / "docs" / "schemas"
CORE: Final = ("manifest", "brief", "decisions", "constraints", "do-not-use", "inbox")


def files_of(root: Path) -> dict[str, bytes]:
    found = (path for path in root.rglob("*") if path.is_file())
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def answer_of(output: str) -> dict[str, Any]:
    answer = json.loads(output)
    registry: Registry[Any] = Registry().with_resources(
        (path.name, Resource.from_contents(json.loads(path.read_text("utf-8"))))
        for path in SCHEMAS.glob("*.json")
    )
    for value, name in (
        (answer, "memory-custodian-v1.schema.json"),
        (answer["data"], "init.schema.json"),
    ):
        if value is not None:
            contents = json.loads((SCHEMAS / name).read_text("utf-8"))
            jsonschema.Draft202012Validator(contents, registry=registry).validate(value)
    return dict(answer)


def test_a_set_is_made_here_and_the_second_time_nothing_changes(
    tmp_path: Path, memory_custodian: RunCommand
) -> None:
    done = memory_custodian(["init"], cwd=tmp_path)
    before = files_of(tmp_path)
    again = memory_custodian(["init"], cwd=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Initialized MemoryCustodian at docs/memory\n")
    for name in CORE:
        assert f"- docs/memory/{name}.md: written\n" in done.stdout
        assert f"- docs/memory/{name}.md: kept\n" in again.stdout
    assert "Next: fill in docs/memory/brief.md\n" in done.stdout
    assert again.stdout.endswith("No file changed.\n")
    assert files_of(tmp_path) == before


def test_json_is_one_document_of_its_schema(tmp_path: Path, memory_custodian: RunCommand) -> None:
    done = memory_custodian(["init", "--agent", "all", "--extended", "--json"], cwd=tmp_path)

    data = answer_of(done.stdout)["data"]
    assert data["applied"] is True
    assert data["protocol"] == "0.6"
    assert {"path": "AGENTS.md", "result": "written"} in data["files"]
    assert "docs/memory/archive/README.md" in data["files_written"]


@pytest.mark.parametrize(
    ("words", "files"),
    [
        pytest.param(["--agent", "codex"], {"AGENTS.md"}, id="codex"),
        pytest.param(["--agent", "claude,gemini"], {"CLAUDE.md", "GEMINI.md"}, id="list"),
        pytest.param(["--agent", "all"], {"AGENTS.md", "CLAUDE.md", "GEMINI.md"}, id="all"),
        pytest.param(["--agent", "none"], set(), id="none"),
        pytest.param(
            ["--with-codex", "--with-claude", "--with-gemini"],
            {"AGENTS.md", "CLAUDE.md", "GEMINI.md"},
            id="with",
        ),
    ],
)
def test_agents_are_chosen_by_name(
    tmp_path: Path, memory_custodian: RunCommand, words: list[str], files: set[str]
) -> None:
    done = memory_custodian(["init", *words], cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.glob("*.md")} == files


@pytest.mark.parametrize(
    "words",
    [
        ["--repair", "--replace-existing"],
        ["--apply"],
        ["--confirm-plan", "0" * 16],
        ["--agent", "other"],
        ["--force"],
        ["--memory-dir", "elsewhere"],
        ["--memory-dir", "docs"],
        ["--path", "docs/../x"],
    ],
    ids=" ".join,
)
def test_wrong_options_are_refused(
    tmp_path: Path, memory_custodian: RunCommand, words: list[str]
) -> None:
    done = memory_custodian(["init", *words], cwd=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"error: .+\n\nhint: .+\nno files were written\n", done.stderr)
    assert files_of(tmp_path) == {}


def test_the_older_name_of_the_option_works(tmp_path: Path, memory_custodian: RunCommand) -> None:
    done = memory_custodian(["init", "--path", "docs/team/memory"], cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert (tmp_path / "docs/team/memory/manifest.md").is_file()


@pytest.mark.parametrize("below", ["src", "docs/memory", "docs/memory/areas/x"])
def test_a_folder_below_a_set_gets_no_second_one(
    tmp_path: Path, memory_custodian: RunCommand, below: str
) -> None:
    memory_custodian(["init"], cwd=tmp_path)
    folder = tmp_path / below
    folder.mkdir(parents=True, exist_ok=True)
    before = files_of(tmp_path)

    done = memory_custodian(["init"], cwd=folder)

    assert done.returncode == 1
    assert str(tmp_path / "docs" / "memory") in done.stderr
    assert f"memory-custodian init --repair --project-root {tmp_path}" in done.stderr
    assert files_of(tmp_path) == before


def test_files_without_a_manifest_name_the_repair(
    tmp_path: Path, memory_custodian: RunCommand
) -> None:
    (tmp_path / "docs" / "memory").mkdir(parents=True)
    (tmp_path / "docs" / "memory" / "decisions.md").write_text("# Mine\n")

    refused = memory_custodian(["init"], cwd=tmp_path)
    done = memory_custodian(["init", "--repair"], cwd=tmp_path)

    assert refused.returncode == 2
    assert "`memory-custodian init --repair`" in refused.stderr
    assert done.returncode == 0
    assert done.stdout.startswith("Repaired MemoryCustodian at docs/memory\n")
    assert (tmp_path / "docs" / "memory" / "decisions.md").read_text() == "# Mine\n"


def test_a_repair_of_an_older_project_prints_the_hint(
    tmp_path: Path, memory_custodian: RunCommand
) -> None:
    memory_custodian(["init"], cwd=tmp_path)
    path = tmp_path / "docs" / "memory" / "manifest.md"
    path.write_text(path.read_text().replace("protocol_version: 0.6", "protocol_version: 0.5"))

    done = memory_custodian(["init", "--repair"], cwd=tmp_path)

    assert done.returncode == 0
    assert "memory-custodian migrate" in done.stderr
    assert "protocol_version: 0.5" in path.read_text()


def test_a_replacement_is_previewed_then_applied(
    tmp_path: Path, memory_custodian: RunCommand
) -> None:
    memory_custodian(["init"], cwd=tmp_path)
    decisions = tmp_path / "docs" / "memory" / "decisions.md"
    decisions.write_text("# D\n\n- mine\n")

    shown = memory_custodian(["init", "--replace-existing"], cwd=tmp_path)
    as_json = memory_custodian(["init", "--replace-existing", "--json"], cwd=tmp_path)
    unconfirmed = memory_custodian(["init", "--replace-existing", "--apply"], cwd=tmp_path)
    assert decisions.read_text() == "# D\n\n- mine\n"
    (plan_id,) = re.findall(r"^Plan ID: ([0-9a-f]{16})$", shown.stdout, re.MULTILINE)
    command = shown.stdout.split("Apply it with:\n  memory-custodian ")[1].split()
    done = memory_custodian(command, cwd=tmp_path)

    assert (shown.returncode, unconfirmed.returncode, done.returncode) == (0, 3, 0)
    assert answer_of(as_json.stdout)["data"]["plan_id"] == plan_id == command[-1]
    assert "holds text that is not from a template" in shown.stdout
    assert done.stdout.endswith("Files written:\n- docs/memory/decisions.md\n")


def test_a_project_root_is_made_nowhere_else(tmp_path: Path, memory_custodian: RunCommand) -> None:
    root = tmp_path / "root"
    root.mkdir()

    done = memory_custodian(["init", "--project-root", str(root)], cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"root"}
