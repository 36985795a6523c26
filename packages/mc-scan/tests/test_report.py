from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mc_scan import RULES, Notice, scan_text
from mc_scan.report import Summary, TextReport, format_summary
from mc_scan.sarif import SarifReport, to_uri
from mc_scan.testing import fake

SCHEMA = Path(__file__).resolve().parents[3] / "docs" / "schemas" / "sarif-required.schema.json"


def sarif(text: str, path: str = "docs/a.md", **more: Any) -> dict[str, Any]:
    sink = io.StringIO()
    report = SarifReport(sink)
    report.begin("0.10.0")
    report.add(f._replace(**more) for f in scan_text(text, path))
    report.finish(Summary(1, len(text), 0, 0, 0), [Notice("oversized", "b c.md", "too large")])
    data: dict[str, Any] = json.loads(sink.getvalue())
    return data


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.mark.parametrize(
    "text",
    ["", f"see {fake('private-key').text}\n/home/ana", "password: k9Xq2Lm7Pz\n" * 3],
    ids=["clean", "key-and-path", "equal-lines"],
)
def test_sarif_has_what_code_scanning_needs(text: str, validator: Draft202012Validator) -> None:
    assert [error.message for error in validator.iter_errors(sarif(text))] == []


@pytest.mark.parametrize(
    "key",
    ["ruleId", "ruleIndex", "level", "message", "locations", "partialFingerprints"],
)
def test_schema_misses_what_is_left_out(key: str, validator: Draft202012Validator) -> None:
    data = sarif("password: k9Xq2Lm7Pz")
    del data["runs"][0]["results"][0][key]

    assert list(validator.iter_errors(data))


def test_schema_refuses_snippets_and_contents(validator: Draft202012Validator) -> None:
    data = sarif("password: k9Xq2Lm7Pz")
    place = data["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    place["region"]["snippet"] = {"text": "x"}

    assert list(validator.iter_errors(data))


def test_sarif_result_points_at_its_rule_and_place() -> None:
    data = sarif("x\n password: k9Xq2Lm7Pz")
    (result,) = data["runs"][0]["results"]
    (finding,) = scan_text("x\n password: k9Xq2Lm7Pz", "docs/a.md")
    rules = data["runs"][0]["tool"]["driver"]["rules"]

    assert "generic-assignment" == rules[result["ruleIndex"]]["id"] == result["ruleId"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 2, "startColumn": 12, "endLine": 2, "endColumn": 22}
    assert f"{finding.fingerprint}:1" == result["partialFingerprints"]["primaryLocationLineHash"]


def test_sarif_severities_follow_the_category() -> None:
    rules = {r["id"]: r for r in sarif("")["runs"][0]["tool"]["driver"]["rules"]}

    assert [rule.id for rule in RULES] == list(rules)
    assert (
        rules["npm-token"]["properties"]["security-severity"],
        rules["npm-token"]["defaultConfiguration"]["level"],
    ) == ("8.5", "error")
    assert rules["jwt"]["properties"]["security-severity"] == "4.5"
    assert rules["email"]["properties"]["security-severity"] == "3.0"
    assert all("security" in rule["properties"]["tags"] for rule in rules.values())


@pytest.mark.parametrize("kind", ["inSource", "external"])
def test_suppressed_result_is_marked(kind: str, validator: Draft202012Validator) -> None:
    data = sarif("password: k9Xq2Lm7Pz", suppressed=kind)

    assert [{"kind": kind}] == data["runs"][0]["results"][0]["suppressions"]
    assert [error.message for error in validator.iter_errors(data)] == []


def test_sarif_stays_below_the_limit_of_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mc_scan.sarif._MAX_RESULTS", 2)
    run = sarif("password: k9Xq2Lm7Pz\n" * 5)["runs"][0]
    told = [n["message"]["text"] for n in run["invocations"][0]["toolExecutionNotifications"]]

    assert len(run["results"]) == 2
    assert "3 results left out: code scanning takes 25,000" in told
    assert not run["invocations"][0]["executionSuccessful"]


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("docs/a b.md", "docs/a%20b.md"),
        ("a:b/#1?.md", "a%3Ab/%231%3F.md"),
        ("中.md", "%E4%B8%AD.md"),
        ("x\udcff.md", "x%FF.md"),
        ("~/a.md", "~/a.md"),
        ("/srv/a.md", "srv/a.md"),
        ("[REDACTED]/a.md", "%5BREDACTED%5D/a.md"),
    ],
)
def test_uri_is_percent_encoded(path: str, uri: str) -> None:
    assert uri == to_uri(path)


def test_text_line_has_the_documented_form() -> None:
    sink = io.StringIO()
    TextReport(sink).add(scan_text(f"a\n {fake('github-classic').text}", "docs/a.md"))

    assert sink.getvalue() == "docs/a.md:2:2: ERROR github-token ghp_[REDACTED]\n"


def test_file_name_cannot_forge_a_line() -> None:
    sink = io.StringIO()
    TextReport(sink).add(scan_text("password: k9Xq2Lm7Pz", "a\n\x1b[2Kb.md"))

    assert sink.getvalue().count("\n") == 1
    assert "\x1b" not in sink.getvalue()


@pytest.mark.parametrize(
    ("summary", "line"),
    [
        (Summary(1, 5, 0, 1, 0), "1 file, 0 errors, 1 warning"),
        (Summary(2, 5, 1, 0, 3), "2 files, 1 error, 0 warnings, 3 suppressed"),
    ],
)
def test_summary_counts_in_words(summary: Summary, line: str) -> None:
    assert line == format_summary(summary)


def test_rules_are_described_and_unique() -> None:
    assert 24 == len({rule.id for rule in RULES}) == len(RULES)
    assert all(rule.title and rule.description and rule.advice for rule in RULES)
    assert {"security", "privacy"} == {rule.category for rule in RULES}
    assert all(rule.severity == "warning" for rule in RULES if rule.category == "privacy")
