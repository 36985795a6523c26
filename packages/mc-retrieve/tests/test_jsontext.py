from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mc_retrieve.jsontext import format_json, format_number


@pytest.mark.parametrize(
    ("number", "text"),
    [
        pytest.param(1.0, "1", id="integral-float"),
        pytest.param(-0.0, "0", id="negative-zero"),
        pytest.param(0.5, "0.5", id="half"),
        pytest.param(1e-06, "0.000001", id="small-and-plain"),
        pytest.param(1e-07, "1e-7", id="smaller-with-exponent"),
        pytest.param(1.25e-09, "1.25e-9", id="digits-and-exponent"),
        pytest.param(1e20, "100000000000000000000", id="large-and-plain"),
        pytest.param(1e21, "1e+21", id="larger-with-exponent"),
        pytest.param(123456789012345680000.0, "123456789012345680000", id="rounded-digits"),
        pytest.param(-1234.5678, "-1234.5678", id="negative"),
        pytest.param(1.7976931348623157e308, "1.7976931348623157e+308", id="largest"),
        pytest.param(5e-324, "5e-324", id="smallest"),
        pytest.param(math.inf, "null", id="infinite"),
        pytest.param(-math.inf, "null", id="negative-infinite"),
        pytest.param(math.nan, "null", id="no-number"),
        pytest.param(2**60, "1152921504606846976", id="integer"),
    ],
)
def test_number_is_written_as_ecmascript_writes_it(number: float, text: str) -> None:
    assert text == format_number(number)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_written_number_reads_back_as_itself(number: float) -> None:
    assert number == float(format_number(number))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param('a"b\\c', '"a\\"b\\\\c"', id="quote-and-backslash"),
        pytest.param("\b\f\n\r\t", '"\\b\\f\\n\\r\\t"', id="short-escapes"),
        pytest.param("\x00\x1f", '"\\u0000\\u001f"', id="other-controls"),
        pytest.param("\x7f\u2028\u2029/é😀", '"\x7f\u2028\u2029/é😀"', id="unescaped"),
        pytest.param("a\ud800b", '"a\\ud800b"', id="half-a-surrogate-pair"),
        pytest.param(
            {"a": [1, 2.0, None, True, False, {}]}, '{"a":[1,2,null,true,false,{}]}', id="nested"
        ),
        pytest.param([], "[]", id="empty-list"),
    ],
)
def test_value_is_written_without_blanks_or_needless_escapes(value: Any, text: str) -> None:
    assert text == format_json(value)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
        max_leaves=12,
    )
)
def test_without_fractions_the_text_is_that_of_the_standard_library(value: Any) -> None:
    assert json.dumps(value, ensure_ascii=False, separators=(",", ":")) == format_json(value)


@pytest.mark.parametrize("value", [{1: 2}, object(), {"a": {1, 2}}, b"bytes"])
def test_value_without_a_json_form_is_refused(value: Any) -> None:
    with pytest.raises(TypeError):
        format_json(value)
