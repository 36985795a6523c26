from __future__ import annotations

import pytest
from mc_schema.admission import duplicate_key, is_content, standing
from mc_schema.document import BULLET, ENTRY, GROUP, PREAMBLE, PROSE, SECTION, Document

DECISION = """## MC-DEC-20260726-a1b2c3d4 — T

Status: active
Scope: project
Evidence:
- user-confirmed

Decision:
x"""
CANDIDATE = """## MC-INBOX-20260726-a1b2c3d4 — T

Status: candidate
Candidate-Type: decision
Scope: project
Evidence:
- agent-observed

Statement:
x"""


def codes(text: str, path: str = "decisions.md") -> list[str]:
    return [problem.code for problem in standing(text, ENTRY, path).problems]


def with_evidence(*values: str) -> str:
    return DECISION.replace("- user-confirmed", "\n".join(f"- {value}" for value in values))


def test_complete_entry_is_served() -> None:
    found = standing(DECISION, ENTRY, "decisions.md")

    assert (found.status, found.problems, found.is_served) == ("active", (), True)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param(DECISION.replace("\n- user-confirmed", ""), "no_evidence", id="none"),
        pytest.param(with_evidence("agent-observed"), "weak_evidence", id="observed"),
        pytest.param(with_evidence("conversation-unconfirmed"), "weak_evidence", id="conversation"),
        pytest.param(
            with_evidence("agent-observed", "conversation-unconfirmed"),
            "weak_evidence",
            id="both-weak",
        ),
        pytest.param(with_evidence("because"), "invalid_evidence", id="prose"),
        pytest.param(with_evidence("repo:../x"), "invalid_evidence", id="outside"),
        pytest.param(
            with_evidence("user-confirmed", "repo:/x"), "invalid_evidence", id="one-invalid"
        ),
        pytest.param(DECISION.replace("active", "Active"), "invalid_status", id="status-case"),
        pytest.param(DECISION.replace("active", "done"), "invalid_status", id="unknown-status"),
        pytest.param(DECISION.replace("active", "candidate"), "invalid_status", id="candidate"),
        pytest.param(DECISION.replace("active", "promoted"), "invalid_status", id="promoted"),
        pytest.param(DECISION.replace("project", "team"), "matrix", id="scope"),
        pytest.param(DECISION.replace("project", "area:x"), "matrix", id="scope-of-another-row"),
        pytest.param(DECISION.replace("Decision:", "Constraint:"), "matrix", id="body"),
        pytest.param(DECISION.replace("MC-DEC", "MC-CON"), "matrix", id="code"),
        pytest.param(DECISION.replace("a1b2c3d4", "a1"), "invalid_id", id="mistyped-id"),
        pytest.param(DECISION.replace("Status: active\n", ""), "missing_field", id="no-status"),
        pytest.param(DECISION.replace("\nx", ""), "missing_body", id="no-body"),
    ],
)
def test_entry_that_fails_admission_is_not_served(text: str, code: str) -> None:
    found = standing(text, ENTRY, "decisions.md")

    assert code in codes(text)
    assert (found.status, found.is_served) == ("inadmissible", False)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(with_evidence("agent-observed", "repo:a"), id="weak-beside-strong"),
        pytest.param(with_evidence("legacy-unverified"), id="from-a-migration"),
        pytest.param(with_evidence("repo:does-not-exist"), id="existence-is-not-judged-here"),
    ],
)
def test_admissible_evidence_carries_the_entry(text: str) -> None:
    assert codes(text) == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(DECISION.replace("active", f"{'s' * 80}end"), id="status"),
        pytest.param(DECISION.replace("project", f"{'s' * 80}end"), id="scope"),
        pytest.param(DECISION.replace("project", f"area:{'s' * 80}end"), id="scope-of-another-row"),
        pytest.param(with_evidence(f"{'s' * 80}end"), id="evidence"),
        pytest.param(DECISION.replace("a1b2c3d4", f"{'s' * 80}end"), id="id"),
    ],
)
def test_no_message_holds_a_part_of_a_long_value(text: str) -> None:
    messages = [problem.message for problem in standing(text, ENTRY, "decisions.md").problems]

    assert messages
    assert not any("sss" in message for message in messages)


def test_missing_body_label_is_one_fault() -> None:
    assert codes(DECISION.replace("Decision:\n", "Text:\n")) == ["missing_body"]


def test_entry_in_the_wrong_file_is_not_served() -> None:
    assert codes(DECISION, "constraints.md") == ["matrix"]
    assert codes(DECISION, "inbox.md") == ["matrix"]


def test_candidate_is_admitted_with_weak_evidence_in_the_inbox_only() -> None:
    found = standing(CANDIDATE, ENTRY, "inbox.md")

    assert (found.status, found.problems, found.is_served) == ("candidate", (), False)
    assert codes(CANDIDATE, "decisions.md") == ["matrix"]


@pytest.mark.parametrize("status", ["active", "superseded"])
def test_candidate_cannot_be_active(status: str) -> None:
    text = CANDIDATE.replace("candidate", status, 1)

    assert "invalid_status" in codes(text, "inbox.md")


@pytest.mark.parametrize(
    ("text", "path", "status"),
    [
        (DECISION.replace("active", "superseded"), "decisions.md", "superseded"),
        (CANDIDATE.replace("candidate", "promoted", 1), "inbox.md", "promoted"),
        (DECISION.replace("active", "superseded"), "archive/decisions-2026-01-01.md", "superseded"),
    ],
)
def test_entry_at_the_end_of_its_life_is_not_served(text: str, path: str, status: str) -> None:
    found = standing(text, ENTRY, path)

    assert (status, (), False) == (found.status, found.problems, found.is_served)


@pytest.mark.parametrize("kind", [PREAMBLE, SECTION, GROUP, BULLET, PROSE])
def test_unit_without_an_id_is_legacy_and_served(kind: str) -> None:
    found = standing("- anything", kind, "constraints.md")

    assert (found.status, found.entry, found.is_served) == ("legacy", None, True)


@pytest.mark.parametrize("kind", [SECTION, GROUP, BULLET, PROSE])
def test_unit_without_an_id_in_the_inbox_is_a_candidate(kind: str) -> None:
    assert standing("- anything", kind, "inbox.md").status == "candidate"


def test_introduction_of_the_inbox_is_no_candidate() -> None:
    assert standing("Newest first.", PREAMBLE, "inbox.md").status == "legacy"


def test_duplicates_share_type_scope_and_folded_body() -> None:
    key = duplicate_key("decision", "area:Sync", "Use  CSV\nfor Straße")

    assert key == duplicate_key("decision", "area:sync", " use csv for STRASSE ")
    assert key != duplicate_key("constraint", "area:sync", "use csv for strasse")
    assert key != duplicate_key("decision", "project", "use csv for strasse")


def test_introduction_is_no_content() -> None:
    units = Document.parse("Intro\n- a\n").units

    assert [is_content(unit) for unit in units] == [False, True]
