"""On a project's memory directory `remember` is `add` and `propose` is a candidate."""

from __future__ import annotations

import errno
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import mc_plan.files
import pytest
from mc_cli.cortex import run
from mc_cli.cortex.testing import files_of, get, idea, refusal, store
from mc_cli.main import main
from mc_lock.testing import holder_process
from mc_plan import open_memory_root
from mc_plan.operations.recover import preview_recover
from mc_plan.testing import CountingFilesystem, FaultyFilesystem
from mc_retrieve.errors import RetrieveError
from mc_retrieve.testing import MANIFEST_TEXT, PROJECT_ID, write_project

SECRET = "AKIA" + "Q3EGRT7ZX2MWKLYD"


@pytest.fixture
def memory_dir(tmp_path: Path) -> Path:
    return write_project(tmp_path / "project")


def entry(content: str = "Keep exports in CSV.", **fields: Any) -> dict[str, Any]:
    return {
        "type": "memory",
        "entry_type": "decision",
        "content": content,
        "evidence": ["user-confirmed"],
        **fields,
    }


def candidate(content: str = "Perhaps use Parquet.", **fields: Any) -> dict[str, Any]:
    return {"type": "proposal", "entry_type": "decision", "content": content, **fields}


@pytest.mark.parametrize(
    ("entry_type", "path", "code"),
    [
        ("decision", "decisions.md", "DEC"),
        ("constraint", "constraints.md", "CON"),
        ("preference", "preferences.md", "PREF"),
        ("do-not-use", "do-not-use.md", "DNU"),
    ],
)
def test_remember_adds_an_active_entry(
    memory_dir: Path, entry_type: str, path: str, code: str
) -> None:
    answer = store(
        memory_dir, entry(entry_type=entry_type, title="Exports", reason="Tools read it.")
    )

    entry_id = answer["detail"]["id"]
    assert (answer["type"], answer["path"]) == ("memory", path)
    assert entry_id.startswith(f"MC-{code}-")
    assert (
        answer["detail"]["created"] == f"{entry_id[-17:-13]}-{entry_id[-13:-11]}-{entry_id[-11:-9]}"
    )
    (record,) = get(memory_dir, entry_id)
    assert "Keep exports in CSV." in record["content"]
    assert record["title"] == "Exports"


def test_entry_of_an_area_goes_to_its_file(memory_dir: Path) -> None:
    answer = store(memory_dir, entry(area="sync"))

    assert answer["path"] == "areas/sync.md"


def test_propose_adds_a_candidate_that_is_not_active(memory_dir: Path) -> None:
    answer = store(memory_dir, candidate())

    assert (answer["type"], answer["path"]) == ("proposal", "inbox.md")
    assert answer["detail"]["status"] == "candidate"
    result = run(["get", answer["detail"]["id"], "--memory-root", str(memory_dir)])
    assert result.exit_code == 3


