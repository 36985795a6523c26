from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mc_schema.document import (
    ENTRY,
    SECTION,
    Document,
    Unit,
    format_bullet,
    normalise_newlines,
)
from mc_schema.errors import SchemaError

ENTRY_ID = "MC-DEC-20260726-a1b2c3d4"
NEW = "## MC-DEC-20260801-00000001 — New\n\nStatus: active"

FRAGMENTS = (
    "## A",
    f"## {ENTRY_ID} — Title",
    "## Tombstone: x",
    "# Title",
    "### Sub",
    " ## indented",
    "- bullet",
    "* star",
    "+ plus",
    "  continuation",
    "    deep",
    "1. numbered",
    "   - nested",
    "- ```",
    "```",
    "````",
    "~~~",
    "   ~~~",
    "  ```",
    "``` info",
    "<!--",
    "-->",
    "text <!-- open",
    "<!-- one line -->",
    "--> <!--",
    "`<!--`",
    "a --> b",
    "Decision:",
    "Reason: inline",
    "prose",
    "---",
    "",
    "  ",
    "\u2028",
    "\x0c",
    "\ufeff",
    "\u00e9\u4f60",
)
LINE_ENDS = ("\n", "\n", "\n", "\r\n", "\r", "")
texts = st.one_of(
    st.text(),
    st.lists(st.tuples(st.sampled_from(FRAGMENTS), st.sampled_from(LINE_ENDS)), max_size=14).map(
        lambda parts: "".join(line + end for line, end in parts)
    ),
    st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("\n".join),
    st.lists(st.sampled_from(FRAGMENTS), max_size=14).map(lambda p: "\ufeff" + "\r\n".join(p)),
)


def pieces(document: Document) -> list[tuple[str, str]]:
    return [(unit.kind, document.unit_text(unit)) for unit in document.units]


def kinds(text: str) -> list[str]:
    return [unit.kind for unit in Document.parse(text).units]


@given(texts)
@example("\ufeff")
@example("\r\n\r\r\n")
def test_every_text_is_rendered_back_byte_for_byte(text: str) -> None:
    document = Document.parse(text)

    assert text == document.render()


@given(texts)
def test_head_and_units_partition_the_text(text: str) -> None:
    document = Document.parse(text)
    bounds = [0, document.head_end]
    for unit in document.units:
        bounds += [unit.start, unit.end]
    bounds.append(len(text))

    assert all(bounds[n] == bounds[n + 1] for n in range(1, len(bounds), 2))
    assert bounds == sorted(bounds)
    assert all(u.start < u.content_end <= u.end for u in document.units)
    assert list(range(len(document.units))) == [u.ordinal for u in document.units]


@given(texts)
def test_blank_lines_alone_stand_between_a_unit_and_the_next(text: str) -> None:
    document = Document.parse(text)

    assert all(not text[u.content_end : u.end].strip() for u in document.units)


@given(texts, st.data())
def test_replacing_a_unit_leaves_every_other_byte(text: str, data: st.DataObject) -> None:
    document = Document.parse(text)
    if not document.units:
        return
    unit = data.draw(st.sampled_from(document.units))

    changed = document.replace_units([(unit, "REPLACED")])

    assert text[: unit.start] + "REPLACED" + text[unit.content_end :] == changed


def removable(document: Document, unit: Unit) -> list[Unit]:
    """A group goes with its members, anything else alone."""
    return [unit, *(other for other in document.units if other.section == unit.ordinal)]


@given(texts, st.data())
def test_removing_a_unit_leaves_the_text_of_all_others(text: str, data: st.DataObject) -> None:
    document = Document.parse(text)
    if not document.units:
        return
    gone = removable(document, data.draw(st.sampled_from(document.units)))
    group = document.units[gone[0].section] if gone[0].section >= 0 else None
    kept = [u for u in document.units if u not in gone and u != group]

    after = document.remove_units(gone)

    position = 0
    for unit in kept:
        found = after.find(document.unit_text(unit), position)
        assert found >= 0
        position = found
    assert text.startswith(after[: document.head_end])


