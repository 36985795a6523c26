"""Supersession and promotion are previewed, confirmed, exact, and all files or none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from mc_plan import (
    Applied,
    BlockedError,
    InputError,
    PlanError,
    Project,
    StalePlanError,
    UnconfirmedPlanError,
    execute,
    open_project,
    preview,
)
from mc_plan.operations.add import add_request, build_add
from mc_plan.operations.add_request import AddOptions, CheckedAdd, check_add
from mc_plan.operations.manifests import new_manifest
from mc_plan.template import render_template
from mc_schema.errors import SchemaError
from mc_schema.graph import find_link_faults
from mc_schema.memoryfile import parse_memory_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mc_plan.plan import Plan
    from mc_schema.entry import Entry

PROJECT_ID = "11111111-2222-4333-8444-555555555555"
MANIFEST = new_manifest(PROJECT_ID, initialized_with="x", last_migrated_with="x")
CORE = ("brief.md", "decisions.md", "constraints.md", "do-not-use.md", "inbox.md")
OLD = "MC-DEC-20260101-aaaaaaaa"
OTHER = "MC-DEC-20260102-bbbbbbbb"
CANDIDATE = "MC-INBOX-20260103-cccccccc"


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
        return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}

    def entries(self) -> dict[str, Entry]:
        found = {}
        for path in sorted(self.project.memory_path.rglob("*.md")):
            name = path.relative_to(self.project.memory_path).as_posix()
            for unit in parse_memory_file(name, path.read_bytes().decode()).units:
                if unit.entry_id and unit.standing.entry:
                    found[unit.entry_id] = unit.standing.entry
        return found

    def faults(self) -> list[str]:
        names = [
            p.relative_to(self.project.memory_path) for p in self.project.memory_path.rglob("*.md")
        ]
        files = [parse_memory_file(n.as_posix(), self.read(n.as_posix())) for n in names]
        return [fault.message for fault in find_link_faults(u for f in files for u in f.units)]

    def checked(self, message: str, **options: Any) -> CheckedAdd:
        options = {"evidence": ("user-confirmed",), **options}
        return check_add(AddOptions(message, **options), root=self.project.root)

    def preview(self, message: str, **options: Any) -> Plan:
        checked = self.checked(message, **options)
        return preview(self.project, build_add(checked), request=add_request(checked))

    def apply(self, message: str, plan_id: str | None, **options: Any) -> Applied:
        checked = self.checked(message, **options)
        return execute(
            self.project,
            build_add(checked),
            request=add_request(checked),
            confirm=plan_id,
            notify=lambda _: None,
        )

    def change(self, message: str, **options: Any) -> Applied:
        return self.apply(message, self.preview(message, **options).plan_id, **options)


def entry_text(entry_id: str, body: str, **fields: str) -> str:
    label = {"CON": "Constraint", "INBOX": "Statement", "PREF": "Preference"}.get(
        entry_id.split("-")[1], "Decision"
    )
    values = {
        "Status": "candidate" if label == "Statement" else "active",
        "Scope": "project",
        **{key.replace("_", "-"): value for key, value in fields.items()},
    }
    lines = "".join(f"{key}: {value}\n" for key, value in values.items())
    return f"## {entry_id} — T\n\n{lines}Evidence:\n- user-confirmed\n\n{label}:\n{body}\n"


def make_memory(base: Path, files: Mapping[str, str] | None = None) -> Memory:
    (base / "project").mkdir(parents=True)
    environ = {"XDG_STATE_HOME": str(base / "state"), "HOME": str(base)}
    memory = Memory(open_project(base / "project", environ=environ))
    for name in CORE:
        memory.write(name, render_template(f"memory/{name}"))
    memory.write("manifest.md", MANIFEST)
    for name, text in (files or {}).items():
        memory.write(name, text)
    return memory


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return make_memory(
        tmp_path,
        {
            "decisions.md": f"# Decisions\n\n{entry_text(OLD, 'Use JSON')}",
            "inbox.md": "# Inbox\n\n"
            + entry_text(CANDIDATE, "Maybe CSV", Candidate_Type="constraint", Scope="area:sync"),
        },
    )


# Supersession


def test_the_preview_writes_nothing_and_repeats_its_id(memory: Memory) -> None:
    before = memory.everything()

    first = memory.preview("Use CSV", supersedes=OLD)
    second = memory.preview("Use CSV", supersedes=OLD)

    assert memory.everything() == before
    assert first.plan_id == second.plan_id
    assert first.result.id == second.result.id


def test_apply_writes_exactly_what_was_previewed(memory: Memory) -> None:
    plan = memory.preview("Use CSV", supersedes=OLD, reason="Simple")
    expected = {target.path: target.output_sha256 for target in plan.public().targets}

    applied = memory.apply("Use CSV", plan.plan_id, supersedes=OLD, reason="Simple")

    import hashlib

    for path, digest in expected.items():
        found = memory.project.path(path)
        assert digest == (
            hashlib.sha256(found.read_bytes()).hexdigest() if found.exists() else None
        )
    assert [file.path for file in applied.written] == ["docs/memory/decisions.md"]
    entries = memory.entries()
    new = entries[plan.result.id]
    assert (new.supersedes, new.status, new.body, new.reason) == (
        OLD,
        "active",
        "Use CSV",
        "Simple",
    )
    assert ("superseded", plan.result.id) == (entries[OLD].status, entries[OLD].superseded_by)
    assert memory.faults() == []


def test_only_the_lifecycle_lines_of_the_old_entry_change(tmp_path: Path) -> None:
    old = f"\ufeff# D\n\n{entry_text(OLD, 'Use  JSON  ', Unknown='kept ')}\n\n".replace(
        "\n", "\r\n"
    )
    memory = make_memory(tmp_path, {"decisions.md": old})

    added = memory.change("Use CSV", supersedes=OLD).result

    expected = old.replace("Status: active", f"Status: superseded\r\nSuperseded-By: {added.id}")
    head, _, tail = expected.partition("## MC-DEC-20260101")
    text = memory.read("decisions.md")
    assert text.startswith(head)
    assert text.endswith(f"## MC-DEC-20260101{tail}")
    assert "\n" not in text.replace("\r\n", "")


def test_type_and_scope_are_those_of_the_old_entry_unless_given(tmp_path: Path) -> None:
    area = entry_text("MC-AREA-20260101-aaaaaaaa", "Old", Scope="area:sync")
    memory = make_memory(tmp_path, {"areas/sync.md": f"# A\n\n{area}"})

    kept = memory.preview("New", supersedes="MC-AREA-20260101-aaaaaaaa").result
    moved = memory.preview("New", supersedes="mc-area-20260101-AAAAAAAA", type="constraint").result
    named = memory.preview("New", supersedes="MC-AREA-20260101-aaaaaaaa", area="other").result

    assert (kept.type, kept.scope) == ("decision", "area:sync")
    assert (moved.type, moved.scope) == ("constraint", "area:sync")
    assert (named.type, named.scope) == ("decision", "area:other")


def test_all_files_of_the_change_are_in_one_plan(tmp_path: Path) -> None:
    memory = make_memory(
        tmp_path,
        {
            "decisions.md": f"# D\n\n{entry_text(OLD, 'Old')}",
            "changelog.md": "# Memory Changelog\n",
        },
    )

    applied = memory.change("New", supersedes=OLD, type="preference")

    assert [file.path for file in applied.written] == [
        "docs/memory/decisions.md",
        "docs/memory/preferences.md",
        "docs/memory/changelog.md",
        "docs/memory/manifest.md",
    ]
    record = f"Added {applied.result.id} to preferences.md, superseding {OLD}."
    assert record in memory.read("changelog.md")


def test_nothing_is_written_when_one_file_cannot_be(tmp_path: Path) -> None:
    memory = make_memory(
        tmp_path,
        {
            "decisions.md": f"# D\n\n{entry_text(OLD, 'Old')}",
            "constraints.md": "# C\n\n```\nopen\n",
        },
    )
    before = memory.everything()

    with pytest.raises(PlanError):
        memory.preview("New", supersedes=OLD, type="constraint")

    assert memory.everything() == before


def test_without_a_plan_id_nothing_is_applied(memory: Memory) -> None:
    before = memory.everything()

    with pytest.raises(UnconfirmedPlanError):
        memory.apply("Use CSV", None, supersedes=OLD)

    assert memory.everything() == before


def test_a_change_in_between_makes_the_plan_stale(memory: Memory) -> None:
    plan = memory.preview("Use CSV", supersedes=OLD)
    memory.write("archive/x.md", "# Any file that could hold an id\n")
    before = memory.everything()

    with pytest.raises(StalePlanError) as caught:
        memory.apply("Use CSV", plan.plan_id, supersedes=OLD)

    assert caught.value.plan.plan_id != plan.plan_id
    assert memory.everything() == before


def test_other_arguments_make_the_plan_stale(memory: Memory) -> None:
    plan = memory.preview("Use CSV", supersedes=OLD)

    with pytest.raises(StalePlanError):
        memory.apply("Use TOML", plan.plan_id, supersedes=OLD)


def test_an_applied_plan_is_stale_and_names_what_replaced_the_entry(memory: Memory) -> None:
    plan = memory.preview("Use CSV", supersedes=OLD)
    memory.apply("Use CSV", plan.plan_id, supersedes=OLD)
    before = memory.everything()

    with pytest.raises(StalePlanError) as caught:
        memory.apply("Use CSV", plan.plan_id, supersedes=OLD)

    assert plan.result.id in caught.value.plan.blockers[0].what
    assert memory.everything() == before


def blocker(memory: Memory, message: str = "New", **options: Any) -> Any:
    """Return the one blocker of a plan that must never be applied."""
    before = memory.everything()
    plan = memory.preview(message, **options)
    (found,) = plan.blockers
    with pytest.raises(BlockedError):
        memory.apply(message, plan.plan_id, **options)

    assert memory.everything() == before
    assert not plan.mutations
    assert found.hint
    return found


def test_a_closed_chain_is_refused_with_the_id_that_replaced_it(memory: Memory) -> None:
    new = memory.change("Use CSV", supersedes=OLD).result.id

    found = blocker(memory, supersedes=OLD)

    assert found.code == "closed_chain"
    assert new in found.what
    assert new in found.hint


@pytest.mark.parametrize(
    ("entry", "code", "part"),
    [
        pytest.param(
            entry_text(OLD, "x", Status="superseded", Superseded_By="forgotten"),
            "closed_chain",
            "forgotten",
            id="successor-forgotten",
        ),
        pytest.param(
            entry_text(OLD, "x", Status="superseded"), "closed_chain", "no successor", id="no-link"
        ),
        pytest.param(
            entry_text(OLD, "x", Superseded_By=OTHER), "closed_chain", OTHER, id="link-alone"
        ),
        pytest.param(entry_text(OLD, "x", Status="odd"), "not_active", "odd", id="odd-status"),
        pytest.param(
            entry_text(OLD, "x") + "\n" + entry_text(OLD.lower(), "y"),
            "duplicate_id",
            "2 times",
            id="duplicate",
        ),
        pytest.param("", "unknown_id", "no entry", id="absent"),
        pytest.param(
            f"<private>\n{entry_text(OLD, 'x')}</private>\n", "unknown_id", "no entry", id="private"
        ),
    ],
)
def test_an_entry_that_cannot_be_superseded_is_a_blocker(
    tmp_path: Path, entry: str, code: str, part: str
) -> None:
    memory = make_memory(tmp_path, {"decisions.md": f"# D\n\n{entry}"})

    found = blocker(memory, supersedes=OLD, type="decision")

    assert (code, True) == (found.code, part in found.what)


def test_a_candidate_is_promoted_and_not_superseded(memory: Memory) -> None:
    assert f"--promotes {CANDIDATE}" in blocker(memory, supersedes=CANDIDATE).hint
    assert f"--supersedes {OLD}" in blocker(memory, promotes=OLD).hint


def test_the_old_text_may_be_said_again_but_no_other_twice(tmp_path: Path) -> None:
    files = {"decisions.md": f"# D\n\n{entry_text(OLD, 'A')}\n{entry_text(OTHER, 'B')}"}
    memory = make_memory(tmp_path, files)

    assert blocker(memory, "B", supersedes=OLD).code == "duplicate"
    assert memory.change("A", supersedes=OLD, evidence=("issue:#1",)).written


def test_superseding_back_and_forth_leaves_one_active(memory: Memory) -> None:
    """Field report D27."""
    second = memory.change("Use CSV", supersedes=OLD).result.id
    third = memory.change("Use JSON", supersedes=second).result.id

    active = [key for key, entry in memory.entries().items() if entry.status == "active"]
    assert active == [third]
    assert memory.faults() == []


def test_an_archived_entry_can_be_superseded(tmp_path: Path) -> None:
    memory = make_memory(tmp_path, {"archive/decisions.md": f"# A\n\n{entry_text(OLD, 'x')}"})

    memory.change("New", supersedes=OLD)

    assert memory.faults() == []
    assert memory.entries()[OLD].status == "superseded"


@pytest.mark.parametrize(
    "span",
    [
        pytest.param("<private>\nStatus: active\n</private>\n", id="field-in-the-span"),
        pytest.param("<private>x</private>\n", id="harmless"),
    ],
)
def test_a_private_span_in_the_old_entry_is_respected(tmp_path: Path, span: str) -> None:
    text = entry_text(OLD, "x").replace("Status: active\n", f"{span}Status: active\n")
    memory = make_memory(tmp_path, {"decisions.md": f"# D\n\n{text}"})
    before = memory.everything()

    try:
        memory.change("New", supersedes=OLD)
    except PlanError:
        assert memory.everything() == before
    else:
        assert memory.entries()[OLD].status == "superseded"
        assert span in memory.read("decisions.md")


# Promotion


def test_promotion_takes_type_and_scope_and_marks_the_candidate(memory: Memory) -> None:
    applied = memory.change("CSV it is", promotes=CANDIDATE)

    added = applied.result
    entries = memory.entries()
    assert (
        added.type,
        added.scope,
        added.path,
    ) == ("constraint", "area:sync", "docs/memory/areas/sync.md")
    assert ("promoted", added.id) == (entries[CANDIDATE].status, entries[CANDIDATE].promoted_to)
    assert entries[CANDIDATE].body == "Maybe CSV"
    assert entries[added.id].supersedes == ""
    assert memory.faults() == []
    assert [file.path for file in applied.written] == [
        "docs/memory/areas/sync.md",
        "docs/memory/inbox.md",
        "docs/memory/manifest.md",
    ]


def test_promotion_needs_admissible_evidence(memory: Memory) -> None:
    for evidence in ((), ("agent-observed",)):
        with pytest.raises(SchemaError):
            memory.preview("CSV it is", promotes=CANDIDATE, evidence=evidence)


def test_a_promoted_candidate_is_refused_with_the_id_it_became(memory: Memory) -> None:
    new = memory.change("CSV it is", promotes=CANDIDATE).result.id

    found = blocker(memory, "Another", promotes=CANDIDATE)

    assert (found.code, new in found.what) == ("closed_chain", True)


def test_a_candidate_without_a_type_needs_one(tmp_path: Path) -> None:
    text = entry_text(CANDIDATE, "x", Candidate_Type="unspecified")
    memory = make_memory(tmp_path, {"inbox.md": f"# I\n\n{text}"})

    with pytest.raises(InputError):
        memory.preview("New", promotes=CANDIDATE)

    assert memory.preview("New", promotes=CANDIDATE, type="decision").result.type == "decision"


def test_an_inadmissible_candidate_is_not_promoted(tmp_path: Path) -> None:
    text = entry_text(CANDIDATE, "x", Candidate_Type="odd")
    memory = make_memory(tmp_path, {"inbox.md": f"# I\n\n{text}"})

    assert blocker(memory, promotes=CANDIDATE, type="decision").code == "not_candidate"


def test_a_promotion_may_supersede_at_once(memory: Memory) -> None:
    added = memory.change("CSV it is", promotes=CANDIDATE, supersedes=OLD, type="decision").result

    entries = memory.entries()
    assert entries[OLD].superseded_by == entries[CANDIDATE].promoted_to == added.id
    assert memory.faults() == []


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"supersedes": OLD, "candidate": True}, id="candidate"),
        pytest.param({"promotes": CANDIDATE, "type": "inbox"}, id="inbox"),
    ],
)
def test_a_candidate_closes_no_entry(memory: Memory, options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        memory.preview("New", **options)


@pytest.mark.parametrize("value", ["", "x", "MC-DEC-2026-aaaaaaaa", "MC-XXX-20260101-aaaaaaaa"])
def test_a_malformed_id_is_refused(memory: Memory, value: str) -> None:
    with pytest.raises(SchemaError):
        memory.preview("New", supersedes=value)
