from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from mc_scan import BaselineError, scan_text
from mc_scan.baseline import Baseline, BaselineEntry, format_baseline, parse_baseline, read_baseline
from mc_scan.testing import fake

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Run = Callable[..., Any]

WARNING = "password: k9Xq2Lm7Pz\n"
TOKEN = fake("github-classic").text
NAME = "../baseline.json"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text(f"x {TOKEN}\n{WARNING}")
    (folder / "b.md").write_text(f"ana@harrow.dev\n{WARNING}")
    return folder


def entries(docs: Path) -> list[dict[str, str]]:
    data = json.loads((docs.parent / "baseline.json").read_text())
    rows: list[dict[str, str]] = data["entries"]
    return rows


def test_accepted_findings_are_left_out(run: Run, docs: Path) -> None:
    written = run("--write-baseline", NAME, cwd=docs)
    later = run("--baseline", NAME, "--format", "json", "--fail-on", "warning", cwd=docs)

    assert written.code == 0
    assert written.out.count("added: ") == 4
    assert (
        later.code,
        json.loads(later.out)["findings"],
        json.loads(later.out)["summary"]["suppressed"],
    ) == (0, [], 4)
    sarif = json.loads(run("--baseline", NAME, "--format", "sarif", cwd=docs).out)
    assert {"external"} == {r["suppressions"][0]["kind"] for r in sarif["runs"][0]["results"]}


def test_baseline_holds_nothing_of_a_value(call: Run, docs: Path) -> None:
    call("--write-baseline", NAME, cwd=docs)
    text = (docs.parent / "baseline.json").read_text()

    assert not any(part in text for part in ("k9Xq", "ana@", "harrow", TOKEN[4:10]))
    assert {"fingerprint", "rule", "severity", "path", "reason"} == set(entries(docs)[0])
    assert text.count("\n") == 6


def test_accepted_finding_survives_edits_elsewhere(call: Run, docs: Path) -> None:
    call("--write-baseline", NAME, cwd=docs)
    (docs / "a.md").write_text(f"new first line\n\nx {TOKEN}\nmore\n{WARNING}")

    assert call("--baseline", NAME, "--fail-on", "warning", cwd=docs).code == 0


def test_error_does_not_hide_behind_a_warning(call: Run, docs: Path) -> None:
    (docs / "a.md").write_text(f"x {fake('github-bad-checksum').text}\n")
    call("--write-baseline", NAME, cwd=docs)
    (docs / "a.md").write_text(f"x {TOKEN}\n")
    outcome = call("--baseline", NAME, cwd=docs)

    assert outcome.code == 1
    assert "ERROR github-token" in outcome.out


def test_reasons_are_kept_and_stale_entries_dropped(call: Run, docs: Path) -> None:
    call("--write-baseline", NAME, cwd=docs)
    rows = [{**row, "reason": f"because {row['rule']}"} for row in entries(docs)]
    (docs.parent / "baseline.json").write_text(json.dumps({"version": 1, "entries": rows}))
    (docs / "b.md").write_text("ana@harrow.dev\n/home/moril\n")
    stale = call("--baseline", NAME, cwd=docs)
    again = call("--write-baseline", NAME, cwd=docs)

    assert "notice: stale baseline entry" in stale.err
    assert stale.code == 0
    assert again.out.splitlines() == ["added: b.md:2:1: WARNING home-path /home/[REDACTED]"]
    assert [(row["reason"], row["path"]) for row in entries(docs)] == [
        ("because generic-assignment", "a.md"),
        ("because github-token", "a.md"),
        ("because email", "b.md"),
        ("", "b.md"),
    ]


def test_scan_of_one_file_keeps_the_entries_of_others(call: Run, docs: Path) -> None:
    call("--write-baseline", NAME, cwd=docs)
    part = call("--baseline", NAME, "a.md", cwd=docs)
    call("--write-baseline", NAME, "a.md", cwd=docs)

    assert "stale" not in part.err
    assert len(entries(docs)) == 4
    (docs / "b.md").unlink()
    assert call("--baseline", NAME, "a.md", cwd=docs).err.count("stale") == 2


def test_filtered_baseline_run_drops_nothing_else(call: Run, docs: Path) -> None:
    call("--write-baseline", NAME, cwd=docs)
    call("--write-baseline", NAME, "--only", "privacy", cwd=docs)

    assert len(entries(docs)) == 4


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "[]",
            "{}",
            '{"version": 2, "entries": []}',
            '{"version": 1}',
            "not json",
            "[" * 9000,
        ),
        '{"version": 1, "entries": [{"rule": "email"}]}',
        '{"version": 1, "entries": [[]]}',
    ],
    ids=[
        "empty",
        "list",
        "object",
        "newer",
        "no-entries",
        "text",
        "deep",
        "no-fields",
        "no-object",
    ],
)
def test_malformed_baseline_is_refused(text: str, call: Run, docs: Path) -> None:
    with pytest.raises(BaselineError) as caught:
        parse_baseline(text, "b.json")
    (docs.parent / "baseline.json").write_text(text)

    assert (caught.value.code, caught.value.where) == ("bad_baseline", "b.json")
    assert call("--baseline", NAME, cwd=docs).code == 1
    (docs / "a.md").unlink()
    clean = call("--baseline", NAME, cwd=docs)
    assert clean.code == 2
    assert "Traceback" not in clean.err


def test_missing_baseline_is_exit_code_2(call: Run, docs: Path) -> None:
    (docs / "a.md").unlink()

    assert call("--baseline", "none.json", cwd=docs).code == 2
    with pytest.raises(BaselineError):
        read_baseline("none.json", "none.json")


def test_bad_baseline_is_not_overwritten(call: Run, docs: Path) -> None:
    (docs.parent / "baseline.json").write_text("precious but malformed")

    assert call("--write-baseline", NAME, cwd=docs).code == 2
    assert (docs.parent / "baseline.json").read_text() == "precious but malformed"


def test_written_baseline_reads_back() -> None:
    found = scan_text(f"{WARNING}ana@harrow.dev", "b.md") + scan_text(WARNING, "a.md")
    baseline, added = Baseline().updated(found, {"a.md", "b.md"})
    again = parse_baseline(format_baseline(baseline), "")

    assert found == added
    assert baseline.entries == again.entries
    assert sorted(baseline.entries, key=lambda e: (e.path, e.rule)) == baseline.entries
    assert again.apply(found[0]).suppressed == "external"
    assert parse_baseline(format_baseline(Baseline()), "").entries == []


def test_entry_of_another_path_covers_nothing() -> None:
    (finding,) = scan_text(WARNING, "a.md")
    entry = BaselineEntry(finding.fingerprint, finding.rule, "warning", "b.md", "")

    assert Baseline([entry]).apply(finding).suppressed == ""