@given(texts, st.data())
@example("- a <!-- x\n- b\n\n- c --> d\n", None)
def test_removing_an_entry_changes_no_other_unit(text: str, data: st.DataObject | None) -> None:
    document = Document.parse(text)
    choices = [u for u in document.units if u.kind in (ENTRY, SECTION)]
    if data is None:
        choices = [document.units[1]]
    if not choices:
        return
    unit = choices[0] if data is None else data.draw(st.sampled_from(choices))
    expected = [
        piece for u, piece in zip(document.units, pieces(document), strict=True) if u != unit
    ]

    after = Document.parse(document.remove_units([unit]))

    assert expected == pieces(after)


@settings(max_examples=300)
@given(texts, st.sampled_from(["newest", "append", "bullet"]))
@example("- mentions <!-- an opener\n", "bullet")
@example("1. read\n   - nested note\n2. write\n```\n## no\n```\n\n## A\n", "newest")
@example("# T\n\n## A\nx\r", "append")
@example("- ```\n  code", "append")
@example("text <!-- open", "append")
def test_insertion_adds_one_unit_and_changes_no_other(text: str, how: str) -> None:
    document = Document.parse(text)
    block = format_bullet("a --> b\n\nmore") if how == "bullet" else NEW + "\n\na --> b"
    insert = {
        "newest": document.insert_newest_first,
        "append": document.append,
        "bullet": document.insert_bullet,
    }[how]
    try:
        after = Document.parse(insert(block))
    except SchemaError:
        assert document.swallowing
        return

    wanted = normalise_newlines(block)
    found = [n for n, (_, piece) in enumerate(pieces(after)) if normalise_newlines(piece) == wanted]
    assert found
    rest = [pieces(after)[:n] + pieces(after)[n + 1 :] for n in found]
    assert pieces(document) in rest
    assert document.title == after.title


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", f"{NEW}\n", id="empty"),
        pytest.param("\ufeff", f"\ufeff{NEW}\n", id="byte-order-mark-alone"),
        pytest.param("# T\n", f"# T\n\n{NEW}\n", id="title-alone"),
        pytest.param("# T", f"# T\n\n{NEW}", id="no-final-newline-stays"),
        pytest.param("## A\n", f"{NEW}\n\n## A\n", id="before-the-first"),
        pytest.param("\ufeff## A\n", f"\ufeff{NEW}\n\n## A\n", id="behind-the-byte-order-mark"),
        pytest.param("# T\nIntro\n## A\n", f"# T\nIntro\n\n{NEW}\n\n## A\n", id="blank-line-added"),
        pytest.param("# T\n\n\nI\n\n\n## A  \n", f"# T\n\n\nI\n\n\n{NEW}\n\n## A  \n", id="blanks"),
        pytest.param("- a\n- b\n", f"- a\n- b\n\n{NEW}\n", id="below-all-bullets"),
        pytest.param("---\nx: y\n---\n# T\n", f"---\nx: y\n---\n# T\n\n{NEW}\n", id="front-matter"),
        pytest.param(
            "```\n## no\n```\n\n## A\n", f"```\n## no\n```\n\n{NEW}\n\n## A\n", id="fence"
        ),
        pytest.param(
            "<!--\n## no\n-->\n## A\n", f"<!--\n## no\n-->\n\n{NEW}\n\n## A\n", id="comment"
        ),
    ],
)
def test_newest_entry_goes_behind_the_preamble(text: str, expected: str) -> None:
    assert expected == Document.parse(text).insert_newest_first(NEW)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("# T\r\n\r\n## A\r\n", "# T\r\n\r\nX\r\nY\r\n\r\n## A\r\n", id="crlf"),
        pytest.param("# T\r\r## A\r", "# T\r\rX\rY\r\r## A\r", id="lone-cr"),
        pytest.param("a\nb\nc\r## A\n", "a\nb\nc\r\rX\rY\r\r## A\n", id="cr-before-the-place"),
    ],
)
def test_inserted_lines_take_the_line_ends_of_the_file(text: str, expected: str) -> None:
    assert expected == Document.parse(text).insert_newest_first("X\nY")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("# C\n", "# C\n\n- n\n", id="first"),
        pytest.param("# C\n\n- a\n", "# C\n\n- a\n- n\n", id="joins-the-list"),
        pytest.param("- a\n  more\n\n\n", "- a\n  more\n- n\n\n\n", id="trailing-blanks-stay"),
        pytest.param("- a", "- a\n- n", id="no-final-newline-stays"),
        pytest.param("- a\n\n## H\n- b\n", "- a\n- n\n\n## H\n- b\n", id="above-headings"),
        pytest.param("I\n\n## H\n- b\n", "I\n\n- n\n\n## H\n- b\n", id="not-into-a-group"),
        pytest.param("- a\n\nfoot\n", "- a\n\nfoot\n\n- n\n", id="below-prose"),
        pytest.param("- a <!-- b\n", "- a <!-- b\n\n- n\n", id="apart-from-an-open-comment"),
        pytest.param("- a\r\n", "- a\r\n- n\r\n", id="crlf"),
    ],
)
def test_bullet_goes_behind_the_last_that_no_heading_owns(text: str, expected: str) -> None:
    assert expected == Document.parse(text).insert_bullet("- n")


