from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from mc_schema.document import Document
from mc_schema.entry import (
    BODY_LABELS,
    FORGOTTEN,
    LABELS,
    STATUSES,
    Entry,
    Problem,
    format_entry,
    parse_entry,
    split_heading,
)
from mc_schema.errors import InvalidTextError
from mc_schema.ids import ENTRY_TYPES, EntryId
from mc_schema.textsafety import require_body, require_line

if TYPE_CHECKING:
    from collections.abc import Callable

ID = "MC-DEC-20260726-a1b2c3d4"
OTHER = "MC-DEC-20260801-9e7425bf"

DECISION = f"""## {ID} — Support Python 3.10+

Status: active
Scope: project
Evidence:
- repo:pyproject.toml

Decision:
Support Python 3.10+.

Reason:
The implementation does not require newer Python features."""

CANDIDATE = """## MC-INBOX-20260726-07aa192c — Possible storage constraint

Status: candidate
Candidate-Type: constraint
Scope: area:storage
Evidence:
- agent-observed

Statement:
The code appears to assume JSON-only persistence.

Promotion-Requirement:
Confirm with the user or an authoritative project document."""


def codes(text: str) -> list[str]:
    return [problem.code for problem in parse_entry(text).problems]


def accepted(check: Callable[[str, str], str], text: str) -> str:
    try:
        return check(text, "text")
    except InvalidTextError:
        assume(False)
        raise


LINES = st.sampled_from(
    [
        "plain text",
        "- bullet",
        "  indented",
        "```",
        "~~~~",
        "Note: this is text",
        "<!-- hidden -->",
        "a --> b",
        "| table |",
        "## heading",
        "Status: active",
        "决定：用中文",
        "",
        "trailing  ",
        "---",
        "#hash",
        "=== x",
        "\ttab",
    ]
)
bodies = st.one_of(st.text(min_size=1), st.lists(LINES, min_size=1, max_size=8).map("\n".join))
EVIDENCE = ("user-confirmed", "repo:a b.py@v1", "issue:#1", "agent-observed")
UNKNOWN = ("Subject: x", "Facet:", "loose words")
ids = st.builds(
    EntryId,
    st.sampled_from(ENTRY_TYPES),
    st.text(alphabet="0123456789", min_size=8, max_size=8),
    st.text(alphabet="0123456789abcdef", min_size=8, max_size=8),
)


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    """Entries as writers build them: every free text has passed the text safety rules."""
    entry_id = draw(ids)
    link = st.sampled_from(["", OTHER])
    optional_body = st.one_of(st.just(""), bodies.map(partial(accepted, require_body)))
    return Entry(
        id=entry_id,
        title=accepted(require_line, draw(st.text(min_size=1, max_size=80))),
        status=draw(st.sampled_from(STATUSES)),
        scope=draw(st.sampled_from(["project", "area:sync", "rule:x.y", "profile:a-b"])),
        evidence=tuple(draw(st.lists(st.sampled_from(EVIDENCE), min_size=1, max_size=3))),
        body_label=draw(st.sampled_from(BODY_LABELS)),
        body=accepted(require_body, draw(bodies)),
        reason=draw(optional_body),
        supersedes=draw(link),
        superseded_by=draw(link),
        promoted_to=draw(link),
        candidate_type=draw(st.sampled_from(["", "constraint"])),
        requirement=draw(optional_body),
        unknown=tuple(draw(st.lists(st.sampled_from(UNKNOWN), max_size=2))),
        claimed=str(entry_id),
    )


@given(entries())
def test_written_entry_is_read_back(entry: Entry) -> None:
    text = format_entry(entry)
    document = Document.parse(text)

    assert entry == parse_entry(text)
    assert [text] == [document.unit_text(unit) for unit in document.units]
    assert entry == parse_entry(text.replace("\n", "\r\n"))


@pytest.mark.parametrize("text", [DECISION, CANDIDATE], ids=["decision", "candidate"])
def test_examples_of_the_guide_are_canonical(text: str) -> None:
    assert text == format_entry(parse_entry(text))
    assert parse_entry(text).problems == ()


