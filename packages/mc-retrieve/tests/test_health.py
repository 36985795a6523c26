"""Health is judged from evidence alone; what is missing, malformed or too new never passes."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest
from mc_retrieve.health import (
    DEFAULT_THRESHOLDS,
    EXITS,
    InvalidThresholdError,
    assess_evidence,
    collect_evidence,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NOW = 1_704_067_200_000
"""2024-01-01T00:00:00.000Z"""
DAY = 24 * 60 * 60 * 1000
SOUND: dict[str, Any] = {
    "nowMs": NOW,
    "reviewer": {"status": "ok", "ts": "2023-12-31T00:00:00Z"},
    "retrieval": {
        "status": "ok",
        "ts": "2023-12-31T12:00:00Z",
        "queryHash": "h",
        "returnedCount": 1,
        "durationMs": 2.5,
    },
    "proposals": {"pending": 1, "available": True, "malformedLines": []},
    "observability": {"bytes": 1, "oldestMs": NOW - DAY, "files": 1, "available": True},
    "index": {"status": "no-index-v1"},
}


def evidence(**changes: dict[str, Any] | None) -> dict[str, Any]:
    found = copy.deepcopy(SOUND)
    for subject, change in changes.items():
        if change is None:
            found.pop(subject)
        else:
            found[subject] |= change
    return found


def ids(found: dict[str, Any]) -> list[str]:
    return [f"{f['severity']} {f['id']}" for f in assess_evidence(found)["findings"]]


def test_sound_evidence_is_ok() -> None:
    assert assess_evidence(SOUND)["overall"] == "ok"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({"reviewer": {"ts": "2023-12-25T00:00:00Z"}}, [], id="reviewer-at-limit"),
        pytest.param(
            {"reviewer": {"ts": "2023-12-24T23:59:59.999Z"}},
            ["warn reviewer-stale"],
            id="reviewer-over",
        ),
        pytest.param({"retrieval": {"ts": "2023-12-31T00:00:00Z"}}, [], id="retrieval-at-limit"),
        pytest.param(
            {"retrieval": {"ts": "2023-12-30T23:59:59.999Z"}},
            ["warn retrieval-stale"],
            id="retrieval-over",
        ),
        pytest.param({"proposals": {"pending": 10}}, [], id="backlog-at-limit"),
        pytest.param(
            {"proposals": {"pending": 11}}, ["warn proposal-backlog-high"], id="backlog-over"
        ),
        pytest.param({"observability": {"bytes": 268_435_456}}, [], id="bytes-at-limit"),
        pytest.param(
            {"observability": {"bytes": 268_435_457}},
            ["warn observability-bytes-exceeded"],
            id="bytes-over",
        ),
        pytest.param({"observability": {"oldestMs": NOW - 30 * DAY}}, [], id="log-age-at-limit"),
        pytest.param(
            {"observability": {"oldestMs": NOW - 30 * DAY - 1}},
            ["warn observability-age-exceeded"],
            id="log-age-over",
        ),
        pytest.param({"index": {"status": "ok", "ageMs": 7 * DAY}}, [], id="index-at-limit"),
        pytest.param(
            {"index": {"status": "ok", "ageMs": 7 * DAY + 1}}, ["warn index-stale"], id="index-over"
        ),
    ],
)
def test_value_equal_to_its_threshold_is_fine_and_one_more_is_not(
    changes: dict[str, Any], expected: list[str]
) -> None:
    assert expected == ids(evidence(**changes))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({"reviewer": None}, ["warn reviewer-evidence-missing"], id="reviewer"),
        pytest.param({"retrieval": None}, ["warn retrieval-evidence-missing"], id="retrieval"),
        pytest.param({"proposals": None}, ["warn proposal-evidence-missing"], id="proposals"),
        pytest.param(
            {"observability": None}, ["warn observability-evidence-missing"], id="observability"
        ),
        pytest.param({"index": None}, ["warn index-evidence-missing"], id="index"),
        pytest.param(
            {"reviewer": {"ts": "2024-01-01T00:00:00.001Z"}},
            ["warn reviewer-future"],
            id="future-reviewer",
        ),
        pytest.param(
            {"retrieval": {"ts": "2024-01-02"}}, ["warn retrieval-future"], id="future-retrieval"
        ),
        pytest.param(
            {"reviewer": {"ts": "yesterday"}}, ["critical reviewer-evidence-invalid"], id="bad-time"
        ),
        pytest.param(
            {"retrieval": {"returnedCount": True}},
            ["warn retrieval-evidence-invalid"],
            id="boolean-count",
        ),
        pytest.param(
            {"proposals": {"malformedLines": [2], "pending": 11}},
            ["warn proposal-evidence-malformed", "warn proposal-backlog-high"],
            id="malformed-and-high",
        ),
        pytest.param(
            {"index": {"status": "mismatch"}}, ["critical index-integrity-mismatch"], id="mismatch"
        ),
        pytest.param(
            {"index": {"status": "?"}}, ["critical index-manifest-invalid"], id="unknown-state"
        ),
        pytest.param(
            {"index": {"status": "ok", "ageMs": -1}},
            ["warn index-freshness-invalid"],
            id="future-index",
        ),
    ],
)
def test_missing_future_and_malformed_evidence_is_a_finding(
    changes: dict[str, Any], expected: list[str]
) -> None:
    assert expected == ids(evidence(**changes))


def test_overall_is_the_worst_severity_and_decides_the_exit() -> None:
    found = assess_evidence(evidence(reviewer={"status": "failed"}, index=None))

    assert (found["overall"], EXITS[found["overall"]]) == ("critical", 2)


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), True, "10", None])
def test_threshold_must_be_a_finite_number_above_zero(value: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidThresholdError, match="proposalBacklog"):
        collect_evidence(tmp_path, now_ms=NOW, thresholds={"proposalBacklog": value})


def test_unknown_threshold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidThresholdError, match="proposalBacklogs"):
        collect_evidence(tmp_path, now_ms=NOW, thresholds={"proposalBacklogs": 1})


def observability(root: Path) -> Path:
    folder = root / "LIFEOS" / "MEMORY" / "OBSERVABILITY"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def test_empty_root_warns_about_everything(tmp_path: Path) -> None:
    found = assess_evidence(collect_evidence(tmp_path, now_ms=NOW))

    assert found["overall"] == "warn"
    assert len(found["findings"]) == 5


def test_row_that_is_no_object_is_a_malformed_line(tmp_path: Path) -> None:
    folder = observability(tmp_path)
    (folder / "reviewer-runs.jsonl").write_text("null\n")
    (folder / "pending-proposals.jsonl").write_text('\n{"status":"pending"}\nnull\n[]\n')

    found = collect_evidence(tmp_path, now_ms=NOW)

    assert (
        found["reviewer"]["status"],
        found["reviewer"]["error"],
    ) == ("parse-failed", "malformed JSONL lines: 1")
    assert (found["proposals"]["pending"], found["proposals"]["malformedLines"]) == (1, [3, 4])


@pytest.mark.parametrize("line", ["NaN", '{"a":Infinity}', "{", "\ufeff{}", "[" * 100_000])
def test_line_that_is_no_strict_json_is_malformed(tmp_path: Path, line: str) -> None:
    (observability(tmp_path) / "pending-proposals.jsonl").write_text(line + "\n", "utf-8")

    assert collect_evidence(tmp_path, now_ms=NOW)["proposals"]["malformedLines"] == [1]


def test_bytes_that_are_no_utf8_are_a_malformed_line(tmp_path: Path) -> None:
    (observability(tmp_path) / "pending-proposals.jsonl").write_bytes(b'{"a":"\xff"}\n{}\n')

    assert collect_evidence(tmp_path, now_ms=NOW)["proposals"]["malformedLines"] == [1]


def test_marker_alone_is_healthy_and_no_corpus_file_is_opened(tmp_path: Path) -> None:
    memory = tmp_path / "LIFEOS" / "MEMORY" / "KNOWLEDGE"
    memory.mkdir(parents=True)
    (memory / "broken.md").write_bytes(b"\xff\x00 would be an integrity error")
    marker = tmp_path / "LIFEOS" / "CORTEX_INDEX_POLICY.json"
    marker.write_text('{"schema":"lifeos-cortex-index-policy/v1","policy":"no-index-v1"}')

    assert collect_evidence(tmp_path, now_ms=NOW)["index"]["status"] == "no-index-v1"


@pytest.fixture
def indexed(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Return a function that adopts an index, its manifest changed, and asks for its state."""

    def adopt(**changes: Any) -> dict[str, Any]:
        folder = tmp_path / "LIFEOS" / "MEMORY" / "INDEX"
        folder.mkdir(parents=True)
        (tmp_path / "LIFEOS" / "MEMORY" / "KNOWLEDGE").mkdir()
        (folder / "data.bin").write_bytes(b"index bytes")
        manifest = {
            "schema": "lifeos-cortex-index/v1",
            "canonical_sha256": "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945",
            "index_path": "data.bin",
            "index_sha256": "bb4397cf9e25a305021241ff265cb875413c4d2c71f19cba775cf835c719cac5",
            "indexed_at": "2023-12-31T00:00:00.000Z",
        } | changes
        (folder / "index-manifest.json").write_text(json.dumps(manifest))
        index: dict[str, Any] = collect_evidence(tmp_path, now_ms=NOW)["index"]
        return index

    return adopt


