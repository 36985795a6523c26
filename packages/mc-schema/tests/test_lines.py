from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mc_schema.lines import dominant_newline, indent_width, newline_behind, scan_lines


def opaque(text: str) -> list[int]:
    return [line.number for line in scan_lines(text).lines if line.is_opaque]


def contents(text: str) -> list[str]:
    return [line.content for line in scan_lines(text).lines]


@given(st.text(alphabet="a\r\n\ufeff\u2028\x0c\x0b\x85"))
def test_lines_cover_the_text_and_end_at_lf_crlf_or_cr_only(text: str) -> None:
    lines = scan_lines(text).lines
    body = text.removeprefix("\ufeff")
    expected = body.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if expected[-1] == "" and (len(expected) > 1 or not text):
        expected.pop()

    assert expected == [line.content for line in lines]
    assert all(text[line.start : line.content_end] == line.content for line in lines)
    assert all(a.end == b.start for a, b in itertools.pairwise(lines))
    assert not lines or lines[-1].end == len(text)


@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\x0c", "\x0b", "\x85", "\x1e"])
def test_other_separators_stay_inside_a_line(character: str) -> None:
    assert [f"a{character}b", "c"] == contents(f"a{character}b\nc")


def test_byte_order_mark_is_no_part_of_the_first_line() -> None:
    first, second = scan_lines("\ufeff## A\n\ufeffb").lines

    assert (first.content, first.start) == ("## A", 1)
    assert second.content == "\ufeffb"


@pytest.mark.parametrize(
    ("text", "newline"),
    [
        ("", "\n"),
        ("a", "\n"),
        ("a\nb\n", "\n"),
        ("a\r\nb\r\n", "\r\n"),
        ("a\rb\r", "\r"),
        ("a\r\nb\nc\r\n", "\r\n"),
        ("a\nb\r\nc\n", "\n"),
        ("a\n\r\n", "\n"),
    ],
)
def test_dominant_newline_is_the_most_frequent(text: str, newline: str) -> None:
    assert newline == dominant_newline(text)


@pytest.mark.parametrize(
    ("head", "newline", "written"),
    [("a\r", "\n", "\r"), ("a\n", "\n", "\n"), ("a", "\n", "\n"), ("a\r", "\r\n", "\r\n")],
)
def test_line_feed_behind_a_lone_cr_would_be_one_line_end(
    head: str, newline: str, written: str
) -> None:
    assert written == newline_behind(head, newline)