@pytest.mark.parametrize(
    ("text", "where"),
    [
        pytest.param("# T\n\n```\nx\n", "line 3", id="fence"),
        pytest.param("# T\n\n<!-- x\n", "line 3", id="comment"),
    ],
)
def test_nothing_is_put_behind_an_open_block(text: str, where: str) -> None:
    document = Document.parse(text)
    for insert in (document.append, document.insert_newest_first, document.insert_bullet):
        with pytest.raises(SchemaError) as caught:
            insert("- n")

        assert ("unclosed_block", where) == (caught.value.code, caught.value.where)


def test_entry_above_an_open_block_is_still_inserted() -> None:
    text = "# T\n\n## A\n```\nx\n"

    assert f"# T\n\n{NEW}\n\n## A\n```\nx\n" == Document.parse(text).insert_newest_first(NEW)


def test_group_goes_with_its_last_bullet() -> None:
    document = Document.parse("# I\n\n## 2026-01-02\n- a\n- b\n\n## 2026-01-01\n- c\n")
    first, second = document.units[1:3]

    assert document.remove_units([first]) == ("# I\n\n## 2026-01-02\n- b\n\n## 2026-01-01\n- c\n")
    assert document.remove_units([first, second]) == "# I\n\n## 2026-01-01\n- c\n"


def test_group_with_prose_of_its_own_stays_without_bullets() -> None:
    document = Document.parse("## R\nprose\n- a\n")

    assert document.remove_units([document.units[1]]) == "## R\nprose\n"


def test_heading_never_goes_without_the_bullets_below_it() -> None:
    document = Document.parse("## MC-DEC-20260726-a1b2c3d4 — T\n\n## R\n- a\n")
    group = document.units[1]

    with pytest.raises(SchemaError) as caught:
        document.remove_units([group])

    assert (caught.value.code, caught.value.where) == ("group_not_empty", "line 3")
    assert document.remove_units(document.units[1:]) == "## MC-DEC-20260726-a1b2c3d4 — T\n\n"


def test_bullet_lines_are_indented_into_the_item() -> None:
    assert format_bullet("a\r\n```\n## x\n\n```") == "- a\n  ```\n  ## x\n\n  ```"


def test_fence_that_begins_a_bullet_keeps_its_lines_inside() -> None:
    text = Document.parse("").insert_bullet(format_bullet("```\n## forged\n```"))

    assert kinds(text) == ["bullet"]


def test_several_units_are_replaced_at_once() -> None:
    document = Document.parse("## A\nx\n\n## B\ny\n")
    first, second = document.units

    assert document.replace_units([(second, "## B2"), (first, "## A2")]) == "## A2\n\n## B2\n"


@pytest.mark.parametrize(
    ("text", "expected"), [("a\r\nb\rc\nd", "a\nb\nc\nd"), ("\r\r\n", "\n\n"), ("a", "a")]
)
def test_normalised_text_has_lf_only(text: str, expected: str) -> None:
    assert expected == normalise_newlines(text)
