from __future__ import annotations

import os
from pathlib import Path

import pytest
from mc_lock.location import (
    ask_platformdirs,
    ask_user_database,
    find_fallback,
    find_location,
    is_creatable,
    is_inside,
)
from platformdirs.unix import Unix


def no_home() -> str:
    return ""


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        pytest.param({"XDG_STATE_HOME": "/x", "HOME": "/h"}, "/x/memory-custodian", id="xdg"),
        pytest.param({"HOME": "/h"}, "/h/.local/state/memory-custodian", id="home"),
        pytest.param(
            {"XDG_STATE_HOME": "", "HOME": "/h"},
            "/h/.local/state/memory-custodian",
            id="empty-xdg",
        ),
        pytest.param(
            {"XDG_STATE_HOME": "relative/state", "HOME": "/h"},
            "/h/.local/state/memory-custodian",
            id="relative-xdg-is-ignored",
        ),
        pytest.param(
            {"XDG_STATE_HOME": "~/state", "HOME": "/h"},
            "/h/.local/state/memory-custodian",
            id="tilde-is-relative",
        ),
        pytest.param({"HOME": "relative"}, None, id="relative-home-counts-as-none"),
        pytest.param({}, None, id="no-home"),
    ],
)
def test_posix_location_follows_the_environment(
    environ: dict[str, str], expected: str | None
) -> None:
    assert expected == find_location(environ, "posix", user_home=no_home)


@pytest.mark.parametrize("home", [{}, {"HOME": ""}], ids=["unset", "empty"])
def test_user_database_is_asked_without_home(home: dict[str, str]) -> None:
    expected = "/db/.local/state/memory-custodian"

    assert expected == find_location(home, "posix", user_home=lambda: "/db")


def test_relative_home_of_the_user_database_counts_as_none() -> None:
    assert find_location({}, "posix", user_home=lambda: "rel") is None


def test_user_database_knows_the_current_user_or_answers_with_nothing() -> None:
    assert ask_user_database()[:1] in {"", "/"}


@pytest.mark.parametrize("xdg", ["/elsewhere/state", None], ids=["xdg", "home"])
def test_posix_location_is_that_of_platformdirs(
    xdg: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Importing platformdirs costs more than a command, so the path is computed and bound here."""
    monkeypatch.setenv("HOME", str(tmp_path))
    if xdg is None:
        monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    else:
        monkeypatch.setenv("XDG_STATE_HOME", xdg)

    expected = Unix(appname="memory-custodian", appauthor=False).user_state_dir

    assert expected == find_location(os.environ, "posix")


def test_windows_location_is_below_local_application_data(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    local = "C:\\Users\\Ada\\AppData\\Local"
    monkeypatch.setenv("LOCALAPPDATA", local)
    monkeypatch.setenv("WIN_PD_OVERRIDE_LOCAL_APPDATA", local)

    assert ask_platformdirs() == str(Path(local, "MemoryCustodian"))


def test_windows_location_ends_in_state() -> None:
    expected = "/local/MemoryCustodian/state"

    found = find_location({}, "nt", windows_state=lambda: "/local/MemoryCustodian")

    assert expected == found


@pytest.mark.parametrize("answer", ["", "relative"])
def test_windows_without_local_application_data_has_no_location(answer: str) -> None:
    assert find_location({"HOME": "/h"}, "nt", windows_state=lambda: answer) is None


def test_fallback_is_named_for_the_user_in_the_temporary_folder(tmp_path: Path) -> None:
    expected = str(tmp_path / f"memory-custodian-state-{os.geteuid()}")

    assert expected == find_fallback({"TMPDIR": str(tmp_path)}, "posix")


@pytest.mark.parametrize("folder", ["relative", "/no/such/folder", ""])
def test_unusable_temporary_folder_is_passed_over(folder: str) -> None:
    """Never the current directory: it can be the project."""
    found = find_fallback({"TMPDIR": folder}, "posix")

    assert found.startswith(("/tmp/", "/var/tmp/"))


def test_relative_temporary_folder_is_passed_over_even_if_it_exists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "relative").mkdir()

    assert find_fallback({"TMPDIR": "relative"}, "posix").startswith("/")


def test_path_below_the_project_is_inside_whatever_the_spelling(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "deep").mkdir(parents=True)
    link = tmp_path / "link"
    link.symlink_to(project / "deep")

    inside = [
        project,
        project / "a" / "b",
        link / "state",
        project / "deep" / ".." / "x",
        tmp_path / "other" / ".." / "project" / "x",
    ]

    assert [True] * len(inside) == [is_inside(path, project) for path in inside]
    assert [True] * len(inside) == [is_inside(path, link / "..") for path in inside]


def test_path_beside_the_project_is_not_inside(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()

    assert not is_inside(tmp_path / "project-state", project)
    assert not is_inside(tmp_path, project)
    assert not is_inside(tmp_path, None)


def test_missing_directory_below_a_writable_one_is_creatable(tmp_path: Path) -> None:
    assert is_creatable(tmp_path / "a" / "b")


def test_dangling_link_is_not_creatable(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")

    assert not is_creatable(tmp_path / "link" / "state")
    assert not is_creatable(tmp_path / "link")


def test_file_in_the_way_is_left_for_creating_to_report(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    assert is_creatable(tmp_path / "file" / "state")
