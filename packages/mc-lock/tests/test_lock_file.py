from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, Any

import pytest
from mc_lock import FileCalls, LockCreationError, McLockError, StateError, parse_owner
from mc_lock.lock_file import LockFile, create_lock_file, is_still_ours, remove_lock_file
from mc_lock.testing import FakeClock, fake_effects, owner_record, write_lock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mc_lock import Effects

RECORD = owner_record()._replace(token="a" * 32)


def effects_with(**calls: Callable[..., Any]) -> Effects:
    return fake_effects(FakeClock(), files=FileCalls()._replace(**calls))


def failing(number: int) -> Callable[..., Any]:
    def call(*_: object) -> Any:
        raise OSError(number, os.strerror(number))

    return call


@pytest.fixture
def lock(tmp_path: Path) -> LockFile:
    made = create_lock_file(str(tmp_path / "x.lock"), RECORD, effects_with())
    assert made is not None
    return made


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("umask", [0, 0o077, 0o777])
def test_lock_file_is_private_and_holds_the_whole_record(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        create_lock_file(str(tmp_path / "x.lock"), RECORD, effects_with())
    finally:
        os.umask(before)

    assert stat.S_IMODE((tmp_path / "x.lock").stat().st_mode) == 0o600
    assert parse_owner((tmp_path / "x.lock").read_bytes()) == RECORD


def test_second_lock_at_a_path_is_not_made(lock: LockFile) -> None:
    assert create_lock_file(lock.path, RECORD, effects_with()) is None
    assert is_still_ours(lock)


def test_link_at_the_path_is_never_written_through(tmp_path: Path) -> None:
    (tmp_path / "victim").write_bytes(b"precious")
    (tmp_path / "x.lock").symlink_to(tmp_path / "victim")
    (tmp_path / "y.lock").symlink_to(tmp_path / "nowhere")

    assert create_lock_file(str(tmp_path / "x.lock"), RECORD, effects_with()) is None
    assert create_lock_file(str(tmp_path / "y.lock"), RECORD, effects_with()) is None
    assert (tmp_path / "victim").read_bytes() == b"precious"
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(
    ("call", "number", "error"),
    [
        pytest.param("open", errno.ENOSPC, LockCreationError, id="open-ENOSPC"),
        pytest.param("open", errno.ENAMETOOLONG, LockCreationError, id="open-ENAMETOOLONG"),
        pytest.param("open", errno.EROFS, StateError, id="open-EROFS"),
        pytest.param("open", errno.EACCES, StateError, id="open-EACCES"),
        pytest.param("open", errno.EPERM, StateError, id="open-EPERM"),
        pytest.param("write", errno.ENOSPC, LockCreationError, id="write-ENOSPC"),
        pytest.param("write", errno.EDQUOT, LockCreationError, id="write-EDQUOT"),
        pytest.param("fsync", errno.EIO, LockCreationError, id="fsync-EIO"),
    ],
)
def test_failure_to_create_leaves_no_file(
    tmp_path: Path, call: str, number: int, error: type[McLockError]
) -> None:
    effects = effects_with(**{call: failing(number)})

    with pytest.raises(error, match=errno.errorcode[number]) as caught:
        create_lock_file(str(tmp_path / "x.lock"), RECORD, effects)

    assert caught.value.hint
    assert names_in(tmp_path) == []


def test_unwritable_state_names_the_variable_and_the_folder(tmp_path: Path) -> None:
    with pytest.raises(StateError) as caught:
        create_lock_file(str(tmp_path / "x.lock"), RECORD, effects_with(open=failing(errno.EROFS)))

    assert "XDG_STATE_HOME" in caught.value.hint
    assert str(tmp_path) in caught.value.hint


def test_failed_write_leaves_the_lock_of_a_successor_alone(tmp_path: Path) -> None:
    """We slept so long that our half-written file was broken and somebody else has the place."""
    path = tmp_path / "x.lock"

    def write(_descriptor: int, _data: object) -> int:
        path.unlink()
        write_lock(path, owner_record())
        raise OSError(errno.ENOSPC, "full")

    with pytest.raises(LockCreationError):
        create_lock_file(str(path), RECORD, effects_with(write=write))

    assert owner_record() == parse_owner(path.read_bytes())


def test_lock_that_was_broken_while_it_was_written_is_not_held(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"

    def fsync(_descriptor: int) -> None:
        path.unlink()
        write_lock(path, owner_record())

    assert create_lock_file(str(path), RECORD, effects_with(fsync=fsync)) is None
    assert owner_record() == parse_owner(path.read_bytes())


def test_own_lock_is_removed(lock: LockFile, tmp_path: Path) -> None:
    assert is_still_ours(lock)
    assert remove_lock_file(lock, effects_with()) == ""
    assert names_in(tmp_path) == []
    assert not is_still_ours(lock)


def replace_by_other_token(lock: LockFile, path: Path) -> None:
    """The same inode with another token, as ext4 makes of the next file."""
    write_lock(path, owner_record()._replace(token="b" * 32))
    assert path.stat().st_ino == lock.inode


def replace_by_other_inode(_lock: LockFile, path: Path) -> None:
    content = path.read_bytes()
    path.rename(path.with_suffix(".old"))
    path.write_bytes(content)


def replace_by_link(_lock: LockFile, path: Path) -> None:
    path.rename(path.with_suffix(".old"))
    path.symlink_to(path.with_suffix(".old"))


def replace_by_rubbish(_lock: LockFile, path: Path) -> None:
    path.write_bytes(b"rubbish")


@pytest.mark.parametrize(
    "replace",
    [replace_by_other_token, replace_by_other_inode, replace_by_link, replace_by_rubbish],
)
def test_lock_that_is_not_ours_any_more_is_left_with_a_warning(
    lock: LockFile, tmp_path: Path, replace: Callable[[LockFile, Path], None]
) -> None:
    replace(lock, tmp_path / "x.lock")
    before = names_in(tmp_path)

    warning = remove_lock_file(lock, effects_with())

    assert not is_still_ours(lock)
    assert lock.path in warning
    assert "left alone" in warning
    assert before == names_in(tmp_path)


def test_lock_that_vanished_is_reported(lock: LockFile, tmp_path: Path) -> None:
    (tmp_path / "x.lock").unlink()

    assert lock.path in remove_lock_file(lock, effects_with())


def test_lock_that_cannot_be_removed_is_reported_with_its_path(lock: LockFile) -> None:
    warning = remove_lock_file(lock, effects_with(unlink=failing(errno.EROFS)))

    assert lock.path in warning
    assert "EROFS" in warning


def test_close_that_reports_an_error_after_reading_decides_nothing(
    lock: LockFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Raised at the release, it would be told as the failure of a change that is complete."""
    close = os.close

    def close_and_fail(descriptor: int) -> None:
        close(descriptor)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "close", close_and_fail)
    was_ours = is_still_ours(lock)
    warning = remove_lock_file(lock, effects_with())
    monkeypatch.undo()

    assert (was_ours, warning) == (True, "")
    assert not os.path.lexists(lock.path)
