"""`proposals` and `cortex-restore`: what people see and decide, previewed first."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from mc_cli.cortex.testing import (
    NOW,
    files_of,
    idea,
    make_root,
    memory,
    memory_set,
    proposal,
    rebuild,
    store,
)
from mc_cli.main import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

QUEUE = "OBSERVABILITY/pending-proposals.jsonl"
SNAPSHOTS = "OBSERVABILITY/memory-snapshots"
HOT = "PRINCIPAL_MEMORY.md"
SECRET = "AKIA" + "Q3EGRT7ZX2MWKLYD"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_root(tmp_path)


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str], root: Path) -> Callable[..., tuple[int, str, str]]:
    def call(*words: str) -> tuple[int, str, str]:
        code = main([*words, "--memory-root", str(root)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


@pytest.fixture
def ask(
    say: Callable[..., tuple[int, str, str]], repository_root: Path
) -> Callable[..., tuple[int, dict[str, Any]]]:
    folder = repository_root / "docs" / "schemas"
    whole = json.loads((folder / "memory-custodian-v1.schema.json").read_text())

    def call(command: str, *words: str) -> tuple[int, dict[str, Any]]:
        code, out, _ = say(command, *words, "--json")
        answer = json.loads(out)
        jsonschema.validate(answer, whole)
        if answer["ok"]:
            schema = json.loads((folder / f"{command}.schema.json").read_text())
            jsonschema.validate(answer["data"], schema)
        return code, answer

    return call


def plan_id(text: str) -> str:
    (found,) = re.findall(r"^Plan ID: ([0-9a-f]{16})$", text, re.MULTILINE)
    return str(found)


def queued(root: Path, **fields: Any) -> str:
    return str(store(root, proposal(**fields))["detail"]["id"])


def rows_of(root: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (root / QUEUE).read_text().splitlines()]


def test_list_shows_what_is_pending(root: Path, ask: Callable[..., Any]) -> None:
    first, second = queued(root), queued(root, edit="Other.")
    (_, preview) = ask("proposals", "reject", first)
    ask("proposals", "reject", first, "--apply", "--confirm-plan", preview["data"]["plan_id"])

    code, answer = ask("proposals", "list")
    _, everything = ask("proposals", "list", "--all")

    data = answer["data"]
    assert (code, data["pending"], data["malformed_lines"]) == (0, 1, [])
    assert [each["id"] for each in data["proposals"]] == [second]
    statuses = [each["status"] for each in everything["data"]["proposals"]]
    assert statuses == ["rejected", "pending"]


def test_show_gives_the_whole_proposal(root: Path, ask: Callable[..., Any]) -> None:
    proposal_id = queued(root, observed_across_sessions=3)

    _, answer = ask("proposals", "show", proposal_id)

    shown = answer["data"]["proposal"]
    assert (shown["edit"], shown["observed_across_sessions"]) == ("Use short words.", 3)


def test_empty_root_has_no_proposals_and_no_snapshots(ask: Callable[..., Any]) -> None:
    assert ask("proposals", "list")[1]["data"]["proposals"] == []
    assert ask("cortex-restore", "list")[1]["data"]["snapshots"] == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(None, "Use short words.\n", id="target-is-created"),
        pytest.param("# Style\n", "# Style\n\nUse short words.\n", id="appended"),
        pytest.param("# Style", "# Style\n\nUse short words.\n", id="no-last-line-end"),
        pytest.param("# S\r\nx\r\n", "# S\r\nx\r\n\r\nUse short words.\r\n", id="crlf"),
    ],
)
def test_approve_appends_the_edit_and_marks_the_row(
    root: Path, say: Callable[..., tuple[int, str, str]], before: str | None, after: str
) -> None:
    target = root / "USER/STYLE.md"
    if before is not None:
        target.parent.mkdir()
        target.write_bytes(before.encode())
    proposal_id = queued(root)
    queued(root, edit="Another one.")
    untouched = files_of(root)

    code, out, _ = say("proposals", "approve", proposal_id)
    assert (code, files_of(root)) == (0, untouched)
    code, out, _ = say(
        "proposals", "approve", proposal_id, "--apply", "--confirm-plan", plan_id(out)
    )

    assert code == 0
    assert target.read_bytes().decode() == after
    assert [row["status"] for row in rows_of(root)] == ["approved", "pending"]
    assert "- USER/STYLE.md" in out


def test_reject_marks_the_row_and_changes_nothing_else(
    root: Path, say: Callable[..., tuple[int, str, str]]
) -> None:
    proposal_id = queued(root)
    before = files_of(root)
    _, out, _ = say("proposals", "reject", proposal_id)

    say("proposals", "reject", proposal_id, "--apply", "--confirm-plan", plan_id(out))

    after = files_of(root)
    assert [row["status"] for row in rows_of(root)] == ["rejected"]
    assert {path for path in after if after[path] != before.get(path)} == {QUEUE}


@pytest.mark.parametrize("words", [[], ["--confirm-plan", "0" * 16]], ids=["no-id", "stale-id"])
def test_decision_needs_the_id_of_the_plan_as_it_is(
    root: Path, say: Callable[..., tuple[int, str, str]], words: list[str]
) -> None:
    proposal_id = queued(root)
    before = files_of(root)

    code, out, err = say("proposals", "approve", proposal_id, "--apply", *words)

    assert code == 3
    assert plan_id(out)
    assert "no files were written" in err
    assert files_of(root) == before


def test_plan_is_stale_once_the_queue_changed(
    root: Path, say: Callable[..., tuple[int, str, str]]
) -> None:
    proposal_id = queued(root)
    _, out, _ = say("proposals", "approve", proposal_id)
    queued(root, edit="Meanwhile.")

    code, _, _ = say("proposals", "approve", proposal_id, "--apply", "--confirm-plan", plan_id(out))

    assert code == 3
    assert not (root / "USER").exists()


def test_decided_proposal_is_not_decided_again(
    root: Path, say: Callable[..., tuple[int, str, str]]
) -> None:
    proposal_id = queued(root)
    _, out, _ = say("proposals", "approve", proposal_id)
    say("proposals", "approve", proposal_id, "--apply", "--confirm-plan", plan_id(out))

    for action in ("approve", "reject"):
        code, _, err = say("proposals", action, proposal_id)
        assert code == 1
        assert "approved" in err


@pytest.mark.parametrize("action", ["show", "approve", "reject"])
def test_unknown_id_is_refused(
    root: Path, say: Callable[..., tuple[int, str, str]], action: str
) -> None:
    queued(root)

    assert say("proposals", action, "prop-0")[0] == 1


def test_malformed_queue_is_reported_by_line_and_never_rewritten(
    root: Path, say: Callable[..., tuple[int, str, str]], ask: Callable[..., Any]
) -> None:
    proposal_id = queued(root)
    good = (root / QUEUE).read_bytes()
    queue = good + b"\n{broken\n[1]\n" + good + b'{"x":1e999}\n'
    (root / QUEUE).write_bytes(queue)

    code, listed = ask("proposals", "list")
    _, _, err = say("proposals", "list")
    decided = [say("proposals", action, proposal_id)[0] for action in ("approve", "reject")]

    assert (code, listed["data"]["malformed_lines"]) == (1, [3, 4, 5, 6])
    assert f"{QUEUE}:3" in err
    assert decided == [2, 2]
    assert (root / QUEUE).read_bytes() == queue


def test_proposals_can_be_queued_beside_malformed_lines(root: Path) -> None:
    (root / "OBSERVABILITY").mkdir()
    (root / QUEUE).write_text("{broken\n")

    queued(root)

    assert (root / QUEUE).read_text().startswith("{broken\n")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        pytest.param(
            {"target_file": "../outside.md", "target_kind": "identity"},
            "einval_target",
            id="target",
        ),
        pytest.param({"target_kind": "poem"}, "einval_item", id="kind"),
        pytest.param({"edit": f"key {SECRET}"}, "esecret_like", id="secret"),
        pytest.param({"edit": "a <private> b"}, "einval_item", id="open-private-span"),
        pytest.param({"edit": ""}, "einval_item", id="nothing"),
        pytest.param({"surprise": 1}, "einval_item", id="unknown-field"),
    ],
)
def test_row_that_was_edited_by_hand_is_governed_again(
    root: Path, ask: Callable[..., Any], change: dict[str, Any], code: str
) -> None:
    proposal_id = queued(root)
    (row,) = rows_of(root)
    (root / QUEUE).write_text(json.dumps({**row, **change}) + "\n")
    before = files_of(root)

    exit_code, previewed = ask("proposals", "approve", proposal_id)
    plan = previewed["data"]["plan"]
    applied_code, applied = ask(
        "proposals", "approve", proposal_id, "--apply", "--confirm-plan", plan["plan_id"]
    )

    assert (exit_code, applied_code) == (1, 1)
    assert [blocker["code"] for blocker in plan["blockers"]] == [code]
    assert applied["error"]["code"] == code
    assert SECRET not in json.dumps([previewed["data"]["plan"]["blockers"], applied["error"]])
    assert files_of(root) == before


def test_private_span_in_a_queue_of_another_program_is_not_shown(
    root: Path, say: Callable[..., tuple[int, str, str]]
) -> None:
    row = {"status": "pending", "edit": "a <private>q7zhush</private>", "target_file": "STYLE.md"}
    (root / "OBSERVABILITY").mkdir()
    (root / QUEUE).write_text(json.dumps(row) + "\n")

    listed = say("proposals", "list")
    proposal_id = listed[1].split()[0]
    said = [listed, say("proposals", "show", proposal_id), say("proposals", "reject", proposal_id)]

    assert proposal_id.startswith("row-")
    assert "q7zhush" not in json.dumps(said)


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["proposals"], id="no-action"),
        pytest.param(["proposals", "list", "x"], id="list-with-id"),
        pytest.param(["proposals", "show"], id="show-without-id"),
        pytest.param(["proposals", "list", "--apply"], id="list-applied"),
        pytest.param(["proposals", "show", "x", "--all"], id="show-all"),
        pytest.param(["proposals", "approve", "x", "--confirm-plan", "0" * 16], id="confirm-alone"),
        pytest.param(["proposals", "list", "--project-root", "."], id="project-root"),
        pytest.param(["cortex-restore", "restore"], id="restore-without-name"),
        pytest.param(["cortex-restore", "list", "x"], id="restore-list-with-name"),
    ],
)
def test_wrong_command_line_is_refused(
    root: Path, say: Callable[..., tuple[int, str, str]], words: list[str]
) -> None:
    queued(root)

    assert say(*words)[0] == 2


def test_project_memory_and_missing_root_have_no_proposals(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from mc_retrieve.testing import write_project

    memory_dir = write_project(tmp_path / "project")
    for place in (memory_dir, tmp_path / "nowhere"):
        for command in ("proposals", "cortex-restore"):
            assert main([command, "list", "--memory-root", str(place)]) == 1
    assert "add --promotes" in capsys.readouterr().err


def test_snapshot_is_restored_and_what_it_overwrites_is_kept(
    root: Path, say: Callable[..., tuple[int, str, str]], ask: Callable[..., Any]
) -> None:
    store(root, memory_set("RULE: first"))
    first = (root / HOT).read_bytes()
    store(root, memory_set("RULE: second"), now=NOW + 1)
    second = (root / HOT).read_bytes()
    (name,) = [each["name"] for each in ask("cortex-restore", "list")[1]["data"]["snapshots"]]
    before = files_of(root)

    _, previewed = ask("cortex-restore", "restore", name)
    assert files_of(root) == before
    code, applied = ask(
        "cortex-restore", "restore", name, "--apply", "--confirm-plan", previewed["data"]["plan_id"]
    )

    assert (code, applied["data"]["file"]) == (0, HOT)
    assert (root / HOT).read_bytes() == first
    kept = [path.read_bytes() for path in (root / SNAPSHOTS).iterdir()]
    assert sorted(kept) == sorted([first, second])
    assert rebuild(root)["equivalent"] is True
    log = (root / "OBSERVABILITY/memory-writes.jsonl").read_text().splitlines()
    assert json.loads(log[-1]) | {"adapter": None, "op": "restore"} == json.loads(log[-1])


def test_file_that_is_gone_is_restored(root: Path, ask: Callable[..., Any]) -> None:
    store(root, memory("RULE: a"))
    store(root, memory("RULE: b"))
    (name,) = [each["name"] for each in ask("cortex-restore", "list")[1]["data"]["snapshots"]]
    (root / HOT).unlink()

    _, previewed = ask("cortex-restore", "restore", name)
    plan = previewed["data"]["plan_id"]
    code, _ = ask("cortex-restore", "restore", name, "--apply", "--confirm-plan", plan)

    assert code == 0
    assert "RULE: a" in (root / HOT).read_text()


@pytest.mark.parametrize(
    "name", ["x", "../../PRINCIPAL_MEMORY.md", "OTHER__20260726T100000000Z.md"]
)
def test_what_is_no_snapshot_of_a_hot_file_is_not_restored(
    root: Path, say: Callable[..., tuple[int, str, str]], name: str
) -> None:
    (root / SNAPSHOTS).mkdir(parents=True)
    (root / SNAPSHOTS / "OTHER__20260726T100000000Z.md").write_text("x")

    assert say("cortex-restore", "restore", name)[0] == 1


@pytest.mark.parametrize("data", [b"\xff", b"a\x01b", b"---\nid: x\ncreated: soon\n---\n"])
def test_snapshot_that_no_reader_would_take_is_not_restored(
    root: Path, ask: Callable[..., Any], data: bytes
) -> None:
    store(root, memory("RULE: a"))
    store(root, memory("RULE: b"))
    (snapshot,) = (root / SNAPSHOTS).iterdir()
    snapshot.write_bytes(data)

    code, answer = ask("cortex-restore", "restore", snapshot.name)

    assert code == 1
    assert answer["data"]["plan"]["blockers"]


def test_in_layout_two_people_work_below_memory_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = make_root(tmp_path / "two", layout=2)
    proposal_id = queued(root)
    place = ["--memory-root", str(root)]
    main(["proposals", "approve", proposal_id, *place])
    plan = plan_id(capsys.readouterr().out)

    code = main(["proposals", "approve", proposal_id, "--apply", "--confirm-plan", plan, *place])

    assert code == 0
    assert (root / "MEMORY/USER/STYLE.md").read_text() == "Use short words.\n"


def test_printed_apply_command_is_whole(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import shlex

    spaced = make_root(tmp_path / "with blank")
    store(spaced, idea())
    proposal_id = queued(spaced)
    main(["proposals", "approve", proposal_id, "--memory-root", str(spaced)])
    out = capsys.readouterr().out
    (line,) = [line for line in out.split("\n") if line.startswith("  memory-custodian ")]

    assert main(shlex.split(line)[1:]) == 0
