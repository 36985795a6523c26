"""Hot memory files: adding, setting, the cap, the shrink guard and snapshots."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from mc_cli.cortex.testing import (
    NOW,
    NOW_TEXT,
    files_of,
    get,
    make_root,
    memory,
    memory_set,
    rebuild,
    refusal,
    store,
)

if TYPE_CHECKING:
    from pathlib import Path

HOT = "PRINCIPAL_MEMORY.md"
SNAPSHOTS = "OBSERVABILITY/memory-snapshots"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_root(tmp_path)


def rules(count: int, first: int = 0) -> list[str]:
    return [f"RULE: {number}" for number in range(first, first + count)]


def entries_in(root: Path, name: str = HOT) -> list[str]:
    text = (root / name).read_text()
    return text.split("<!-- BEGIN ENTRIES -->\n")[1].split("<!-- END ENTRIES -->")[0].splitlines()


def snapshots_in(root: Path) -> list[str]:
    folder = root / SNAPSHOTS
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def test_first_entry_makes_the_file_of_its_actor(root: Path) -> None:
    principal = store(root, memory("NAME: Ada"))
    assistant = store(root, memory("ROLE: helper", actor="assistant"))

    assert (principal["path"], assistant["path"]) == ("PRINCIPAL_MEMORY.md", "DA_MEMORY.md")
    assert entries_in(root) == ["NAME: Ada"]
    assert entries_in(root, "DA_MEMORY.md") == ["ROLE: helper"]
    assert principal["detail"]["created"] == NOW_TEXT
    assert "NAME: Ada" in get(root, principal["detail"]["id"])[0]["content"]
    assert rebuild(root)["records"] == 2


def test_entries_keep_their_order_and_take_their_canonical_form(root: Path) -> None:
    store(root, memory("RULE: b"))
    store(root, memory("  NAME:   a \n"))

    assert entries_in(root) == ["RULE: b", "NAME: a"]


def test_set_replaces_all_entries_and_nothing_else(root: Path) -> None:
    text = "# Mine\n\n<!-- BEGIN ENTRIES -->\nRULE: old\n<!-- END ENTRIES -->\n\nMy notes.\n"
    (root / HOT).write_text(text)

    store(root, memory_set("RULE: x", "NAME: y"))

    assert text.replace("RULE: old", "RULE: x\nNAME: y") == (root / HOT).read_text()


def test_entry_that_is_there_already_is_refused_and_its_line_named(root: Path) -> None:
    store(root, memory("RULE: x"))
    before = files_of(root)

    answer = store(root, memory("RULE: x"))

    assert answer["code"] == "EINVAL_ITEM"
    assert f"{HOT}:11" in answer["message"]
    assert before == files_of(root)


def test_cap_counts_what_is_over(root: Path) -> None:
    store(root, memory_set(*rules(47)))

    assert refusal(root, memory("RULE: last")) == "ok"
    answer = store(root, memory("RULE: one more"))
    assert answer["code"] == "EAT_CAP"
    assert "1 over" in answer["message"]


@pytest.mark.parametrize(
    ("existing", "wanted", "outcome"),
    [
        pytest.param(9, rules(1), "ok", id="nine-entries-are-not-guarded"),
        pytest.param(10, rules(2), "ESUSPECT_SHRINK", id="fewer-than-three-left"),
        pytest.param(10, ["RULE: new", "RULE: n2"], "ESUSPECT_SHRINK", id="fewer-than-three-new"),
        pytest.param(10, rules(5), "ok", id="half-dropped"),
        pytest.param(10, rules(4), "ESUSPECT_SHRINK", id="more-than-half-dropped"),
        pytest.param(10, [*rules(2), "RULE: new"], "ok", id="more-than-half-dropped-one-added"),
        pytest.param(11, rules(6), "ok", id="five-of-eleven-dropped"),
        pytest.param(11, rules(5), "ESUSPECT_SHRINK", id="six-of-eleven-dropped"),
        pytest.param(10, rules(3), "ESUSPECT_SHRINK", id="three-left-but-seven-dropped"),
        pytest.param(12, rules(3, 100), "ok", id="all-replaced-by-three"),
    ],
)
def test_shrink_guard(root: Path, existing: int, wanted: list[str], outcome: str) -> None:
    store(root, memory_set(*rules(existing)))
    before = files_of(root)

    assert outcome == refusal(root, memory_set(*wanted))
    assert (wanted if outcome == "ok" else rules(existing)) == entries_in(root)
    assert (outcome == "ok") == (before != files_of(root))


def test_overwritten_bytes_become_a_snapshot(root: Path) -> None:
    store(root, memory("RULE: a"))
    before = (root / HOT).read_bytes()

    store(root, memory("RULE: b"), now=NOW + 1)

    assert snapshots_in(root) == ["PRINCIPAL_MEMORY__20260726T100001000Z.md"]
    assert before == (root / SNAPSHOTS / snapshots_in(root)[0]).read_bytes()


def test_new_file_and_unchanged_file_need_no_snapshot(root: Path) -> None:
    store(root, memory_set("RULE: a"))
    store(root, memory_set("RULE: a"))

    assert snapshots_in(root) == []


def test_newest_thirty_snapshots_of_each_file_are_kept(root: Path) -> None:
    store(root, memory("RULE: other", actor="assistant"))
    store(root, memory("RULE: other two", actor="assistant"))
    for number in range(33):
        store(root, memory_set(f"RULE: {number}"), now=NOW + number)

    own = [name for name in snapshots_in(root) if name.startswith("PRINCIPAL")]
    assert len(own) == 30
    assert len(snapshots_in(root)) == 31
    assert own[0] == "PRINCIPAL_MEMORY__20260726T100003000Z.md"
    assert "RULE: 2\n" in (root / SNAPSHOTS / own[0]).read_text()


def test_two_snapshots_of_one_instant_do_not_share_a_name(root: Path) -> None:
    for number in range(4):
        store(root, memory_set(f"RULE: {number}"))

    assert len(snapshots_in(root)) == 3


def test_newest_snapshot_stays_when_the_clock_was_set_back(root: Path) -> None:
    for number in range(31):
        store(root, memory_set(f"RULE: {number}"), now=NOW + number)

    store(root, memory_set("RULE: back"), now=NOW - 86_400)

    assert "PRINCIPAL_MEMORY__20260725T100000000Z.md" in snapshots_in(root)
    assert len(snapshots_in(root)) == 30


@pytest.mark.parametrize("item", [memory("RULE: x"), memory_set("RULE: x")])
def test_file_with_a_line_that_is_no_entry_is_left_alone(
    root: Path, item: dict[str, object]
) -> None:
    (root / HOT).write_text("<!-- BEGIN ENTRIES -->\nwhat?\n<!-- END ENTRIES -->\n")
    before = files_of(root)

    answer = store(root, item)

    assert answer["code"] == "EINVAL_TARGET"
    assert f"{HOT}:2" in answer["message"]
    assert before == files_of(root)


def test_entries_that_an_open_span_would_hide_are_refused(root: Path) -> None:
    (root / HOT).write_text("# Mine\n<private>\n")

    assert refusal(root, memory("RULE: x")) == "EINVAL_TARGET"


def test_set_that_shrinks_does_so_against_the_file_as_it_is_inside_the_lock(root: Path) -> None:
    """A file that a person edited by hand is what counts, not what the adapter last wrote."""
    store(root, memory_set("RULE: a"))
    (root / HOT).write_text("\n".join(rules(12)) + "\n")

    assert refusal(root, memory_set("RULE: a")) == "ESUSPECT_SHRINK"


def test_add_never_hides_an_over_long_entry_of_the_file_and_set_replaces_it(root: Path) -> None:
    (root / HOT).write_text(f"RULE: a\nRULE: {'x' * 257}\n")
    before = files_of(root)

    answer = store(root, memory("RULE: b"))

    assert answer["code"] == "EINVAL_TARGET"
    assert f"{HOT}:2" in answer["message"]
    assert files_of(root) == before
    assert refusal(root, memory_set("RULE: b")) == "ok"
