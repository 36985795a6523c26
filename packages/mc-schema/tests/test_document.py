from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mc_schema.document import (
    BULLET,
    ENTRY,
    GROUP,
    HEADING_KINDS,
    PREAMBLE,
    PROSE,
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
    except SchemaError as error:
        assert error.code == "unclosed_block"
        assert document.swallowing
        return

    wanted = normalise_newlines(block)
    found = [n for n, (_, piece) in enumerate(pieces(after)) if normalise_newlines(piece) == wanted]
    assert found
    rest = [pieces(after)[:n] + pieces(after)[n + 1 :] for n in found]
    assert pieces(document) in rest
    assert document.title == after.title
