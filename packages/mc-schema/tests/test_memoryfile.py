from __future__ import annotations

import pytest
from mc_schema.memoryfile import line_at, parse_memory_file, with_unique_ids


def decision(suffix: str, body: str = "x", code: str = "DEC") -> str:
    return (
        f"## MC-{code}-20260726-0000000{suffix} — T{suffix}\n\nStatus: active\nScope: project\n"
        f"Evidence:\n- user-confirmed\n\nDecision:\n{body}\n"
    )


def test_span_over_three_entries_hides_the_middle_one() -> None:
    text = "# D\n\n" + "\n".join(
        [
            decision("1", "one <private>"),
            decision("2", "MIDDLE"),
            decision("3", "</private> three"),
        ]
    )
    found = parse_memory_file("decisions.md", text)

    assert [unit.entry_id for unit in found.units] == ["MC-DEC-20260726-00000001"]
    assert (found.removed_spans, found.hidden_line) == (1, 0)
    assert "MIDDLE" not in found.document.text
    assert "three" in found.units[0].text


@pytest.mark.parametrize("opener", ["<private>", "<private-x>", "<private", "＜private＞"])
def test_unclosed_or_malformed_opener_hides_the_rest_and_is_located(opener: str) -> None:
    text = "# D\r\n\r\n" + decision("1") + "\r" + opener + "\n\n" + decision("2")
    found = parse_memory_file("decisions.md", text)

    assert [unit.entry_id for unit in found.units] == ["MC-DEC-20260726-00000001"]
    assert (
        text[: text.index(opener)].replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
        == found.hidden_line
    )


def test_structure_inside_a_span_is_not_cut_into_units() -> None:
    found = parse_memory_file("decisions.md", "a <private>\n## B\n- c\n</private> d\n")

    assert [unit.text for unit in found.units] == ["a  d"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# D\n\n<<<<<<< HEAD\n", 3),
        ("# D\n<private>\nx\n</private>\n<<<<<<< HEAD\n", 5),
        ("# D\n<private>\n<<<<<<< HEAD\n</private>\n", 3),
        ("# D\n", 0),
    ],
    ids=["plain", "below-a-span", "inside-a-span", "none"],
)
def test_conflict_is_reported_with_its_line_in_the_file(text: str, line: int) -> None:
    assert line == parse_memory_file("decisions.md", text).conflict


def test_units_are_called_by_id_or_place() -> None:
    found = parse_memory_file("decisions.md", decision("1") + "\n## Legacy\n")

    assert [u.label for u in found.units] == ["MC-DEC-20260726-00000001", "decisions.md:11"]


def test_one_malformed_entry_does_not_hide_the_others() -> None:
    text = "\n".join([decision("1"), "## MC-DEC-2026 — cut off\n\nStatus: act\n", decision("3")])
    found = parse_memory_file("decisions.md", text)

    assert [u.standing.status for u in found.units] == ["active", "inadmissible", "active"]


def test_repeated_id_is_inadmissible_in_every_file_and_names_both_places() -> None:
    text = decision("1")
    files = [
        parse_memory_file("decisions.md", text + "\n" + decision("2")),
        parse_memory_file("inbox.md", "# I\n\n" + text.replace("MC-DEC", "mc-dec")),
        parse_memory_file("archive/decisions-2026-01-01.md", "\n" + text),
    ]
    first, inbox, archived = with_unique_ids(files)

    assert [u.standing.status for u in first.units] == ["inadmissible", "active"]
    assert first.units[0].standing.problems[-1].message == (
        "the id MC-DEC-20260726-00000001 occurs again at "
        "inbox.md:3, archive/decisions-2026-01-01.md:2"
    )
    assert (
        inbox.units[0]
        .standing.problems[-1]
        .message.endswith("decisions.md:1, archive/decisions-2026-01-01.md:2")
    )
    assert archived.units[0].standing.problems[-1].code == "duplicate_id"


def test_repeated_id_in_one_file_names_the_other_line() -> None:
    (found,) = with_unique_ids(
        [parse_memory_file("decisions.md", decision("1") + "\n" + decision("1"))]
    )

    assert [u.standing.problems[-1].message.rpartition(" ")[2] for u in found.units] == [
        "decisions.md:11",
        "decisions.md:1",
    ]


def test_ids_that_occur_once_change_nothing() -> None:
    files = [parse_memory_file("decisions.md", decision("1") + "\n" + decision("2"))]

    assert files == with_unique_ids(files)


@pytest.mark.parametrize(("offset", "line"), [(0, 1), (1, 1), (3, 2), (4, 3), (5, 4), (6, 4)])
def test_every_kind_of_line_end_counts(offset: int, line: int) -> None:
    assert line == line_at("a\r\n\r\nb".replace("\r\n\r\n", "\r\n\r\r"), offset)
