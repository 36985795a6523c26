"""The demonstration corpus is what its README says, and the README's figures come from it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).resolve().parent.parent
DEMO: Final = "docs/examples/cortex-demo"
LABELS: Final = f"{DEMO}/labels.jsonl"
RECORDS: Final = 284
QUALITY: Final = {
    "Recall@5": "recall_at_5",
    "MRR": "mrr",
    "temporal accuracy": "temporal_accuracy",
    "false recall": "false_recall",
}


def _cortex(*arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "mc_cli", "cortex", *arguments, "--memory-root", DEMO],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    answer = json.loads(done.stdout)
    assert isinstance(answer, dict)
    return answer


def _labels() -> list[dict[str, Any]]:
    text = (ROOT / LABELS).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    return _cortex("benchmark", "--labels", LABELS)


@pytest.fixture(scope="module")
def corpus() -> str:
    files = sorted((ROOT / DEMO / "KNOWLEDGE").rglob("*.*"))
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


def test_corpus_has_the_records_that_its_readme_names() -> None:
    status = _cortex("status")["data"]["canonical"]
    readme = (ROOT / DEMO / "README.md").read_text(encoding="utf-8")

    assert status["records"] == RECORDS
    assert readme.split("\n")[2].startswith(f"{RECORDS} records ")
    assert f"The {len(_labels())} labels " in readme


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param(r"[\u4e00-\u9fff]{4}", id="chinese"),
        pytest.param(r"[\u3040-\u30ff]", id="japanese"),
        pytest.param(r"[\uac00-\ud7a3]", id="korean"),
        pytest.param(r"<private>", id="private-span"),
        pytest.param(r'"valid_until": "2025', id="expired"),
    ],
)
def test_corpus_holds_what_a_newcomer_should_see(pattern: str, corpus: str) -> None:
    assert re.search(pattern, corpus)


def test_private_text_of_the_corpus_never_comes_out(corpus: str) -> None:
    private = set(re.findall(r"<private>(.*?)</private>", corpus))
    ids = sorted(set(re.findall(r'"id": "([a-z]+-desk)"', corpus)) | {"harbour-bank"})

    shown = json.dumps(_cortex("get", *ids))

    assert len(private) > 1
    assert [text for text in private if text in shown] == []


def test_each_label_names_what_its_query_really_returns() -> None:
    for label in _labels()[::6]:
        provenance = label["provenance"]["query_execution"]
        found = [item["id"] for item in _cortex("search", label["query"])["data"]["items"]]

        assert provenance["command"][3] == provenance["query"] == label["query"]
        assert provenance["returned_ids"] == found


def test_figures_of_the_readme_are_those_of_the_benchmark(report: dict[str, Any]) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    baseline, progressive = report["configs"]

    for name, key in QUALITY.items():
        assert f"| {name} | {baseline[key]:.3f} | {progressive[key]:.3f} |" in readme
    tokens = (f"{config['injected_tokens']:,}" for config in (baseline, progressive))
    assert f"| injected tokens, all queries | {' | '.join(tokens)} |" in readme
    assert f"{RECORDS} records has {report['labels']} labelled queries" in readme


def test_readme_calls_its_figures_dated_and_local() -> None:
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())

    assert re.search(r"On \d+ [A-Z][a-z]+ 20\d\d, on the [^.]* machine", readme)
    assert "They say nothing about yours." in readme
