from __future__ import annotations

import math

import pytest
from mc_retrieve.numeral import parse_integer, parse_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        pytest.param("", 0.0, id="empty"),
        pytest.param(" \ufeff\u2028", 0.0, id="blank"),
        pytest.param(" 7\n", 7.0, id="white-space-around"),
        pytest.param("1e1", 10.0, id="exponent"),
        pytest.param("+.5", 0.5, id="no-leading-digit"),
        pytest.param("5.", 5.0, id="no-fraction-digit"),
        pytest.param("-1.5E-3", -0.0015, id="everything"),
        pytest.param("0x1F", 31.0, id="hexadecimal"),
        pytest.param("0O17", 15.0, id="octal"),
        pytest.param("0b101", 5.0, id="binary"),
        pytest.param("Infinity", math.inf, id="infinity"),
        pytest.param("-Infinity", -math.inf, id="negative-infinity"),
        pytest.param("1e999", math.inf, id="overflow"),
        pytest.param("0x" + "f" * 400, math.inf, id="hexadecimal-overflow"),
    ],
)
def test_option_value_is_read_as_ecmascript_reads_it(text: str, number: float) -> None:
    assert number == parse_number(text)


@pytest.mark.parametrize(
    "text",
    [
        "1_000",
        "٣",
        "１",
        "inf",
        "nan",
        "NaN",
        "infinity",
        "0x",
        "0xg",
        "-0x1",
        "+0b1",
        "0b2",
        "1 2",
        "e5",
        ".",
        "+",
        "--1",
        "1e",
        "1f",
        "\x1c1",
        "1\x85",
        "0x_1",
    ],
)
def test_anything_else_is_no_number(text: str) -> None:
    assert math.isnan(parse_number(text))


@pytest.mark.parametrize(
    ("text", "integer"),
    [
        ("2.0", 2),
        ("1e1", 10),
        ("0x2", 2),
        ("-3", -3),
        ("2.5", None),
        ("x", None),
        ("Infinity", None),
    ],
)
def test_integer_is_a_finite_number_without_fraction(text: str, integer: int | None) -> None:
    assert integer == parse_integer(text)
