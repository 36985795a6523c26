"""`add` on a Protocol 0.6 project: placement, admission, text safety, exact bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mc_plan import (
    IMMEDIATE,
    Applied,
    MalformedFileError,
    PlanError,
    Project,
    Seed,
    Snapshot,
    UnsafeFileError,
    UnsupportedProtocolError,
    execute,
    open_project,
    preview,
)
from mc_plan.operations.add import add_request, build_add
from mc_plan.operations.add_request import AddOptions, SecretFinding, check_add
from mc_plan.operations.enable import build_enable, enable_request, parse_feature
from mc_plan.operations.gate import GateError
from mc_plan.operations.initialize import InitOptions, build_initialize, init_request
from mc_plan.operations.insertion import MAX_FILE_BYTES
from mc_plan.operations.manifests import new_manifest
from mc_plan.operations.memory_set import MemorySet
from mc_plan.pending import SeedValues
from mc_plan.template import render_template
from mc_schema.document import Document
from mc_schema.entry import parse_entry
from mc_schema.errors import SchemaError
from mc_schema.evidence import ADMISSION_HINT, ADMISSION_WHAT
from mc_schema.memoryfile import parse_memory_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PROJECT_ID = "11111111-2222-4333-8444-555555555555"
MANIFEST = new_manifest(PROJECT_ID, initialized_with="x", last_migrated_with="x")
CORE = ("brief.md", "decisions.md", "constraints.md", "do-not-use.md", "inbox.md")
VALUES = SeedValues("00" * 32, "20260726")


class Memory(NamedTuple):
    """One project with a memory directory."""

    project: Project

    def path(self, name: str) -> Path:
        return self.project.memory_path / name

    def write(self, name: str, text: str | bytes) -> None:
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def read(self, name: str) -> str:
        return self.path(name).read_bytes().decode()

    def everything(self) -> dict[str, bytes]:
        root = self.project.root
        return {
            path.relative_to(root).as_posix(): path.read_bytes()
            for path in root.rglob("*")
            if path.is_file()
        }

    def add(self, message: str, **options: Any) -> Applied:
        options = {"evidence": ("user-confirmed",), "type": "decision", **options}
        scan = options.pop("scan", None)
        checked = check_add(AddOptions(message, **options), root=self.project.root, scan=scan)
        return execute(
            self.project, build_add(checked), request=add_request(checked), notify=lambda _: None
        )


def make_memory(base: Path, manifest: str = MANIFEST) -> Memory:
    root = base / "project"
    root.mkdir(parents=True)
    environ = {"XDG_STATE_HOME": str(base / "state"), "HOME": str(base)}
    memory = Memory(open_project(root, environ=environ))
    for name in CORE:
        memory.write(name, render_template(f"memory/{name}"))
    memory.write("manifest.md", manifest)
    return memory


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return make_memory(tmp_path)


def refused(memory: Memory, kind: type[Exception], message: str = "x y", **options: Any) -> Any:
    """Return the error of an `add` that must write nothing."""
    before = memory.everything()
    with pytest.raises(kind) as caught:
        memory.add(message, **options)

    assert memory.everything() == before
    assert list((memory.project.state.path / "locks").glob("*")) == []
    return caught.value


# Placement


@pytest.mark.parametrize(
    ("options", "path", "code", "label", "scope"),
    [
        pytest.param(
            {"type": "decision"}, "decisions.md", "DEC", "Decision", "project", id="decision"
        ),
        pytest.param(
            {"type": "decision", "area": "sync"},
            "areas/sync.md",
            "AREA",
            "Decision",
            "area:sync",
            id="area-decision",
        ),
        pytest.param(
            {"type": "constraint"},
            "constraints.md",
            "CON",
            "Constraint",
            "project",
            id="constraint",
        ),
        pytest.param(
            {"type": "constraint", "area": "sync"},
            "areas/sync.md",
            "CON",
            "Constraint",
            "area:sync",
            id="area-constraint",
        ),
        pytest.param(
            {"type": "preference"},
            "preferences.md",
            "PREF",
            "Preference",
            "project",
            id="preference",
        ),
        pytest.param(
            {"type": "preference", "area": "sync"},
            "areas/sync.md",
            "PREF",
            "Preference",
            "area:sync",
            id="area-preference",
        ),
        pytest.param(
            {"type": "do-not-use"}, "do-not-use.md", "DNU", "Rejected", "project", id="do-not-use"
        ),
        pytest.param(
            {"type": "tombstone"}, "do-not-use.md", "DNU", "Rejected", "project", id="tombstone"
        ),
        pytest.param(
            {"type": "tombstone", "area": "sync"},
            "areas/sync.md",
            "DNU",
            "Rejected",
            "area:sync",
            id="area-tombstone",
        ),
        pytest.param(
            {"type": "rule", "name": "output"},
            "rules/output.md",
            "AREA",
            "Rule",
            "rule:output",
            id="rule",
        ),
        pytest.param(
            {"type": "profile", "name": "git"},
            "profiles/git.md",
            "AREA",
            "Profile",
            "profile:git",
            id="profile",
        ),
        pytest.param(
            {"type": "area", "name": "sync"},
            "areas/sync.md",
            "AREA",
            "Decision",
            "area:sync",
            id="area",
        ),
    ],
)
def test_every_type_goes_to_its_place(
    memory: Memory, options: dict[str, Any], path: str, *, code: str, label: str, scope: str
) -> None:
    added = memory.add("Keep it. Really", reason="Because", **options).result

    (unit,) = [unit for unit in parse_memory_file(path, memory.read(path)).units if unit.entry_id]
    entry = unit.standing.entry
    assert entry is not None
    assert (added.id, added.path) == (unit.entry_id, f"docs/memory/{path}")
    assert entry.id is not None
    assert (code, label, scope) == (entry.id.type, entry.body_label, entry.scope)
    assert (entry.title, entry.body, entry.reason) == ("Keep it", "Keep it. Really", "Because")
    assert (unit.standing.status, entry.evidence) == ("active", ("user-confirmed",))


@pytest.mark.parametrize(
    ("type_", "path", "newest_first"),
    [
        pytest.param("decision", "decisions.md", True, id="decision"),
        pytest.param("do-not-use", "do-not-use.md", True, id="do-not-use"),
        pytest.param("constraint", "constraints.md", False, id="constraint"),
        pytest.param("preference", "preferences.md", False, id="preference"),
        pytest.param("inbox", "inbox.md", True, id="inbox"),
    ],
)
def test_new_entries_stand_where_the_matrix_says(
    memory: Memory, type_: str, path: str, *, newest_first: bool
) -> None:
    for word in ("First", "Second"):
        memory.add(word, type=type_)

    titles = [u.heading.rpartition(" ")[2] for u in Document.parse(memory.read(path)).entries()]
    assert titles == (["Second", "First"] if newest_first else ["First", "Second"])


@pytest.mark.parametrize(
    ("options", "candidate_type", "scope"),
    [
        pytest.param({"type": None}, "unspecified", "project", id="default"),
        pytest.param({"type": "inbox"}, "unspecified", "project", id="inbox"),
        pytest.param({"candidate": True}, "decision", "project", id="decision"),
        pytest.param(
            {"candidate": True, "type": "constraint", "area": "sync"},
            "constraint",
            "area:sync",
            id="area",
        ),
        pytest.param(
            {"candidate": True, "type": "rule", "name": "out"}, "rule", "rule:out", id="rule"
        ),
    ],
)
def test_a_candidate_goes_to_the_inbox_with_its_type_and_scope(
    memory: Memory, options: dict[str, Any], candidate_type: str, scope: str
) -> None:
    memory.add("Maybe", evidence=("agent-observed",), reason="Ask", **options)

    (unit,) = [
        u for u in parse_memory_file("inbox.md", memory.read("inbox.md")).units if u.entry_id
    ]
    entry = unit.standing.entry
    assert entry is not None
    assert unit.standing.status == "candidate"
    assert (candidate_type, scope) == (entry.candidate_type, entry.scope)
    assert (entry.body_label, entry.requirement, entry.reason) == ("Statement", "Ask", "")
    assert not memory.path("areas").exists()


def test_a_candidate_without_evidence_is_conversation_unconfirmed(memory: Memory) -> None:
    memory.add("Maybe", type=None, evidence=())

    assert "- conversation-unconfirmed\n" in memory.read("inbox.md")


def test_a_new_module_is_made_from_its_template_and_indexed_once(memory: Memory) -> None:
    first = memory.add("One", area="sync")
    second = memory.add("Two", area="sync")

    assert memory.read("areas/sync.md").startswith("# Area: Sync\n")
    assert memory.read("manifest.md").count("`areas/sync.md`") == 1
    assert "- None enabled.\n\n### Enabled areas" in memory.read("manifest.md")
    assert (first.result.is_indexed, second.result.is_indexed) == (True, False)
    assert [file.path for file in second.written] == ["docs/memory/areas/sync.md"]


def test_the_first_preference_makes_and_indexes_its_file(memory: Memory) -> None:
    memory.add("Short text", type="preference")

    assert memory.read("preferences.md").startswith(render_template("memory/preferences.md"))
    assert memory.read("manifest.md").count("`preferences.md`") == 1


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"area": name}, id=name.replace("/", "_"))
        for name in (
            "README",
            "readme",
            "con",
            "COM1",
            "a.",
            "a/b",
            "../x",
            "C:x",
            "",
            ".hid",
            "a b",
        )
    ]
    + [pytest.param({"type": "rule", "name": "README"}, id="rule-readme")],
)
def test_reserved_and_unsafe_names_are_refused(memory: Memory, options: dict[str, Any]) -> None:
    """Fault 47 and field report D35; the README is there, so it is not a matter of existence."""
    memory.write("rules/README.md", "# Rules\n")

    refused(memory, SchemaError, **options)


def test_a_name_that_differs_by_case_only_is_refused(memory: Memory) -> None:
    memory.add("One", area="sync")

    error = refused(memory, SchemaError, area="Sync")
    assert "`sync`" in error.hint


# Admission


@pytest.mark.parametrize(
    "evidence",
    [
        pytest.param(("agent-observed",), id="observed"),
        pytest.param(("conversation-unconfirmed",), id="unconfirmed"),
        pytest.param(("agent-observed", "conversation-unconfirmed"), id="both"),
    ],
)
def test_weak_evidence_makes_no_active_entry(memory: Memory, evidence: tuple[str, ...]) -> None:
    error = refused(memory, SchemaError, evidence=evidence)

    assert (error.what, error.hint) == (ADMISSION_WHAT, ADMISSION_HINT)
    assert error.what == "agent-observed evidence cannot create active memory."
    assert error.hint == "Use --candidate or provide user-confirmed/source-backed evidence."


def test_active_memory_without_evidence_is_refused(memory: Memory) -> None:
    error = refused(memory, SchemaError, evidence=())

    assert (error.code, error.hint) == ("no_evidence", ADMISSION_HINT)


def test_weak_evidence_is_kept_beside_admissible(memory: Memory) -> None:
    memory.add("x", evidence=("agent-observed", "issue:#4", "agent-observed"))

    assert "Evidence:\n- agent-observed\n- issue:#4\n\nDecision" in memory.read("decisions.md")


@pytest.mark.parametrize(
    "evidence",
    [
        "repo:/etc/passwd",
        "repo:../x.md",
        "issue:42",
        "issue:#0",
        "unknown",
        "legacy-unverified",
        "repo:absent.md",
        "doc:absent.md",
        "",
    ],
)
def test_invalid_or_missing_evidence_is_refused(memory: Memory, evidence: str) -> None:
    refused(memory, SchemaError, evidence=(evidence,))


def test_missing_evidence_is_kept_as_it_is_when_allowed(memory: Memory) -> None:
    memory.add("x", evidence=("repo:absent.md",), allow_missing_evidence=True)

    assert "- repo:absent.md\n" in memory.read("decisions.md")


@pytest.mark.parametrize(
    ("message", "options"),
    [
        pytest.param("  keep   IT\n", {}, id="case-and-white-space"),
        pytest.param("Keep it", {"title": "Another title", "reason": "r"}, id="title-and-reason"),
    ],
)
def test_a_structural_duplicate_is_refused_and_named(
    memory: Memory, message: str, options: dict[str, Any]
) -> None:
    first = memory.add("Keep it").result.id

    error = refused(memory, GateError, message, **options)
    assert error.code == "duplicate"
    assert first in error.what
    assert f"--supersedes {first}" in error.hint


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"area": "sync"}, id="scope"),
        pytest.param({"type": "constraint"}, id="type"),
        pytest.param({"type": None}, id="candidate"),
    ],
)
def test_the_same_text_elsewhere_is_no_duplicate(memory: Memory, options: dict[str, Any]) -> None:
    memory.add("Keep it")

    assert memory.add("Keep it", **options).written


def test_a_rule_that_says_project_is_a_duplicate_too(memory: Memory) -> None:
    text = (
        "# Rule: Out\n\n## MC-AREA-20260101-aaaaaaaa — T\n\nStatus: active\nScope: project\n"
        "Evidence:\n- user-confirmed\n\nRule:\nKeep it\n"
    )
    memory.write("rules/out.md", text)

    refused(memory, GateError, "Keep it", type="rule", name="out")


# Ids


def test_an_id_that_any_file_has_is_drawn_again(memory: Memory) -> None:
    """Archive and inbox count, in any letter case, also inside a private span."""

    def drawn() -> str:
        checked = check_add(
            AddOptions("x", type="decision", evidence=("user-confirmed",)),
            root=memory.project.root,
        )
        draft = build_add(checked)(Snapshot(memory.project), Seed(lambda: VALUES))
        return str(draft.result.id)

    first = drawn()
    memory.write("archive/old.md", f"# Old\n\n## {first.lower()} — x\n")
    second = drawn()
    memory.write("areas/other.md", f"# O\n\n<private>\n## {second.upper()} — x\n</private>\n")
    third = drawn()

    assert len({first, second, third}) == 3
    assert first.startswith("MC-DEC-20260726-")


# Text


@pytest.mark.parametrize(
    "text",
    [
        "## heading",
        "ok\n# heading",
        "Status: active",
        "a\nDecision: b",
        "Evidence:",
        "<!-- memory-custodian:start -->",
        "```\nopen",
        "<!-- open",
        "a\x00b",
        "a\u202eb",
        "a\ud800b",
        "<<<<<<< ours",
        "   ",
        "",
    ],
)
@pytest.mark.parametrize("field", ["message", "reason"])
def test_text_that_reads_as_structure_is_refused(memory: Memory, field: str, text: str) -> None:
    """Faults 38 and 39."""
    if field == "message":
        refused(memory, SchemaError, text)
    else:
        refused(memory, SchemaError, reason=text)


@pytest.mark.parametrize(
    "title", ["", "a\nb", "x" * 1025, "a\u2028b", "<!-- x", "a\x07", "Status: active", "## x"]
)
def test_an_unsafe_title_is_refused(memory: Memory, title: str) -> None:
    refused(memory, SchemaError, title=title)


def test_code_in_a_closed_fence_is_kept_whole(memory: Memory) -> None:
    """Field report D37."""
    body = "Use this:\n\n```\n## MC-DEC-20260101-aaaaaaaa — x\nStatus: active\n---\n~~~\n```"
    added = memory.add(body).result
    memory.add("Another")

    units = parse_memory_file("decisions.md", memory.read("decisions.md")).units
    found = [unit for unit in units if unit.entry_id]
    assert len(found) == 2
    assert found[1].entry_id == added.id
    assert found[1].standing.entry is not None
    assert body == found[1].standing.entry.body


def test_private_text_is_removed_and_said(memory: Memory) -> None:
    options = AddOptions(
        "Keep <private>hidden</private>it",
        type="decision",
        title="T<private>hidden</private>",
        reason="<private>hidden</private>R",
        evidence=("user-confirmed<private>hidden</private>",),
    )
    checked = check_add(options, root=memory.project.root)
    execute(memory.project, build_add(checked), request=add_request(checked), notify=print)

    assert "hidden" not in repr(checked)
    assert "hidden" not in memory.read("decisions.md")
    assert "Keep it" in memory.read("decisions.md")
    assert [notice.rpartition(" ")[2] for notice in checked.notices] == [
        "message",
        "title",
        "reason",
        "evidence",
    ]


@pytest.mark.parametrize("opener", ["<private>x", "<private/>x", "<ｐrivate>x", "<private\n>x <b"])
@pytest.mark.parametrize("field", ["message", "title", "reason", "evidence"])
def test_a_private_opener_that_would_cut_text_is_refused(
    memory: Memory, field: str, opener: str
) -> None:
    text = f"kept {opener}"
    if field == "message":
        error = refused(memory, SchemaError, text)
    elif field == "evidence":
        error = refused(memory, SchemaError, evidence=(f"repo:{text}",))
    else:
        error = refused(memory, SchemaError, **{field: text})

    assert error.code == "private_opener"
    assert field in error.where
    assert "x" not in error.where


def test_only_private_text_is_no_text(memory: Memory) -> None:
    refused(memory, SchemaError, "<private>x</private>")


def secrets(*ranks: bool) -> Callable[[str], list[SecretFinding]]:
    def scan(text: str) -> list[SecretFinding]:
        return [SecretFinding(rank, "token, line 1") for rank in ranks if "hunter2" in text]

    return scan


@pytest.mark.parametrize("field", ["message", "title", "reason", "evidence"])
def test_a_certain_secret_is_refused_without_showing_it(memory: Memory, field: str) -> None:
    if field == "message":
        error = refused(memory, GateError, "hunter2", scan=secrets(False, True))
    elif field == "evidence":
        error = refused(memory, GateError, evidence=("hunter2",), scan=secrets(True))
    else:
        error = refused(memory, GateError, scan=secrets(True), **{field: "hunter2"})

    assert error.code == "secret_like"
    assert "hunter2" not in f"{error} {error.hint}"
    assert "--allow-secret-like" in error.hint


@pytest.mark.parametrize(
    ("is_error", "allowed"),
    [pytest.param(False, False, id="doubtful"), pytest.param(True, True, id="allowed")],
)
def test_a_doubtful_or_allowed_secret_is_written_with_a_warning(
    memory: Memory, *, is_error: bool, allowed: bool
) -> None:
    options = AddOptions(
        "hunter2",
        type="decision",
        evidence=("user-confirmed",),
        allow_secret_like=allowed,
    )
    checked = check_add(options, root=memory.project.root, scan=secrets(is_error))

    assert len(checked.notices) == 1
    assert "hunter2" not in checked.notices[0]
    assert checked.is_secret_like is allowed


# Length and budgets


def test_a_long_decision_needs_its_flag(memory: Memory) -> None:
    text = "word " * 121

    error = refused(memory, GateError, text)
    assert (error.code, "--allow-long" in error.hint) == ("long_entry", True)
    assert refused(memory, GateError, text, area="sync").code == "long_entry"
    assert memory.add(text, allow_long=True).written


def test_only_title_body_and_reason_count_as_length(memory: Memory) -> None:
    evidence = tuple(f"issue:#{number}" for number in range(1, 60))

    assert memory.add("word " * 100, title="t", evidence=evidence).result.tokens == 101


@pytest.mark.parametrize("type_", ["constraint", "inbox", None])
def test_the_flag_goes_with_decisions_only(memory: Memory, type_: str | None) -> None:
    refused(memory, PlanError, type=type_, allow_long=True)


def test_a_file_near_or_over_its_budget_is_a_warning_and_no_refusal(tmp_path: Path) -> None:
    manifest = MANIFEST.replace("decisions.md: 800", "decisions.md: 25")
    memory = make_memory(tmp_path, manifest)

    quiet = memory.add("one two three")
    near = memory.add("one two three four")
    over = memory.add("one two three four five")

    assert not quiet.plan.warnings
    assert "near its budget" in near.plan.warnings[0]
    assert "over its budget" in over.plan.warnings[0]


def test_a_file_that_readers_leave_out_takes_no_entry(memory: Memory) -> None:
    """An acknowledged entry must be served."""
    memory.write("decisions.md", f"# D\n\n{'x' * MAX_FILE_BYTES}\n")

    error = refused(memory, PlanError)

    assert (error.code, error.where) == ("too_large", "docs/memory/decisions.md")


def test_a_full_inbox_is_a_warning(memory: Memory) -> None:
    block = "\n".join(f"## 2026-01-{day:02}\n- item {day}\n" for day in range(1, 31))
    memory.write("inbox.md", f"# Inbox\n\n{block}")

    warnings = memory.add("Maybe", type=None).plan.warnings

    assert warnings == (
        "the inbox holds 31 candidates, more than 30; see `memory-custodian compact`",
    )


def test_prose_in_the_inbox_is_no_candidate(memory: Memory) -> None:
    """The same count as that of `check`: entries and bullets."""
    prose = "".join(f"## 2026-01-{day:02}\nWritten by hand.\n\n" for day in range(1, 31))
    memory.write("inbox.md", f"# Inbox\n\n{prose}")

    assert memory.add("Maybe", type=None).plan.warnings == ()


# The changelog


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        pytest.param(
            "# Memory Changelog\n\nNewest.\n\n## Old\n- x\n", "Newest.\n\n{}\n\n## Old", id="titled"
        ),
        pytest.param("# Changelog\n\nIntro\n", "# Changelog\n\nIntro\n\n{}\n", id="other-title"),
        pytest.param("---\na: b\n---\n\n# C\n", "---\na: b\n---\n\n# C\n\n{}\n", id="front-matter"),
    ],
)
def test_a_record_names_id_and_file_and_never_text(
    memory: Memory, before: str, expected: str
) -> None:
    """Faults 12 and 31."""
    memory.write("changelog.md", before)

    added = memory.add("Unusual words").result

    text = memory.read("changelog.md")
    date = added.id.split("-")[2]
    record = f"## {date[:4]}-{date[4:6]}-{date[6:]}\n- Added {added.id} to decisions.md."
    assert expected.format(record) in text
    assert "Unusual" not in text


def test_a_missing_changelog_is_not_made(memory: Memory) -> None:
    memory.add("x")

    assert not memory.path("changelog.md").exists()


# Bytes of untouched text


ENTRY = (
    "## MC-DEC-20260101-aaaaaaaa — Old\n\nStatus: active\nScope: project\nEvidence:\n"
    "- user-confirmed\n\nDecision:\nOld text\n"
)


@pytest.mark.parametrize(
    ("before", "above"),
    [
        pytest.param(f"# D\n\n{ENTRY}", "# D\n\n", id="lf"),
        pytest.param(f"# D\n\n{ENTRY}".replace("\n", "\r\n"), "# D\r\n\r\n", id="crlf"),
        pytest.param(f"# D\n\n{ENTRY}".replace("\n", "\r"), "# D\r\r", id="cr"),
        pytest.param(f"\ufeff# D\n\n{ENTRY}", "\ufeff# D\n\n", id="bom"),
        pytest.param(
            f"\ufeff# D\n\n{ENTRY}".replace("\n", "\r\n"), "\ufeff# D\r\n\r\n", id="bom-crlf"
        ),
        pytest.param(f"# D\n\n{ENTRY}".rstrip("\n"), "# D\n\n", id="no-final-newline"),
        pytest.param(
            f"# D  \n\n\n\nIntro\u2028x\x0cy\x85z \n\n\n{ENTRY}\n\n\n", "z \n\n\n", id="odd"
        ),
        pytest.param(f"---\nk: v\n---\n# D\n{ENTRY}", "---\n# D\n", id="front-matter"),
        pytest.param(ENTRY, "", id="no-title"),
        pytest.param(f"# D\n\nIntro.\n- bullet\n\nprose\n\n{ENTRY}", "prose\n\n", id="preamble"),
        pytest.param(
            f"# D\n\n1. read\n   - nested note\n2. write\n\n```\n## x\n```\n\n{ENTRY}",
            "```\n\n",
            id="list-and-fence",
        ),
    ],
)
def test_a_new_decision_changes_no_other_byte(memory: Memory, before: str, above: str) -> None:
    """Faults 1, 3, 5, 6, 10, 23 and 31; field reports D14 and D15."""
    memory.write("decisions.md", before)

    memory.add("New words")

    after = memory.read("decisions.md")
    start = before.index("## MC-DEC")
    assert before[:start].endswith(above)
    assert after.startswith(before[:start])
    assert after.endswith(before[start:])
    middle = after[len(before[:start]) : len(after) - len(before[start:])]
    newline = "\r\n" if "\r\n" in before else "\r" if "\r" in before else "\n"
    lines = middle.split(newline)
    assert "New words" in lines
    assert not any("\r" in line or "\n" in line for line in lines)


@pytest.mark.parametrize(
    ("before", "end"),
    [
        pytest.param("# C\n", "\n", id="title"),
        pytest.param("# C", "", id="no-final-newline"),
        pytest.param("# C\r\n\r\n- old  \r\n", "\r\n", id="crlf-bullets"),
        pytest.param("", "\n", id="empty"),
        pytest.param("\ufeff", "\n", id="bom-alone"),
        pytest.param("# C\n\n## Runtime\n- a\n- b\n\n\n", "\n", id="group"),
    ],
)
def test_a_new_constraint_is_appended_and_changes_no_other_byte(
    memory: Memory, before: str, end: str
) -> None:
    memory.write("constraints.md", before)

    memory.add("New words", type="constraint")

    after = memory.read("constraints.md")
    assert after.startswith(before)
    assert after.endswith(f"New words{end}")
    old = Document.parse(before)
    new = Document.parse(after)
    assert [new.unit_text(unit) for unit in new.units][:-1] == [
        old.unit_text(unit) for unit in old.units
    ]


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    text=st.lists(
        st.sampled_from(
            [
                "# T\n",
                "\n",
                "text\n",
                "- bullet\n",
                "  more\n",
                "## Group\n",
                "```\n",
                "~~~~\n",
                "<!--\n",
                "say <!-- this\n",
                "-->\n",
                "<private>\n",
                "</private>\n",
                "<private/>\n",
                ENTRY,
                "1. one\n",
                "\r\n",
                "\ufeff",
                "x",
            ]
        ),
        max_size=12,
    ).map("".join),
    type_=st.sampled_from(["decision", "constraint", "inbox"]),
    message=st.sampled_from(["New words", "close --> it", "a\n\n```\ncode\n```", "- list\n- more"]),
)
def test_an_entry_is_added_whole_and_leaves_others_alone_or_nothing_is_written(
    tmp_path_factory: pytest.TempPathFactory, text: str, type_: str, message: str
) -> None:
    memory = make_memory(tmp_path_factory.mktemp("any"))
    path = {"decision": "decisions.md", "constraint": "constraints.md", "inbox": "inbox.md"}[type_]
    memory.write(path, text)
    before = memory.everything()
    old = [unit.text for unit in parse_memory_file(path, memory.read(path)).units]

    try:
        added = memory.add(message, type=type_).result
    except (PlanError, SchemaError):
        assert memory.everything() == before
        return

    units = parse_memory_file(path, memory.read(path)).units
    new = [unit for unit in units if unit.entry_id == added.id]
    assert len(new) == 1
    assert parse_entry(new[0].text).body == message
    assert not new[0].standing.problems
    assert [unit.text.replace("\r\n", "\n") for unit in units if unit.entry_id != added.id] == [
        unit.replace("\r\n", "\n") for unit in old
    ]


# What could swallow an entry


@pytest.mark.parametrize(
    ("before", "type_", "line"),
    [
        pytest.param("# C\n\n```\nopen\n", "constraint", 3, id="open-fence"),
        pytest.param("# C\n\n<!-- open\n", "constraint", 3, id="open-comment"),
        pytest.param("# C\n\n- a\n\n<private>\nopen\n", "constraint", 5, id="open-private"),
        pytest.param("# C\n\n<private/>\n", "constraint", 3, id="malformed-private"),
        pytest.param("# D\n\n<private>\nopen\n", "decision", 3, id="newest-first"),
    ],
)
def test_an_unclosed_mark_that_would_hide_the_entry_is_named(
    memory: Memory, before: str, type_: str, line: int
) -> None:
    path = "decisions.md" if type_ == "decision" else "constraints.md"
    memory.write(path, before)

    error = refused(memory, MalformedFileError, type=type_)
    assert error.where == f"docs/memory/{path}:{line}"
    assert error.hint


def test_an_opener_below_the_new_entry_is_no_obstacle(memory: Memory) -> None:
    memory.write("decisions.md", f"# D\n\n{ENTRY}\n<private>\nopen\n")

    added = memory.add("New").result

    units = parse_memory_file("decisions.md", memory.read("decisions.md")).units
    assert added.id in [unit.entry_id for unit in units]


def test_headings_inside_a_private_span_are_no_place(memory: Memory) -> None:
    before = f"# D\n\n<private>\n## Secret\n\nx\n</private>\n\n{ENTRY}"
    memory.write("decisions.md", before)

    added = memory.add("New").result

    units = parse_memory_file("decisions.md", memory.read("decisions.md")).units
    assert added.id in [unit.entry_id for unit in units]
    assert memory.read("decisions.md").startswith("# D\n\n<private>\n## Secret\n\nx\n</private>\n")


@pytest.mark.parametrize("name", ["decisions.md", "changelog.md", "manifest.md"])
def test_a_file_with_conflict_markers_is_not_written(memory: Memory, name: str) -> None:
    text = memory.read(name) if memory.path(name).exists() else "# Memory Changelog\n"
    memory.write(name, f"{text}\n<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n")

    error = refused(memory, MalformedFileError)
    assert error.code == "conflict_markers"
    assert error.where.startswith(f"docs/memory/{name}:")


@pytest.mark.parametrize("name", ["decisions.md", "manifest.md", "archive/x.md"])
def test_a_file_that_is_not_utf8_is_named_with_its_offset(memory: Memory, name: str) -> None:
    memory.write(name, b"# X\n\xff")

    error = refused(memory, MalformedFileError)
    assert error.where == f"docs/memory/{name}"
    assert "byte offset 4" in error.what


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("\n\nNo unprocessed memory candidates.\n", "\n\n", id="last"),
        pytest.param("\n\nNo unprocessed memory candidates.\n\n## x\n- y\n", "\n\n", id="above"),
        pytest.param("\r\n\r\nNo unprocessed memory candidates.\r\n", "\r\n\r\n", id="crlf"),
    ],
)
def test_the_placeholder_of_an_empty_inbox_goes(memory: Memory, before: str, after: str) -> None:
    memory.write("inbox.md", f"# Memory Inbox{before}")

    memory.add("Maybe", type=None)

    text = memory.read("inbox.md")
    assert "No unprocessed" not in text
    assert text.startswith(f"# Memory Inbox{after}## MC-INBOX-")


@pytest.mark.parametrize(
    "line",
    [
        "> No unprocessed memory candidates.",
        "- a\n  No unprocessed memory candidates.",
        "- a\n\n  No unprocessed memory candidates.",
        "```\nNo unprocessed memory candidates.\n```",
        "text\nNo unprocessed memory candidates.",
        "## 2026-01-01\n- a\n\nNo unprocessed memory candidates.",
    ],
)
def test_a_line_like_the_placeholder_elsewhere_stays(memory: Memory, line: str) -> None:
    """Fault 42."""
    memory.write("inbox.md", f"# Memory Inbox\n\n{line}\n")

    memory.add("Maybe", type=None)

    assert line in memory.read("inbox.md")


# Files that are not what they should be


@pytest.mark.parametrize("name", ["decisions.md", "areas/sync.md"])
def test_a_symlink_is_neither_followed_nor_replaced(
    memory: Memory, tmp_path: Path, name: str
) -> None:
    """Fault 8 and field report D5."""
    victim = tmp_path / "victim.md"
    victim.write_text("# V\n")
    memory.path(name).unlink(missing_ok=True)
    memory.path(name).parent.mkdir(exist_ok=True)
    memory.path(name).symlink_to(victim)

    with pytest.raises(UnsafeFileError):
        memory.add("x", area="sync" if "areas" in name else None)

    assert victim.read_text() == "# V\n"
    assert memory.path(name).is_symlink()


def test_a_folder_that_leads_out_of_the_project_is_refused(memory: Memory, tmp_path: Path) -> None:
    """Field report D36."""
    outside = tmp_path / "outside"
    outside.mkdir()
    memory.path("areas").symlink_to(outside)

    with pytest.raises(UnsafeFileError):
        memory.add("x", area="sync")

    assert list(outside.iterdir()) == []


def test_a_missing_manifest_names_the_repair(memory: Memory) -> None:
    memory.path("manifest.md").unlink()

    error = refused(memory, MalformedFileError)
    assert "init --repair" in error.hint


def test_a_missing_core_file_is_made_from_its_template(memory: Memory) -> None:
    memory.path("decisions.md").unlink()

    memory.add("x")

    assert memory.read("decisions.md").startswith(render_template("memory/decisions.md"))


@pytest.mark.parametrize(
    "versions",
    [
        pytest.param(["0.9"], id="newer"),
        pytest.param(["five"], id="unreadable"),
        pytest.param(["0.²"], id="superscript"),
        pytest.param(["0.５"], id="full-width"),
        pytest.param(["0.9", "0.4"], id="repeated"),
        pytest.param(["0.6", "0.6"], id="repeated-equal"),
    ],
)
@pytest.mark.parametrize("writer", ["add", "candidate", "enable", "init", "repair", "replace"])
def test_no_writer_touches_a_project_of_an_unusable_protocol(
    tmp_path: Path, versions: list[str], writer: str
) -> None:
    """Faults 24, 25, 26 and 27."""
    lines = "".join(f"- protocol_version: {version}\n" for version in versions)
    memory = make_memory(tmp_path, MANIFEST.replace("- protocol_version: 0.6\n", lines))
    memory.path("brief.md").unlink()
    before = memory.everything()

    with pytest.raises(UnsupportedProtocolError):
        run_writer(memory, writer)

    assert memory.everything() == before


def run_writer(memory: Memory, writer: str) -> None:
    if writer in ("add", "candidate"):
        memory.add("x", candidate=writer == "candidate")
    elif writer == "enable":
        feature = parse_feature("changelog")
        request = enable_request(feature)
        execute(memory.project, build_enable(feature), request=request, notify=print)
    else:
        options = InitOptions(
            repair=writer == "repair", replace_existing=writer == "replace", agents=("codex",)
        )
        request = init_request(options)._replace(confirmation=IMMEDIATE)
        execute(memory.project, build_initialize(options), request=request, notify=print)


def test_a_dry_run_writes_nothing_anywhere(memory: Memory, tmp_path: Path) -> None:
    before = memory.everything()
    checked = check_add(
        AddOptions("x", type="decision", evidence=("user-confirmed",)), root=memory.project.root
    )

    plan = preview(memory.project, build_add(checked), request=add_request(checked))

    assert "+Decision:" in plan.public().diff
    assert memory.everything() == before
    assert not (tmp_path / "state").exists()


def test_every_file_that_could_hold_an_id_decides_the_plan(memory: Memory) -> None:
    memory.write("archive/old.md", "# Old\n")
    memory.write("areas/deep/er.md", "# Deep\n")
    snapshot = Snapshot(memory.project)

    MemorySet(snapshot).new_id(Seed(lambda: VALUES), "DEC")

    assert {"docs/memory/archive/old.md", "docs/memory/areas/deep/er.md"} <= set(snapshot.states)
