"""The order of refusal, from the command line down to a lock that is not had."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import mc_plan.files
import pytest
from mc_cli.cortex import run
from mc_cli.cortex.testing import files_of, get, idea, make_root, memory, proposal, store
from mc_lock.testing import holder_process
from mc_plan.testing import CountingFilesystem, FaultyFilesystem
from mc_retrieve.errors import RetrieveError

WRITE = ("--adapter", "claude", "--allow-write")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_root(tmp_path)


def outcome(*argv: str) -> tuple[int, str, str]:
    result = run(argv)
    error = result.envelope["error"] or {"code": "", "message": ""}
    return result.exit_code, error["code"], error["message"]


@pytest.mark.parametrize(
    ("argv", "exit_code", "code"),
    [
        pytest.param(["{", "--bogus"], 4, "invalid_input", id="1-argument-before-permission"),
        pytest.param(["{", "--adapter", "claude"], 5, "write_refused", id="2-permission"),
        pytest.param([*WRITE], 4, "invalid_input", id="3-no-payload"),
        pytest.param(["x" * 262_145, *WRITE], 4, "invalid_input", id="4-size-before-json"),
        pytest.param(["{", *WRITE], 4, "invalid_input", id="5-json"),
        pytest.param(['{"type":"proposal"}', *WRITE], 5, "write_refused", id="6-type-before-root"),
        pytest.param(
            ['{"type":"idea"}', *WRITE], 4, "integrity_error", id="root-before-governance"
        ),
    ],
)
def test_first_refusal_wins(argv: list[str], exit_code: int, code: str, tmp_path: Path) -> None:
    result = outcome("remember", *argv, "--memory-root", str(tmp_path / "nowhere"))

    assert (exit_code, code) == result[:2]


def test_governance_refuses_with_its_code_in_front(root: Path) -> None:
    result = outcome("remember", '{"type":"idea"}', *WRITE, "--memory-root", str(root))

    assert result[:2] == (5, "governance_refused")
    assert result[2].startswith("EINVAL_ITEM: ")


def test_accepted_write_answers_with_adapter_and_result(root: Path) -> None:
    argv = ["remember", json.dumps(idea()), *WRITE, "--memory-root", str(root)]

    envelope = run(argv).envelope

    data = envelope["data"]
    assert {"adapter", "result"} == set(data)
    assert list(data["result"]) == ["ok", "type", "path", "detail"]
    assert {"id", "created"} <= set(data["result"]["detail"])


def test_environment_names_the_root(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORTEX_MEMORY_ROOT", str(root))

    assert run(["propose", json.dumps(proposal()), *WRITE]).exit_code == 0


def test_shared_write_cases_agree(shared_folder: Path) -> None:
    cases = (shared_folder / "conformance" / "write_cases.jsonl").read_text(encoding="utf-8")
    for case in map(json.loads, cases.splitlines()):
        calls: list[Any] = []

        def stand_in(
            item: dict[str, Any], calls: list[Any] = calls, case: dict[str, Any] = case
        ) -> Any:
            calls.append(item)
            return case["memory_add"]

        payload = case["payload"]
        if isinstance(payload, dict):
            payload = payload["prefix"] + payload["fill"] * payload["count"] + payload["suffix"]
        result = run([case["command"], payload, *case["options"]], store=stand_in)

        assert case["exit"] == result.exit_code, case["name"]
        assert case["store_called"] == bool(calls), case["name"]
        expected = case["envelope"]
        if expected["ok"]:
            assert expected == result.envelope, case["name"]
        else:
            assert expected["error"]["code"] == result.envelope["error"]["code"], case["name"]


def test_shared_write_suite_agrees_with_the_governed_store(shared_folder: Path) -> None:
    suite = (shared_folder / "conformance/cortex/writes/cases.jsonl").read_text(encoding="utf-8")
    for case in map(json.loads, suite.splitlines()):
        result = run([argument.replace("{ROOT}", "/nowhere") for argument in case["args"]])

        error = result.envelope["error"] or {}
        assert (case["exit"], case["envelope"]["error"]["code"]) == (
            result.exit_code,
            error.get("code"),
        ), case["name"]


def test_lock_that_is_held_is_internal_and_names_the_way_out(
    root: Path,
) -> None:
    with holder_process(root, state_home=Path(os.environ["XDG_STATE_HOME"]), memory_dir="."):
        before = files_of(root)
        with pytest.raises(RetrieveError) as caught:
            store(root, idea(), timeout_seconds=0)

    assert caught.value.code == "internal_error"
    assert str(caught.value).startswith("ELOCKED: ")
    way_out = f"`memory-custodian recover --memory-root {root.resolve()} --break-stale-lock`"
    assert way_out in str(caught.value)
    assert before == files_of(root)


def test_nested_write_of_one_process_is_refused_not_an_exception(root: Path) -> None:
    from mc_cli.cortex.store import write_item
    from mc_retrieve.writing import WriteRequest

    answers: list[str] = []

    def write_again() -> float:
        if not answers:
            answers.append("")
            try:
                store(root, idea("Inner"))
            except RetrieveError as error:
                answers[0] = str(error)
        return 1_785_060_000.0

    request = WriteRequest("remember", "claude", idea(), str(root))
    assert write_item(request, clock=write_again)["ok"]
    assert answers[0].startswith("ELOCKED: ")


@pytest.mark.parametrize("item", [idea(), memory(), proposal()], ids=["idea", "memory", "proposal"])
def test_failing_file_system_is_internal_and_leaves_nothing(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, item: dict[str, Any]
) -> None:
    twin = make_root(tmp_path / "twin")
    for each in (root, twin):
        store(each, memory("RULE: there already"))
    before = files_of(root)
    counting = CountingFilesystem()
    monkeypatch.setattr(mc_plan.files, "SYSTEM", counting)
    store(twin, item)

    for call in range(1, len(counting.calls) + 1, 3):
        if counting.calls[call - 1] == "copy_attributes":
            continue  # a warning, not a failure
        monkeypatch.setattr(mc_plan.files, "SYSTEM", FaultyFilesystem(call, errno.ENOSPC))
        with pytest.raises(RetrieveError) as caught:
            store(root, item)
        message = str(caught.value)
        assert caught.value.code == "internal_error"
        assert message.startswith("EIO: ")
        assert f"memory-custodian recover --memory-root {root.resolve()}" in message
        if "written: " in message:
            # Only the journal could not be removed: the change is complete, and said to be.
            assert files_of(twin).keys() - files_of(root).keys() == set()
            break
        assert "nothing was written" in message
        assert before == files_of(root), counting.calls[call - 1]


def test_interrupted_write_stops_the_next_one_and_names_the_way_out(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counting = CountingFilesystem()
    monkeypatch.setattr(mc_plan.files, "SYSTEM", counting)
    store(make_root(tmp_path / "twin"), memory())
    first_rename = counting.calls.index("replace") + 1
    broken = FaultyFilesystem(first_rename + 1, errno.EIO, lasting=True)
    monkeypatch.setattr(mc_plan.files, "SYSTEM", broken)
    with pytest.raises(RetrieveError) as failed:
        store(root, memory())
    monkeypatch.setattr(mc_plan.files, "SYSTEM", mc_plan.files.Filesystem())

    with pytest.raises(RetrieveError) as caught:
        store(root, idea())

    assert str(failed.value).startswith("EIO: ")
    assert str(caught.value).startswith("ERECOVER: ")
    assert f"`memory-custodian recover --memory-root {root.resolve()}`" in str(caught.value)


def test_pipe_in_the_place_of_a_note_is_a_file_error(root: Path) -> None:
    if not hasattr(os, "mkfifo"):
        return
    (root / "KNOWLEDGE/Ideas").mkdir()
    os.mkfifo(root / "KNOWLEDGE/Ideas/cats.md")

    with pytest.raises(RetrieveError) as caught:
        store(root, idea())

    assert str(caught.value).startswith("EIO: ")


def test_audit_log_with_a_torn_last_line_is_never_glued_to(root: Path) -> None:
    log = root / "OBSERVABILITY/tier-b-writes.jsonl"
    log.parent.mkdir()
    log.write_bytes(b'{"ts":')

    with pytest.raises(RetrieveError) as caught:
        store(root, idea())

    assert str(caught.value).startswith("EIO: ")
    assert log.read_bytes() == b'{"ts":'
    assert not (root / "KNOWLEDGE/Ideas/cats.md").exists()


def test_missing_root_is_an_integrity_error(tmp_path: Path) -> None:
    with pytest.raises(RetrieveError) as caught:
        store(tmp_path / "nowhere", idea())

    assert caught.value.code == "integrity_error"


def test_link_in_the_place_of_the_corpus_is_an_integrity_error(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "KNOWLEDGE").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(RetrieveError) as caught:
        store(tmp_path, idea())

    assert caught.value.code == "integrity_error"


def test_two_spellings_of_a_root_are_one_place(tmp_path: Path) -> None:
    root = make_root(tmp_path)
    (tmp_path / "alias").symlink_to(root)

    answer = store(tmp_path / "alias", idea())

    assert "They purr." in get(root, answer["detail"]["id"])[0]["content"]
