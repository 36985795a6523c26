from __future__ import annotations

import json
from typing import Any

import pytest
from mc_retrieve.errors import IntegrityError
from mc_retrieve.jsonlines import parse_json_lines

ROW = {
    "id": "a",
    "type": "memory",
    "title": "T",
    "created": "2026-01-01",
    "updated": "2026-01-01",
    "content": "c",
}


def line(**changes: Any) -> str:
    row = {**ROW, **changes}
    return json.dumps({key: value for key, value in row.items() if value is not ...})


def test_blank_lines_are_skipped_and_count() -> None:
    text = f"\n \ufeff\u2028\n{line()}\n{{}}\n"

    with pytest.raises(IntegrityError) as caught:
        list(parse_json_lines(text, "x.jsonl"))

    assert caught.value.where == "x.jsonl:4"


@pytest.mark.parametrize(
    ("changes", "source", "session", "related"),
    [
        pytest.param({}, "canonical", None, [], id="least"),
        pytest.param({"source_kind": "k", "source": "s"}, "k", None, [], id="source-kind-first"),
        pytest.param({"source": "s"}, "s", None, [], id="source-second"),
        pytest.param({"source_session": ""}, "canonical", "", [], id="empty-session-is-kept"),
        pytest.param({"source_session": None}, "canonical", None, [], id="null-session"),
        pytest.param({"related": ["x", "x"]}, "canonical", None, ["x", "x"], id="links-kept"),
    ],
)
def test_optional_fields_have_their_defaults(
    changes: dict[str, Any], source: str, session: str | None, related: list[str]
) -> None:
    [(record, _)] = parse_json_lines(line(**changes), "x.jsonl")

    assert (record.source, record.session, record.related) == (source, session, related)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[]", id="list"),
        pytest.param("null", id="null"),
        pytest.param("NaN", id="no-json"),
        pytest.param(line() + ",", id="trailing-comma"),
        pytest.param("[" * 100_000, id="deep"),
        pytest.param('{"a":' * 50_000, id="deep-objects"),
        pytest.param('{"id":' + "1" * 10_000 + "}", id="very-long-number"),
        pytest.param(line(extra=1), id="unknown-field"),
        pytest.param(line(id=...), id="no-id"),
        pytest.param(line(title=" \u3000"), id="blank-title"),
        pytest.param(line(content=""), id="empty-content"),
        pytest.param(line(type=1), id="type-not-a-text"),
        pytest.param(line(source_kind=None), id="source-kind-null"),
        pytest.param(line(source=""), id="source-empty"),
        pytest.param(line(source_session=1), id="session-not-a-text"),
        pytest.param(line(related=None), id="links-null"),
        pytest.param(line(related=["a", " "]), id="blank-link"),
        pytest.param(line(valid_from=1), id="bound-not-a-text"),
        pytest.param(line(title="a\x00"), id="escaped-nul"),
        pytest.param(line(title="a\x08"), id="escaped-backspace"),
        pytest.param(line(title="a\x0c"), id="escaped-form-feed"),
        pytest.param(line(id="a\x85"), id="escaped-c1-control"),
        pytest.param(line(related=["a\x7f"]), id="escaped-delete-in-a-link"),
        pytest.param(line(content="\ud800"), id="escaped-half-pair"),
    ],
)
def test_line_that_is_no_record_is_refused(text: str) -> None:
    with pytest.raises(IntegrityError) as caught:
        list(parse_json_lines(text, "x.jsonl"))

    assert caught.value.where == "x.jsonl:1"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param("a <private>x</private> b", "a  b", id="raw-tags"),
        pytest.param("a <b> c", "a <b> c", id="other-markup"),
        pytest.param("a \u003cprivate>x</private> b", "a  b", id="escaped-bracket"),
        pytest.param("a \uff1cprivate> x", "a ", id="look-alike"),
        pytest.param("a <private>x</private>", "a ", id="one-field"),
    ],
)
@pytest.mark.parametrize("escaped", [True, False], ids=["escaped", "raw"])
def test_private_spans_are_stripped_however_they_are_written(
    content: str, expected: str, *, escaped: bool
) -> None:
    text = json.dumps({**ROW, "content": content}, ensure_ascii=escaped)
    if not escaped and "\uff1c" in content:
        # In the raw text an opener that closes nowhere takes the end of the line with it.
        with pytest.raises(IntegrityError):
            list(parse_json_lines(text, "x.jsonl"))
        return
    [(_, found)] = parse_json_lines(text, "x.jsonl")

    assert expected == found


def test_value_may_begin_with_white_space() -> None:
    [(record, content)] = parse_json_lines(line(title=" T", content="\nc\t"), "x.jsonl")

    assert (record.title, content) == (" T", "\nc\t")


def test_of_equal_keys_the_last_wins() -> None:
    [(record, _)] = parse_json_lines(line()[:-1] + ',"id":"z"}', "x.jsonl")

    assert record.id == "z"


def test_line_ends_at_a_line_feed_only() -> None:
    text = line(content="a\u2028b").replace("\\u2028", "\u2028")
    rows = list(parse_json_lines(text + "\r\n" + line(id="b") + "\n", "x.jsonl"))

    assert [record.id for record, _ in rows] == ["a", "b"]
