"""`status`: the health of each file, and when the answer is that something needs attention."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from mc_cli.notices import place_key
from mc_lock import acquire_mutation_lock, resolve_state_directory
from mc_retrieve.testing import (
    MANIFEST_TEXT,
    PROJECT_ID,
    entry_text,
    numbered_id,
    write_project,
)

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import RunCommand

MARKER = "zebra-marker"


def _validated(text: str, root: Path) -> dict[str, Any]:
    schemas = root / "docs" / "schemas"
    answer: dict[str, Any] = json.loads(text)
    envelope = json.loads((schemas / "memory-custodian-v1.schema.json").read_text("utf-8"))
    jsonschema.validate(answer, envelope)
    jsonschema.validate(answer["data"], json.loads((schemas / "status.schema.json").read_text()))
    return answer


def _words(count: int) -> str:
    return " ".join(f"w{number}" for number in range(count))


def test_a_healthy_project_says_so_in_both_forms(
    tmp_path: Path, memory_custodian: RunCommand, repository_root: Path
) -> None:
    candidate = entry_text(
        numbered_id(3, "INBOX"),
        status="candidate",
        label="Statement",
        candidate_type="decision",
        evidence=("agent-observed",),
    )
    old = entry_text(
        numbered_id(2), status="superseded", superseded_by=numbered_id(1), evidence=("pr:#4",)
    )
    new = entry_text(numbered_id(1), supersedes=numbered_id(2))
    write_project(
        tmp_path,
        {
            "decisions.md": f"# D\n\n{new}{old}",
            "constraints.md": "# C\n\n- legacy\n",
            "inbox.md": f"# I\n\n- bullet\n\n{candidate}",
            "areas/sync.md": "# A\n",
        },
    )

    text = memory_custodian(["status"], cwd=tmp_path)
    data = memory_custodian(["status", "--json"], cwd=tmp_path)

    assert (text.returncode, text.stderr, data.returncode) == (0, "", 0)
    for line in (
        "CLI version: 0.10.0",
        "Protocol version: 0.6 (current)",
        f"Project id: {PROJECT_ID}",
        "brief.md: OK, 11 tokens/500 max",
        "preferences.md: not enabled",
        "inbox.md: OK, ",
        "areas/: enabled, 1 markdown file(s)",
        "Entries: 1 active, 1 superseded, 2 candidate, 0 promoted, 1 legacy, 0 inadmissible",
        "Evidence coverage: 1 of 2 entries source-backed, 1 legacy",
        "Lock: free",
        "Interrupted work: none",
        "Status: OK\n",
    ):
        assert f"\n{line}" in text.stdout
    answer = _validated(data.stdout, repository_root)["data"]
    assert answer["needs_attention"] == []
    assert answer["project_id"] == PROJECT_ID
    assert answer["entries"]["candidate"] == 2


@pytest.mark.parametrize(
    ("files", "path", "state"),
    [
        pytest.param({"constraints.md": None}, "constraints.md", "missing", id="missing"),
        pytest.param({"constraints.md": b"\xff"}, "constraints.md", "unreadable", id="unreadable"),
        pytest.param({"manifest.md": b"\xff"}, "manifest.md", "unreadable", id="manifest"),
        pytest.param(
            {"brief.md": "# B\n\nPurpose:\n- TODO: x\n"},
            "brief.md",
            "needs_curation",
            id="scaffold",
        ),
        pytest.param(
            {"brief.md": f"# B\n\n{_words(600)}\n"}, "brief.md", "over_budget", id="over-budget"
        ),
        pytest.param(
            {"decisions.md": entry_text(body=_words(130))},
            "decisions.md",
            "long_entries",
            id="long",
        ),
    ],
)
def test_a_file_that_needs_attention_is_named_and_exits_one(
    tmp_path: Path,
    memory_custodian: RunCommand,
    repository_root: Path,
    *,
    files: dict[str, str | bytes | None],
    path: str,
    state: str,
) -> None:
    write_project(tmp_path, files)

    data = memory_custodian(["status", "--json"], cwd=tmp_path)
    text = memory_custodian(["status"], cwd=tmp_path)

    answer = _validated(data.stdout, repository_root)
    states = {file["path"]: file["state"] for file in answer["data"]["files"]}
    assert states[path] == state
    assert (answer["ok"], data.returncode, text.returncode) == (True, 1, 1)
    assert text.stderr.strip()
    assert f"\n{path}: {state.upper().replace('_', ' ')}" in text.stdout
    assert f"\n- {path}: " in text.stdout


@pytest.mark.parametrize(
    ("version", "state", "code"),
    [("0.5", "older", 0), ("0.9", "newer", 1), ("five", "invalid", 1), ("0.6.0", "current", 0)],
)
def test_the_protocol_decides_only_when_it_cannot_be_written(
    tmp_path: Path, memory_custodian: RunCommand, version: str, *, state: str, code: int
) -> None:
    text = MANIFEST_TEXT.replace("protocol_version: 0.6", f"protocol_version: {version}")
    write_project(tmp_path, {"manifest.md": text})

    done = memory_custodian(["status", "--json"], cwd=tmp_path)

    assert json.loads(done.stdout)["data"]["protocol"]["state"] == state
    assert done.returncode == code


def test_inadmissible_entries_need_attention(tmp_path: Path, memory_custodian: RunCommand) -> None:
    write_project(tmp_path, {"decisions.md": entry_text(evidence=())})

    done = memory_custodian(["status"], cwd=tmp_path)

    assert done.returncode == 1
    assert "- 1 entry is inadmissible" in done.stdout


@pytest.mark.parametrize(
    ("files", "path"),
    [
        pytest.param(
            {"manifest.md": MANIFEST_TEXT.replace("## Always load", "## Sometimes load")},
            "manifest.md",
            id="route",
        ),
        pytest.param(
            {"manifest.md": MANIFEST_TEXT.replace("admission_policy", "other_policy")},
            "manifest.md",
            id="metadata",
        ),
        pytest.param({"inbox.md": f"# I\n\n<private>{MARKER}\n"}, "inbox.md", id="hidden-rest"),
        pytest.param(
            {"decisions.md": entry_text(status="superseded")}, "decisions.md", id="broken-link"
        ),
    ],
)
def test_an_error_that_no_count_tells_needs_attention(
    tmp_path: Path, memory_custodian: RunCommand, files: dict[str, str | bytes | None], path: str
) -> None:
    """A file that `check` fails for is never simply called healthy."""
    write_project(tmp_path, files)

    done = memory_custodian(["status"], cwd=tmp_path)

    assert done.returncode == 1
    assert f"\n- {path}: 1 error; `memory-custodian check` names each\n" in done.stdout


@pytest.mark.parametrize("content", [None, b"\xff"], ids=["missing", "unreadable"])
def test_entries_of_a_file_that_was_not_read_are_not_counted(
    tmp_path: Path, memory_custodian: RunCommand, content: bytes | None
) -> None:
    write_project(tmp_path, {"decisions.md": content})

    done = memory_custodian(["status"], cwd=tmp_path)

    (line,) = re.findall("^decisions.md: .*$", done.stdout, re.MULTILINE)
    assert "entries" not in line
    assert done.stdout.count("decisions.md") == 2


def test_the_holder_of_a_lock_is_told_and_a_living_one_is_no_fault(
    tmp_path: Path, memory_custodian: RunCommand, repository_root: Path
) -> None:
    memory = write_project(tmp_path)
    lock = acquire_mutation_lock(
        resolve_state_directory(tmp_path),
        read_identity=lambda: PROJECT_ID,
        memory_dir=memory,
        project_root=tmp_path,
        command="compact",
        notify=lambda _: None,
    )
    with lock:
        text = memory_custodian(["status"], cwd=tmp_path)
        data = memory_custodian(["status", "--json"], cwd=tmp_path)

    assert f"Lock: held by pid {os.getpid()} on " in text.stdout
    assert "`compact`" in text.stdout
    holder = _validated(data.stdout, repository_root)["data"]["lock"]
    assert (holder["state"], holder["pid"]) == ("alive", os.getpid())
    assert (text.returncode, data.returncode) == (0, 0)


def test_a_lock_that_cannot_be_read_needs_attention(
    tmp_path: Path, memory_custodian: RunCommand
) -> None:
    write_project(tmp_path)
    locks = resolve_state_directory(tmp_path).ensure().locks
    (locks / f"{PROJECT_ID}.lock").write_bytes(b"")

    done = memory_custodian(["status"], cwd=tmp_path)

    assert done.returncode == 1
    assert "- a lock whose holder is malformed: " in done.stdout


def test_interrupted_work_needs_attention(
    tmp_path: Path, memory_custodian: RunCommand, repository_root: Path
) -> None:
    memory = write_project(tmp_path)
    path = resolve_state_directory(tmp_path).ensure().journal / f"{place_key(memory)}.json"
    path.write_bytes(b"{}")
    path.chmod(0o600)

    text = memory_custodian(["status"], cwd=tmp_path)
    data = memory_custodian(["status", "--json"], cwd=tmp_path)

    assert text.returncode == 1
    assert "recover" in text.stdout
    assert _validated(data.stdout, repository_root)["data"]["interrupted"]["hint"]


def test_private_text_never_appears(tmp_path: Path, memory_custodian: RunCommand) -> None:
    hidden = f"<private>{MARKER}</private>"
    write_project(
        tmp_path,
        {
            "decisions.md": f"# {hidden}\n\n{entry_text(title=hidden, body=_words(130) + hidden)}",
            "inbox.md": f"- <private/>{MARKER}\n",
            "manifest.md": MANIFEST_TEXT.replace("initialized_with: ", f"x: {hidden}"),
        },
    )

    for arguments in ([], ["--json"]):
        done = memory_custodian(["status", *arguments], cwd=tmp_path)

        assert MARKER not in done.stdout + done.stderr


def test_nothing_is_needed_and_nothing_is_written(
    tmp_path: Path, memory_custodian: RunCommand
) -> None:
    write_project(tmp_path)
    before = sorted(tmp_path.rglob("*"))

    for env in (
        {"PATH": "/nonexistent"},
        {"HOME": None, "XDG_STATE_HOME": None},
        {"XDG_STATE_HOME": os.fspath(tmp_path / "docs")},
    ):
        done = memory_custodian(["status"], cwd=tmp_path, env=env)

        assert (done.returncode, done.stderr) == (0, "")
    assert sorted(tmp_path.rglob("*")) == before
