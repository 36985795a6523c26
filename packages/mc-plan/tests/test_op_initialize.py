"""`init` makes, completes, repairs and replaces a memory set, and never changes who it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from mc_plan import (
    Applied,
    MalformedFileError,
    Project,
    StalePlanError,
    UnconfirmedPlanError,
    UnsafeFileError,
    execute,
    open_project,
    preview,
)
from mc_plan.operations.agents import AGENT_FILES, END, START
from mc_plan.operations.initialize import (
    EXTENDED_FILES,
    InitOptions,
    build_initialize,
    init_request,
)
from mc_plan.operations.memory_set import CORE_FILES
from mc_plan.template import render_template
from mc_plan.testing import CountingFilesystem
from mc_schema.ids import is_project_id
from mc_schema.manifest import parse_manifest
from mc_schema.routes import CATEGORIES
from mc_schema.trust import is_stated_in

if TYPE_CHECKING:
    from pathlib import Path

PROJECT_ID = "11111111-2222-4333-8444-555555555555"
OLDER = (
    "# Memory Manifest\n\n## MemoryCustodian Protocol\n- protocol_version: 0.5\n"
    "- initialized_with: memory-custodian 0.9.1\n\n## Always load\nLoad:\n- brief.md\n\n"
    "## Optional module index\n### Enabled areas\n- None enabled.\n"
)


class Memory(NamedTuple):
    project: Project

    def path(self, name: str) -> Path:
        return self.project.memory_path / name

    def write(self, name: str, text: str) -> None:
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())

    def read(self, name: str) -> str:
        return self.path(name).read_bytes().decode()

    def everything(self) -> dict[str, bytes]:
        root = self.project.root
        return {
            p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()
        }

    def init(self, confirm: str | None = None, **options: Any) -> Applied:
        asked = InitOptions(**options)
        return execute(
            self.project,
            build_initialize(asked),
            request=init_request(asked),
            confirm=confirm,
            notify=lambda _: None,
        )

    def preview(self, **options: Any) -> Any:
        asked = InitOptions(**options)
        return preview(self.project, build_initialize(asked), request=init_request(asked))

    def replace(self, **options: Any) -> Applied:
        plan_id = self.preview(replace_existing=True, **options).plan_id
        return self.init(plan_id, replace_existing=True, **options)

    def set_manifest(self, **fields: str | None) -> str:
        """Change metadata lines; ``None`` removes one."""
        lines = self.read("manifest.md").split("\n")
        for key, value in fields.items():
            index = next(i for i, line in enumerate(lines) if line.startswith(f"- {key}:"))
            lines[index : index + 1] = [] if value is None else value.split("\n")
        self.write("manifest.md", "\n".join(lines))
        return "\n".join(lines)


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    (tmp_path / "project").mkdir()
    environ = {"XDG_STATE_HOME": str(tmp_path / "state"), "HOME": str(tmp_path)}
    return Memory(open_project(tmp_path / "project", environ=environ))


def results(applied: Applied) -> dict[str, str]:
    return {file.path: file.result for file in applied.result.files}


# A new set


def test_a_new_set_is_the_templates_with_the_metadata_of_the_protocol(memory: Memory) -> None:
    applied = memory.init()

    assert sorted(memory.everything()) == sorted(f"docs/memory/{name}" for name in CORE_FILES)
    for name in CORE_FILES[1:]:
        assert memory.read(name) == render_template(f"memory/{name}")
    manifest = parse_manifest(memory.read("manifest.md"))
    assert [(field.key, field.value) for field in manifest.metadata.fields] == [
        ("protocol_version", "0.6"),
        ("entry_schema_version", "1"),
        ("initialized_with", "memory-custodian 0.10.0"),
        ("last_migrated_with", "memory-custodian 0.10.0"),
        ("project_id", manifest.metadata.project_id),
        ("admission_policy", "evidence-required"),
    ]
    assert is_project_id(manifest.metadata.project_id or "")
    assert manifest.has_trust_boundary()
    assert is_stated_in(manifest.text)
    assert all(not manifest.route(category).faults for category in ("general", *CATEGORIES))
    assert set(results(applied).values()) == {"written"}
    assert applied.result.needs_brief


def test_two_new_sets_have_different_project_ids(tmp_path: Path) -> None:
    ids = set()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        environ = {"XDG_STATE_HOME": str(tmp_path / "state"), "HOME": str(tmp_path)}
        other = Memory(open_project(tmp_path / name, environ=environ))
        ids.add(other.init().result.metadata.project_id)

    assert len(ids) == 2


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({}, id="plain"),
        pytest.param({"extended": True}, id="extended"),
        pytest.param({"agents": ("codex", "claude", "gemini")}, id="agents"),
        pytest.param({"repair": True}, id="repair"),
        pytest.param({"repair": True, "extended": True, "agents": ("codex",)}, id="all"),
    ],
)
def test_the_second_time_changes_nothing(memory: Memory, options: dict[str, Any]) -> None:
    memory.init(**options)
    before = memory.everything()

    again = memory.init(**options)

    assert again.written == ()
    assert memory.everything() == before
    assert set(results(again).values()) == {"kept"}


def test_an_extended_set_has_the_optional_files_and_indexes_them(memory: Memory) -> None:
    memory.init()
    memory.init(extended=True)

    for name in EXTENDED_FILES:
        assert memory.read(name) == render_template(f"memory/{name}")
    indexed = parse_manifest(memory.read("manifest.md")).indexed
    assert {"preferences.md", "changelog.md"} <= indexed
    assert not [name for name in indexed if name.endswith("README.md")]


def test_missing_files_are_written_and_existing_ones_kept(memory: Memory) -> None:
    memory.init()
    memory.path("inbox.md").unlink()
    memory.write("brief.md", "# Mine\n")

    applied = memory.init()

    assert [file.path for file in applied.written] == ["docs/memory/inbox.md"]
    assert memory.read("brief.md") == "# Mine\n"
    assert not applied.result.needs_brief


def test_memory_files_without_a_manifest_need_a_repair(memory: Memory) -> None:
    memory.write("decisions.md", "# Mine\n")
    memory.write("areas/sync.md", "# Area: Sync\n")
    before = memory.everything()

    with pytest.raises(MalformedFileError) as caught:
        memory.init()

    assert memory.everything() == before
    assert "init --repair" in caught.value.hint
    memory.init(repair=True)
    assert memory.read("decisions.md") == "# Mine\n"
    assert parse_manifest(memory.read("manifest.md")).is_indexed("areas/sync.md")


@pytest.mark.parametrize("options", [{}, {"repair": True}, {"replace_existing": True}])
def test_a_manifest_with_conflict_markers_is_left_alone(
    memory: Memory, options: dict[str, Any]
) -> None:
    memory.init()
    memory.write("manifest.md", memory.read("manifest.md") + "<<<<<<< a\n=======\n>>>>>>> b\n")
    before = memory.everything()

    with pytest.raises(MalformedFileError):
        memory.preview(**options)

    assert memory.everything() == before


# Repair


def test_a_repair_keeps_the_project_id_and_every_other_line(memory: Memory) -> None:
    memory.init()
    memory.set_manifest(
        project_id=f"- project_id: {PROJECT_ID}", admission_policy=None, entry_schema_version=None
    )
    before = memory.read("manifest.md")

    applied = memory.init(repair=True)

    metadata = parse_manifest(memory.read("manifest.md")).metadata
    assert metadata.project_id == PROJECT_ID
    assert (
        metadata.get("entry_schema_version"),
        metadata.get("admission_policy"),
    ) == ("1", "evidence-required")
    lines = iter(memory.read("manifest.md").split("\n"))
    assert [line for line in before.split("\n") if line not in lines] == []
    assert results(applied)["docs/memory/manifest.md"] == "repaired"


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(None, id="missing"),
        pytest.param("- project_id: not-a-uuid", id="invalid"),
        pytest.param("- project_id: 11111111-2222-1333-8444-555555555555", id="version-1"),
    ],
)
def test_a_repair_gives_a_missing_project_id_once(memory: Memory, line: str | None) -> None:
    memory.init()
    memory.set_manifest(project_id=line)

    memory.init(repair=True)
    first = parse_manifest(memory.read("manifest.md")).metadata
    memory.init(repair=True)

    assert first.project_id is not None
    assert first.count("project_id") == 1
    assert parse_manifest(memory.read("manifest.md")).metadata.project_id == first.project_id


def test_two_project_ids_are_for_a_person_to_settle(memory: Memory) -> None:
    memory.init()
    memory.set_manifest(project_id=f"- project_id: {PROJECT_ID}\n- project_id: {PROJECT_ID}")
    before = memory.everything()

    with pytest.raises(MalformedFileError) as caught:
        memory.init(repair=True)

    assert caught.value.code == "repeated_project_id"
    assert memory.everything() == before


def test_a_repair_adds_the_trust_boundary_and_the_index(memory: Memory) -> None:
    memory.init()
    text = memory.read("manifest.md")
    start, end = text.index("## Trust boundary"), text.index("## Always load")
    memory.write("manifest.md", (text[:start] + text[end:]).replace("\n", "\r\n"))
    for name in ("areas/b.md", "areas/a.md", "rules/r.md", "rules/README.md", "areas/deep/x.md"):
        memory.write(name, "# X\n")

    memory.init(repair=True)

    after = memory.read("manifest.md")
    manifest = parse_manifest(after)
    assert is_stated_in(after)
    assert "\n" not in after.replace("\r\n", "")
    assert manifest.indexed >= {"areas/a.md", "areas/b.md", "rules/r.md"}
    assert not manifest.is_indexed("rules/README.md")
    assert after.index("`areas/a.md`") < after.index("`areas/b.md`")


def test_a_repair_of_an_older_project_stays_in_its_protocol(memory: Memory) -> None:
    memory.write("manifest.md", OLDER)
    memory.write("areas/sync.md", "# Area: Sync\n")

    applied = memory.init(repair=True)

    text = memory.read("manifest.md")
    assert parse_manifest(text).metadata.fields == parse_manifest(OLDER).metadata.fields
    assert "project_id" not in text
    assert "Trust boundary" not in text
    assert text == OLDER.replace(
        "- None enabled.", "- `areas/sync.md`: load for work on this area."
    )
    assert not applied.result.metadata.is_current
    assert memory.path("inbox.md").exists()


def test_a_repair_refreshes_agent_blocks_that_are_there(memory: Memory) -> None:
    memory.init()
    agents = memory.project.root / "AGENTS.md"
    agents.write_bytes(f"# Mine\r\n\r\n{START}\r\nold\r\n{END}\r\nend".encode())
    (memory.project.root / "CLAUDE.md").write_text("no block\n")

    applied = memory.init(repair=True)

    text = agents.read_bytes().decode()
    assert text.startswith("# Mine\r\n\r\n")
    assert text.endswith(f"{END}\r\nend")
    assert is_stated_in(text)
    assert "\n" not in text.replace("\r\n", "")
    assert results(applied)["AGENTS.md"] == "block replaced"
    assert "CLAUDE.md" not in results(applied)
    assert (memory.project.root / "CLAUDE.md").read_text() == "no block\n"


# Agents


def test_agents_get_the_block_they_were_asked_for(memory: Memory) -> None:
    applied = memory.init(agents=("codex", "gemini"))

    assert {"AGENTS.md": "written", "GEMINI.md": "written"}.items() <= results(applied).items()
    assert not (memory.project.root / "CLAUDE.md").exists()
    assert is_stated_in((memory.project.root / "GEMINI.md").read_text())


def test_a_malformed_block_stops_the_whole_command(memory: Memory) -> None:
    """Fault 29; no file of the plan is written."""
    (memory.project.root / "AGENTS.md").write_text(f"{END}\n{START}\n")

    with pytest.raises(MalformedFileError) as caught:
        memory.init(agents=("codex",))

    assert caught.value.where == "AGENTS.md"
    assert not memory.project.memory_path.exists()


def test_a_file_that_links_to_another_agent_file_is_kept(memory: Memory) -> None:
    (memory.project.root / "CLAUDE.md").symlink_to("AGENTS.md")

    applied = memory.init(agents=("codex", "claude"))

    assert results(applied)["CLAUDE.md"] == "kept (a link to `AGENTS.md`)"
    assert (memory.project.root / "CLAUDE.md").is_symlink()
    assert memory.init(repair=True).written == ()


def test_a_file_that_links_elsewhere_is_refused(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.md").write_text("x")
    (memory.project.root / "AGENTS.md").symlink_to(tmp_path / "elsewhere.md")

    with pytest.raises(UnsafeFileError):
        memory.init(agents=("codex",))

    assert (tmp_path / "elsewhere.md").read_text() == "x"


def test_every_agent_has_its_file() -> None:
    assert AGENT_FILES == {"codex": "AGENTS.md", "claude": "CLAUDE.md", "gemini": "GEMINI.md"}


# Replacement


def test_a_replacement_is_previewed_and_confirmed(memory: Memory) -> None:
    memory.init()
    memory.write("decisions.md", "# D\n\n- mine\n")
    before = memory.everything()

    plan = memory.preview(replace_existing=True)
    assert memory.everything() == before
    with pytest.raises(UnconfirmedPlanError):
        memory.init(replace_existing=True)
    assert memory.everything() == before

    applied = memory.init(plan.plan_id, replace_existing=True)

    assert [file.path for file in applied.written] == ["docs/memory/decisions.md"]
    assert memory.read("decisions.md") == render_template("memory/decisions.md")
    assert plan.public().warnings == (
        "`docs/memory/decisions.md` holds text that is not from a template",
    )
    assert results(applied)["docs/memory/brief.md"] == "kept (already current)"


def test_a_replacement_keeps_identity_and_modules(memory: Memory) -> None:
    memory.init(extended=True)
    memory.set_manifest(
        project_id=f"- project_id: {PROJECT_ID}",
        initialized_with="- initialized_with: memory-custodian 0.1",
    )
    memory.write("areas/sync.md", "# Area: Sync\n\n- kept\n")
    memory.write("manifest.md", memory.read("manifest.md") + "\n## House rules\nx\n")

    memory.replace()

    manifest = parse_manifest(memory.read("manifest.md"))
    assert manifest.metadata.project_id == PROJECT_ID
    assert manifest.metadata.get("initialized_with") == "memory-custodian 0.1"
    assert manifest.is_indexed("areas/sync.md")
    assert manifest.section("House rules") is None
    assert memory.read("areas/sync.md") == "# Area: Sync\n\n- kept\n"


def test_a_replacement_of_an_older_project_gives_the_new_protocol(memory: Memory) -> None:
    memory.write("manifest.md", OLDER)

    with pytest.raises(UnconfirmedPlanError):
        memory.init(replace_existing=True)
    applied = memory.replace()

    metadata = parse_manifest(memory.read("manifest.md")).metadata
    assert metadata.version == "0.6"
    assert metadata.project_id is not None
    assert metadata.get("initialized_with") == "memory-custodian 0.9.1"
    assert applied.result.metadata.is_current


def test_a_replacement_repeats_its_project_id_and_notices_changes(memory: Memory) -> None:
    memory.write("manifest.md", OLDER)
    first = memory.preview(replace_existing=True)
    second = memory.preview(replace_existing=True)
    memory.write("brief.md", "# Changed\n")

    assert first.plan_id == second.plan_id
    with pytest.raises(StalePlanError):
        memory.init(first.plan_id, replace_existing=True)


def test_a_nested_memory_directory_is_named_in_full(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    environ = {"XDG_STATE_HOME": str(tmp_path / "state"), "HOME": str(tmp_path)}
    memory = Memory(open_project(tmp_path / "project", "docs/team/memory", environ=environ))

    applied = memory.init(agents=("codex",))

    assert "docs/team/memory/manifest.md" in results(applied)
    assert set(AGENT_FILES.values()) & {file.path for file in applied.written} == {"AGENTS.md"}
    text = (memory.project.root / "AGENTS.md").read_text()
    assert "docs/team/memory/brief.md" in text
    assert "docs/memory" not in text


class LockWatchingFilesystem(CountingFilesystem):
    """Notes which locks are held at each rename."""

    def __init__(self, locks: Path) -> None:
        super().__init__()
        self.locks = locks
        self.held: list[set[str]] = []

    def before(self, name: str) -> None:
        """Look at the locks; they are real files."""
        super().before(name)
        if name == "replace":
            self.held.append({path.name for path in self.locks.iterdir()})


def test_lock_of_a_new_id_is_held_from_the_first_rename(memory: Memory) -> None:
    """Reliability 2.2.5: who sees the new id in the manifest must not find a free lock."""
    asked = InitOptions()
    watching = LockWatchingFilesystem(memory.project.state.locks)

    execute(
        memory.project,
        build_initialize(asked),
        request=init_request(asked),
        notify=lambda _: None,
        filesystem=watching,
    )

    project_id = parse_manifest(memory.read("manifest.md")).metadata.project_id
    assert len(watching.held) >= len(CORE_FILES)
    for held in watching.held:
        assert f"{project_id}.lock" in held
        assert len([name for name in held if name.startswith("bootstrap-")]) == 1