def test_manifest_that_proves_its_index_is_ok(indexed: Callable[..., dict[str, Any]]) -> None:
    found = indexed()

    assert (found["status"], found["ageMs"]) == ("ok", DAY)


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        pytest.param({"canonical_sha256": "0" * 64}, "mismatch", id="corpus-changed"),
        pytest.param({"index_sha256": "0" * 64}, "mismatch", id="index-changed"),
        pytest.param({"index_path": "../data.bin"}, "invalid", id="path-leaves"),
        pytest.param({"index_path": "/etc/passwd"}, "invalid", id="absolute"),
        pytest.param({"index_path": "missing.bin"}, "invalid", id="missing"),
        pytest.param({"index_sha256": "A" * 64}, "invalid", id="upper-case-hash"),
        pytest.param({"extra": "x"}, "invalid", id="unknown-key"),
        pytest.param({"indexed_at": "soon"}, "invalid", id="bad-time"),
        pytest.param({"index_path": 1}, "invalid", id="no-text"),
    ],
)
def test_manifest_that_proves_nothing_is_never_ok(
    indexed: Callable[..., dict[str, Any]], changes: dict[str, Any], status: str
) -> None:
    assert status == indexed(**changes)["status"]


def test_plain_memory_root_is_its_own_memory(tmp_path: Path) -> None:
    (tmp_path / "KNOWLEDGE").mkdir()
    (tmp_path / "OBSERVABILITY").mkdir()
    (tmp_path / "OBSERVABILITY" / "a.log").write_text("x")

    found = collect_evidence(tmp_path, now_ms=NOW)

    assert found["observability"]["files"] == 1


