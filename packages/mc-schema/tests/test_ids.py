from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mc_schema.errors import SchemaError
from mc_schema.ids import (
    ENTRY_TYPES,
    EntryId,
    claimed_entry_id,
    find_entry_ids,
    format_entry_id,
    is_calendar_date,
    is_project_id,
    parse_entry_id,
    require_entry_id,
)

if TYPE_CHECKING:
    import uuid

CANONICAL = "MC-DEC-20260726-a1b2c3d4"


def test_type_codes_are_those_of_the_guide() -> None:
    assert ENTRY_TYPES == ("DEC", "CON", "DNU", "PREF", "AREA", "INBOX", "TOMB")


@pytest.mark.parametrize("code", ENTRY_TYPES)
def test_id_of_every_type_is_read_back(code: str) -> None:
    text = format_entry_id(code, "20260726", "A1B2C3D4")

    assert EntryId(code, "20260726", "a1b2c3d4") == parse_entry_id(text)
    assert f"MC-{code}-20260726-a1b2c3d4" == text


@pytest.mark.parametrize("text", [CANONICAL.lower(), CANONICAL.upper(), "mC-dEc-20260726-A1b2C3d4"])
def test_letter_case_of_an_id_is_ignored_and_written_canonically(text: str) -> None:
    assert str(parse_entry_id(text)) == CANONICAL


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("MC-DEC-20260726-a1b2c3d", id="seven-digits"),
        pytest.param("MC-DEC-20260726-a1b2c3d45", id="nine-digits"),
        pytest.param("MC-DEC-20260726-g1b2c3d4", id="no-hex"),
        pytest.param("MC-DEC-2026726-a1b2c3d4", id="short-date"),
        pytest.param("MC-RULE-20260726-a1b2c3d4", id="unknown-type"),
        pytest.param("MC-DEC-２０２６0726-a1b2c3d4", id="full-width-digits"),
        pytest.param(CANONICAL + "\n", id="line-end-behind"),
        pytest.param(" " + CANONICAL, id="blank-before"),
        pytest.param("MC–DEC–20260726–a1b2c3d4", id="dashes"),
        pytest.param("MC-PRE\u017f-20260726-a1b2c3d4", id="long-s"),
    ],
)
def test_text_that_is_no_id_gives_none(text: str) -> None:
    assert parse_entry_id(text) is None


def test_required_id_may_have_blanks_around_it() -> None:
    assert str(require_entry_id(f"  {CANONICAL.upper()}\n")) == CANONICAL


def test_required_id_that_is_none_is_refused_with_an_example() -> None:
    with pytest.raises(SchemaError) as caught:
        require_entry_id("DEC-1", where="--supersedes")

    assert (caught.value.code, caught.value.where) == ("invalid_id", "--supersedes")
    assert "MC-DEC-20260726-a1b2c3d4" in caught.value.hint


@pytest.mark.parametrize(
    ("heading", "claimed"),
    [
        pytest.param(f"{CANONICAL} — Title", CANONICAL, id="well-formed"),
        pytest.param("mc-dec-2026 — Title", "mc-dec-2026", id="mistyped"),
        pytest.param(f"{CANONICAL}x — Title", f"{CANONICAL}x", id="too-long"),
        pytest.param(f"{CANONICAL}— Title", CANONICAL, id="dash-without-blank"),
        pytest.param("MC-Hammer", None, id="prose"),
        pytest.param(f"About {CANONICAL}", None, id="in-the-middle"),
        pytest.param("2026-01-01 - Title", None, id="dated"),
    ],
)
def test_heading_claims_the_id_it_begins_with(heading: str, claimed: str | None) -> None:
    assert claimed == claimed_entry_id(heading)


def test_ids_in_a_text_are_found_in_order_with_repeats() -> None:
    other = "MC-CON-20260101-00000000"
    text = f"see {other}, {CANONICAL.upper()} ({other}); not x{CANONICAL} nor {CANONICAL}-1"

    assert [other, CANONICAL, other] == find_entry_ids(text)


@given(st.uuids(version=4))
def test_uuid4_is_a_project_id_in_any_case(value: uuid.UUID) -> None:
    assert is_project_id(str(value))
    assert is_project_id(str(value).upper())


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("c0ffee00-0000-1000-8000-000000000000", id="version-1"),
        pytest.param("c0ffee00-0000-4000-7000-000000000000", id="wrong-variant"),
        pytest.param("{c0ffee00-0000-4000-8000-000000000000}", id="braces"),
        pytest.param("c0ffee0000004000800000000000000000", id="no-hyphens"),
        pytest.param("c0ffee00-0000-4000-8000-000000000000\n", id="line-end-behind"),
    ],
)
def test_other_texts_are_no_project_id(text: str) -> None:
    assert not is_project_id(text)


@given(st.dates())
def test_every_day_of_the_calendar_is_a_date(day: dt.date) -> None:
    assert is_calendar_date(f"{day.year:04}{day.month:02}{day.day:02}")


@pytest.mark.parametrize(
    "digits",
    [
        "20260230",
        "20260431",
        "19000229",
        "20261301",
        "20260100",
        "00000101",
        "2026010",
        "２0260101",
    ],
)
def test_days_that_do_not_exist_are_no_date(digits: str) -> None:
    assert not is_calendar_date(digits)


@given(st.text(alphabet="0123456789", min_size=8, max_size=8))
def test_calendar_agrees_with_the_standard_library(digits: str) -> None:
    try:
        dt.date(int(digits[:4]), int(digits[4:6]), int(digits[6:]))
    except ValueError:
        expected = False
    else:
        expected = True

    assert expected == is_calendar_date(digits)
