"""Corresponding lines: right for every pair of texts, and found in linear time."""

from __future__ import annotations

import difflib
import itertools
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mc_plan.diff import unified_diff
from mc_plan.line_match import MAX_GAP_PRODUCT, match_lines
from mc_plan.mutation import REPLACE, Mutation
from mc_plan.snapshot import FileState

if TYPE_CHECKING:
    from collections.abc import Callable

TEXTS = st.lists(st.sampled_from(["a", "b", "c", "", "d", "e"]), max_size=24)


class Counted(str):
    """A line that counts how often it is compared or hashed."""

    __slots__ = ()
    work = 0

    def __eq__(self, other: object) -> bool:
        Counted.work += 1
        return str.__eq__(self, other) is True

    def __hash__(self) -> int:
        Counted.work += 1
        return str.__hash__(self)


@given(TEXTS, TEXTS)
@settings(max_examples=150)
def test_pairs_increase_and_join_equal_lines(old: list[str], new: list[str]) -> None:
    pairs = match_lines(old, new)

    assert all(old[one] == new[other] for one, other in pairs)
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in itertools.pairwise(pairs))


@given(TEXTS, TEXTS)
@settings(max_examples=150)
def test_diff_leads_from_the_old_text_to_the_new_one(old: list[str], new: list[str]) -> None:
    before, after = "".join(f"{x}\n" for x in old), "".join(f"{x}\n" for x in new)

    assert new == patched(old, diff(before, after))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("a\nb\nc\n", "a\nx\nc\n", id="replaced"),
        pytest.param("", "a\nb\n", id="filled"),
        pytest.param("a\nb\n", "", id="emptied"),
        pytest.param(
            "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nx\n5\n6\n7\n8\n9\n", id="inserted"
        ),
        pytest.param("a\n" * 9 + "b\n" + "a\n" * 9, "a\n" * 18, id="removed-among-equal-lines"),
        pytest.param("a\nb", "a\nb\n", id="final-newline"),
        pytest.param(
            "".join(f"{n}\n" for n in range(30)),
            "".join(f"{n}\n" for n in range(30) if n not in (4, 20)),
            id="two-hunks",
        ),
        pytest.param(
            "".join(f"{n}\n" for n in range(30)),
            "".join(f"{n}\n" for n in range(30) if n not in (4, 11)),
            id="changes-whose-context-touches",
        ),
    ],
)
def test_plain_edits_read_as_those_of_the_standard_library(old: str, new: str) -> None:
    expected = [
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        for line in difflib.unified_diff(
            old.splitlines(keepends=True), new.splitlines(keepends=True), "a/a.md", "b/a.md"
        )
    ]

    assert "".join(expected) == diff(old, new)


def test_long_stretch_without_an_anchor_is_one_change() -> None:
    size = int(MAX_GAP_PRODUCT**0.5) + 1
    old, new = ["x", "y"] * size, ["y", "y", "x"] * size

    assert [line for line in match_lines(["h", *old, "t"], ["h", *new, "t"]) if line[0] == 0] == [
        (0, 0)
    ]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda n: [f"## {n}", f"Body {n}", ""], id="every-heading"),
        pytest.param(
            lambda n: [f"## Rule {n}", "Status: active", f"Body {n}", ""], id="every-field"
        ),
        pytest.param(lambda n: [f"new {n}", f"other {n}", ""], id="everything"),
        pytest.param(lambda n: ["same", "same", ""], id="everything-to-one-text"),
    ],
)
def test_work_grows_with_the_lines_and_not_with_their_square(
    change: Callable[[int], list[str]],
) -> None:
    def work(entries: int) -> int:
        old = [Counted(line) for n in range(entries) for line in (f"## Rule {n}", f"Body {n}", "")]
        new = [Counted(line) for n in range(entries) for line in change(n)]
        Counted.work = 0
        match_lines(old, new)
        return Counted.work

    assert work(2_000) <= 11 * work(200)


def diff(old: str, new: str) -> str:
    return unified_diff(Mutation(REPLACE, FileState("a.md", old.encode()), new.encode()))


def patched(old: list[str], diff_text: str) -> list[str]:
    """Apply a diff in the way of `patch`."""
    result: list[str] = []
    at = 0
    for line in diff_text.split("\n")[2:-1]:
        if line.startswith("@@"):
            begin, _, length = line.split()[1][1:].partition(",")
            start = int(begin) - (length != "0")
            result += old[at:start]
            at = start
        elif line.startswith("+"):
            result.append(line[1:])
        else:
            assert old[at] == line[1:]
            at += 1
            result += [line[1:]] if line.startswith(" ") else []
    return result + old[at:]
