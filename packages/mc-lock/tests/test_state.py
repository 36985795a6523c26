from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from mc_lock import StateDirectory, StateError, resolve_state_directory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FOLDERS = ("locks", "journal", "plans")


@pytest.fixture
def open_umask(tmp_path: Path) -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def closed_umask(tmp_path: Path) -> Iterator[None]:
    before = os.umask(0o777)
    yield
    os.umask(before)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def foreign_directory(tmp_path: Path) -> Path:
    """A real directory of another user, for root and for everybody else."""
    if os.geteuid() != 0:
        return Path("/usr")
    path = tmp_path / "foreign"
    path.mkdir(mode=0o755)
    os.chown(path, 12345, 12345)
    return path


def failing(number: int) -> Callable[[str, int], None]:
    def make_directory(path: str, mode: int) -> None:
        raise OSError(number, os.strerror(number), path)

    return make_directory


def test_resolving_creates_nothing(tmp_path: Path) -> None:
    state = resolve_state_directory(environ={"XDG_STATE_HOME": str(tmp_path / "x" / "y")})

    assert tmp_path / "x" / "y" / "memory-custodian" == state.path
    assert list(tmp_path.iterdir()) == []


def test_ensured_directory_has_three_private_folders(tmp_path: Path) -> None:
    state = StateDirectory(tmp_path / "base" / "memory-custodian").ensure()

    assert sorted(FOLDERS) == names_in(state.path)
    assert [state.locks, state.journal, state.plans] == [state.path / name for name in FOLDERS]


@pytest.mark.usefixtures("open_umask")
def test_umask_zero_leaves_nothing_open(tmp_path: Path) -> None:
    base = tmp_path / "base" / "deeper"
    state = StateDirectory(base / "memory-custodian").ensure()

    made = [base.parent, base, state.path, *(state.path / name for name in FOLDERS)]

    assert [0o700] * len(made) == [mode_of(path) for path in made]


@pytest.mark.usefixtures("closed_umask")
def test_umask_777_leaves_nothing_closed_to_ourselves(tmp_path: Path) -> None:
    state = StateDirectory(tmp_path / "base" / "memory-custodian").ensure()

    assert [mode_of(path) for path in (state.path, *state.path.iterdir())] == [0o700] * 4


@pytest.mark.parametrize("mode", [0o777, 0o750, 0o702, 0o701])
@pytest.mark.parametrize("name", ["", "locks"], ids=["root", "folder"])
def test_own_loose_directory_is_closed(tmp_path: Path, name: str, mode: int) -> None:
    state = StateDirectory(tmp_path / "state").ensure()
    (state.path / name).chmod(mode)

    state.ensure()

    assert mode_of(state.path / name) == 0o700