@pytest.mark.parametrize(("content", "width"), [("a", 0), ("  a", 2), ("\ta", 4), ("  \ta", 4)])
def test_tab_reaches_the_next_multiple_of_four(content: str, width: int) -> None:
    assert width == indent_width(content)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        pytest.param("```\nx\n```\ny", [1, 2, 3], id="backticks"),
        pytest.param("~~~\nx\n~~~\ny", [1, 2, 3], id="tildes"),
        pytest.param("``\nx\n``", [], id="two-are-none"),
        pytest.param("````\n```\nx\n````\ny", [1, 2, 3, 4], id="shorter-run-does-not-close"),
        pytest.param("```\nx\n`````\ny", [1, 2, 3], id="longer-run-closes"),
        pytest.param("~~~\n```\n~~~\ny", [1, 2, 3], id="other-character-does-not-close"),
        pytest.param("```\nx\n``` y\nz\n```", [1, 2, 3, 4, 5], id="closer-has-no-info"),
        pytest.param("```\nx\n```  \ny", [1, 2, 3], id="blanks-behind-closer"),
        pytest.param("``` py\nx\n```\ny", [1, 2, 3], id="info"),
        pytest.param("``` a`b\nx", [], id="backtick-in-info"),
        pytest.param("~~~ a`b\nx\n~~~\ny", [1, 2, 3], id="backtick-in-tilde-info"),
        pytest.param("   ```\nx\n   ```\ny", [1, 2, 3], id="three-columns"),
        pytest.param("    ```\nx", [], id="four-columns-are-code"),
        pytest.param("\t```\nx", [], id="tab-is-four-columns"),
        pytest.param("```\nx\n    ```\ny", [1, 2, 3, 4], id="closer-four-columns-deep"),
        pytest.param("```\nx", [1, 2], id="unclosed-to-the-end"),
        pytest.param("```\n\n## x\n", [1, 2, 3], id="blank-lines-inside"),
        pytest.param("- a\n  ```\n  x\n  ```\nb", [2, 3, 4], id="inside-an-item"),
        pytest.param("- a\n      ```\n  x", [], id="six-columns-in-an-item-are-code"),
        pytest.param("- a\n     ```\n  x\n     ```\nb", [2, 3, 4], id="five-in-an-item"),
        pytest.param("- ```\n  x\n  ```\nb", [1, 2, 3], id="behind-the-marker"),
        pytest.param("1. ~~~\n   x\n   ~~~\nb", [1, 2, 3], id="behind-a-number"),
        pytest.param("- - ```\n    x\n    ```\nb", [1, 2, 3], id="behind-two-markers"),
        pytest.param("-      ```\n       x\nb", [], id="code-behind-the-marker"),
        pytest.param("-\t```\n\tx\n\t```\nb", [1, 2, 3], id="tab-behind-the-marker"),
        pytest.param("- a\n  ```\n  x\n## b", [2, 3], id="item-ends-unclosed"),
        pytest.param("- ```\n  x\n```\n## b\n```\nc", [1, 2, 3, 4, 5], id="fence-after-fence"),
        pytest.param("- a\n```\n## b\n```\nc", [2, 3, 4], id="below-an-item"),
        pytest.param(
            "- a\n  - b\n    - c\n      ```\n      x\n      ```\nd", [4, 5, 6], id="nested-items"
        ),
        pytest.param("> ```\n> ## x\n> ```", [], id="quoted"),
        pytest.param("\ufeff```\nx\n```\ny", [1, 2, 3], id="byte-order-mark"),
        pytest.param("```\r\nx\r\n```\r\ny", [1, 2, 3], id="crlf"),
        pytest.param("```\rx\r```\ry", [1, 2, 3], id="lone-cr"),
    ],
)
def test_fences_are_those_of_markdown(text: str, lines: list[int]) -> None:
    assert lines == opaque(text)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        pytest.param("<!--\n## x\n-->\ny", [1, 2, 3], id="block"),
        pytest.param("<!-- x -->\n## y", [], id="one-line"),
        pytest.param("<!-->\n## y", [], id="shortest"),
        pytest.param("<!--\n\n## x\n\n-->\ny", [1, 2, 3, 4, 5], id="blank-lines-inside"),
        pytest.param("<!--\n## x", [1, 2], id="unclosed-block-hides-the-rest"),
        pytest.param("a <!-- b\n## x\nc -->\n## y", [2, 3], id="closed-in-the-paragraph"),
        pytest.param("a <!-- b\n\n## x\n\nc -->", [], id="not-closed-in-the-paragraph"),
        pytest.param("a <!-- b\n```\n-->\n```\n## y", [2, 3, 4], id="fence-ends-the-paragraph"),
        pytest.param("    <!-- b\n\n## x", [], id="four-columns-are-code"),
        pytest.param("`<!--` b\n## x\n-->", [], id="code-span"),
        pytest.param("`` ` <!-- `` b\n## x\n-->", [], id="double-code-span"),
        pytest.param("` <!-- b\n## x\n-->\n## y", [2, 3], id="one-back-tick-is-no-span"),
        pytest.param("<!-- ` --> `\n## x", [], id="closer-among-back-ticks"),
        pytest.param("<!-- a --> <!-- b\n## x\n-->\n## y", [2, 3], id="second-opener"),
        pytest.param("<!--\n--> <!-- a\n## x\n-->\n## y", [1, 2, 3, 4], id="closer-and-opener"),
        pytest.param("<!--\n```\n-->\n## x", [1, 2, 3], id="fence-inside-is-text"),
        pytest.param("```\n<!--\n```\n## x", [1, 2, 3], id="opener-in-a-fence-is-text"),
    ],
)
def test_comments_hide_what_they_hold(text: str, lines: list[int]) -> None:
    assert lines == opaque(text)


@pytest.mark.parametrize(
    ("text", "fence", "comment", "swallowing", "loose"),
    [
        pytest.param("a", 0, 0, 0, 0, id="nothing-open"),
        pytest.param("a\n```\nb", 2, 0, 2, 0, id="fence"),
        pytest.param("- a\n  ```\n  b", 2, 0, 0, 0, id="fence-in-an-item"),
        pytest.param("a\n\n<!-- b\n", 0, 3, 3, 0, id="comment"),
        pytest.param("a <!-- b\n", 0, 0, 0, 1, id="opener-in-prose"),
        pytest.param("```\n```\n<!-- -->", 0, 0, 0, 0, id="all-closed"),
    ],
)
def test_what_stays_open_is_named_by_its_line(
    text: str, fence: int, comment: int, swallowing: int, loose: int
) -> None:
    scan = scan_lines(text)

    assert (fence, comment, swallowing, loose) == (
        scan.open_fence,
        scan.open_comment,
        scan.swallowing,
        scan.loose_comment,
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> x\n", 2, id="ours"),
        pytest.param("a\n||||||| base\n", 2, id="base"),
        pytest.param("a\n\n>>>>>>> x\n", 3, id="theirs"),
        pytest.param("<!--\n<<<<<<< HEAD\n-->\n", 2, id="in-a-comment"),
        pytest.param("```\n<<<<<<< HEAD\n```\n", 0, id="in-a-fence"),
        pytest.param(" <<<<<<< HEAD\n", 0, id="indented"),
        pytest.param("=======\n", 0, id="underline-alone"),
        pytest.param("<<<<<<<\n", 0, id="without-a-blank"),
    ],
)
def test_conflict_markers_are_found_outside_fences(text: str, line: int) -> None:
    assert line == scan_lines(text).conflict
