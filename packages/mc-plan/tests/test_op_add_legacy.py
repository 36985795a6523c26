"""`add` on older projects: their own formats, their own bytes, no ids, no evidence stored."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from mc_plan import Applied, Project, execute, open_project
from mc_plan.operations.add import add_request, build_add
from mc_plan.operations.add_request import AddOptions, check_add
from mc_plan.operations.gate import GateError
from mc_schema.document import Document
from mc_schema.errors import SchemaError

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "# Memory Manifest\n\n"
META = "## MemoryCustodian Protocol\n- protocol_version: {}\n\n"
REST = (
    "## Always load\nLoad:\n- brief.md\n\n## Optional module index\n### Enabled areas\n"
    "- None enabled.\n\n## Context budget\n"
)
DATE = r"\d{4}-\d\d-\d\d"


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
        root = self.project.memory_path
        return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}

    def add(self, message: str, **options: Any) -> Applied:
        checked = check_add(AddOptions(message, **options), root=self.project.root)
        return execute(
            self.project, build_add(checked), request=add_request(checked), notify=lambda _: None
        )


def open_memory(root: Path) -> Memory:
    state = root.parent / "state"
    return Memory(open_project(root, environ={"XDG_STATE_HOME": str(state), "HOME": str(root)}))


@pytest.fixture(params=["0.5", "0.4", "0.3", "0.5.0", ""], ids=lambda v: v or "no-metadata")
def memory(tmp_path: Path, request: pytest.FixtureRequest) -> Memory:
    root = tmp_path / "project"
    root.mkdir()
    memory = open_memory(root)
    memory.write("manifest.md", HEAD + (META.format(request.param) if request.param else "") + REST)
    memory.write(
        "decisions.md", "# Decisions\n\nNewest first.\n\n## 2025-01-01 - Old\nDecision:\nx\n"
    )
    memory.write("constraints.md", "# Constraints\n\n- one\n  more\n")
    memory.write("do-not-use.md", "# Do Not Use / Tombstones\n\nNewest first.\n")
    memory.write("inbox.md", "# Memory Inbox\n\nNo unprocessed memory candidates.\n")
    return memory


@pytest.mark.parametrize(
    ("options", "name", "pattern"),
    [
        pytest.param(
            {"type": "decision", "reason": "Why"},
            "decisions.md",
            rf"# Decisions\n\nNewest first\.\n\n## {DATE} - Keep it\. Now\n"
            rf"Decision:\nKeep it\. Now\nReason:\nWhy\n\n## 2025-01-01 - Old\nDecision:\nx\n",
            id="decision",
        ),
        pytest.param(
            {"type": "constraint", "reason": "ignored"},
            "constraints.md",
            r"# Constraints\n\n- one\n  more\n- Keep it\. Now\n",
            id="constraint",
        ),
        pytest.param(
            {"type": "preference"},
            "preferences.md",
            r"# Preferences\n\n[^\n]+\n\n- Keep it\. Now\n",
            id="preference",
        ),
        pytest.param(
            {"type": "do-not-use", "reason": "Why"},
            "do-not-use.md",
            rf"# Do [^\n]+\n\nNewest first\.\n\n## Tombstone: Keep it\. Now\n[^\n]+ "
            rf"Reason: Why\. Date: {DATE}\.\n",
            id="do-not-use",
        ),
        pytest.param(
            {"type": "rule", "name": "out"},
            "rules/out.md",
            r"# Rule: Out\n\n[^\n]+\n\n- Keep it\. Now\n",
            id="rule",
        ),
        pytest.param(
            {"type": "profile", "name": "git"},
            "profiles/git.md",
            r"# Profile: Git\n\n[^\n]+\n\n- Keep it\. Now\n",
            id="profile",
        ),
        pytest.param(
            {"type": "area", "name": "sync"},
            "areas/sync.md",
            r"# Area: Sync\n\n[^\n]+\n\n- Keep it\. Now\n",
            id="area",
        ),
        pytest.param(
            {"type": "decision", "area": "sync"},
            "areas/sync.md",
            rf"# Area: Sync\n\n[^\n]+\n\n## {DATE} - Keep it\. Now\nDecision:\nKeep it\. Now\n",
            id="area-decision",
        ),
        pytest.param(
            {"type": "constraint", "area": "sync"},
            "areas/sync.md",
            r"# Area: Sync\n\n[^\n]+\n\n- Keep it\. Now\n",
            id="area-constraint",
        ),
        pytest.param(
            {}, "inbox.md", rf"# Memory Inbox\n\n## {DATE}\n- Keep it\. Now\n", id="inbox"
        ),
        pytest.param(
            {"type": "constraint", "candidate": True},
            "inbox.md",
            rf"# Memory Inbox\n\n## {DATE}\n- Keep it\. Now\n",
            id="candidate",
        ),
    ],
)
def test_every_type_has_the_form_of_its_protocol(
    memory: Memory, options: dict[str, Any], name: str, pattern: str
) -> None:
    added = memory.add("Keep it. Now", **options).result

    assert re.fullmatch(pattern, memory.read(name)), memory.read(name)
    assert added.id == ""
    assert not added.metadata.is_current


def test_a_new_area_is_indexed_and_a_preference_is_not(memory: Memory) -> None:
    memory.add("x", type="constraint", area="sync")
    memory.add("x", type="preference")

    text = memory.read("manifest.md")
    assert "### Enabled areas\n- `areas/sync.md`: " in text
    assert "preferences.md" not in text


def test_evidence_is_checked_and_not_stored(memory: Memory) -> None:
    memory.add("one", type="decision", evidence=("issue:#42",))

    assert "42" not in memory.read("decisions.md")
    for evidence in ("agent-observed", "repo:absent.md", "odd"):
        with pytest.raises(SchemaError):
            memory.add("two", type="decision", evidence=(evidence,))


@pytest.mark.parametrize("field", ["supersedes", "promotes"])
def test_closing_an_entry_needs_a_migration(memory: Memory, field: str) -> None:
    before = memory.everything()
    options: dict[str, Any] = {field: "MC-DEC-20260101-aaaaaaaa", "type": "decision"}
    options["evidence"] = ("user-confirmed",)
    checked = check_add(AddOptions("x", **options), root=memory.project.root)
    from mc_plan import preview

    plan = preview(memory.project, build_add(checked), request=add_request(checked))

    assert plan.blockers[0].code == "older_protocol"
    assert "memory-custodian migrate" in plan.blockers[0].hint
    assert memory.everything() == before


def test_a_message_of_several_lines_stays_one_bullet(memory: Memory) -> None:
    memory.add("one\n\n```\n- two\n## three\n```\n- four", type="constraint")

    units = Document.parse(memory.read("constraints.md")).units
    assert [unit.kind for unit in units] == ["bullet", "bullet"]


def test_a_long_tombstone_loses_no_text(memory: Memory) -> None:
    message = "word " * 30 + "end"

    memory.add(message, type="do-not-use")

    assert message in memory.read("do-not-use.md")


def test_a_bullet_goes_to_the_list_and_not_below_a_heading(memory: Memory) -> None:
    """Fault 9: a decision, then a constraint; neither owns the other."""
    memory.write("areas/sync.md", "# Area: Sync\n\n- old\n")
    memory.add("Decide", type="decision", area="sync")
    memory.add("Limit", type="constraint", area="sync")

    units = Document.parse(memory.read("areas/sync.md")).units
    assert [unit.kind for unit in units] == ["bullet", "bullet", "section"]


def test_a_long_decision_needs_its_flag(memory: Memory) -> None:
    with pytest.raises(GateError):
        memory.add("word " * 130, type="decision")

    assert memory.add("word " * 130, type="decision", allow_long=True).written


def test_the_record_names_type_and_file(memory: Memory) -> None:
    memory.write("changelog.md", "# Changelog\n\nIntro.\n\n## 2025-01-01\n- old\n")

    memory.add("Unusual", type="decision")

    text = memory.read("changelog.md")
    assert re.search(
        rf"Intro\.\n\n## {DATE}\n- Added decision memory to decisions\.md\.\n\n## 2025", text
    )
    assert "Unusual" not in text


@pytest.mark.parametrize("message", ["", "  ", "a\n## forged", "Decision: x"])
def test_unsafe_text_is_refused(memory: Memory, message: str) -> None:
    """Faults 38 and 39."""
    before = memory.everything()

    with pytest.raises(SchemaError):
        memory.add(message, type="decision")

    assert memory.everything() == before


@pytest.mark.parametrize(
    "name",
    ["archive", "bullets", "cjk", "crlf", "custom-routes", "h2-decisions", "minimal", "prose"],
)
@pytest.mark.parametrize("type_", ["decision", "constraint", "do-not-use", "inbox"])
def test_shared_projects_keep_every_line(
    shared_folder: Path, tmp_path: Path, name: str, type_: str
) -> None:
    root = tmp_path / "project"
    shutil.copytree(shared_folder / "fixtures" / "protocol-0.5" / name, root)
    for path in (root, *root.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    memory = open_memory(root)
    before = memory.everything()

    memory.add("New words", type=type_)

    after = memory.everything()
    changed = [file for file in after if after[file] != before.get(file)]
    assert [file for file in changed if file != "changelog.md"] == [
        {"do-not-use": "do-not-use.md", "inbox": "inbox.md"}.get(type_, f"{type_}s.md")
    ]
    for file in changed:
        lines = iter(after[file].split(b"\n"))
        lost = [line for line in before[file].split(b"\n") if line.rstrip() and line not in lines]
        placeholder = b"No unprocessed memory candidates."
        assert [line for line in lost if line.strip() != placeholder] == []
        if b"\r\n" in before[file]:
            assert b"\n" not in after[file].replace(b"\r\n", b"")
