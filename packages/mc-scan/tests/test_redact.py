from __future__ import annotations

import contextlib
import io
import json
import string
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mc_scan import Finding, Notice, scan_text
from mc_scan.redact import display_path, escape_controls, redact_text, shown_name
from mc_scan.report import JsonReport, Summary, TextReport, format_notice
from mc_scan.sarif import SarifReport
from mc_scan.testing import fake, fake_kinds

if TYPE_CHECKING:
    from collections.abc import Iterable

WINDOW = 6


def all_reports(findings: Iterable[Finding]) -> str:
    """Return what every report form says of *findings*, JSON escapes undone."""
    sink = io.StringIO()
    kept = list(findings)
    for kind in (TextReport, JsonReport, SarifReport):
        report = kind(sink)
        report.begin("0")
        report.add(kept)
        report.finish(Summary(1, 1, 1, 1, 0), [])
    text = sink.getvalue() + repr(kept)
    with contextlib.suppress(UnicodeDecodeError):
        text += text.encode().decode("unicode_escape")
    return text


def leaks(body: str, shown: str) -> list[str]:
    parts = [body[at : at + WINDOW] for at in range(max(1, len(body) - WINDOW + 1))]
    return [part for part in parts if part in shown]


@settings(max_examples=80, deadline=None)
@given(
    st.sampled_from(fake_kinds()),
    st.integers(0, 5000),
    st.sampled_from(
        ["{v}", "x {v} y", "- `{v}`\n", "| a | {v} |", "中{v}。", "{v} {v}", "a\\_b {v}"]
    ),
)
def test_no_report_holds_six_characters_of_a_secret(kind: str, seed: int, context: str) -> None:
    secret = fake(kind, seed)
    findings = scan_text(context.replace("{v}", secret.text), "notes.md")

    assert leaks(secret.body, all_reports(findings)) == []


VALUES = st.text(string.ascii_letters + string.digits + "!#%+/=-_~.", min_size=8, max_size=40)
FORMS = [
    "pgpass: '{v}'",
    'pgpass = "{v}"',
    "PGPASS={v}",
    "postgres://u:{v}@h.dev/",
    "Bearer {v}{v}",
    "pgpass: {v} # x",
    "| pgpass | {v} |",
]
# What the reports say of another value is no leak: names of rules, labels, the form itself.
CONSTANT = "".join(
    all_reports(scan_text(form.replace("{v}", "q4Z8w0J2v6N1k3Y7"), "notes.md")) for form in FORMS
)


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(FORMS), VALUES)
def test_no_report_holds_six_characters_of_a_value(form: str, value: str) -> None:
    findings = scan_text(form.replace("{v}", value), "notes.md")

    assert [part for part in leaks(value, all_reports(findings)) if part not in CONSTANT] == []


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("/Users/moril/x", ["moril"]),
        ("~moril/x", ["moril"]),
        ("C:\\Users\\Ana Moril\\x", ["Ana", "Moril"]),
        ("ana.moril@harrow.dev", ["ana", "moril", "harrow", "dev"]),
        ("+49 30 9018 2270", ["9018", "2270", "30"]),
        ("12 Oak Street, Unit 7", ["Oak", "12"]),
        ("postgres://svcuser:k9Xq2Lm7Pz@db.harrow.dev/x", ["svcuser", "harrow"]),
    ],
)
def test_preview_shows_no_part_of_a_person_or_host(text: str, parts: list[str]) -> None:
    (finding,) = scan_text(text, "n.md")

    assert [part for part in parts if part in finding.preview] == []


def test_shown_name_is_short_and_harmless() -> None:
    assert shown_name("a-b.c_d") == "a-b.c_d"
    assert shown_name("a\x1b<>b") == "ab"
    assert len(shown_name("x" * 60)) == 40
    assert shown_name(fake("github-classic").text) == "[REDACTED]"


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("docs/a.md", "docs/a.md"),
        ("./docs/../a.md", "a.md"),
        ("/srv/work/a.md", "a.md"),
        ("/srv/work", "."),
        ("/home/moril/notes/a.md", "~/notes/a.md"),
        ("/home/other/a.md", "/[REDACTED]/[REDACTED]/a.md"),
        ("/etc/a.md", "/etc/a.md"),
        (f"docs/{fake('github-classic').text}/a.md", "docs/[REDACTED]/a.md"),
        ("ana@harrow.dev.md", "[REDACTED]"),
        ("docs/password=k9Xq2Lm7Pz/a.md", "docs/[REDACTED]/a.md"),
    ],
)
def test_path_is_relative_and_shows_no_secret(path: str, shown: str) -> None:
    assert shown == display_path(path, cwd="/srv/work", home="/home/moril")


def test_message_that_quotes_an_argument_is_redacted() -> None:
    token = fake("stripe-live").text

    assert redact_text(f"unrecognized: --x={token} y") == "unrecognized: --x=[REDACTED] y"


def test_controls_and_directions_are_escaped() -> None:
    assert escape_controls("a\x1b[31m\u202eb\x85\r\n") == "a\\x1b[31m\\u202eb\\x85\\r\\n"


def test_notice_is_one_line() -> None:
    line = format_notice(Notice("unreadable", "a\nb.md", "not readable"))

    assert line == "error: not readable: a\\nb.md"


def test_json_report_is_ascii() -> None:
    sink = io.StringIO()
    report = JsonReport(sink)
    report.begin("1.0")
    report.add(scan_text("密码：k9Xq2Lm7Pz", "中\udcff.md"))
    report.finish(Summary(1, 9, 0, 1, 2), [Notice("x", "p", "m")])

    assert sink.getvalue().isascii()
    data = json.loads(sink.getvalue())
    assert {"version", "tool", "summary", "findings", "notices"} == set(data)
    assert data["summary"] == {"files": 1, "bytes": 9, "errors": 0, "warnings": 1, "suppressed": 2}
    assert data["notices"] == [{"code": "x", "path": "p", "message": "m"}]
    assert {
        *("rule", "severity", "path", "line", "column", "end_line", "end_column"),
        *("preview", "fingerprint", "obfuscated"),
    } == set(data["findings"][0])
