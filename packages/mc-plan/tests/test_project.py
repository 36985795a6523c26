"""Where a project lies: the memory directory stays below `docs/`, one place has one name."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any

import pytest
from mc_plan import InputError, open_memory_root, open_project
from mc_plan.project import require_repo_path

if TYPE_CHECKING:
    from pathlib import Path


def open_at(root: Path, memory_dir: str = "docs/memory") -> Any:
    environ = {"XDG_STATE_HOME": str(root.parent / "state"), "HOME": str(root.parent)}
    return open_project(root, memory_dir, environ=environ)


@pytest.mark.parametrize(
    ("memory_dir", "expected"),
    [
        pytest.param("docs/memory", "docs/memory", id="default"),
        pytest.param("./docs/memory/", "docs/memory", id="other-spelling"),
        pytest.param("docs/x/../memory", "docs/memory", id="steps-that-stay"),
        pytest.param("docs/team/memory", "docs/team/memory", id="nested"),
    ],
)
def test_memory_directory_has_one_spelling(tmp_path: Path, memory_dir: str, expected: str) -> None:
    assert expected == open_at(tmp_path / "p", memory_dir).memory_dir


@pytest.mark.parametrize(
    "memory_dir",
    ["docs", "docs/", ".", "", "memory", "docs/../memory", "../docs/memory", "/etc", "docs/.."],
)
def test_memory_directory_outside_docs_is_refused(tmp_path: Path, memory_dir: str) -> None:
    with pytest.raises(InputError) as caught:
        open_at(tmp_path / "p", memory_dir)

    assert caught.value.code == "unsafe_memory_dir"


def test_absolute_memory_directory_below_docs_is_accepted(tmp_path: Path) -> None:
    root = tmp_path / "p"

    assert open_at(root, str(root / "docs" / "memory")).memory_dir == "docs/memory"


@pytest.mark.parametrize("leads_out", [True, False])
def test_symlinked_memory_directory_must_stay_below_docs(
    tmp_path: Path, *, leads_out: bool
) -> None:
    root = tmp_path / "p"
    (root / "docs" / "team").mkdir(parents=True)
    (root / "docs" / "memory").symlink_to(tmp_path if leads_out else root / "docs" / "team")

    if leads_out:
        with pytest.raises(InputError):
            open_at(root)
    else:
        assert open_at(root).memory_dir == "docs/team"


def test_spellings_of_one_root_give_one_place(tmp_path: Path) -> None:
    root = tmp_path / "p"
    root.mkdir()
    (tmp_path / "link").symlink_to(root)
    spellings = [root, tmp_path / "link", tmp_path / "p" / ".." / "p", f"{root}/"]

    places = {(str(found.root), found.place_key) for found in map(open_at_any, spellings)}

    assert len(places) == 1
    real = os.path.realpath(root / "docs" / "memory")
    assert places.pop()[1] == hashlib.sha256(os.fsencode(real)).hexdigest()[:32]


def open_at_any(root: Any) -> Any:
    return open_project(root, environ={"XDG_STATE_HOME": "/nonexistent-state", "HOME": "/tmp"})


def test_memory_root_is_its_own_root(tmp_path: Path) -> None:
    project = open_memory_root(tmp_path, environ={"HOME": str(tmp_path)})

    assert project.memory_path == project.root
    assert project.memory_file("KNOWLEDGE/a.md") == "KNOWLEDGE/a.md"
    assert project.in_memory("KNOWLEDGE/a.md") == "KNOWLEDGE/a.md"


def test_printed_command_names_the_place(tmp_path: Path) -> None:
    root = tmp_path / "with blank"
    environ = {"HOME": str(tmp_path)}

    assert open_at(tmp_path).command("recover") == "memory-custodian recover"
    assert (
        open_at(tmp_path, "docs/team/memory").command("recover", "--apply")
        == "memory-custodian recover --memory-dir docs/team/memory --apply"
    )
    assert (
        open_memory_root(root, environ=environ).command("recover")
        == f"memory-custodian recover --memory-root '{root}'"
    )


def test_place_is_seen_from_another_root_only_where_the_names_fit(tmp_path: Path) -> None:
    project = open_at(tmp_path / "p")
    inside = open_memory_root(tmp_path / "p" / "docs" / "memory", environ={"HOME": "/tmp"})

    seen = inside.rebased("docs/memory")
    assert seen is not None
    assert (seen.root, seen.memory_dir) == (project.root, "docs/memory")
    assert inside.rebased("docs/other") is None


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("", id="empty"),
        pytest.param("/etc/passwd", id="absolute"),
        pytest.param("../x", id="climbs-out"),
        pytest.param("docs/../../x", id="climbs-out-inside"),
        pytest.param("docs//x", id="empty-part"),
        pytest.param("docs/./x", id="dot-part"),
        pytest.param("docs/x/", id="trailing-slash"),
        pytest.param("docs\\x", id="backslash"),
        pytest.param("C:x", id="drive"),
        pytest.param("docs/a\nb", id="newline"),
        pytest.param("docs/a\x1b[2J", id="terminal-escape"),
        pytest.param("docs/\udcff", id="not-utf-8"),
        pytest.param("docs/\0", id="nul"),
    ],
)
def test_path_that_a_plan_cannot_name_is_refused(path: str) -> None:
    with pytest.raises(InputError) as caught:
        require_repo_path(path)

    assert caught.value.where.isprintable()
