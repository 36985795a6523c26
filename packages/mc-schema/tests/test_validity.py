from __future__ import annotations

import datetime as dt
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mc_schema.errors import SchemaError
from mc_schema.validity import format_timestamp, is_active, parse_timestamp

EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)


def conformance_rows(name: str) -> list[dict[str, Any]]:
    default = Path(__file__).resolve().parents[4] / "shared"
    folder = Path(os.environ.get("MC_SHARED", default)) / "conformance"
    if not folder.is_dir():
        pytest.skip(f"shared conformance folder not found: {folder}")
    lines = (folder / name).read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def test_every_recorded_timestamp_is_judged_as_recorded() -> None:
    rows = conformance_rows("timestamps.jsonl")

    assert [(row["value"], row["epoch_ms"]) for row in rows] == [
        (row["value"], parse_timestamp(row["value"])) for row in rows
    ]


@given(
    st.datetimes(
        min_value=dt.datetime(100, 1, 1),  # noqa: DTZ001 - the offset is drawn below
        max_value=dt.datetime(9999, 12, 30),  # noqa: DTZ001 - the offset is drawn below
    ),
    st.integers(min_value=-23 * 60 - 59, max_value=23 * 60 + 59),
)
def test_parsed_instant_agrees_with_the_standard_library(
    moment: dt.datetime, offset_minutes: int
) -> None:
    moment = moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    sign = "-" if offset_minutes < 0 else "+"
    hours, minutes = divmod(abs(offset_minutes), 60)
    text = f"{moment.isoformat(timespec='milliseconds')}{sign}{hours:02d}:{minutes:02d}"
    expected = moment.replace(tzinfo=dt.timezone.utc) - EPOCH

    assert expected // dt.timedelta(milliseconds=1) - offset_minutes * 60_000 == (
        parse_timestamp(text)
    )


PLAIN_FORM = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
    r"(?:T([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.[0-9]{1,9})?)?(?:Z|[+-]([0-9]{2}):([0-9]{2})))?"
)


def plain_reading(text: str) -> bool:
    """A second opinion: the form as one expression, the day by the standard library."""
    match = PLAIN_FORM.fullmatch(text)
    if match is None or int(match[1]) < 100:
        return False
    try:
        dt.date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return False
    hour, minute, second, zone_hour, zone_minute = (int(part or 0) for part in match.groups()[3:])
    return max(hour, zone_hour) <= 23 and max(minute, second, zone_minute) <= 59


@given(
    st.sampled_from(
        [
            "2024-02-29",
            "0100-01-01T00:00Z",
            "2024-12-31T23:59:59.123456789+23:59",
            "1969-07-20T20:17:40.5Z",
        ]
    ),
    st.lists(
        st.tuples(
            st.integers(min_value=0, max_value=36),
            st.integers(min_value=0, max_value=2),
            st.sampled_from(
                [*"0123456789", "-", ":", ".", "T", "Z", "+", " ", "", "t", "\u0661", "²"]
            ),
        ),
        max_size=3,
    ),
)
def test_texts_near_a_timestamp_are_judged_as_by_a_plain_reading(
    text: str, edits: list[tuple[int, int, str]]
) -> None:
    for position, width, replacement in edits:
        text = text[:position] + replacement + text[position + width :]

    assert plain_reading(text) is (parse_timestamp(text) is not None)


@given(st.integers(min_value=-59_011_459_200_000, max_value=253_402_300_799_999))
def test_formatted_timestamp_is_read_back_as_the_same_instant(instant: int) -> None:
    assert instant == parse_timestamp(format_timestamp(instant))


@pytest.mark.parametrize(
    ("instant", "text"),
    [
        pytest.param(0, "1970-01-01T00:00:00.000Z", id="epoch"),
        pytest.param(-1, "1969-12-31T23:59:59.999Z", id="before-epoch"),
        pytest.param(-59_011_545_540_000, "0099-12-31T00:01:00.000Z", id="year-99"),
        pytest.param(-62_167_219_200_000, "0000-01-01T00:00:00.000Z", id="first"),
        pytest.param(253_402_300_799_999, "9999-12-31T23:59:59.999Z", id="last"),
    ],
)
def test_instant_is_written_in_the_long_form(instant: int, text: str) -> None:
    assert text == format_timestamp(instant)


@pytest.mark.parametrize("instant", [-62_167_219_200_001, 253_402_300_800_000])
def test_instant_that_four_digit_years_cannot_write_is_refused(instant: int) -> None:
    with pytest.raises(SchemaError) as caught:
        format_timestamp(instant)

    assert caught.value.code == "invalid_timestamp"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("٢٠٢٤-01-01", id="digits-that-are-not-ascii"),
        pytest.param("2024-01-01\n", id="final-newline"),
        pytest.param("2024-01-01T00:00", id="no-offset"),
        pytest.param("2024-01-01T00:00.5Z", id="fraction-without-seconds"),
        pytest.param("2024-01-01T00:00:00.1234567890Z", id="ten-digit-fraction"),
        pytest.param("2024-01-01T00:00:60Z", id="leap-second"),
        pytest.param("2024-01-01T00:00Z+00:00", id="two-offsets"),
    ],
)
def test_anything_else_is_not_a_timestamp(text: str) -> None:
    assert parse_timestamp(text) is None


@pytest.mark.parametrize(
    ("valid_from", "valid_until", "active"),
    [
        pytest.param(None, None, True, id="open"),
        pytest.param(5, None, True, id="start-is-inclusive"),
        pytest.param(6, None, False, id="not-yet"),
        pytest.param(None, 5, False, id="end-is-exclusive"),
        pytest.param(None, 6, True, id="not-over"),
        pytest.param(4, 6, True, id="inside"),
        pytest.param(1, 2, False, id="past"),
    ],
)
def test_window_holds_its_start_and_not_its_end(
    valid_from: int | None, valid_until: int | None, *, active: bool
) -> None:
    assert active is is_active(valid_from, valid_until, 5)
