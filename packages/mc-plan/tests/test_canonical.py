"""Canonical JSON: equal values, equal bytes, and nothing that a machine could spell differently."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mc_plan.canonical import canonical_json, compute_plan_id, is_plan_id


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param({"b": 1, "a": [True, None]}, b'{"a":[true,null],"b":1}', id="sorted-compact"),
        pytest.param({"z": {"b": 1, "a": 2}}, b'{"z":{"a":2,"b":1}}', id="sorted-inside"),
        pytest.param("é/東京", '"é/東京"'.encode(), id="utf-8-not-escaped"),
        pytest.param(["e\u0301", "\u00e9"], '["e\u0301","\u00e9"]'.encode(), id="not-normalised"),
        pytest.param('"\\\n\x01', b'"\\"\\\\\\n\\u0001"', id="json-escapes"),
        pytest.param((1, 2), b"[1,2]", id="tuple-is-a-list"),
        pytest.param({"a": 10**20}, b'{"a":100000000000000000000}', id="big-integer"),
    ],
)
def test_value_has_one_written_form(value: Any, expected: bytes) -> None:
    assert expected == canonical_json(value)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(1.0, id="float"),
        pytest.param([{"a": 0.5}], id="float-inside"),
        pytest.param({1: "a"}, id="key-not-text"),
        pytest.param({"a": b"x"}, id="bytes"),
        pytest.param({"a": {1, 2}}, id="set"),
    ],
)
def test_value_without_one_written_form_is_refused(value: Any) -> None:
    with pytest.raises(TypeError):
        canonical_json(value)


def test_lone_surrogate_is_refused() -> None:
    with pytest.raises(ValueError, match="surrogates"):
        canonical_json({"a": "\ud800"})


def test_plan_id_is_the_first_16_hex_digits_of_the_digest() -> None:
    content = {"b": "é", "a": 1}

    assert compute_plan_id(content) == hashlib.sha256('{"a":1,"b":"é"}'.encode()).hexdigest()[:16]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(value=st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), _JSON, max_size=5))
def test_order_of_keys_does_not_matter(value: dict[str, Any]) -> None:
    turned = dict(reversed(list(value.items())))

    assert canonical_json(value) == canonical_json(turned)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("0123456789abcdef", True, id="sixteen"),
        pytest.param("0123456789abcde", False, id="fifteen"),
        pytest.param("0123456789ABCDEF", False, id="upper-case"),
        pytest.param("0123456789abcdeg", False, id="not-hex"),
        pytest.param("０123456789abcdef", False, id="full-width-digit"),
        pytest.param("", False, id="empty"),
    ],
)
def test_plan_id_form_is_16_lowercase_hex(text: str, *, expected: bool) -> None:
    assert expected == is_plan_id(text)