def test_root_may_be_named_from_anywhere(memory_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(memory_dir.parent)
    argv = ["remember", json.dumps(entry()), "--adapter", "claude", "--allow-write"]

    assert run([*argv, "--memory-root", "memory"]).exit_code == 0


@pytest.mark.parametrize(
    ("item", "code"),
    [
        pytest.param(idea(), "EUNSUPPORTED_LAYOUT", id="idea"),
        pytest.param(
            {"type": "knowledge", "entity_type": "person", "name": "A", "content": "x"},
            "EUNSUPPORTED_LAYOUT",
            id="knowledge",
        ),
        pytest.param(entry(supersedes="MC-DEC-20260726-a1b2c3d4"), "EINVAL_ITEM", id="supersedes"),
        pytest.param(entry(promotes="MC-INBOX-20260726-a1b2c3d4"), "EINVAL_ITEM", id="promotes"),
        pytest.param(entry(entry_type="rule"), "EINVAL_ITEM", id="type-that-people-write"),
        pytest.param(
            {"type": "memory", "actor": "principal", "content": "RULE: x"},
            "EINVAL_ITEM",
            id="hot-memory-item",
        ),
        pytest.param(entry(evidence=[]), "EINVAL_ITEM", id="no-evidence"),
        pytest.param(entry(evidence=["agent-observed"]), "EINVAL_ITEM", id="weak-evidence"),
        pytest.param(entry(evidence=["repo:absent.toml"]), "EINVAL_ITEM", id="absent-file"),
        pytest.param(entry(evidence=["repo:/etc/passwd"]), "EINVAL_ITEM", id="unsafe-path"),
        pytest.param(entry(evidence="user-confirmed"), "EINVAL_ITEM", id="evidence-text"),
        pytest.param(entry(evidence=["issue:#1"] * 65), "EINVAL_ITEM", id="evidence-too-long"),
        pytest.param(entry("# A heading"), "EINVAL_ITEM", id="text-that-reads-as-structure"),
        pytest.param(entry(" ".join(["word"] * 400)), "EINVAL_ITEM", id="long-decision"),
        pytest.param(entry(area="../x"), "EINVAL_ITEM", id="area-that-climbs"),
        pytest.param(entry("<private>x</private>"), "EINVAL_ITEM", id="all-private"),
        pytest.param(entry("a <private> b"), "EINVAL_ITEM", id="open-private"),
        pytest.param(entry(f"use {SECRET}"), "ESECRET_LIKE", id="secret"),
        pytest.param(candidate(reason=SECRET), "ESECRET_LIKE", id="secret-in-a-candidate"),
    ],
)
def test_what_add_refuses_is_refused_by_governance(
    memory_dir: Path, item: dict[str, Any], code: str
) -> None:
    before = files_of(memory_dir)

    answer = store(memory_dir, item)

    assert answer["code"] == code
    assert answer["message"].startswith(f"{code}: ")
    assert "--" not in answer["message"]
    assert SECRET not in answer["message"]
    assert files_of(memory_dir) == before


def test_same_decision_twice_is_refused(memory_dir: Path) -> None:
    store(memory_dir, entry())

    answer = store(memory_dir, entry())

    assert answer["code"] == "EINVAL_ITEM"
    assert "says the same already" in answer["message"]


def test_private_text_of_an_entry_lands_nowhere(memory_dir: Path) -> None:
    hush = "<private>q7zhushq7z</private>"
    item = entry(f"a {hush}", title=f"b {hush}", reason=f"c {hush}")

    answer = store(memory_dir, item)

    assert answer["detail"]["private_spans_removed"] == 3
    assert not any(b"q7zhush" in data for data in files_of(memory_dir).values())


def test_protocol_that_is_newer_is_left_alone(memory_dir: Path) -> None:
    manifest = MANIFEST_TEXT.replace("protocol_version: 0.6", "protocol_version: 9.0")
    (memory_dir / "manifest.md").write_text(manifest)

    assert refusal(memory_dir, entry()) == "EUNSUPPORTED_LAYOUT"


def test_lock_is_the_one_that_add_takes(memory_dir: Path) -> None:
    project = memory_dir.parent.parent
    state_home = Path(os.environ["XDG_STATE_HOME"])
    with (
        holder_process(project, state_home=state_home, project_id=PROJECT_ID),
        pytest.raises(RetrieveError) as caught,
    ):
        store(memory_dir, entry(), timeout_seconds=0)

    assert str(caught.value).startswith("ELOCKED: ")


def test_printed_command_leads_out_of_an_interrupted_entry(
    memory_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counting = CountingFilesystem()
    monkeypatch.setattr(mc_plan.files, "SYSTEM", counting)
    store(write_project(tmp_path / "twin"), entry())
    second_rename = [at for at, call in enumerate(counting.calls, 1) if call == "replace"][1]
    broken = FaultyFilesystem(second_rename, errno.EIO, lasting=True)
    monkeypatch.setattr(mc_plan.files, "SYSTEM", broken)
    with pytest.raises(RetrieveError):
        store(memory_dir, entry())
    monkeypatch.setattr(mc_plan.files, "SYSTEM", mc_plan.files.Filesystem())
    with pytest.raises(RetrieveError) as caught:
        store(memory_dir, entry())

    way_out = ["recover", "--memory-root", str(memory_dir)]
    assert f"ERECOVER: {str(caught.value)[10:]}" == str(caught.value)
    assert f"`memory-custodian {shlex.join(way_out)}`" in str(caught.value)
    plan = preview_recover(open_memory_root(memory_dir))
    assert main([*way_out, "--apply", "--confirm-plan", plan.plan_id]) == 0
    assert store(memory_dir, entry("Another decision."))["ok"]


def test_add_and_remember_at_once_lose_nothing(memory_dir: Path) -> None:
    project = memory_dir.parent.parent
    base = [sys.executable, "-m", "mc_cli"]
    options = ["--adapter", "codex", "--allow-write", "--memory-root", str(memory_dir)]
    added = ["--type", "decision", "--evidence", "user-confirmed", "--project-root", str(project)]
    commands = [
        [*base, "cortex", "remember", json.dumps(entry(f"Decision number {number}.")), *options]
        if number % 2
        else [*base, "add", f"Decision number {number}.", *added]
        for number in range(6)
    ]
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for command in commands
    ]

    codes = []
    for process in processes:
        process.communicate(timeout=120)
        codes.append(process.returncode)

    text = (memory_dir / "decisions.md").read_text()
    written = [number for number, code in enumerate(codes) if code == 0]
    assert all(text.count(f"Decision number {number}.\n") == 1 for number in written), codes
    assert len(written) > 3


def test_manifest_that_cannot_be_read_is_named_and_nothing_is_moved(memory_dir: Path) -> None:
    """The memory of a project is never taken for notes that should go elsewhere."""
    (memory_dir / "manifest.md").write_bytes(b"\xff\xfe")
    before = files_of(memory_dir)
    words = ["--adapter", "claude", "--allow-write", "--memory-root", str(memory_dir)]

    result = run(["remember", json.dumps(entry()), *words])

    assert result.exit_code == 4
    assert result.envelope["error"]["code"] == "integrity_error"
    assert "manifest.md" in result.envelope["error"]["message"]
    assert before == files_of(memory_dir)
