"""`compact` removes exact duplicates, archives whole units, and never judges meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest
from mc_plan import Project, execute, open_project, preview
from mc_plan.errors import BlockedError, ConfirmationError
from mc_plan.operations.compact import build_compact, compact_request
from mc_plan.operations.compact_target import require_target
from mc_schema.errors import SchemaError
from mc_schema.graph import find_link_faults
from mc_schema.memoryfile import parse_memory_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mc_plan.plan import Plan

    Make = Callable[..., "Memory"]

MANIFEST = """# M

## MemoryCustodian Protocol
- protocol_version: {version}
- project_id: 11111111-2222-4333-8444-555555555555

## Always load
- brief.md

## Context budget
- decisions.md: 60 tokens max
- constraints.md: 12 tokens max
- brief.md: 5 tokens max
- changelog.md: 20 tokens max
"""
OLD, NEW = "MC-DEC-20260101-aaaaaaaa", "MC-DEC-20260102-bbbbbbbb"
WORDS = "word " * 20


def entry(
    entry_id: str, body: str, *, status: str = "active", links: str = "", more: str = ""
) -> str:
    kind = "Candidate-Type: decision\n" if "INBOX" in entry_id else ""
    label = "Statement" if kind else "Decision"
    return (
        f"## {entry_id} — Title\n\nStatus: {status}\n{links}{kind}Scope: project\nEvidence:\n"
        f"- user-confirmed\n{more}\n{label}:\n{body}\n"
    )


def candidate(number: int, body: str, **fields: str) -> str:
    return entry(f"MC-INBOX-20260104-{number:08x}", body, **{"status": "candidate", **fields})


class Memory(NamedTuple):
    """One project with a memory directory."""

    project: Project

    def path(self, name: str) -> Path:
        return self.project.memory_path / name

    def read(self, name: str) -> str:
        return self.path(name).read_bytes().decode()

    def everything(self) -> dict[str, bytes]:
        base = self.project.memory_path
        return {p.relative_to(base).as_posix(): p.read_bytes() for p in base.rglob("*.md")}

    def archives(self) -> str:
        return "".join(
            p.read_text("utf-8") for p in sorted(self.path("archive").glob("[a-z]*-*.md"))
        )

    def preview(self, target: str | None = None) -> Plan:
        return preview(self.project, build_compact(target), request=compact_request(target))

    def compact(self, target: str | None = None, *, archive_oldest: bool = False) -> Plan:
        request = compact_request(target, archive_oldest=archive_oldest)
        plan = preview(self.project, build_compact(target), request=request)
        confirm = plan.public().plan_id
        execute(self.project, build_compact(target), request=request, confirm=confirm, notify=print)
        return plan


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def make_memory(version: str = "0.6", **files: str) -> Memory:
        texts = {
            "manifest.md": MANIFEST.format(version=version),
            "do-not-use.md": "# Do Not Use\n",
            "inbox.md": "# Inbox\n",
        }
        texts |= {name.replace("_", "-") + ".md": text for name, text in files.items()}
        for name, text in texts.items():
            path = tmp_path / "project" / "docs" / "memory" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        return Memory(open_project(tmp_path / "project"))

    return make_memory


def test_exact_duplicate_bullets_go_and_the_newest_stays(make: Make) -> None:
    memory = make(inbox="# I\n\n## 2026-02-02\n- Same\n\n## 2026-02-01\n* same \n\n- other\n")

    plan = memory.compact()

    assert memory.read("inbox.md") == "# I\n\n## 2026-02-02\n- Same\n\n## 2026-02-01\n- other\n"
    assert plan.result[2:5] == (3, 1, 0)


def test_heading_emptied_by_a_duplicate_goes_too(make: Make) -> None:
    memory = make(inbox="# I\n\n## 2026-02-02\n- same\n\n## 2026-02-01\n- same\n")

    memory.compact()

    assert memory.read("inbox.md") == "# I\n\n## 2026-02-02\n- same\n\n"


def test_exact_tombstone_matches_go(make: Make) -> None:
    memory = make(
        inbox=f"# I\n\n{candidate(1, 'Use zebra')}\n## 2026-01-01\n- use zebra\n- use zebras\n",
        do_not_use="# D\n\n## Tombstone: Use zebra\nGone.\n",
    )

    plan = memory.compact()

    assert memory.read("inbox.md") == "# I\n\n## 2026-01-01\n- use zebras\n"
    assert plan.result.tombstone_matches == 2


def test_candidates_with_equal_evidence_survive(make: Make) -> None:
    text = f"# I\n\n{candidate(1, 'One thing.')}\n{candidate(2, 'Another thing.')}"
    memory = make(inbox=text)

    plan = memory.preview()

    assert plan.public().changes_nothing
    assert len(plan.result.review) == 2


def test_equal_candidates_are_duplicates_and_different_evidence_is_not(make: Make) -> None:
    first, twin = candidate(1, "Thing."), candidate(2, "thing.")
    other = candidate(3, "Thing.", more="- repo:a.py\n")
    memory = make(inbox=f"# I\n\n{first}\n{twin}\n{other}")

    memory.compact()

    assert f"# I\n\n{first}\n{other}" == memory.read("inbox.md")


def test_promoted_candidates_and_superseded_entries_are_archived_whole(make: Make) -> None:
    old = entry(
        OLD, "Old.\n\n```\n## fenced\n```", status="superseded", links=f"Superseded-By: {NEW}\n"
    )
    new = entry(NEW, "New.").replace("Scope: project", f"Scope: project\nSupersedes: {OLD}")
    promoted = candidate(1, "Was a guess.", status="promoted", links=f"Promoted-To: {NEW}\n")
    memory = make(decisions=f"# D\n\n{new}\n{old}", inbox=f"# I\n\n{promoted}")

    plan = memory.compact()

    assert f"# D\n\n{new}\n" == memory.read("decisions.md")
    assert old.strip() in memory.archives()
    assert promoted.strip() in memory.archives()
    assert {OLD, "MC-INBOX-20260104-00000001"} == {label for label, _ in plan.result.archived}
    assert memory.path("archive/README.md").is_file()
    units = [
        unit
        for name, data in memory.everything().items()
        for unit in parse_memory_file(name, data.decode()).units
    ]
    assert find_link_faults(units) == []


def test_nothing_is_promoted_or_inferred(make: Make) -> None:
    memory = make(inbox=f"# I\n\n{candidate(1, 'Looks confirmed.')}", decisions="# D\n")
    before = memory.everything()

    memory.compact()

    assert before == memory.everything()


def test_second_run_of_a_day_shares_the_archive_file(make: Make) -> None:
    first = candidate(1, "One.", status="promoted", links=f"Promoted-To: {NEW}\n")
    memory = make(inbox=f"# I\n\n{first}", decisions=f"# D\n\n{entry(NEW, 'New.')}")
    memory.compact()
    second = candidate(2, "Two.", status="promoted", links=f"Promoted-To: {NEW}\n")
    memory.path("inbox.md").write_text(f"# I\n\n{second}", "utf-8")

    memory.compact()

    assert len(list(memory.path("archive").glob("inbox-*.md"))) == 1
    assert first.strip() in memory.archives()
    assert second.strip() in memory.archives()


def test_oldest_decisions_leave_by_date_and_only_with_the_flag(make: Make) -> None:
    mixed = [
        entry("MC-DEC-20250101-00000001", WORDS),
        entry("MC-DEC-20260301-00000002", WORDS),
        entry("MC-DEC-20260201-00000003", WORDS),
    ]
    memory = make(decisions="# D\n\n" + "\n".join(mixed))
    before = memory.everything()

    with pytest.raises(ConfirmationError):
        memory.compact("decisions.md")
    assert before == memory.everything()
    plan = memory.compact("decisions.md", archive_oldest=True)

    assert plan.result.order == "dates"
    assert "20260301" in memory.read("decisions.md")
    assert "20250101" not in memory.read("decisions.md")
    assert mixed[0].strip() in memory.archives()
    assert plan.result.projected <= plan.result.limit


def test_file_order_is_used_and_said_when_an_entry_has_no_date(make: Make) -> None:
    units = [
        f"## {name}\nDecision:\n{WORDS}\n" for name in ("First", "Second", "2026-01-01 - Third")
    ]
    memory = make(decisions="# D\n\n" + "\n".join(units))

    plan = memory.compact("decisions.md", archive_oldest=True)

    assert plan.result.order == "file order"
    assert "Third" not in memory.read("decisions.md")


def test_at_least_one_decision_stays(make: Make) -> None:
    memory = make(decisions=f"# D\n\n## A\n{'word ' * 80}\n\n## B\n{'word ' * 80}\n")

    memory.compact("decisions.md", archive_oldest=True)

    assert "## A" in memory.read("decisions.md")
    assert "## B" not in memory.read("decisions.md")


def test_long_decision_that_would_stay_blocks(make: Make) -> None:
    long = entry("MC-DEC-20260301-00000002", "word " * 130)
    memory = make(decisions=f"# D\n\n{long}\n{entry('MC-DEC-20250101-00000001', WORDS)}")

    with pytest.raises(BlockedError):
        memory.compact("decisions.md", archive_oldest=True)


def test_duplicates_count_only_within_one_section(make: Make) -> None:
    text = "# C\n\n- same word here\n- same word here\n\n## Runtime\n\n- same word here\n- x\n"
    memory = make(constraints=text)

    plan = memory.compact("constraints.md")

    assert text.replace("- same word here\n", "", 1) == memory.read("constraints.md")
    assert plan.result.duplicates == 1


def test_changelog_needs_no_flag(make: Make) -> None:
    records = "".join(f"## 2026-01-0{n}\n- {'word ' * 8}\n\n" for n in (3, 2, 1))
    memory = make(changelog=f"# Memory Changelog\n\n{records}")

    memory.compact("changelog.md")

    assert "2026-01-03" in memory.read("changelog.md")
    assert "## 2026-01-01" not in memory.read("changelog.md")
    assert "2026-01-01" in memory.archives()


def test_prose_file_over_budget_is_left_to_people(make: Make) -> None:
    memory = make(brief=f"# B\n\n{WORDS}\n")

    plan = memory.compact("brief.md")

    assert plan.result.status == "manual-review"
    assert plan.public().changes_nothing


def test_file_within_its_budget_is_left_alone(make: Make) -> None:
    memory = make(constraints="# C\n\n- a\n- a\n")

    plan = memory.compact("constraints.md")

    assert (plan.result.status, plan.public().changes_nothing) == ("ok", True)


@pytest.mark.parametrize(
    "target",
    ["manifest.md", "inbox.md", "archive/x.md", "../x.md", "/x.md", "x.txt", "a/../b.md", ""],
)
def test_target_without_a_budget_is_refused(target: str) -> None:
    with pytest.raises(SchemaError):
        require_target(target)


def test_backslash_in_a_target_is_a_slash() -> None:
    assert require_target("areas\\x.md") == "areas/x.md"


@pytest.mark.parametrize("target", ["glossary.md", "preferences.md"])
def test_missing_file_or_budget_is_named(make: Make, target: str) -> None:
    memory = make(glossary="# G\n")

    with pytest.raises(SchemaError, match=f"docs/memory/{target}"):
        memory.compact(target)


def test_review_never_shows_private_text(make: Make) -> None:
    memory = make(inbox=f"# I\n\n{candidate(1, 'Seen <private>hidden</private> seen.')}")

    plan = memory.preview()

    assert "hidden" not in str(plan.result)
    assert "Seen  seen." in str(plan.result)


def test_hidden_superseded_entry_is_left_where_it_is(make: Make) -> None:
    old = entry(OLD, "Old.", status="superseded", links=f"Superseded-By: {NEW}\n")
    text = f"# D\n\n<private>\n\n{old}\n</private>\n"
    memory = make(decisions=text)

    memory.compact()

    assert text == memory.read("decisions.md")
    assert OLD not in memory.archives()


def test_older_project_is_compacted_without_an_id(make: Make) -> None:
    memory = make(version="0.5", inbox="# I\n\n- a\n- a\n")

    execute(
        memory.project,
        build_compact(None),
        request=compact_request(None),
        confirm=None,
        notify=print,
    )

    assert memory.read("inbox.md") == "# I\n\n- a\n"
