"""Which legacy decisions are clear, and what their headings become."""

from __future__ import annotations

import pytest
from mc_migrate.decisions import is_clear, split_date


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        pytest.param("2026-03-04 - Keep CSV", ("20260304", "Keep CSV"), id="hyphen"),
        pytest.param("2026-03-04 – Keep CSV", ("20260304", "Keep CSV"), id="en-dash"),
        pytest.param("2026-03-04—Keep CSV", ("20260304", "Keep CSV"), id="em-dash-without-blanks"),
        pytest.param("2026-03-04: Keep CSV", ("20260304", "Keep CSV"), id="colon"),
        pytest.param("2026-03-04 Keep CSV", ("20260304", "Keep CSV"), id="blank"),
        pytest.param("2026-03-04", ("20260304", "2026-03-04"), id="date-alone-stays-title"),
        pytest.param("2026-02-30 - Keep CSV", ("", "2026-02-30 - Keep CSV"), id="no-such-day"),
        pytest.param("Keep CSV", ("", "Keep CSV"), id="no-date"),
        pytest.param("2026-03-04Keep", ("", "2026-03-04Keep"), id="no-separator"),
        pytest.param("２０２６-03-04 - x", ("", "２０２６-03-04 - x"), id="full-width-digits"),
        pytest.param("2026-03-04 -", ("", "2026-03-04 -"), id="nothing-behind"),
    ],
)
def test_leading_date_moves_into_the_id(heading: str, expected: tuple[str, str]) -> None:
    assert expected == split_date(heading)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param("Decision:\nKeep.\nReason:\nBecause.", True, id="label-alone"),
        pytest.param("Decision: Keep.", True, id="inline"),
        pytest.param("Decision:\nKeep.", True, id="without-reason"),
        pytest.param("Decision:\na\nDecision:\nb", False, id="two-decisions"),
        pytest.param("Decision:\na\nReason:\nb\nReason:\nc", False, id="two-reasons"),
        pytest.param("Some prose.", False, id="prose"),
        pytest.param("- Decision: in a bullet", False, id="in-a-bullet"),
        pytest.param("  Decision:\n  indented", False, id="indented"),
        pytest.param("```\nDecision:\n```", False, id="in-a-fence"),
        pytest.param("<!--\nDecision:\n-->", False, id="in-a-comment"),
        pytest.param("Decision:\na\n```\nDecision:\n```", True, id="second-one-fenced"),
        pytest.param("Status: done\nDecision:\na", False, id="has-status"),
        pytest.param("Scope: x\nDecision:\na", False, id="has-scope"),
        pytest.param("Evidence:\n- x\nDecision:\na", False, id="has-evidence"),
    ],
)
def test_decision_is_clear_with_one_label_and_no_fields(body: str, expected: bool) -> None:  # noqa: FBT001
    assert expected is is_clear(f"## Heading\n{body}")