def test_fields_of_a_decision_are_read() -> None:
    entry = parse_entry(DECISION)

    assert EntryId("DEC", "20260726", "a1b2c3d4") == entry.id
    assert entry.title == "Support Python 3.10+"
    assert (entry.status, entry.scope) == ("active", "project")
    assert entry.evidence == ("repo:pyproject.toml",)
    assert (entry.body_label, entry.body) == ("Decision", "Support Python 3.10+.")
    assert entry.reason == "The implementation does not require newer Python features."


def test_links_follow_the_status_line() -> None:
    entry = parse_entry(DECISION)._replace(
        status="superseded", superseded_by=OTHER, supersedes="MC-DEC-20250101-00000000"
    )
    lines = format_entry(entry).split("\n")

    assert lines[2:6] == [
        "Status: superseded",
        f"Superseded-By: {OTHER}",
        "Scope: project",
        "Supersedes: MC-DEC-20250101-00000000",
    ]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(DECISION.replace("—", "–"), id="en-dash"),
        pytest.param(DECISION.replace("—", "-"), id="hyphen"),
        pytest.param(DECISION.replace(" — ", "— "), id="dash-without-blank"),
        pytest.param(DECISION.replace(ID, ID.lower()), id="lower-case-id"),
        pytest.param(DECISION.replace("\n\n", "\n"), id="no-blank-lines"),
        pytest.param(DECISION.replace("\n\n", "\n\n\n"), id="more-blank-lines"),
        pytest.param(DECISION.replace(":\n", ": \n"), id="blanks-behind-labels"),
        pytest.param(DECISION.replace("Decision:\n", "Decision: "), id="text-on-the-label-line"),
        pytest.param(DECISION.replace("Reason:\n", "Reason: "), id="reason-on-the-label-line"),
        pytest.param(DECISION.replace("Evidence:\n- ", "Evidence: "), id="evidence-on-the-line"),
        pytest.param(
            DECISION.replace("Status: active\nScope: project", "Scope: project\nStatus: active"),
            id="field-order",
        ),
        pytest.param(DECISION.replace("\n", "\r\n"), id="crlf"),
        pytest.param(DECISION.replace("\n", "\r"), id="lone-cr"),
        pytest.param(DECISION.replace("- repo", "* repo"), id="other-bullet"),
        pytest.param(DECISION + "\n\n", id="blank-lines-behind"),
    ],
)
def test_lenient_forms_are_read_without_a_report(text: str) -> None:
    entry = parse_entry(text)

    assert parse_entry(DECISION) == entry._replace(claimed=ID)


def test_body_fields_may_stand_above_the_status() -> None:
    text = f"## {ID} — T\nDecision: x\nStatus: active\nScope: project\nEvidence:\n- issue:#1\n"
    entry = parse_entry(text)

    assert entry.problems == ()
    assert (entry.body, entry.status, entry.evidence) == ("x", "active", ("issue:#1",))


def test_all_that_follows_the_reason_is_reason() -> None:
    entry = parse_entry(DECISION + "\n\nStatus: superseded\nDecision: other\n- a")

    assert entry.reason.endswith("\n\nStatus: superseded\nDecision: other\n- a")
    assert entry.problems == ()
    assert entry.status == "active"


def test_fields_inside_a_fence_or_comment_are_text() -> None:
    text = DECISION.replace(
        "Support Python 3.10+.",
        "```\nStatus: superseded\nDecision: x\n```\n<!--\nScope: rule:x\n-->\nend",
    )
    entry = parse_entry(text)

    assert entry.problems == ()
    assert entry.body.endswith("-->\nend")


def test_unknown_fields_are_kept_and_are_no_problem() -> None:
    text = DECISION.replace("Scope: project", "Scope: project\nSubject: api\nFacet:\n- x")
    entry = parse_entry(text)

    assert entry.unknown == ("Subject: api", "Facet:", "- x")
    assert entry.problems == ()
    assert entry == parse_entry(format_entry(entry))


def test_comment_among_the_evidence_is_kept_as_unknown() -> None:
    entry = parse_entry(DECISION.replace("- repo", "<!-- checked -->\n- repo"))

    assert (entry.unknown, entry.problems) == (("<!-- checked -->",), ())


