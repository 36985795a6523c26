from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from mc_retrieve.envelope import Result

    RunCortex = Callable[..., Result]


@pytest.fixture
def root(
    make_root: Callable[[Mapping[str, str | bytes]], Path], json_line: Callable[..., str]
) -> Path:
    rows = [
        json_line(
            f"r{day}",
            created=f"2026-01-0{day}",
            updated="2026-02-01",
            type="odd" if day % 2 else "even",
            source_kind="codex",
            source_session=f"s{day}",
        )
        for day in range(1, 8)
    ]
    rows.append(json_line("2026-01-05", created="2026-01-02T12:00Z", updated="2026-02-01"))
    rows.append(json_line("gone", valid_until="2026-07-26T12:00:00Z"))
    return make_root({"KNOWLEDGE/a.jsonl": "".join(rows)})


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        pytest.param(["r4", "--before", "1", "--after", "1"], ["r3", "r4", "r5"], id="around"),
        pytest.param(["r1", "--after", "0"], ["r1"], id="first"),
        pytest.param(["r7", "--before", "2"], ["r5", "r6", "r7"], id="last"),
        pytest.param(
            ["r4", "--type", "odd", "--before", "1", "--after", "1"],
            ["r3", "r5"],
            id="anchor-outside-the-filter",
        ),
        pytest.param(["r4", "--session", "s4"], ["r4"], id="session"),
        pytest.param(["r4", "--source", "hermes"], [], id="source"),
        pytest.param(
            ["r4", "--from", "2026-01-03", "--to", "2026-01-05"], ["r3", "r4", "r5"], id="range"
        ),
        pytest.param(["2026-01-06", "--before", "1", "--after", "1"], ["r5", "r6"], id="date"),
        pytest.param(
            ["2026-01-05", "--before", "1", "--after", "1"],
            ["r2", "2026-01-05", "r3"],
            id="id-wins-over-a-date",
        ),
    ],
)
def test_window_is_cut_around_the_anchor(
    cortex: RunCortex, root: Path, options: list[str], ids: list[str]
) -> None:
    data = cortex("timeline", "--anchor", *options, root=root).envelope["data"]

    assert ids == [item["id"] for item in data["items"]]
    assert (len(ids), {0}) == (data["total"], {item["score"] for item in data["items"]} or {0})


@pytest.mark.parametrize(
    ("anchor", "shown"),
    [
        ("r4", {"id": "r4", "date": "2026-01-04"}),
        ("2026-01-04T01:00+01:00", {"id": None, "date": "2026-01-04T00:00:00.000Z"}),
    ],
)
def test_anchor_is_echoed(
    cortex: RunCortex, root: Path, anchor: str, shown: dict[str, str]
) -> None:
    assert shown == cortex("timeline", "--anchor", anchor, root=root).envelope["data"]["anchor"]


@pytest.mark.parametrize(
    ("options", "exit_code"),
    [
        pytest.param([], 4, id="no-anchor"),
        pytest.param(["--anchor", "gone"], 3, id="inactive-record"),
        pytest.param(["--anchor", "some day"], 3, id="neither-record-nor-date"),
        pytest.param(["--anchor", "x", "--from", "never"], 4, id="filter-before-anchor"),
        pytest.param(["--anchor", "x", "--before", "101"], 4, id="bound-before-anchor"),
        pytest.param(["--anchor", "x", "--page", "0"], 3, id="anchor-before-page"),
        pytest.param(["--anchor", "r4", "--page", "0"], 4, id="page"),
    ],
)
def test_first_thing_wrong_is_told(
    cortex: RunCortex, root: Path, options: list[str], exit_code: int
) -> None:
    assert exit_code == cortex("timeline", *options, root=root).exit_code


def test_pages_are_cut_from_the_window(cortex: RunCortex, root: Path) -> None:
    data = cortex(
        "timeline", "--anchor", "r4", "--page-size", "3", "--page", "2", root=root
    ).envelope["data"]

    assert [item["id"] for item in data["items"]] == ["r3", "r4", "r5"]
    assert (data["total"], data["page"], data["page_size"]) == (8, 2, 3)
