from __future__ import annotations

import hashlib
import re
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mc_retrieve.markdown import find_links, parse_markdown
from mc_schema.private import WHITE_SPACE

if TYPE_CHECKING:
    from collections.abc import Callable

MEGABYTE = 1_000_000


def fields_of(head: str, path: str = "KNOWLEDGE/a.md") -> tuple[str, ...]:
    record = parse_markdown(f"---\n{head}\n---\nbody".encode(), path)
    return record.id, record.type, record.title, record.created, record.updated, record.source


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        pytest.param("id: x", "x", id="plain"),
        pytest.param("id:x", "x", id="no-blank"),
        pytest.param("id:\t x \t", "x", id="blanks-around"),
        pytest.param("id: \u2028\u00a0x\ufeff", "x", id="odd-white-space-around"),
        pytest.param("id: 'x\"", "x", id="one-quote-at-each-end"),
        pytest.param('id: ""x""', '"x"', id="one-quote-only"),
        pytest.param("id: ' x '", " x ", id="nothing-trimmed-after-quotes"),
        pytest.param("id: x # y", "x # y", id="no-comments"),
        pytest.param("id: x\nid: y", "y", id="last-wins"),
        pytest.param("id: x\nid: y\rz", "x", id="line-with-a-stray-return-counts-for-nothing"),
        pytest.param("id: x\nid: y\u2028z", "x", id="line-with-a-separator-counts-for-nothing"),
        pytest.param("id: x\r\nother: y", "x", id="crlf"),
        pytest.param("id: x\n id: y", "x", id="indented-key"),
        pytest.param("id: x\nid : y", "x", id="blank-before-colon"),
        pytest.param("id: x\nid", "x", id="no-colon"),
        pytest.param("id: x\r\nid", "x", id="no-colon-in-crlf"),
        pytest.param("id: a:b", "a:b", id="colon-in-value"),
        pytest.param("id: é", "é", id="not-ascii"),
    ],
)
def test_frontmatter_value_is_trimmed_and_unquoted(head: str, expected: str) -> None:
    assert expected == fields_of(head)[0]


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        pytest.param(
            "",
            (
                "path:" + hashlib.sha256(b"KNOWLEDGE/a.md").hexdigest()[:16],
                "memory",
                "KNOWLEDGE/a.md",
                "1970-01-01T00:00:00.000Z",
                "1970-01-01T00:00:00.000Z",
                "canonical",
            ),
            id="defaults",
        ),
        pytest.param(
            "id: i\ntitle:\nname: n\ncreated: ''\ndate: d\nts: t\nlast_updated: l\nsource: s",
            ("i", "memory", "n", "d", "l", "s"),
            id="second-choices",
        ),
        pytest.param(
            "id: i\ntype: y\ntitle: t\nname: n\ncreated: c\ndate: d\nupdated: u\nlast_updated: l\n"
            "source_kind: k\nsource: s",
            ("i", "y", "t", "c", "u", "k"),
            id="first-choices",
        ),
        pytest.param(
            "id: i\nts: t", ("i", "memory", "KNOWLEDGE/a.md", "t", "t", "canonical"), id="ts"
        ),
    ],
)
def test_empty_values_fall_back_in_order(head: str, expected: tuple[str, ...]) -> None:
    assert expected == fields_of(head)


def test_optional_fields_are_read_and_empty_ones_are_absent() -> None:
    head = "source_session: s\nvalid_from: 2026-01-01\nvalid_until: 2027-01-01"
    full = parse_markdown(f"---\n{head}\n---\n".encode(), "a.md")
    empty = parse_markdown(b"---\nsource_session:\nvalid_from: ''\nvalid_until:\n---\n", "a.md")

    assert (full.session, full.valid_from, full.valid_until) == ("s", "2026-01-01", "2027-01-01")
    assert (empty.session, empty.valid_from, empty.valid_until) == (None, None, None)


@pytest.mark.parametrize("value", ["'x", "x'", '"x"', "'"])
def test_quote_at_one_end_is_dropped_too(value: str) -> None:
    assert fields_of(f"title: {value}")[2] in {"x", "KNOWLEDGE/a.md"}


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("KNOWLEDGE/WORK/a.md", "work"),
        ("KNOWLEDGE/HOMEWORK/a.md", "work"),
        ("KNOWLEDGE/WORK.md", "memory"),
        ("KNOWLEDGE/work/a.md", "memory"),
    ],
)
def test_type_falls_back_on_the_path(path: str, kind: str) -> None:
    assert kind == fields_of("", path)[1]