def test_word_with_a_colon_in_the_body_is_text() -> None:
    entry = parse_entry(DECISION.replace("Support Python 3.10+.", "Note: keep it\nOwner: us"))

    assert entry.body == "Note: keep it\nOwner: us"
    assert entry.unknown == ()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param(DECISION.replace("a1b2c3d4", "a1b2"), "invalid_id", id="short-id"),
        pytest.param(DECISION.replace("MC-DEC", "MC-XYZ"), "invalid_id", id="unknown-type"),
        pytest.param(DECISION.replace("Status: active\n", ""), "missing_field", id="no-status"),
        pytest.param(DECISION.replace("Scope: project\n", ""), "missing_field", id="no-scope"),
        pytest.param(
            DECISION.replace("Evidence:\n- repo:pyproject.toml\n", ""),
            "missing_field",
            id="no-evidence",
        ),
        pytest.param(DECISION.replace("Decision:\n", ""), "stray_text", id="no-body-label"),
        pytest.param(
            DECISION.replace("Support Python 3.10+.\n", ""), "missing_body", id="empty-body"
        ),
        pytest.param(
            DECISION.replace("Scope:", "Status: superseded\nScope:"), "repeated_field", id="status"
        ),
        pytest.param(
            DECISION.replace("Evidence:", "Scope: rule:x\nEvidence:"), "repeated_field", id="scope"
        ),
        pytest.param(
            DECISION.replace("Decision:", "Evidence:\n- issue:#1\n\nDecision:"),
            "repeated_field",
            id="evidence",
        ),
        pytest.param(
            DECISION.replace("Reason:", "Decision:\nx\n\nReason:"), "repeated_field", id="body"
        ),
        pytest.param(
            DECISION.replace("Reason:", "Constraint:\nx\n\nReason:"),
            "repeated_field",
            id="second-body-label",
        ),
        pytest.param(
            DECISION.replace("Reason:", "Status: active\n\nReason:"),
            "repeated_field",
            id="status-in-the-body",
        ),
        pytest.param(
            DECISION.replace("Scope:", f"Supersedes: {OTHER}\nSupersedes: {ID}\nScope:"),
            "repeated_field",
            id="link",
        ),
        pytest.param(
            DECISION.replace("- repo:pyproject.toml", "- repo:a\nand more"),
            "stray_text",
            id="text-among-the-evidence",
        ),
    ],
)
def test_violation_of_the_grammar_is_a_problem(text: str, code: str) -> None:
    assert code in codes(text)


def test_first_of_repeated_values_counts() -> None:
    entry = parse_entry(DECISION.replace("Scope:", "Status: superseded\nScope:"))

    assert entry.status == "active"
    assert entry.problems == (Problem("repeated_field", "`Status:` occurs twice", 3),)


def test_forgotten_successor_is_kept_as_the_word() -> None:
    text = DECISION.replace("active", f"superseded\nSuperseded-By: {FORGOTTEN}")

    assert parse_entry(text).superseded_by == FORGOTTEN


def test_links_are_read_in_any_letter_case() -> None:
    text = DECISION.replace("Scope:", f"Supersedes: {OTHER.upper()}\nScope:")

    assert parse_entry(text).supersedes == OTHER


@pytest.mark.parametrize(
    ("heading", "parts"),
    [
        (f"{ID} — A — b", (ID, "A — b")),
        (f"{ID}", (ID, "")),
        (f"{ID} Title", (ID, "Title")),
        (f"{ID} — -x", (ID, "-x")),
        ("No id here", ("", "No id here")),
    ],
)
def test_heading_splits_into_id_and_title(heading: str, parts: tuple[str, str]) -> None:
    assert parts == split_heading(heading)


@given(st.text())
def test_no_text_makes_the_parser_fail(text: str) -> None:
    assert isinstance(parse_entry(text), Entry)


def test_every_label_of_the_grammar_is_listed() -> None:
    assert set(LABELS) == {
        "Status",
        "Scope",
        "Evidence",
        "Supersedes",
        "Superseded-By",
        "Promoted-To",
        "Candidate-Type",
        "Promotion-Requirement",
        "Reason",
        "Decision",
        "Constraint",
        "Preference",
        "Rejected",
        "Rule",
        "Profile",
        "Statement",
    }
