"""Diffs: lines end at LF only, endings are told apart, private spans never appear."""

from __future__ import annotations

import pytest
from mc_plan.diff import unified_diff
from mc_plan.mutation import APPEND, CREATE, DELETE, REPLACE, Mutation
from mc_plan.snapshot import FileState


def diff(before: bytes | None, after: bytes | None) -> str:
    kind = CREATE if before is None else DELETE if after is None else REPLACE
    return unified_diff(Mutation(kind, FileState("a.md", before), after))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param(
            b"a\nb\n",
            b"a\nc\n",
            "--- a/a.md\n+++ b/a.md\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n",
            id="replace",
        ),
        pytest.param(None, b"a\n", "--- /dev/null\n+++ b/a.md\n@@ -0,0 +1 @@\n+a\n", id="create"),
        pytest.param(b"a\n", None, "--- a/a.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", id="delete"),
        pytest.param(
            b"a",
            b"a\n",
            "--- a/a.md\n+++ b/a.md\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n",
            id="final-newline",
        ),
        pytest.param(
            b"a\r\n",
            b"a\n",
            "--- a/a.md\n+++ b/a.md\n@@ -1 +1 @@\n-a\r\n+a\n",
            id="line-ending",
        ),
        pytest.param(
            "a\u2028b\x0c\n".encode(),
            b"c\n",
            "--- a/a.md\n+++ b/a.md\n@@ -1 +1 @@\n-a\u2028b\x0c\n+c\n",
            id="other-separators-end-no-line",
        ),
    ],
)
def test_diff_shows_what_changes(before: bytes | None, after: bytes | None, expected: str) -> None:
    assert expected == diff(before, after)


def test_private_span_next_to_a_change_is_left_out() -> None:
    before = b"one\n<private>marker-text\nmore</private>\ntwo\n"

    shown = diff(before, before.replace(b"two", b"three"))

    assert "marker-text" not in shown
    assert "+three" in shown


def test_unclosed_private_span_hides_what_follows() -> None:
    assert "marker-text" not in diff(b"one\n<private>marker-text\n", b"uno\n<private>marker-text\n")


def test_appended_rows_are_shown() -> None:
    mutation = Mutation(APPEND, FileState("a.jsonl", b"{}\n"), None, b'{"x":1}\n')

    assert '+{"x":1}\n' in unified_diff(mutation)
