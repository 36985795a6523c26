"""`enable` makes optional files from templates, indexes them, and never changes one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from mc_plan import InputError, MalformedFileError, Project, execute, open_project
from mc_plan.operations.enable import build_enable, enable_request, parse_feature
from mc_plan.operations.manifests import new_manifest
from mc_plan.operations.modules import new_file
from mc_schema.errors import SchemaError
from mc_schema.manifest import parse_manifest

if TYPE_CHECKING:
    from pathlib import Path

    from mc_plan import Applied

PROJECT_ID = "11111111-2222-4333-8444-555555555555"
MANIFEST = new_manifest(PROJECT_ID, initialized_with="x", last_migrated_with="x")
OLDER = MANIFEST.replace("- protocol_version: 0.6", "- protocol_version: 0.5")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    memory = tmp_path / "project" / "docs" / "memory"
    memory.mkdir(parents=True)
    (memory / "manifest.md").write_bytes(MANIFEST.encode())
    environ = {"XDG_STATE_HOME": str(tmp_path / "state"), "HOME": str(tmp_path)}
    return open_project(tmp_path / "project", environ=environ)


def enable(project: Project, feature: str) -> Applied:
    parsed = parse_feature(feature)
    return execute(
        project, build_enable(parsed), request=enable_request(parsed), notify=lambda _: None
    )


def read(project: Project, name: str) -> str:
    return (project.memory_path / name).read_bytes().decode()


@pytest.mark.parametrize(
    ("feature", "name", "indexed"),
    [
        pytest.param("preferences", "preferences.md", True, id="preferences"),
        pytest.param("changelog", "changelog.md", True, id="changelog"),
        pytest.param("rules", "rules/README.md", False, id="rules"),
        pytest.param("profiles", "profiles/README.md", False, id="profiles"),
        pytest.param("archive", "archive/README.md", False, id="archive"),
        pytest.param("rules/output", "rules/output.md", True, id="rule"),
        pytest.param("rule/output", "rules/output.md", True, id="rule-singular"),
        pytest.param("profile/git", "profiles/git.md", True, id="profile"),
        pytest.param("profiles/git", "profiles/git.md", True, id="profile-plural"),
        pytest.param("area/sync", "areas/sync.md", True, id="area"),
        pytest.param("areas/sync-all_of.it", "areas/sync-all_of.it.md", True, id="area-plural"),
    ],
)
def test_a_feature_is_made_once_and_indexed(
    project: Project, feature: str, name: str, *, indexed: bool
) -> None:
    first = enable(project, feature)
    before = read(project, name)
    second = enable(project, feature)

    assert before.startswith(new_file(name).split("\n")[0])
    assert parse_manifest(read(project, "manifest.md")).is_indexed(name) is indexed
    assert (True, indexed) == (first.result.is_new, first.result.is_indexed)
    assert second.written == ()
    assert read(project, name) == before


@pytest.mark.parametrize(
    "feature", ["areas", "area", "other", "", "rules/", "x/y", "changelog.md", "archive/x"]
)
def test_an_unknown_feature_is_refused(project: Project, feature: str) -> None:
    with pytest.raises((InputError, SchemaError)):
        enable(project, feature)

    assert [path.name for path in project.memory_path.rglob("*")] == ["manifest.md"]


@pytest.mark.parametrize("name", ["README", "con", "a b", "..", ".x", "a/b"])
def test_a_reserved_name_is_refused(project: Project, name: str) -> None:
    with pytest.raises(SchemaError):
        enable(project, f"rules/{name}")


def test_an_existing_module_is_indexed_and_kept(project: Project) -> None:
    path = project.memory_path / "areas" / "sync.md"
    path.parent.mkdir()
    path.write_bytes(b"mine\r\n")

    applied = enable(project, "area/sync")

    assert (applied.result.is_new, applied.result.is_indexed) == (False, True)
    assert path.read_bytes() == b"mine\r\n"
    assert [file.path for file in applied.written] == ["docs/memory/manifest.md"]


def test_the_changelog_gets_a_record_also_of_itself(project: Project) -> None:
    enable(project, "changelog")
    enable(project, "area/sync")

    text = read(project, "changelog.md")
    assert "- Enabled optional memory module changelog.md." in text
    assert text.index("areas/sync.md") < text.index("module changelog.md")


def test_well_known_names_have_their_own_sentence(project: Project) -> None:
    enable(project, "rules/output")
    enable(project, "rules/mine")

    text = read(project, "manifest.md")
    assert "### Enabled rules\n- `rules/mine.md`: load when the task matches this rule.\n" in text
    assert "- `rules/output.md`: load for text, files or screens that users will see.\n" in text


def test_an_older_project_indexes_modules_alone(project: Project) -> None:
    (project.memory_path / "manifest.md").write_bytes(OLDER.encode())

    assert enable(project, "preferences").result.is_indexed is False
    assert enable(project, "area/sync").result.is_indexed is True


@pytest.mark.parametrize(
    "index",
    [
        pytest.param("## OPTIONAL MODULE INDEX\n", id="upper-case"),
        pytest.param("## Optional Module Index ##\n\nsee below\n", id="title-case"),
        pytest.param("", id="no-index"),
        pytest.param("```\n## Optional module index\n```\n", id="in-a-fence"),
    ],
)
def test_the_index_is_found_as_readers_find_it(project: Project, index: str) -> None:
    """Faults 32 and 33: one heading comparison for read and write."""
    start = MANIFEST.index("## Optional module index")
    end = MANIFEST.index("## Optional rules")
    text = MANIFEST[:start] + index + "\n" + MANIFEST[end:]
    (project.memory_path / "manifest.md").write_bytes(text.encode())

    enable(project, "area/sync")
    again = enable(project, "area/sync")

    assert parse_manifest(read(project, "manifest.md")).is_indexed("areas/sync.md")
    assert again.written == ()


def test_a_manifest_that_cannot_be_edited_stops_everything(project: Project) -> None:
    text = "\n".join(MANIFEST.split("## Optional module index")[0].split("\n")) + "\n```\nopen\n"
    (project.memory_path / "manifest.md").write_bytes(text.encode())

    with pytest.raises((MalformedFileError, SchemaError)):
        enable(project, "area/sync")

    assert not (project.memory_path / "areas").exists()
