"""The text of hot memory files: a lenient parser, a canonical writer, and nothing dropped."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mc_cli.cortex.governance import GovernanceError
from mc_cli.cortex.hot_entries import (
    BEGIN,
    END,
    PREFIXES,
    format_hot_file,
    parse_hot_file,
    require_sound,
)

LINES = st.one_of(
    st.sampled_from(
        [BEGIN, END, f"  {BEGIN} ", "", "---", "# Title", "prose", "NAME: a", "RULE: b"]
    ),
    st.builds(
        "{}: {}".format, st.sampled_from(PREFIXES), st.text("ab <>-", min_size=1, max_size=8)
    ),
    st.text("ab:\r\t -<!>", max_size=12),
)


def entries_of(text: str) -> list[str]:
    return [entry.text for entry in parse_hot_file(text, "P.md").entries]


def rewritten(text: str) -> str:
    file = parse_hot_file(text, "P.md")
    return format_hot_file(file, tuple(entry.text for entry in file.entries))


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        pytest.param(f"{BEGIN}\nNAME: a\nRULE: b\n{END}\n", ["NAME: a", "RULE: b"], id="canonical"),
        pytest.param("# T\nNAME: a\n", ["NAME: a"], id="orphans"),
        pytest.param("---\nNAME: no\n---\nNAME: a\n", ["NAME: a"], id="not-in-frontmatter"),
        pytest.param(
            f"RULE: o\n{BEGIN}\nNAME: a\n{END}\n", ["RULE: o", "NAME: a"], id="orphan-above"
        ),
        pytest.param(f"see {BEGIN} here\nNAME: a\n", ["NAME: a"], id="marker-inside-a-line"),
        pytest.param(f"  {BEGIN}\t\nNAME: a\n{END}\n", ["NAME: a"], id="marker-with-blanks"),
        pytest.param(f"{BEGIN}\nNAME: a\n", ["NAME: a"], id="no-end"),
        pytest.param(f"{BEGIN}\n\n  NAME:  a  \n\n{END}", ["NAME: a"], id="blanks-around"),
        pytest.param("    NAME: code\n", [], id="indented-prose"),
        pytest.param("OTHER: x\nNAMES: y\n", [], id="other-words"),
    ],
)
def test_parser_is_lenient(text: str, entries: list[str]) -> None:
    assert entries == entries_of(text)


def test_everything_else_in_the_file_is_kept_in_order() -> None:
    text = f"---\nid: x\n---\n# T\nbefore\nRULE: o\n{BEGIN}\nNAME: a\n{END}\nafter\nROLE: p\nend\n"

    expected = (
        f"---\nid: x\n---\n# T\nbefore\n{BEGIN}\nRULE: o\nNAME: a\nROLE: p\n{END}\nafter\nend\n"
    )
    assert expected == rewritten(text)


def test_entry_that_moves_away_leaves_no_frontmatter_behind() -> None:
    text = f"NAME: a\n---\n{BEGIN}\n{END}\n---\n"

    assert rewritten(text) == f"\n---\n{BEGIN}\nNAME: a\n{END}\n---\n"


def test_line_ends_of_the_file_are_kept() -> None:
    text = f"# T\r\n{BEGIN}\r\nNAME: a\r\n{END}\r\nend\r\n"

    assert text == rewritten(text)


@pytest.mark.parametrize("line", ["prose", "- NAME: a", "NAME:", "name: a"])
def test_line_between_the_markers_that_is_no_entry_refuses_and_is_named(line: str) -> None:
    with pytest.raises(GovernanceError) as caught:
        parse_hot_file(f"{BEGIN}\nNAME: a\n{line}\n{END}\n", "P.md")

    assert (caught.value.code, caught.value.where) == ("EINVAL_TARGET", "P.md:3")


@pytest.mark.parametrize(
    ("second", "fault"),
    [
        pytest.param("NAME: a", "repeats", id="duplicate"),
        pytest.param("RULE: " + "x" * 257, "more than 256", id="over-long"),
    ],
)
def test_entry_in_the_file_that_a_rewrite_would_lose_is_named(second: str, fault: str) -> None:
    file = parse_hot_file(f"{BEGIN}\nNAME: a\n{second}\n{END}\n", "P.md")

    with pytest.raises(GovernanceError, match=fault) as caught:
        require_sound(file, "P.md")

    assert caught.value.where == "P.md:3"


def test_entry_inside_a_private_span_is_never_moved_out_of_it() -> None:
    text = f"<private>\nNAME: hush\n</private>\n{BEGIN}\nRULE: b\n{END}\n"

    with pytest.raises(GovernanceError) as caught:
        parse_hot_file(text, "P.md")

    assert "hush" not in caught.value.message()


def test_private_notes_outside_of_the_entries_do_not_stop_a_write() -> None:
    text = f"<private>hush</private>\n{BEGIN}\nRULE: b\n{END}\n"

    assert text == rewritten(text)


@settings(max_examples=300)
@given(st.lists(LINES, max_size=12), st.sampled_from(["\n", "\r\n"]))
def test_writing_twice_changes_nothing_more_and_drops_nothing(
    lines: list[str], newline: str
) -> None:
    text = newline.join(lines)
    try:
        once = rewritten(text)
    except GovernanceError:
        return

    assert once == rewritten(once)
    assert entries_of(text) == entries_of(once)
    assert foreign_lines(text) == foreign_lines(once)


def foreign_lines(text: str) -> list[str]:
    """Return the lines that are neither blank nor markers nor begin like an entry."""
    lines = [line.strip(" \t\r") for line in text.split("\n")]
    starts = tuple(f"{prefix}:" for prefix in PREFIXES)
    return [line for line in lines if line not in ("", BEGIN, END) and not line.startswith(starts)]
