from __future__ import annotations

import pytest
from mc_schema.budget import (
    ENTRY_TOKENS,
    INBOX_ITEMS,
    budget_of,
    counted_text,
    document_tokens,
    is_near,
    unit_tokens,
)
from mc_schema.document import BULLET, ENTRY, Document
from mc_schema.manifest import parse_manifest
from mc_schema.tokens import estimate_tokens

ENTRY_TEXT = """## MC-DEC-20260726-a1b2c3d4 — Two words

Status: active
Scope: project
Supersedes: MC-DEC-20250101-00000000
Evidence:
- repo:a/very/long/path/that/costs/nothing.py
- user-confirmed

Decision:
Three more words

Reason:
Because"""


@pytest.mark.parametrize(
    ("path", "limit"),
    [
        ("brief.md", 500),
        ("decisions.md", 800),
        ("constraints.md", 400),
        ("do-not-use.md", 400),
        ("preferences.md", 300),
        ("changelog.md", 800),
        ("rules/output.md", 400),
        ("rules/README.md", 400),
        ("profiles/git.md", 500),
        ("areas/sync.md", 600),
        ("areas/sub/x.md", 600),
        ("manifest.md", None),
        ("inbox.md", None),
        ("archive/decisions-2026-01-01.md", None),
        ("notes.md", None),
    ],
)
def test_default_budgets_are_those_of_the_protocol(path: str, limit: int | None) -> None:
    assert limit == budget_of(path, {})


@pytest.mark.parametrize(
    ("path", "limit"),
    [("decisions.md", 900), ("areas/sync.md", 50), ("areas/other.md", 650), ("notes.md", 10)],
)
def test_manifest_budget_goes_before_the_default(path: str, limit: int) -> None:
    manifest = parse_manifest(
        "## Context budget\n- decisions.md: 900 tokens max\n- `areas/*.md`: 650 tokens per file\n"
        "- areas/sync.md: 50 tokens\n- notes.md: 10 tokens, if present\n"
    )

    assert limit == budget_of(path, manifest.budgets)


def test_governance_lines_cost_nothing() -> None:
    counted = counted_text(ENTRY_TEXT, ENTRY)

    assert counted == "Two words\nThree more words\nBecause"
    assert estimate_tokens(counted) == 6


def test_legacy_unit_counts_whole() -> None:
    assert counted_text("- Status: active", BULLET) == "- Status: active"


def test_document_counts_its_title_and_all_units() -> None:
    document = Document.parse("\ufeff# One two\n\nIntro\n\n- a b\n\n" + ENTRY_TEXT + "\n")

    assert [unit_tokens(document, unit) for unit in document.units] == [1, 3, 6]
    assert document_tokens(document) == 3 + 1 + 3 + 6


@pytest.mark.parametrize(("tokens", "near"), [(639, False), (640, True), (801, True)])
def test_budget_is_near_from_four_fifths_on(tokens: int, near: bool) -> None:  # noqa: FBT001
    assert near == is_near(tokens, 800)


def test_advice_has_the_numbers_of_the_protocol() -> None:
    assert (ENTRY_TOKENS, INBOX_ITEMS) == (120, 30)