def test_links_and_other_files_are_not_measured(tmp_path: Path) -> None:
    folder = observability(tmp_path)
    (tmp_path / "big.log").write_text("x" * 100)
    (folder / "link.log").symlink_to(tmp_path / "big.log")
    (folder / "notes.txt").write_text("x")

    assert collect_evidence(tmp_path, now_ms=NOW)["observability"]["files"] == 0


def test_default_thresholds_are_those_of_the_contract() -> None:
    assert DEFAULT_THRESHOLDS == {
        "reviewerStaleMs": 604_800_000,
        "retrievalStaleMs": 86_400_000,
        "proposalBacklog": 10,
        "observabilityMaxBytes": 268_435_456,
        "observabilityMaxAgeMs": 2_592_000_000,
        "reviewerRunGraceMs": 600_000,
        "indexStaleMs": 604_800_000,
    }


@pytest.mark.parametrize("name", ["health_cases.jsonl", "health_evidence_cases.jsonl"])
def test_shared_vectors_agree(shared_folder: Path, tmp_path: Path, name: str) -> None:
    for line in (shared_folder / "conformance" / name).read_text("utf-8").splitlines():
        case = json.loads(line)
        if "now_ms" in case:
            check_collected(case, tmp_path / str(abs(hash(case["name"]))))
        else:
            found = assess_evidence(case["evidence"])
            assert (case["overall"], case["findings"]) == (found["overall"], found["findings"])


def check_collected(case: dict[str, Any], root: Path) -> None:
    root.mkdir()
    for step in case["setup"]:
        apply_step(root, step)
    arguments = {"now_ms": case["now_ms"], "thresholds": case.get("thresholds")}
    if "error" in case:
        with pytest.raises(InvalidThresholdError, match=case["error"].replace("+", r"\+")):
            collect_evidence(root, **arguments)
        return
    found = collect_evidence(root, **arguments)
    wanted = json.loads(json.dumps(case["evidence"]).replace("{ROOT}", str(root.resolve())))
    assert wanted == found, case["name"]
    judged = assess_evidence(found)
    assert (case["overall"], case["findings"]) == (judged["overall"], judged["findings"])


def apply_step(root: Path, step: dict[str, Any]) -> None:
    import os

    path = root / step["path"]
    if step["op"] != "remove":
        path.parent.mkdir(parents=True, exist_ok=True)
    if step["op"] == "mkdir":
        path.mkdir(exist_ok=True)
    elif step["op"] == "write":
        path.write_bytes(step["text"].encode())
    elif step["op"] == "utime":
        os.utime(path, ns=(step["ms"] * 1_000_000, step["ms"] * 1_000_000))
    elif step["op"] == "symlink":
        path.symlink_to(step["target"])
    else:
        assert step["op"] == "remove", step
        path.unlink()
