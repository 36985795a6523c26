"""`forget` removes complete units, blocks on what it cannot remove, and hides a private topic."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from mc_plan import Project, execute, open_project, preview
from mc_plan.errors import BlockedError, ConfirmationError, InputError, StalePlanError
from mc_plan.operations.forget import build_forget, forget_request, require_topic
from mc_plan.operations.forget_search import HARD, PURGE, SOFT
from mc_schema.errors import InvalidTextError
from mc_schema.graph import find_link_faults
from mc_schema.memoryfile import parse_memory_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mc_plan.execution import Applied
    from mc_plan.plan import Plan

    Make = Callable[..., "Memory"]

MANIFEST = """# M

## MemoryCustodian Protocol
- protocol_version: {version}
- project_id: 11111111-2222-4333-8444-555555555555

## Always load
- brief.md
"""
OLD, NEW, LATER = "MC-DEC-20260101-aaaaaaaa", "MC-DEC-20260102-bbbbbbbb", "MC-DEC-20260103-cccccccc"
CANDIDATE = "MC-INBOX-20260104-dddddddd"


def entry(
    entry_id: str, body: str, *, status: str = "active", links: str = "", label: str = ""
) -> str:
    kind = "Candidate-Type: decision\n" if "INBOX" in entry_id else ""
    label = label or ("Statement" if kind else "Rejected" if "DNU" in entry_id else "Decision")
    return (
        f"## {entry_id} — Title\n\nStatus: {status}\n{links}{kind}Scope: project\nEvidence:\n"
        f"- user-confirmed\n\n{label}:\n{body}\n"
    )


class Memory(NamedTuple):
    """One project with a memory directory."""

    project: Project
    state: Path

    def path(self, name: str) -> Path:
        return self.project.memory_path / name

    def read(self, name: str) -> str:
        return self.path(name).read_bytes().decode()

    def everything(self) -> dict[str, bytes]:
        base = self.project.memory_path
        return {
            p.relative_to(base).as_posix(): p.read_bytes()
            for p in sorted(base.rglob("*"))
            if p.is_file()
        }

    def preview(self, topic: str, mode: str = SOFT, **flags: bool) -> Plan:
        request = forget_request(topic, mode, **flags)
        return preview(self.project, build_forget(topic, mode), request=request)

    def forget(self, topic: str, mode: str = SOFT, **flags: bool) -> Applied:
        plan = self.preview(topic, mode, **flags)
        return self.apply(topic, mode, plan.public().plan_id, **flags)

    def apply(self, topic: str, mode: str, confirm: str | None, **flags: bool) -> Applied:
        request = forget_request(topic, mode, **flags)
        builder = build_forget(topic, mode)
        return execute(self.project, builder, request=request, confirm=confirm, notify=print)

    def holds(self, topic: str, *, where: Path) -> list[str]:
        needle = topic.casefold().encode()
        return [
            str(p) for p in where.rglob("*") if p.is_file() and needle in p.read_bytes().lower()
        ]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    state = tmp_path / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(state))

    def make_memory(version: str = "0.6", **files: str) -> Memory:
        base = tmp_path / "project" / "docs" / "memory"
        texts = {
            "manifest.md": MANIFEST.format(version=version),
            "do-not-use.md": "# Do Not Use\n\nNewest first.\n",
            "inbox.md": "# Inbox\n",
            "changelog.md": "# Memory Changelog\n\nNewest first.\n",
        }
        texts |= {name.replace("__", "/").replace("_", "-") + ".md": t for name, t in files.items()}
        for name, text in texts.items():
            path = base / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        return Memory(open_project(tmp_path / "project"), state)

    return make_memory


def test_soft_removes_the_unit_and_leaves_a_tombstone_that_names_the_topic(make: Make) -> None:
    memory = make(decisions=f"# D\n\nIntro.\n\n{entry(NEW, 'Use zebra.')}\n{entry(OLD, 'Other.')}")

    memory.forget("zebra")

    assert f"# D\n\nIntro.\n\n{entry(OLD, 'Other.')}" == memory.read("decisions.md")
    (_, tombstone) = parse_memory_file("do-not-use.md", memory.read("do-not-use.md")).units
    assert tombstone.standing.is_served
    found = tombstone.standing.entry
    assert found is not None
    assert found.id is not None
    assert (found.id.type, found.title) == ("TOMB", "Tombstone: zebra")


def test_changelog_record_names_ids_and_files_and_never_the_text(make: Make) -> None:
    memory = make(decisions=f"# D\n\n{entry(NEW, 'Use zebra.')}")

    memory.forget("zebra")

    record = memory.read("changelog.md")
    assert record.startswith("# Memory Changelog\n\nNewest first.\n\n## ")
    assert f"Forgot 1 entry from decisions.md: {NEW}." in record
    assert "zebra" not in record


def test_plan_lists_its_changelog_record(make: Make) -> None:
    memory = make(decisions=f"# D\n\n{entry(NEW, 'Use zebra.')}")

    steps = memory.preview("zebra").public().operations

    assert steps[-1] == ("Record it in the changelog", "docs/memory/changelog.md")


@pytest.mark.parametrize("mode", [HARD, PURGE])
def test_private_modes_leave_the_topic_nowhere(make: Make, mode: str) -> None:
    tombstone = entry("MC-TOMB-20260101-eeeeeeee", "zebra", label="Rejected")
    memory = make(
        decisions=f"# D\n\n{entry(NEW, 'Use Zebra.')}",
        inbox=f"# Inbox\n\n{entry(CANDIDATE, 'zebra?', status='candidate')}",
        do_not_use=f"# Do Not Use\n\n{tombstone}\n## Tombstone: zebra\nGone.\n",
        areas__herd="# Area\n\n- a zebra\n- a horse\n",
        changelog="# Memory Changelog\n\n## 2026-01-01\n- Added zebra.\n",
    )

    memory.forget("zebra", mode, allow_broad=True)

    assert memory.holds("zebra", where=memory.project.memory_path) == []
    assert memory.holds("zebra", where=memory.state) == []
    assert memory.read("areas/herd.md") == "# Area\n\n- a horse\n"
    guards = memory.read("do-not-use.md").count("Redacted user-requested removal")
    assert (1 if mode == HARD else 0) == guards


@pytest.mark.parametrize("mode", [HARD, PURGE])
def test_preview_of_a_private_mode_never_shows_the_topic(make: Make, mode: str) -> None:
    memory = make(
        decisions=f"# D zebra\n\nzebra prose\n\n{entry(NEW, 'Use zebra.')}",
        areas__zebra="# Area\n\n- x zebra\n",
    )

    plan = memory.preview("zebra", mode)

    shown = json.dumps([plan.public().as_dict(), plan.result.as_data(), repr(plan)])
    assert "zebra" not in shown
    assert all(target.base_sha256 is None for target in plan.public().targets)
    assert plan.public().diff == ""


def test_refusal_of_a_private_mode_never_shows_the_topic(make: Make) -> None:
    memory = make(areas__zebra="# Area\n\n- x\n")

    with pytest.raises(BlockedError) as caught:
        memory.forget("zebra", HARD)

    error: Any = caught.value
    assert "zebra" not in json.dumps([str(error), error.where, error.hint, error.plan.as_dict()])


def test_hard_says_how_many_archived_units_still_match(make: Make) -> None:
    memory = make(
        decisions=f"# D\n\n{entry(NEW, 'Use zebra.')}",
        archive__old=f"# Archived\n\n{entry(OLD, 'zebra', status='superseded')}",
    )

    plan = memory.preview("zebra", HARD)
    memory.forget("zebra", HARD)

    assert plan.result.archived == 1
    assert "zebra" in memory.read("archive/old.md")


def test_purge_searches_the_archive(make: Make) -> None:
    memory = make(archive__old="# Archived\n\n## One\nzebra\n\n## Two\nhorse\n")

    memory.forget("zebra", PURGE)

    assert memory.read("archive/old.md") == "# Archived\n\n## Two\nhorse\n"


@pytest.mark.parametrize(
    ("written", "topic"),
    [
        pytest.param("ＺＥＢＲＡ", "zebra", id="full-width"),
        pytest.param("caf\u0065\u0301", "CAF\u00c9", id="accent-composed-and-not"),
        pytest.param("STRASSE", "straße", id="case-folding"),
        pytest.param("<private>zebra</private>", "zebra", id="inside-a-private-span"),
    ],
)
def test_other_spellings_are_found(make: Make, written: str, topic: str) -> None:
    memory = make(constraints=f"# C\n\n- keep\n- {written}\n")

    memory.forget(topic)

    assert memory.read("constraints.md") == "# C\n\n- keep\n"


@pytest.mark.parametrize(
    ("files", "mode"),
    [
        pytest.param({"brief": "# B\n\nzebra intro\n\n- a\n"}, SOFT, id="introduction"),
        pytest.param({"brief": "# B\n\n- a\n\nzebra prose\n"}, SOFT, id="prose"),
        pytest.param({"brief": "# B zebra\n\n- a\n"}, HARD, id="title"),
        pytest.param({"areas__zebra": "# A\n\n- a\n"}, HARD, id="file-name"),
        pytest.param({"brief": "# B\n\n## zebra\n\n- a\n- b\n"}, SOFT, id="heading-over-entries"),
        pytest.param({"rules__README": "# R\n\nzebra\n"}, PURGE, id="readme"),
    ],
)
def test_text_that_is_no_complete_entry_blocks(
    make: Make, files: dict[str, str], mode: str
) -> None:
    memory = make(**files)
    before = memory.everything()

    with pytest.raises(BlockedError):
        memory.forget("zebra", mode, allow_broad=True)

    assert before == memory.everything()


def test_manifest_and_other_files_block_a_purge(make: Make) -> None:
    memory = make()
    memory.path("notes.txt").write_text("about the zebra")
    memory.path("manifest.md").write_text(memory.read("manifest.md") + "\n- `areas/zebra.md`\n")

    blockers = memory.preview("zebra", PURGE).blockers

    assert {"docs/memory/manifest.md:10", "docs/memory/notes.txt"} == {b.where for b in blockers}


@pytest.mark.parametrize(
    ("topic", "text"),
    [
        pytest.param("zeb", "# C\n\n- zeb\n", id="short-topic"),
        pytest.param("z e b", "# C\n\n- z e b\n", id="blanks-do-not-count"),
        pytest.param("zebra", "# C\n\n- zebra\n- zebras\n", id="two-units"),
    ],
)
def test_broad_match_needs_its_flag(make: Make, topic: str, text: str) -> None:
    memory = make(constraints=text)
    before = memory.everything()

    with pytest.raises(ConfirmationError):
        memory.forget(topic)

    assert before == memory.everything()
    memory.forget(topic, allow_broad=True)
    assert topic not in memory.read("constraints.md")


def test_narrow_match_needs_no_flag(make: Make) -> None:
    memory = make(constraints="# C\n\n- zebr\n- other\n")

    memory.forget("zebr")

    assert memory.read("constraints.md") == "# C\n\n- other\n"


@pytest.mark.parametrize(("mode", "words"), [(SOFT, "Tombstone: zebra"), (HARD, "Redacted user")])
def test_second_run_adds_no_second_tombstone(make: Make, mode: str, words: str) -> None:
    memory = make(constraints="# C\n\n- zebra\n")

    memory.forget("zebra", mode)
    memory.forget("Zebra", mode)

    assert memory.read("do-not-use.md").count(words) == 1


def test_nothing_matched_still_leaves_a_tombstone(make: Make) -> None:
    memory = make()

    memory.forget("zebra")

    assert "Tombstone: zebra" in memory.read("do-not-use.md")


def test_links_to_a_removed_entry_are_cleaned_and_the_graph_stays_sound(make: Make) -> None:
    memory = make(
        decisions="# D\n\n"
        + entry(LATER, "Third.", links=f"Supersedes: {NEW}\n")
        + "\n"
        + entry(NEW, "zebra", status="superseded", links=f"Superseded-By: {LATER}\n").replace(
            "Scope: project", f"Scope: project\nSupersedes: {OLD}"
        ),
        archive__old="# A\n\n"
        + entry(OLD, "x", status="superseded", links=f"Superseded-By: {NEW}\n"),
        inbox="# I\n\n" + entry(CANDIDATE, "y", status="promoted", links=f"Promoted-To: {NEW}\n"),
    )

    memory.forget("zebra")

    assert "Supersedes" not in memory.read("decisions.md")
    assert "Superseded-By: forgotten" in memory.read("archive/old.md")
    assert "Promoted-To" not in memory.read("inbox.md")
    names = ("decisions.md", "archive/old.md", "inbox.md")
    units = [u for name in names for u in parse_memory_file(name, memory.read(name)).units]
    assert find_link_faults(units) == []


def test_bullet_goes_alone_and_an_emptied_dated_heading_goes_with_it(make: Make) -> None:
    memory = make(inbox="# I\n\n## 2026-02-02\n- zebra\n\n## 2026-02-01\n- a\n- b\n")

    memory.forget("zebra")

    assert memory.read("inbox.md") == "# I\n\n## 2026-02-01\n- a\n- b\n"


def test_entry_with_a_fence_goes_whole(make: Make) -> None:
    fenced = entry(NEW, "See:\n```\n## not a heading\nzebra\n```\nEnd.")
    memory = make(decisions=f"# D\n\n{fenced}\n{entry(OLD, 'Other.')}")

    memory.forget("zebra")

    assert f"# D\n\n{entry(OLD, 'Other.')}" == memory.read("decisions.md")


def test_removal_that_would_uncover_private_text_blocks(make: Make) -> None:
    text = "# C\n\n- zebra <private>\n- secret plan\n- end </private>\n"
    memory = make(constraints=text)

    with pytest.raises(BlockedError):
        memory.forget("zebra")

    assert text == memory.read("constraints.md")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("  ", id="blank"),
        pytest.param("a\n## b", id="two-lines"),
        pytest.param("<private>x</private>", id="private-only"),
        pytest.param("a\x1b[31m", id="control-character"),
    ],
)
def test_topic_must_be_one_printable_line(text: str) -> None:
    with pytest.raises(InvalidTextError):
        require_topic(text)


def test_soft_leaves_rejected_approaches_archive_and_manifest_alone(make: Make) -> None:
    rejected = f"# Do Not Use\n\n{entry('MC-DNU-20260101-eeeeeeee', 'No zebra.')}"
    memory = make(do_not_use=rejected, archive__old="# A\n\n- zebra\n")

    memory.forget("zebra")

    assert "No zebra." in memory.read("do-not-use.md")
    assert memory.read("archive/old.md") == "# A\n\n- zebra\n"


def test_superseded_entries_and_candidates_are_searched(make: Make) -> None:
    memory = make(
        decisions=f"# D\n\n{entry(OLD, 'zebra', status='superseded')}",
        inbox=f"# I\n\n{entry(CANDIDATE, 'zebra', status='candidate')}",
    )

    plan = memory.preview("zebra")

    assert {OLD, CANDIDATE} == {what for _, _, what in plan.result.matches}


def test_stale_plan_writes_nothing(make: Make) -> None:
    memory = make(constraints="# C\n\n- zebra\n- other\n")
    confirm = memory.preview("zebra").public().plan_id
    memory.path("constraints.md").write_text("# C\n\n- new\n- zebra\n- other\n")
    before = memory.everything()

    with pytest.raises(StalePlanError):
        memory.apply("zebra", SOFT, confirm)

    assert before == memory.everything()


def test_older_project_keeps_its_tombstone_form_and_needs_no_id(make: Make) -> None:
    memory = make(version="0.5", constraints="# C\n\n- zebra\n")

    memory.apply("zebra", SOFT, None)

    text = memory.read("do-not-use.md")
    assert "## Tombstone: zebra\n" in text
    assert "MC-TOMB" not in text
    with pytest.raises(StalePlanError):
        memory.apply("zebra", SOFT, "0" * 16)


def test_missing_tombstone_file_is_named_with_the_way_out(make: Make) -> None:
    memory = make(constraints="# C\n\n- zebra\n")
    memory.path("do-not-use.md").unlink()

    with pytest.raises(InputError, match=r"docs/memory/do-not-use\.md") as caught:
        memory.forget("zebra")

    assert "init --repair" in caught.value.hint


def test_line_ends_of_the_file_stay(make: Make) -> None:
    memory = make(
        constraints="\ufeff# C\r\n\r\n- zebra\r\n- other  \r\n",
        do_not_use="# Do Not Use\r\n\r\nNewest first.\r\n",
    )

    memory.forget("zebra")

    assert memory.read("constraints.md") == "\ufeff# C\r\n\r\n- other  \r\n"
    assert "\n" not in memory.read("do-not-use.md").replace("\r\n", "")


def test_unknown_mode_is_refused() -> None:
    with pytest.raises(InputError, match="unknown mode"):
        forget_request("zebra", "gentle")
