from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mc_plan.operations.title import TITLE_CHARS, folded_title, title_of


@pytest.mark.parametrize(
    ("message", "title"),
    [
        pytest.param("Keep exports in CSV", "Keep exports in CSV", id="line"),
        pytest.param("Use CSV. It is simple.", "Use CSV", id="sentence"),
        pytest.param("Use CSV.", "Use CSV", id="sentence-at-the-end"),
        pytest.param("Support Python 3.10+ only", "Support Python 3.10+ only", id="point-in-word"),
        pytest.param("Really? Yes", "Really", id="question"),
        pytest.param("Stop! Now", "Stop", id="exclamation"),
        pytest.param("使用CSV。因为简单。", "使用CSV", id="cjk-stop"),
        pytest.param("可以吗？可以", "可以吗", id="cjk-question"),
        pytest.param("First line\nsecond", "First line", id="first-line"),
        pytest.param("  a \t b  ", "a b", id="white-space"),
        pytest.param("\n\nbelow", "below", id="blank-lines"),
        pytest.param("```\ncode\n```", "code", id="fence"),
        pytest.param("see <!-- x --> there", "see x there", id="comment-marks"),
        pytest.param(". starts", ". starts", id="no-sentence"),
        pytest.param("```\n```", "", id="nothing"),
        pytest.param("w" * 72, "w" * 72, id="just-fits"),
        pytest.param("w" * 73, "w" * 71 + "…", id="one-long-word"),
        pytest.param("word " * 20, "word " * 13 + "word…", id="word-boundary"),
    ],
)
def test_the_title_is_the_first_sentence_or_line(message: str, title: str) -> None:
    assert title == title_of(message)


@given(st.text())
def test_a_title_is_one_short_line_without_comment_marks(message: str) -> None:
    title = title_of(message)

    assert len(title) <= TITLE_CHARS
    assert title == " ".join(title.split())
    assert "<!--" not in title
    assert "-->" not in title


def test_the_older_title_is_the_first_72_characters_of_the_folded_message() -> None:
    assert folded_title("a\n" * 100)[:71] == "a " * 35 + "a"
    assert len(folded_title("x" * 100)) == TITLE_CHARS
