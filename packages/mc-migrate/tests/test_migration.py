"""A migration adds what Protocol 0.6 needs and keeps every byte that was there."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from mc_migrate import build_migration, migrate_request
from mc_plan import execute
from mc_plan.errors import StalePlanError, UnconfirmedPlanError, UnsupportedProtocolError
from mc_schema.admission import LEGACY, SERVED
from mc_schema.entry import parse_entry
from mc_schema.manifest import parse_manifest
from mc_schema.memoryfile import parse_memory_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mc_plan.plan import Plan
    from mc_plan.project import Project

    from conftest import Migrating

    MakeProject = Callable[[dict[str, str | bytes]], Project]

DECISION = (
    "## 2026-03-04 - Keep CSV\nDecision:\nKeep exports in CSV.\nReason:\nCustomers want it.\n"
)


def kept_lines(
    migrating: type[Migrating], name: str, data: bytes, renamed: set[str]
) -> list[bytes]:
    """Return the lines that must survive: all but renamed headings and updated metadata."""
    updated = (b"- protocol_version:", b"- last_migrated_with:") if name == "manifest.md" else ()
    return [
        line
        for line in migrating.lines_of(data)
        if not line.startswith(updated or b"\0")
        and line.strip().decode("utf-8", "replace").removeprefix("## ") not in renamed
    ]


def test_preview_writes_nothing_into_the_project(
    make_project: MakeProject, migrating: type[Migrating]
) -> None:
    project = make_project({"decisions.md": f"# Decisions\n\n{DECISION}"})
    before = migrating.read_all(project)

    migrating.plan_of(project)

    assert before == migrating.read_all(project)


def test_apply_needs_the_plan_id_on_an_older_project_too(
    make_project: MakeProject, migrating: type[Migrating]
) -> None:
    project = make_project({})
    before = migrating.read_all(project)

    with pytest.raises(UnconfirmedPlanError):
        execute(project, build_migration, request=migrate_request(), notify=print)

    assert before == migrating.read_all(project)


def test_ids_of_the_preview_are_written(
    make_project: MakeProject, migrating: type[Migrating]
) -> None:
    project = make_project({"decisions.md": f"# Decisions\n\n{DECISION}"})

    plan = migrating.migrate(project)

    entry_id = plan.result.ids[0].entry_id
    assert entry_id.startswith("MC-DEC-20260304-")
    assert f"## {entry_id} — Keep CSV\n" in (project.memory_path / "decisions.md").read_text(
        "utf-8"
    )


def test_migrated_decision_is_an_admissible_legacy_entry(
    make_project: MakeProject, migrating: type[Migrating]
) -> None:
    project = make_project({"areas/sync.md": f"# Area: Sync\n\n{DECISION}"})

    migrating.migrate(project)

    text = (project.memory_path / "areas/sync.md").read_text("utf-8")
    (unit,) = parse_memory_file("areas/sync.md", text).units
    assert unit.standing.is_served
    entry = parse_entry(unit.text)
    assert (
        entry.status,
        entry.scope,
        entry.evidence,
    ) == ("active", "area:sync", ("legacy-unverified",))
    assert (entry.body, entry.reason) == ("Keep exports in CSV.", "Customers want it.")


def test_metadata_is_complete_and_unknown_lines_stay(
    make_project: MakeProject, migrating: type[Migrating]
) -> None:
    project = make_project({})

    plan = migrating.migrate(project)

    text = (project.memory_path / "manifest.md").read_text("utf-8")
    manifest = parse_manifest(text)
    assert manifest.metadata.is_current
    assert plan.result.project_id == manifest.metadata.project_id
    assert manifest.metadata.get("initialized_with") == "memory-custodian 0.9.1"
    assert manifest.has_trust_boundary()
    assert "- owner: somebody\n<!-- a remark -->\n" in text


def test_second_migration_has_nothing_to_do(
    make_project: MakeProject, migrating: type[Migrating]
) -> None:
    project = make_project({"decisions.md": f"# Decisions\n\n{DECISION}"})
    migrating.migrate(project)
    after = migrating.read_all(project)

    again = migrating.plan_of(project)

    assert again.public().changes_nothing
    assert after == migrating.read_all(project)


def test_plan_made_stale_by_another_writer_writes_nothing(
    make_project: MakeProject, migrating: type[Migrating]
) -> None:
    project = make_project({})
    confirm = migrating.plan_of(project).public().plan_id
    (project.memory_path / "constraints.md").write_text("# Constraints\n\n- New.\n", "utf-8")
    before = migrating.read_all(project)

    with pytest.raises(StalePlanError):
        execute(project, build_migration, request=migrate_request(), confirm=confirm, notify=print)

    assert before == migrating.read_all(project)


@pytest.mark.parametrize(
    ("section", "state"),
    [
        pytest.param("- protocol_version: 0.9\n", "newer", id="newer"),
        pytest.param("- protocol_version: zero.five\n", "invalid", id="unreadable"),
        pytest.param(
            "- protocol_version: 0.5\n- protocol_version: 0.4\n", "repeated", id="repeated"
        ),
    ],
)
def test_version_that_cannot_be_migrated_is_refused_with_its_reason(
    make_project: MakeProject, section: str, state: str, migrating: type[Migrating]
) -> None:
    project = make_project({"manifest.md": f"# M\n\n## MemoryCustodian Protocol\n{section}"})
    before = migrating.read_all(project)

    with pytest.raises(UnsupportedProtocolError, match=state):
        migrating.plan_of(project)

    assert before == migrating.read_all(project)


def test_foreign_metadata_is_refused(make_project: MakeProject, migrating: type[Migrating]) -> None:
    project = make_project({"manifest.md": "# M\n\nprotocol_version: 1\n\n## Default Loading\n"})

    with pytest.raises(UnsupportedProtocolError):
        migrating.plan_of(project)


@pytest.mark.parametrize("version", ["0.3", "0.4"])
def test_generated_route_of_an_older_protocol_gains_decisions(
    make_project: MakeProject, version: str, manifest_0_5: str, migrating: type[Migrating]
) -> None:
    text = manifest_0_5.replace("protocol_version: 0.5", f"protocol_version: {version}")
    project = make_project({"manifest.md": text})

    plan = migrating.migrate(project)

    manifest = parse_manifest((project.memory_path / "manifest.md").read_text("utf-8"))
    assert "decisions.md" in [spec.path for spec in manifest.task_specs("implementation")]
    assert "Load decisions.md for implementation tasks" in [
        step.what for step in plan.public().operations
    ]


def test_same_route_of_a_current_protocol_is_a_choice_and_stays(
    make_project: MakeProject, migrating: type[Migrating]
) -> None:
    project = make_project({})

    migrating.migrate(project)

    manifest = parse_manifest((project.memory_path / "manifest.md").read_text("utf-8"))
    assert "decisions.md" not in [spec.path for spec in manifest.task_specs("implementation")]


def test_project_without_metadata_gets_a_section_before_the_first_one(
    make_project: MakeProject, manifest_0_5: str, migrating: type[Migrating]
) -> None:
    head, _, rest = manifest_0_5.partition("## MemoryCustodian Protocol")
    text = head + rest[rest.index("## Always load") :]
    project = make_project({"manifest.md": text})

    plan = migrating.migrate(project)

    manifest = parse_manifest((project.memory_path / "manifest.md").read_text("utf-8"))
    assert manifest.metadata.is_current
    assert manifest.metadata.get("initialized_with") == "unknown"
    assert plan.result.from_version == ""


def test_valid_project_id_is_kept(
    make_project: MakeProject, manifest_0_5: str, migrating: type[Migrating]
) -> None:
    own = "0b1c2d3e-4f50-4a6b-8c7d-9e0f1a2b3c4d"
    text = manifest_0_5.replace("- owner", f"- project_id: {own}\n- owner")
    project = make_project({"manifest.md": text})

    plan = migrating.migrate(project)

    assert own == plan.result.project_id
    assert (project.memory_path / "manifest.md").read_text("utf-8").count("project_id") == 1


def test_invalid_project_id_blocks_with_the_line_to_correct(
    make_project: MakeProject, manifest_0_5: str, migrating: type[Migrating]
) -> None:
    text = manifest_0_5.replace("- owner", "- project_id: nonsense\n- owner")
    project = make_project({"manifest.md": text})

    assert [b.code for b in migrating.plan_of(project).public().blockers] == ["invalid_project_id"]


@pytest.mark.parametrize(
    ("name", "text", "places"),
    [
        pytest.param("decisions.md", "# D\n\n## Naming\n\nProse.\n", [3], id="section"),
        pytest.param("constraints.md", "# C\n\n- a\n\nloose\n", [5], id="prose"),
        pytest.param("constraints.md", "# C\n\nOne. Two.\n", [3], id="prose-alone"),
        pytest.param("decisions.md", "# D\n\nNewest first.\n", [], id="introduction"),
        pytest.param("do-not-use.md", "# D\n\n## Tombstone: x\ny\n", [], id="tombstone"),
        pytest.param("constraints.md", "# C\n\n- a\n- b\n", [], id="bullets"),
        pytest.param(
            "decisions.md", "# D\n\n## A\nDecision:\na\nDecision:\nb\n", [3], id="two-pairs"
        ),
    ],
)
def test_unclear_place_is_listed_with_its_line_and_does_not_block(
    make_project: MakeProject, name: str, text: str, places: list[int], migrating: type[Migrating]
) -> None:
    project = make_project({name: text})

    plan = migrating.migrate(project)

    path = f"docs/memory/{name}"
    assert places == [place.line for place in plan.result.manual if place.path == path]
    shown = [w for w in plan.public().warnings if w.startswith("Manual migration recommended")]
    assert [f"{path}:{line}" in warning for line, warning in zip(places, shown, strict=True)] == [
        True for _ in places
    ]
    assert text == (project.memory_path / name).read_text("utf-8")


def test_line_ends_bom_and_missing_final_newline_survive(
    make_project: MakeProject, migrating: type[Migrating]
) -> None:
    text = "\ufeff# D\r\n\r\n" + DECISION.replace("\n", "\r\n") + "\r\nend  "
    project = make_project({"decisions.md": text})

    migrating.migrate(project)

    data = (project.memory_path / "decisions.md").read_bytes()
    assert data.startswith("\ufeff# D\r\n".encode())
    assert data.endswith(b"\r\nend  ")
    assert b"\n" not in data.replace(b"\r\n", b"")


def test_decision_with_a_private_span_over_its_edge_stays_as_it_is(
    make_project: MakeProject, migrating: type[Migrating]
) -> None:
    text = f"# D\n\nintro <private>\n\n{DECISION}\n</private>\n"
    project = make_project({"decisions.md": text})

    plan = migrating.migrate(project)

    assert not plan.result.ids
    assert text == (project.memory_path / "decisions.md").read_text("utf-8")


def test_conflict_markers_block(make_project: MakeProject, migrating: type[Migrating]) -> None:
    project = make_project({"decisions.md": "# D\n\n<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n"})

    blockers = migrating.plan_of(project).public().blockers

    assert [(b.code, b.where) for b in blockers] == [
        ("conflict_markers", "docs/memory/decisions.md:3")
    ]


def test_archive_in_another_encoding_stops_nothing(
    make_project: MakeProject, migrating: type[Migrating]
) -> None:
    project = make_project({"archive/old.md": "Größe".encode("latin-1")})

    migrating.migrate(project)

    assert "Größe".encode("latin-1") == (project.memory_path / "archive/old.md").read_bytes()


def test_changelog_gets_one_record(make_project: MakeProject, migrating: type[Migrating]) -> None:
    project = make_project({"changelog.md": "# Memory Changelog\n\n## 2026-01-01\n- Started.\n"})

    migrating.migrate(project)

    text = (project.memory_path / "changelog.md").read_text("utf-8")
    assert text.count("Migrated to Protocol 0.6") == 1
    assert text.endswith("## 2026-01-01\n- Started.\n")


def test_bullets_and_tombstones_stay_legacy_and_are_still_served(
    make_project: MakeProject, migrating: type[Migrating]
) -> None:
    project = make_project({"constraints.md": "# C\n\n- a\n- b\n"})

    migrating.migrate(project)

    text = (project.memory_path / "constraints.md").read_text("utf-8")
    standings = [u.standing.status for u in parse_memory_file("constraints.md", text).units]
    assert standings == [LEGACY, LEGACY]
    assert set(standings) <= set(SERVED)


def test_every_shared_fixture_keeps_its_lines(
    shared_folder: Path, tmp_path: Path, make_project: MakeProject, migrating: type[Migrating]
) -> None:
    """The vectors beside the repository hold ids, files to name, and files to leave alone."""
    import json

    from mc_plan import open_project

    for folder in sorted((shared_folder / "fixtures" / "protocol-0.5").iterdir()):
        if not folder.is_dir():
            continue
        expected = json.loads((folder / "expected.json").read_text("utf-8"))
        root = tmp_path / folder.name
        for path in folder.rglob("*.md"):
            target = root / path.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        project = open_project(root)
        before = migrating.read_all(project)
        if expected["outcome"] == "refuse":
            with pytest.raises(UnsupportedProtocolError):
                migrating.plan_of(project)
            assert before == migrating.read_all(project)
            continue
        plan = migrating.migrate(project)
        check_fixture(expected, before, migrating.read_all(project), plan, migrating)
        assert migrating.plan_of(project).public().changes_nothing


def check_fixture(
    expected: dict[str, dict[str, list[str]]],
    before: dict[str, bytes],
    after: dict[str, bytes],
    plan: Plan,
    migrating: type[Migrating],
) -> None:
    renamed = {heading for headings in expected.get("ids", {}).values() for heading in headings}
    assert before.keys() == after.keys()
    for name, data in before.items():
        assert migrating.is_subsequence(
            kept_lines(migrating, name, data, renamed), migrating.lines_of(after[name])
        ), name
    assert len(renamed) == len(plan.result.ids)
    manual = {place.path.removeprefix("docs/memory/") for place in plan.result.manual}
    assert set(expected.get("manual", [])) == manual
    for name in expected.get("untouched", []):
        assert before[name] == after[name]