@pytest.mark.parametrize(
    ("content", "found"),
    [
        pytest.param("---\nid: x\n---\n", True, id="closed-by-a-line"),
        pytest.param("---\nid: x\n---", True, id="closed-at-the-end"),
        pytest.param("---\r\nid: x\r\n---\r\n", True, id="crlf"),
        pytest.param("---\r\nid: x\r\n---\r\nbody\r\n", True, id="crlf-and-a-body"),
        pytest.param("---\nid: x\r\n---\n", True, id="mixed"),
        pytest.param("---\nid: x\n--- \ny: z\n---\n", True, id="false-close-then-a-real-one"),
        pytest.param("---\n---\nid: x\n---\n", True, id="dashes-inside"),
        pytest.param("---\nid: x\n--- \n", False, id="blank-after-dashes"),
        pytest.param("---\nid: x\n---x\n", False, id="text-after-dashes"),
        pytest.param("---\n---\n", False, id="nothing-between"),
        pytest.param(" ---\nid: x\n---\n", False, id="not-at-the-start"),
        pytest.param("--- \nid: x\n---\n", False, id="blank-after-the-first-dashes"),
        pytest.param("---\nid: x\n---\r", False, id="lone-return-after-dashes"),
    ],
)
def test_frontmatter_is_closed_by_exactly_three_dashes(content: str, *, found: bool) -> None:
    assert found is (parse_markdown(content.encode(), "a.md").id == "x")


@pytest.mark.parametrize(
    ("content", "links"),
    [
        pytest.param("slug: a", ["a"], id="at-the-start"),
        pytest.param("x\n  - slug: a b\n\t-slug:c\n", ["a", "c"], id="with-a-dash"),
        pytest.param("- - slug: a", [], id="two-dashes"),
        pytest.param("x\n-slug: a", ["a"], id="dash-at-column-0"),
        pytest.param("x slug: a", [], id="inside-a-line"),
        pytest.param("slug: a slug: b", ["a"], id="rest-of-line-is-consumed"),
        pytest.param("slug: a#b\nslug: #c", ["a"], id="comment-sign-ends-a-target"),
        pytest.param("slug: 'a'\nslug: \"b", ["a", "b"], id="quotes"),
        pytest.param("slug: a\nslug: a", ["a", "a"], id="repeats-kept"),
        pytest.param("related: [a, b]", [], id="flow-list"),
        pytest.param("\rslug: a\u2028slug: b\u2029slug: c", ["a", "b", "c"], id="every-terminator"),
        pytest.param("\u00a0\ufeff-\u3000slug:\u00a0a\u00a0b", ["a"], id="odd-white-space"),
        pytest.param("slug:\nnext", [], id="no-target-on-the-line"),
        pytest.param("slug:  \nslug: b", ["b"], id="no-target-then-one"),
        pytest.param("slug:slug:x", ["slug:x"], id="target-that-looks-like-a-link"),
        pytest.param("slug: é", ["é"], id="not-ascii"),
        pytest.param("slug: a\x1cb", ["a\x1cb"], id="control-is-no-white-space-here"),
        pytest.param("Slug: a", [], id="letter-case-matters"),
        pytest.param("-\nslug: a", ["a"], id="dash-on-the-line-before"),
    ],
)
def test_link_is_a_slug_line_with_its_target(content: str, links: list[str]) -> None:
    assert links == find_links(content)


BLANK = (
    f"[{''.join(sorted(set(WHITE_SPACE) - set(chr(10) + chr(13) + chr(0x2028) + chr(0x2029))))}]"
)
PLAIN_LINK = re.compile(
    f"(?:\\A|(?<=[\\n\\r\\u2028\\u2029])){BLANK}*-?{BLANK}*slug:{BLANK}*([^{WHITE_SPACE}#]+)"
)


@given(
    st.lists(
        st.sampled_from(
            [
                "slug:",
                "slug",
                ":",
                "-",
                " ",
                "\t",
                "\n",
                "\r",
                "\u2028",
                "a",
                "#",
                "'",
                '"',
                "\u00a0",
                "é",
            ]
        ),
        max_size=30,
    ).map("".join)
)
def test_links_are_those_of_one_expression(content: str) -> None:
    def unquote(word: str) -> str:
        word = word[1:] if word[0] in "'\"" else word
        return word[:-1] if word[-1:] in {"'", '"'} else word

    assert [unquote(match[1]) for match in PLAIN_LINK.finditer(content)] == find_links(content)


def steps_of(work: Callable[[str], object], text: str) -> int:
    steps = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal steps
        steps += 1

    sys.setprofile(count)
    try:
        work(text)
    finally:
        sys.setprofile(None)
    return steps


@pytest.mark.parametrize(
    "unit",
    ["\n", " ", "-", "slug:", "slug: ", "slug:\n", "- slug: a\n", "slug: a ", "\n \n-", "slug:#"],
)
def test_a_megabyte_of_hostile_text_is_searched_for_links_in_linear_steps(unit: str) -> None:
    assert steps_of(find_links, unit * 4_000) <= 4 * steps_of(find_links, unit * 1_000) + 100
    find_links(unit * (MEGABYTE // len(unit)))


@pytest.mark.parametrize("unit", ["\n---x", "\n---", "a: b\n", "\r", "\n"])
def test_a_megabyte_of_hostile_frontmatter_is_answered(unit: str) -> None:
    content = ("---\n" + unit * (MEGABYTE // len(unit))).encode()

    assert parse_markdown(content, "a.md").path == "a.md"
