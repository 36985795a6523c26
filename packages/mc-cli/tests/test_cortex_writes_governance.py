"""Tiers, pinned targets, layouts, secrets and audit rows."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest
from mc_cli.cortex.governance import GovernanceError, Target, pin_target, tier_of
from mc_cli.cortex.testing import (
    NOW_TEXT,
    files_of,
    get,
    idea,
    make_root,
    memory,
    memory_set,
    proposal,
    rebuild,
    refusal,
    store,
)

if TYPE_CHECKING:
    from pathlib import Path

QUEUE = "OBSERVABILITY/pending-proposals.jsonl"
SECRET = "AKIA" + "Q3EGRT7ZX2MWKLYD"
needs_links = pytest.mark.skipif(os.name == "nt", reason="symlinks need a privilege on Windows")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_root(tmp_path)


def rows_of(root: Path, path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (root / path).read_text().splitlines()]


@pytest.mark.parametrize(
    ("path", "tier"),
    [
        ("PRINCIPAL_MEMORY.md", "A"),
        ("DA_MEMORY.md", "A"),
        ("OTHER_MEMORY.md", "D"),
        ("KNOWLEDGE/Ideas/cats.md", "B"),
        ("KNOWLEDGE/People/ada-l.md", "B"),
        ("KNOWLEDGE/Companies/x1.md", "B"),
        ("KNOWLEDGE/Research/x.md", "B"),
        ("KNOWLEDGE/Ideas/Cats.md", "D"),
        ("KNOWLEDGE/Ideas/sub/cats.md", "D"),
        ("KNOWLEDGE/Other/cats.md", "D"),
        ("KNOWLEDGE/Ideas/..", "D"),
        ("USER/STYLE.md", "C"),
        ("USER/DA_IDENTITY.md", "C"),
        ("USER/OTHER.md", "D"),
        ("STYLE.md", "D"),
        ("OBSERVABILITY/memory-writes.jsonl", "D"),
        ("", "D"),
    ],
)
def test_path_has_its_tier_and_what_is_not_listed_is_untouchable(path: str, tier: str) -> None:
    assert tier == tier_of(path)


@pytest.mark.parametrize(
    ("file", "kind", "path"),
    [
        ("USER/STYLE.md", None, "USER/STYLE.md"),
        ("STYLE.md", None, "USER/STYLE.md"),
        ("MEMORY/USER/STYLE.md", None, "USER/STYLE.md"),
        ("anything", "style", "USER/STYLE.md"),
        ("../../etc/passwd", "definition", "USER/DEFINITIONS.md"),
        ("x", "canonical-content", "USER/CANONICAL.md"),
        ("x", "resume", "USER/RESUME.md"),
        ("x", "operational-rule", "USER/RULES.md"),
        ("x", "projects", "USER/PROJECTS.md"),
        ("x", "contacts", "USER/CONTACTS.md"),
        ("DA_IDENTITY.md", None, "USER/DA_IDENTITY.md"),
        ("USER/PRINCIPAL_IDENTITY.md", "identity", "USER/PRINCIPAL_IDENTITY.md"),
    ],
)
def test_target_is_pinned_to_its_canonical_path(file: str, kind: str | None, path: str) -> None:
    assert path == pin_target(file, kind).path


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("KNOWLEDGE/Ideas/cats.md", None),
        ("style.md", None),
        ("USER/../USER/STYLE.md", None),
        ("/USER/STYLE.md", None),
        ("USER/OTHER_IDENTITY.md", "identity"),
        ("STYLE.md", "identity"),
        ("x/DA_IDENTITY.md", "identity"),
    ],
)
def test_other_target_is_refused(file: str, kind: str | None) -> None:
    with pytest.raises(GovernanceError) as caught:
        pin_target(file, kind)

    assert caught.value.code == "EINVAL_TARGET"


def test_kind_is_inferred_from_the_path() -> None:
    assert Target("identity", "USER/DA_IDENTITY.md") == pin_target("USER/DA_IDENTITY.md", None)


def test_proposal_is_queued_with_its_pinned_target_and_nothing_else_changes(root: Path) -> None:
    answer = store(root, proposal(target_file="junk", target_kind="resume", source_session="s1"))

    (row,) = rows_of(root, QUEUE)
    assert {
        "id": answer["detail"]["id"],
        "ts": NOW_TEXT,
        "status": "pending",
        "type": "proposal",
        "target_file": "USER/RESUME.md",
        "target_kind": "resume",
        "edit": "Use short words.",
        "confidence": 0.9,
        "rationale": "It reads better.",
        "source_session": "s1",
    } == row
    assert (answer["path"], answer["detail"]["created"]) == (QUEUE, NOW_TEXT)
    assert {QUEUE, "OBSERVABILITY/memory-writes.jsonl"} == set(files_of(root))


@needs_links
@pytest.mark.parametrize(
    ("link", "target", "item", "code"),
    [
        pytest.param("KNOWLEDGE/Ideas", "USER", idea(), "ETIER_MISMATCH", id="folder"),
        pytest.param(
            "KNOWLEDGE/Ideas/cats.md", "USER/STYLE.md", idea(), "ETIER_MISMATCH", id="note-to-user"
        ),
        pytest.param(
            "KNOWLEDGE/Ideas/cats.md", "../outside.md", idea(), "ETIER_MISMATCH", id="outside"
        ),
        pytest.param(
            "KNOWLEDGE/Ideas/cats.md",
            "KNOWLEDGE/Ideas/dogs.md",
            idea(),
            "EINVAL_TARGET",
            id="same-tier",
        ),
        pytest.param(
            "PRINCIPAL_MEMORY.md", "USER/STYLE.md", memory(), "ETIER_MISMATCH", id="hot-file"
        ),
        pytest.param("USER", "KNOWLEDGE", proposal(), "ETIER_MISMATCH", id="user-folder"),
    ],
)
def test_link_that_leads_to_another_tier_is_refused(
    root: Path, link: str, target: str, item: dict[str, Any], code: str
) -> None:
    (root / link).parent.mkdir(parents=True, exist_ok=True)
    (root / target).parent.mkdir(parents=True, exist_ok=True)
    (root / link).symlink_to(root / target)
    before = files_of(root)

    assert code == refusal(root, item)
    assert before == files_of(root)


@pytest.mark.parametrize(
    "item",
    [
        pytest.param(idea(content=f"use {SECRET} here"), id="content"),
        pytest.param(idea(title=SECRET), id="title"),
        pytest.param(memory(f"RULE: {SECRET}"), id="entry"),
        pytest.param(memory_set("RULE: a", f"RULE: {SECRET}"), id="entries"),
        pytest.param(proposal(SECRET), id="edit"),
        pytest.param(proposal(rationale=SECRET), id="rationale"),
        pytest.param(idea(source_session=SECRET), id="session"),
        pytest.param(idea(related=[{"slug": SECRET, "type": "related"}]), id="slug"),
    ],
)
def test_secret_is_refused_and_never_repeated(root: Path, item: dict[str, Any]) -> None:
    answer = store(root, item)

    assert answer["code"] == "ESECRET_LIKE"
    assert SECRET not in json.dumps(answer)
    assert files_of(root) == {}


def test_every_accepted_write_has_one_audit_row_without_its_content(root: Path) -> None:
    store(root, idea(content="They purr, ä."), adapter="hermes")
    store(root, memory("RULE: whisper"), adapter="codex")
    store(root, proposal("Be brief."), adapter="subagent")

    (note,) = rows_of(root, "OBSERVABILITY/tier-b-writes.jsonl")
    hot, queued = rows_of(root, "OBSERVABILITY/memory-writes.jsonl")
    content = "They purr, ä.".encode()
    assert {
        "ts": NOW_TEXT,
        "adapter": "hermes",
        "type": "idea",
        "path": "KNOWLEDGE/Ideas/cats.md",
        "bytes": len(content),
        "sha256": sha256(content).hexdigest(),
    } == note
    assert (hot["adapter"], hot["type"], hot["path"]) == ("codex", "memory", "PRINCIPAL_MEMORY.md")
    assert (queued["adapter"], queued["type"], queued["path"]) == ("subagent", "proposal", QUEUE)
    log = (root / "OBSERVABILITY/memory-writes.jsonl").read_text()
    assert "whisper" not in log
    assert "brief" not in log


def test_provenance_of_an_entry_is_kept_in_its_audit_row(root: Path) -> None:
    store(root, memory(provenance="deduced", confidence=0.5))

    (row,) = rows_of(root, "OBSERVABILITY/memory-writes.jsonl")
    assert (row["op"], row["provenance"], row["confidence"]) == ("add", "deduced", 0.5)


def test_in_layout_two_everything_goes_below_memory(tmp_path: Path) -> None:
    root = make_root(tmp_path, layout=2)

    answers = [store(root, item) for item in (idea(), memory(), proposal())]

    assert [answer["path"] for answer in answers] == [
        "MEMORY/KNOWLEDGE/Ideas/cats.md",
        "MEMORY/PRINCIPAL_MEMORY.md",
        "MEMORY/OBSERVABILITY/pending-proposals.jsonl",
    ]
    assert all(path.startswith("MEMORY/") for path in files_of(root))
    assert "They purr." in get(root, answers[0]["detail"]["id"])[0]["content"]


@pytest.mark.parametrize("item", [idea(), memory(), proposal()], ids=["idea", "memory", "proposal"])
def test_first_write_into_an_empty_root_makes_a_corpus_that_reads(
    tmp_path: Path, item: dict[str, Any]
) -> None:
    (tmp_path / "readme.txt").write_text("no corpus file")

    assert refusal(tmp_path, item) == "ok"
    assert refusal(tmp_path, idea("Dogs")) == "ok"
    assert rebuild(tmp_path)["records"] == (1 if item["type"] == "proposal" else 2)


@pytest.mark.parametrize("name", ["note.md", "rows.jsonl", "deep/er/note.md", "DA_MEMORY.md"])
def test_bare_root_with_files_is_refused_with_the_command_that_prepares_it(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("")
    before = files_of(tmp_path)

    answer = store(tmp_path, idea())

    assert answer["code"] == "EUNSUPPORTED_LAYOUT"
    assert "memory-custodian cortex init-root" in answer["message"]
    assert before == files_of(tmp_path)


def test_manifest_of_another_program_in_a_cortex_root_stops_nothing(root: Path) -> None:
    (root / "manifest.md").write_text("## MemoryCustodian Protocol\n- protocol_version: 99\n")

    assert refusal(root, idea()) == "ok"
