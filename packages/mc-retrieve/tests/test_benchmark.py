"""A benchmark measures the production ranker, refuses unproven labels and overwrites nothing."""

from __future__ import annotations

import copy
import json
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any

import pytest
from mc_retrieve.benchmark import run_benchmark
from mc_retrieve.benchmark_measure import _quality, percentile_95
from mc_retrieve.benchmark_plot import render_table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mc_retrieve.benchmark import Outcome

    Run = Callable[..., Outcome]

LABEL: dict[str, Any] = {
    "id": "q1",
    "query": "bridge",
    "expected_ids": ["a"],
    "provenance": {
        "schema": "lifeos-cortex-benchmark-label-provenance/v1",
        "query_execution": {
            "method": "live-cortex-cli",
            "command": ["memory-custodian", "cortex", "search", "bridge"],
            "executed_at": "2026-01-02T03:04:05.678Z",
            "query": "bridge",
            "returned_ids": ["a", "b"],
        },
        "expected_ids_verification": {
            "method": "manual-corpus-verification",
            "verified_at": "2026-01-03T00:00:00.000Z",
            "verifier": "upgrade-validation",
            "verified_ids": ["a"],
        },
    },
}


def record(record_id: str, content: str, **more: str) -> str:
    row = {
        "id": record_id,
        "type": "memory",
        "title": record_id,
        "created": "2026-01-01",
        "updated": "2026-01-01",
        "content": content,
    }
    return json.dumps(row | more)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Return a function that benchmarks labels over a corpus of three records."""
    root = tmp_path / "root"
    (root / "KNOWLEDGE").mkdir(parents=True)
    rows = [
        record("a", "the bridge over the bay, a bridge of steel"),
        record("b", "a bridge"),
        record("gone", "a bridge that expired", valid_until="2020-01-01"),
    ]
    (root / "KNOWLEDGE" / "r.jsonl").write_text("\n".join(rows), "utf-8")

    def benchmark(*labels: Any, text: str | None = None, more: tuple[str, ...] = ()) -> Outcome:
        path = tmp_path / "labels.jsonl"
        lines = [json.dumps(label) for label in (labels or (LABEL,))]
        path.write_text("\n".join(lines) if text is None else text, "utf-8")
        words = ["--labels", str(path), "--memory-root", str(root), *more]
        return run_benchmark(words, command=["memory-custodian", "cortex", "benchmark", *words])

    return benchmark


def changed(path: str, value: Any) -> dict[str, Any]:
    label = copy.deepcopy(LABEL)
    target: Any = label
    *parents, last = path.split(".")
    for key in parents:
        target = target[key]
    target[last] = value
    return label


def test_report_has_both_disclosures_over_one_ranking(run: Run) -> None:
    report = run().report

    names = [config["name"] for config in report["configs"]]
    assert names == ["bm25-baseline", "progressive"]
    assert {1.0} == {config["recall_at_5"] for config in report["configs"]}
    assert {25} == {config["latency_samples"] for config in report["configs"]}
    assert (report["measurements"]) == {
        "corpus_tokenizations": 25,
        "ranking_runs": 25,
        "latency_samples_per_query": 25,
    }
    assert report["vector_config"] is None
    assert report["provenance"]["command"][:3] == ["memory-custodian", "cortex", "benchmark"]


def test_inactive_record_is_never_found(run: Run) -> None:
    label = copy.deepcopy(LABEL) | {"false_ids": ["gone"]}

    assert run(label).report["configs"][0]["false_recall"] == 0


@pytest.mark.parametrize(
    "label",
    [
        pytest.param([], id="no-object"),
        pytest.param(changed("extra", 1), id="unknown-field"),
        pytest.param(changed("id", " "), id="blank-id"),
        pytest.param(changed("id", "x" * 257), id="long-id"),
        pytest.param(changed("query", "??"), id="no-term"),
        pytest.param(changed("query", "x " * 65), id="too-many-terms"),
        pytest.param(changed("expected_ids", []), id="nothing-expected"),
        pytest.param(changed("expected_ids", ["a", "a"]), id="repeated-id"),
        pytest.param(changed("false_ids", [f"i{n}" for n in range(101)]), id="too-many-ids"),
        pytest.param(changed("expected_ids", ["missing"]), id="unknown-record"),
        pytest.param(changed("false_ids", ["missing"]), id="unknown-false-record"),
        pytest.param(changed("provenance", None), id="no-provenance"),
        pytest.param(changed("provenance.schema", "x"), id="unknown-schema"),
        pytest.param(changed("provenance.query_execution.method", "guess"), id="not-live"),
        pytest.param(changed("provenance.query_execution.query", "other"), id="other-query"),
        pytest.param(changed("provenance.query_execution.command", ["search"]), id="no-query-word"),
        pytest.param(
            changed("provenance.query_execution.command", ["search", "bridge"] + ["x"] * 31),
            id="too-many-words",
        ),
        pytest.param(
            changed("provenance.query_execution.command", ["search", "bridge", "x" * 16_384]),
            id="command-too-long",
        ),
        pytest.param(changed("provenance.query_execution.executed_at", "2026-01-02"), id="time"),
        pytest.param(changed("provenance.query_execution.returned_ids", ["b"]), id="not-returned"),
        pytest.param(
            changed("provenance.expected_ids_verification.verified_ids", ["b"]), id="not-verified"
        ),
        pytest.param(changed("provenance.expected_ids_verification.verifier", "me"), id="verifier"),
        pytest.param(
            changed("provenance.expected_ids_verification.verified_at", "2026-13-01T00:00:00.000Z"),
            id="impossible-time",
        ),
    ],
)
def test_label_that_proves_nothing_is_refused(run: Run, label: Any) -> None:
    outcome = run(label)

    assert (outcome.exit_code, outcome.report["ok"]) == (4, False)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("\n \n", id="blank"),
        pytest.param("{", id="no-json"),
        pytest.param("\x01", id="control-character"),
        pytest.param(" " * ((1 << 20) + 1), id="over-one-mebibyte"),
        pytest.param("\n".join(json.dumps(LABEL | {"id": str(n)}) for n in range(1001)), id="1001"),
        pytest.param(f"{json.dumps(LABEL)}\n{json.dumps(LABEL)}", id="repeated-label"),
    ],
)
def test_labels_file_outside_its_bounds_is_refused(run: Run, text: str) -> None:
    assert run(text=text).exit_code == 4


def test_labels_behind_a_link_are_refused(run: Run, tmp_path: Path) -> None:
    run()
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "labels.jsonl")
    words = ["--labels", str(tmp_path / "link.jsonl"), "--memory-root", str(tmp_path / "root")]

    assert run_benchmark(words, command=[]).exit_code == 4


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["x"], id="positional"),
        pytest.param(["--top", "5"], id="unknown"),
        pytest.param(["--output"], id="no-value"),
        pytest.param(["--labels", "x"], id="repeated"),
        pytest.param(["--plot"], id="plot-without-output"),
    ],
)
def test_command_line_is_strict(run: Run, words: list[str]) -> None:
    assert run(more=tuple(words)).exit_code == 4


def test_output_makes_its_folder_and_never_overwrites(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "root" / "BENCHMARKS" / "cortex-benchmark-v1-a.json"

    first = run(more=("--output", str(path)))
    before = path.read_bytes()
    second = run(more=("--output", str(path)))

    assert json.loads(before) == first.report
    assert (4, before) == (second.exit_code, path.read_bytes())


@pytest.mark.parametrize(
    "name",
    [
        "report.json",
        "../cortex-benchmark-v1-a.json",
        "sub/cortex-benchmark-v1-a.json",
        "cortex-benchmark-v1a.json",
    ],
)
def test_output_has_its_place_and_name(run: Run, tmp_path: Path, name: str) -> None:
    outcome = run(more=("--output", str(tmp_path / "root" / "BENCHMARKS" / name)))

    assert outcome.exit_code == 4
    assert list((tmp_path / "root").rglob("*.json")) == []


def test_plot_is_a_picture_of_the_report(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "root" / "BENCHMARKS" / "cortex-benchmark-v1-a.json"

    outcome = run(more=("--output", str(path), "--plot"))

    picture = path.with_suffix(".svg").read_text("utf-8")
    assert ET.fromstring(picture).tag.endswith("svg")  # noqa: S314 - our own picture
    assert f"{outcome.report['configs'][0]['injected_tokens']:,}" in picture


def test_table_shows_both_configurations(run: Run) -> None:
    table = render_table(run().report)

    assert table.startswith(" ")
    assert "bm25-baseline  progressive" in table
    assert "Recall@5" in table


@pytest.mark.parametrize(
    ("label", "top", "expected"),
    [
        pytest.param(
            {"expected_ids": ["a", "b"]}, ["b", "x", "a"], (1.0, 1.0, 0.0, 0.0), id="wrong-order"
        ),
        pytest.param({"expected_ids": ["a"]}, ["x", "a"], (1.0, 0.5, 1.0, 0.0), id="second"),
        pytest.param({"expected_ids": ["a"]}, [], (0.0, 0.0, 0.0, 0.0), id="missed"),
        pytest.param(
            {"expected_ids": ["a"], "temporal_expected_order": []},
            [],
            (0.0, 0.0, 1.0, 0.0),
            id="no-order",
        ),
        pytest.param(
            {"expected_ids": ["a", "b", "c"]},
            ["a", "c"],
            (2 / 3, 1.0, 1 / 3, 0.0),
            id="one-pair-of-three",
        ),
        pytest.param(
            {"expected_ids": ["a"], "false_ids": ["x", "y"]},
            ["a", "x"],
            (1.0, 1.0, 1.0, 0.5),
            id="false",
        ),
    ],
)
def test_quality_is_that_of_the_contract(
    label: dict[str, Any], top: list[str], expected: tuple[float, ...]
) -> None:
    assert pytest.approx(expected) == _quality(label, top)


@pytest.mark.parametrize(("count", "rank"), [(1, 1), (20, 19), (25, 24), (100, 95)])
def test_p95_is_one_of_the_samples(count: int, rank: int) -> None:
    assert rank == percentile_95([float(n) for n in range(count, 0, -1)])
