from __future__ import annotations

import pytest
from mc_schema.lines import scan_lines
from mc_schema.routes import (
    CATEGORIES,
    GENERAL,
    TASKS,
    Route,
    RouteSpec,
    merged_specs,
    parse_route,
    repeated_paths,
    route_path_fault,
)


def route(text: str) -> Route:
    return parse_route("planning", enumerate(scan_lines(text).lines, 1))


def specs(text: str) -> list[tuple[str, bool]]:
    return [(spec.path, spec.required) for spec in route(text).specs]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("- a.md\n", [("a.md", True)], id="required-at-first"),
        pytest.param(
            "Load:\n- a.md\nLoad if present:\n- b.md\nAlso load:\n- c.md\n",
            [("a.md", True), ("b.md", False), ("c.md", True)],
            id="three-switches",
        ),
        pytest.param("  LOAD IF PRESENT:  \n- a.md\n", [("a.md", False)], id="letter-case"),
        pytest.param("Load if present: a.md\n- b.md\n", [("b.md", True)], id="not-alone"),
        pytest.param("-  ` a.md ` \n", [("a.md", True)], id="back-ticks"),
        pytest.param("  - a.md\n", [("a.md", True)], id="indented"),
        pytest.param("- ./a.md\n- ././b.md\n", [("a.md", True), ("b.md", True)], id="dot-slash"),
        pytest.param("- archive/\n- \n-\n", [], id="folders-and-empty"),
        pytest.param("Use when planning.\n1. x.md\n", [], id="prose"),
        pytest.param("```\n- a.md\n```\n<!--\n- b.md\n-->\n", [], id="opaque"),
        pytest.param(
            "- archive/x.md\n- manifest.md\n",
            [("archive/x.md", True), ("manifest.md", True)],
            id="any-file-of-the-set",
        ),
        pytest.param("- a.md\r- b.md\r\n", [("a.md", True), ("b.md", True)], id="line-ends"),
    ],
)
def test_route_lists_its_files_in_order(text: str, expected: list[tuple[str, bool]]) -> None:
    assert expected == specs(text)
    assert route(text).faults == ()


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        (".", "the path has an empty or `.` part"),
        ("..", "the path leaves the memory directory"),
        ("../x.md", "the path leaves the memory directory"),
        ("a/../b.md", "the path leaves the memory directory"),
        ("/etc/x.md", "the path must be relative"),
        ("C:x.md", "the path must be relative"),
        ("a\\b.md", "the path must use `/`"),
        ("a//b.md", "the path has an empty or `.` part"),
        ("brief.md (short)", "the path must end in `.md`, with nothing behind it"),
        ("brief.MD", "the path must end in `.md`, with nothing behind it"),
        (".md", "the path must end in `.md`, with nothing behind it"),
        ("a\x07.md", "the path holds a control character"),
    ],
)
def test_unsafe_or_malformed_path_is_a_fatal_fault_at_its_line(path: str, fault: str) -> None:
    found = route(f"Load:\n- {path}\n- b.md\n")

    assert fault == route_path_fault(path)
    assert [(f"`{path}`: {fault}", 2, True)] == list(found.faults)
    assert [spec.path for spec in found.specs] == ["b.md"]


@pytest.mark.parametrize("bullet", ["* a.md", "+ `a.md`"])
def test_other_bullets_load_nothing_and_are_reported(bullet: str) -> None:
    found = route(bullet)

    assert found.specs == ()
    assert [(fault.line, fault.is_fatal) for fault in found.faults] == [(1, False)]


def test_back_ticked_path_with_trailing_words_is_a_fault() -> None:
    assert route("- `brief.md` (short)").faults[0].is_fatal


def test_repeated_file_keeps_its_place_and_is_required_if_any_mention_is() -> None:
    general = Route(GENERAL, (RouteSpec("a.md", False, 1), RouteSpec("b.md", True, 2)), ())
    category = Route("planning", (RouteSpec("c.md", True, 5), RouteSpec("a.md", True, 6)), ())

    assert [(spec.path, spec.required) for spec in merged_specs(general, category)] == [
        ("a.md", True),
        ("b.md", True),
        ("c.md", True),
    ]
    assert [spec.line for spec in repeated_paths(general, category)] == [6]
    assert general.specs == merged_specs(general, None)


def test_task_names_are_those_of_the_protocol() -> None:
    assert TASKS == {
        "default": "general",
        "general": "general",
        "planning": "planning",
        "architecture": "planning",
        "refactoring": "planning",
        "implementation": "implementation",
        "execution": "implementation",
        "debugging": "implementation",
        "artifact": "artifact",
        "output": "artifact",
        "preferences": "preferences",
        "history": "history",
        "recap": "history",
        "status": "history",
        "maintenance": "maintenance",
        "compact": "maintenance",
        "forget": "maintenance",
    }
    assert set(CATEGORIES) | {GENERAL} == set(TASKS.values())
