from __future__ import annotations

import errno
import os
import socket
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mc_lock import FileCalls, StateError, read_private_file, write_private_file

if TYPE_CHECKING:
    from collections.abc import Callable


def failing(number: int) -> Callable[..., Any]:
    def call(*_: object) -> Any:
        raise OSError(number, os.strerror(number))

    return call


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    data = bytes(range(256)) * 100
    write_private_file(tmp_path / "seed", data)

    assert data == read_private_file(tmp_path / "seed")
    assert names_in(tmp_path) == ["seed"]


def test_file_is_private_whatever_the_umask(tmp_path: Path) -> None:
    for umask in (0, 0o077, 0o777):
        before = os.umask(umask)
        try:
            write_private_file(tmp_path / "seed", b"x")
            write_private_file(tmp_path / f"new-{umask}", b"x", exclusive=True)
        finally:
            os.umask(before)

        modes = {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}

        assert {0o600} == modes


def test_exclusive_write_keeps_the_first_content(tmp_path: Path) -> None:
    write_private_file(tmp_path / "seed", b"first", exclusive=True)

    with pytest.raises(FileExistsError):
        write_private_file(tmp_path / "seed", b"second", exclusive=True)

    assert read_private_file(tmp_path / "seed") == b"first"
    assert names_in(tmp_path) == ["seed"]


def test_exclusive_write_works_without_hard_links(tmp_path: Path) -> None:
    files = FileCalls(link=failing(errno.EPERM))
    write_private_file(tmp_path / "seed", b"first", exclusive=True, files=files)

    with pytest.raises(FileExistsError):
        write_private_file(tmp_path / "seed", b"second", exclusive=True, files=files)

    assert read_private_file(tmp_path / "seed") == b"first"
    assert names_in(tmp_path) == ["seed"]


def test_plain_write_replaces_a_link_and_not_its_target(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("keep")
    (tmp_path / "seed").symlink_to(victim)

    write_private_file(tmp_path / "seed", b"new")

    assert victim.read_text() == "keep"
    assert read_private_file(tmp_path / "seed") == b"new"


@pytest.mark.parametrize("call", ["open", "write", "fsync", "replace"])
def test_failed_write_keeps_the_old_content_and_leaves_nothing(tmp_path: Path, call: str) -> None:
    write_private_file(tmp_path / "seed", b"old")
    files = FileCalls()._replace(**{call: failing(errno.ENOSPC)})

    with pytest.raises(StateError, match="ENOSPC"):
        write_private_file(tmp_path / "seed", b"new", files=files)

    assert read_private_file(tmp_path / "seed") == b"old"
    assert names_in(tmp_path) == ["seed"]


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOTSUP])
def test_mount_that_cannot_sync_is_accepted(tmp_path: Path, number: int) -> None:
    write_private_file(tmp_path / "seed", b"x", files=FileCalls(fsync=failing(number)))

    assert read_private_file(tmp_path / "seed") == b"x"


def test_short_writes_are_continued(tmp_path: Path) -> None:
    files = FileCalls(write=lambda descriptor, data: os.write(descriptor, data[:3]))

    write_private_file(tmp_path / "seed", b"0123456789", files=files)

    assert read_private_file(tmp_path / "seed") == b"0123456789"


def test_directory_in_the_way_of_a_write_is_refused(tmp_path: Path) -> None:
    (tmp_path / "seed").mkdir()

    with pytest.raises(StateError):
        write_private_file(tmp_path / "seed", b"x")

    assert names_in(tmp_path) == ["seed"]


def test_missing_file_is_reported_as_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_private_file(tmp_path / "none")


def make_link(path: Path) -> None:
    (path.parent / "target").write_bytes(b"secret")
    path.symlink_to(path.parent / "target")


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        pytest.param(make_link, "symbolic link", id="link"),
        pytest.param(lambda path: path.mkdir(), "not a regular file", id="directory"),
        pytest.param(os.mkfifo, "not a regular file", id="fifo"),
        pytest.param(make_socket, "not a regular file", id="socket"),
        pytest.param(lambda path: path.write_bytes(b"x" * 65_537), "mode", id="loose"),
    ],
)
def test_what_is_no_private_file_is_refused(
    make: Callable[[Path], None], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the name of a socket has to be short
    before = os.umask(0o022)
    make(Path("seed"))
    os.umask(before)

    with pytest.raises(StateError, match=reason) as caught:
        read_private_file(Path("seed"))

    assert caught.value.hint


def test_file_of_another_user_is_refused(tmp_path: Path) -> None:
    path = Path("/etc/passwd")
    if os.geteuid() == 0:
        path = tmp_path / "seed"
        path.write_bytes(b"x")
        path.chmod(0o600)
        os.chown(path, 12345, 12345)

    with pytest.raises(StateError, match="owned by uid"):
        read_private_file(path)


def test_reading_stops_at_the_cap(tmp_path: Path) -> None:
    write_private_file(tmp_path / "journal", b"x" * 65_537)

    with pytest.raises(StateError, match="larger than 65536"):
        read_private_file(tmp_path / "journal")

    assert len(read_private_file(tmp_path / "journal", max_bytes=65_537)) == 65_537
    assert len(read_private_file(tmp_path / "journal", max_bytes=None)) == 65_537