def test_directory_that_stays_loose_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some mounts accept a change of mode and ignore it."""
    state = StateDirectory(tmp_path / "state").ensure()
    state.path.chmod(0o770)
    monkeypatch.setattr(os, "fchmod", lambda *_: None)

    with pytest.raises(StateError, match="mode 0770"):
        state.ensure()


@pytest.mark.parametrize("name", ["", *FOLDERS])
def test_symbolic_link_is_refused_and_nothing_is_written_behind_it(
    tmp_path: Path, name: str
) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    victim.chmod(0o755)
    state = StateDirectory(tmp_path / "state")
    if name:
        state.path.mkdir(mode=0o700)
    (state.path / name if name else state.path).symlink_to(victim)

    with pytest.raises(StateError) as caught:
        state.ensure()

    assert "symbolic link" in caught.value.what
    assert str(state.path / name) == caught.value.where
    assert list(victim.iterdir()) == []
    assert mode_of(victim) == 0o755


@pytest.mark.parametrize("name", ["", "journal"], ids=["root", "folder"])
def test_file_in_place_of_a_directory_is_refused(tmp_path: Path, name: str) -> None:
    state = StateDirectory(tmp_path / "state")
    if name:
        state.path.mkdir(mode=0o700)
    (state.path / name if name else state.path).write_text("keep")

    with pytest.raises(StateError, match="not a directory"):
        state.ensure()

    assert (state.path / name).read_text() == "keep"


def test_parents_of_the_state_directory_may_be_links(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "home").symlink_to(tmp_path / "real")

    StateDirectory(tmp_path / "home" / "memory-custodian").ensure()

    assert (tmp_path / "real" / "memory-custodian" / "locks").is_dir()


def test_directory_of_another_user_is_refused_by_path_and_owner(tmp_path: Path) -> None:
    path = foreign_directory(tmp_path)
    before = names_in(path)

    with pytest.raises(StateError) as caught:
        StateDirectory(path).ensure()

    assert str(path) == caught.value.where
    assert f"not by uid {os.geteuid()}" in caught.value.what
    assert before == names_in(path)
    with pytest.raises(StateError):
        StateDirectory(path).verify()


@pytest.mark.parametrize(
    "number",
    [errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT],
    ids=["EACCES", "EPERM", "EROFS", "ENOENT"],
)
def test_missing_base_that_cannot_be_created_gives_the_fallback(
    tmp_path: Path, number: int
) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path / "x"), "TMPDIR": str(tmp_path)}
    state = resolve_state_directory(environ=environ)
    fails_once = iter([failing(number)])

    def make_directory(path: str, mode: int) -> None:
        next(fails_once, os.mkdir)(path, mode)

    used = state.ensure(make_directory=make_directory)

    assert tmp_path / f"memory-custodian-state-{os.geteuid()}" == used.path
    assert "not excluded" in used.fallback
    assert "\n" not in used.fallback
    assert used.locks.is_dir()


def test_full_disk_is_no_reason_for_the_fallback(tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path / "x"), "TMPDIR": str(tmp_path)}
    state = resolve_state_directory(environ=environ)

    with pytest.raises(StateError, match="ENOSPC"):
        state.ensure(make_directory=failing(errno.ENOSPC))

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "number", [errno.EACCES, errno.EROFS, errno.EPERM], ids=["EACCES", "EROFS", "EPERM"]
)
def test_existing_base_that_cannot_be_written_is_refused(tmp_path: Path, number: int) -> None:
    """A silent fallback would drop exclusion against the person at the same project."""
    environ = {"XDG_STATE_HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    state = resolve_state_directory(environ=environ)

    with pytest.raises(StateError) as caught:
        state.ensure(make_directory=failing(number))

    assert state.spare is None
    assert "XDG_STATE_HOME" in caught.value.hint
    assert str(tmp_path / "memory-custodian") in caught.value.hint
    assert list(tmp_path.iterdir()) == []


def test_file_as_base_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for home in (tmp_path / "file", tmp_path / "file" / "deeper"):
        state = resolve_state_directory(
            environ={"XDG_STATE_HOME": str(home), "TMPDIR": str(tmp_path)}
        )

        with pytest.raises(StateError):
            state.ensure()

    assert names_in(tmp_path) == ["file"]


def test_dangling_base_gives_the_fallback(tmp_path: Path) -> None:
    (tmp_path / "x").symlink_to(tmp_path / "nowhere")
    environ = {"XDG_STATE_HOME": str(tmp_path / "x"), "TMPDIR": str(tmp_path)}

    state = resolve_state_directory(environ=environ)

    assert state.fallback
    assert tmp_path / f"memory-custodian-state-{os.geteuid()}" == state.path


def test_base_that_dangles_only_when_it_is_created_gives_the_fallback(tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path / "x"), "TMPDIR": str(tmp_path)}
    state = resolve_state_directory(environ=environ)
    (tmp_path / "x").symlink_to(tmp_path / "nowhere")

    used = state.ensure()

    assert used is state.spare


def test_no_home_gives_the_fallback(tmp_path: Path) -> None:
    state = resolve_state_directory(environ={"TMPDIR": str(tmp_path)}, user_home=lambda: "")

    assert tmp_path / f"memory-custodian-state-{os.geteuid()}" == state.path
    assert "home" in state.fallback


def test_taken_fallback_is_refused_and_no_other_name_is_tried(tmp_path: Path) -> None:
    """In a world-writable folder the check of the owner is what stops squatting."""
    environ = {"TMPDIR": str(tmp_path)}
    state = resolve_state_directory(environ=environ, user_home=lambda: "")
    state.path.symlink_to(foreign_directory(tmp_path))

    with pytest.raises(StateError):
        state.ensure()

    assert {state.path.name, "foreign"} >= set(names_in(tmp_path))


def test_state_inside_the_project_moves_to_the_fallback(tmp_path: Path) -> None:
    project = tmp_path / "project"
    outside = tmp_path / "tmp"
    outside.mkdir()
    environ = {"XDG_STATE_HOME": str(project / ".state"), "TMPDIR": str(outside)}

    state = resolve_state_directory(project, environ=environ)

    assert outside == state.path.parent
    assert "inside the project" in state.fallback
    assert state.refusal == ""


def test_linked_state_inside_the_project_moves_to_the_fallback(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "state").mkdir(parents=True)
    (tmp_path / "home").symlink_to(project / "state")
    environ = {"XDG_STATE_HOME": str(tmp_path / "home"), "TMPDIR": "/tmp"}

    state = resolve_state_directory(project, environ=environ)

    assert state.fallback


def test_state_with_no_place_outside_the_project_is_refused(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    environ = {"XDG_STATE_HOME": str(project / "x"), "TMPDIR": str(project)}
    state = resolve_state_directory(project, environ=environ)

    with pytest.raises(StateError) as caught:
        state.ensure()

    assert caught.value.code == "state_in_project"
    assert list(project.iterdir()) == []


def test_late_fallback_inside_the_project_is_refused(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    environ = {"XDG_STATE_HOME": str(tmp_path / "x"), "TMPDIR": str(project)}
    state = resolve_state_directory(project, environ=environ)

    with pytest.raises(StateError):
        state.ensure(make_directory=failing(errno.EACCES))

    assert list(project.iterdir()) == []


def test_missing_windows_product_folder_is_ours_to_create(tmp_path: Path) -> None:
    product = tmp_path / "MemoryCustodian"

    state = resolve_state_directory(system="nt", windows_state=lambda: str(product))

    assert product / "state" == state.path
    assert state.spare is None
    assert state.ensure().locks.is_dir()


def test_verifying_says_whether_there_is_state_and_changes_nothing(tmp_path: Path) -> None:
    state = StateDirectory(tmp_path / "a" / "state")

    assert not state.verify()
    assert list(tmp_path.iterdir()) == []

    state.ensure()
    state.path.chmod(0o755)

    assert state.verify()
    assert mode_of(state.path) == 0o755


@pytest.mark.parametrize("name", ["", "locks"], ids=["root", "folder"])
def test_verifying_refuses_what_others_can_write(tmp_path: Path, name: str) -> None:
    state = StateDirectory(tmp_path / "state").ensure()
    (state.path / name).chmod(0o770)

    with pytest.raises(StateError, match="mode 0770"):
        state.verify()


def test_deleted_state_is_made_again(tmp_path: Path) -> None:
    state = StateDirectory(tmp_path / "state").ensure()
    for name in FOLDERS:
        (state.path / name).rmdir()
    state.path.rmdir()

    state.ensure()

    assert state.locks.is_dir()
