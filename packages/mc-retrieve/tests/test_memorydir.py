"""Reading a memory directory: every obstacle is a located value, and nothing hides the rest."""

from __future__ import annotations

import os
import socket
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from mc_retrieve import memorydir
from mc_retrieve.memorydir import Fault, TextFile, list_markdown, read_bytes, read_text

if TYPE_CHECKING:
    from collections.abc import Iterator


posix_only = pytest.mark.skipif(os.name == "nt", reason="POSIX links, special files and modes")
NOBODY = 65534


def _file(base: Path, path: str, data: bytes = b"# T\n") -> Path:
    target = base / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
    return target


def _bind(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(path.name)


@contextmanager
def _without_privilege() -> Iterator[None]:
    """Root reads everything: stand down to nobody for a moment."""
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)


def _fault(found: object) -> Fault:
    assert isinstance(found, Fault), found
    return found


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\xef\xbb\xbf# T\r\n", id="bom-and-crlf"),
        pytest.param("# 决定\n人工智能\u2028x".encode(), id="cjk-and-line-separator"),
        pytest.param(b"no final newline", id="no-final-newline"),
    ],
)
def test_text_is_decoded_without_losing_a_byte(tmp_path: Path, data: bytes) -> None:
    _file(tmp_path, "areas/a.md", data)

    found = read_text(tmp_path, "areas/a.md")

    assert isinstance(found, TextFile)
    assert data == found.text.encode()


def test_an_absent_file_is_none(tmp_path: Path) -> None:
    _file(tmp_path, "rules", b"a file where a folder is expected")

    assert read_text(tmp_path, "brief.md") is None
    assert read_text(tmp_path, "rules/output.md") is None
    assert read_text(tmp_path, "areas/deep/x.md") is None
    assert read_text(tmp_path / "gone", "brief.md") is None


@pytest.mark.parametrize(
    ("data", "line", "offset"),
    [
        pytest.param(b"# T\n\nab\xff\n", 3, 7, id="one-bad-byte"),
        pytest.param(b"# T\r\n\r\n\xe4\xb8", 3, 7, id="cut-character-after-crlf"),
        pytest.param("# Constraints\n".encode("utf-16"), 1, 0, id="utf-16-with-mark"),
        pytest.param("# Constraints\n".encode("utf-16-le"), 1, 1, id="utf-16-without-mark"),
        pytest.param(b"\xed\xa0\x80", 1, 0, id="surrogate"),
    ],
)
def test_bytes_that_are_no_utf8_are_named_with_line_and_offset(
    tmp_path: Path, data: bytes, line: int, offset: int
) -> None:
    _file(tmp_path, "x.md", data)

    fault = _fault(read_text(tmp_path, "x.md"))

    assert (memorydir.NOT_UTF8, "x.md", line, offset) == (
        fault.code,
        fault.path,
        fault.line,
        fault.offset,
    )
    assert f"byte {offset}" in fault.message


@posix_only
@pytest.mark.parametrize(
    ("make", "code"),
    [
        pytest.param(lambda p: p.symlink_to(p.parent / "brief.md"), "symlink", id="inner-link"),
        pytest.param(lambda p: p.symlink_to("/etc/hostname"), "symlink", id="outer-link"),
        pytest.param(lambda p: p.symlink_to(p), "symlink", id="loop"),
        pytest.param(lambda p: p.symlink_to("gone"), "symlink", id="dangling"),
        pytest.param(os.mkfifo, "not_a_file", id="fifo"),
        pytest.param(lambda p: p.mkdir(), "not_a_file", id="folder"),
        pytest.param(_bind, "not_a_file", id="socket"),
    ],
)
def test_what_is_no_plain_file_is_a_fault_and_hides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: object, code: str
) -> None:
    _file(tmp_path, "brief.md")
    monkeypatch.chdir(tmp_path)
    assert callable(make)
    make(tmp_path / "x.md")

    fault = _fault(read_text(tmp_path, "x.md"))
    listing = list_markdown(tmp_path)

    assert (code, "x.md") == (fault.code, fault.path)
    assert listing.paths == ("brief.md",)
    assert [f.path for f in listing.faults] == ([] if (tmp_path / "x.md").is_dir() else ["x.md"])


@posix_only
def test_a_linked_folder_is_not_entered_and_reported(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    _file(outside, "secret.md")
    memory = tmp_path / "memory"
    _file(memory, "brief.md")
    (memory / "areas").symlink_to(outside)
    (memory / "picture.png").symlink_to(outside / "secret.md")

    listing = list_markdown(memory)
    fault = _fault(read_text(memory, "areas/secret.md"))

    assert listing.paths == ("brief.md",)
    assert [(f.path, f.code) for f in listing.faults] == [("areas", "symlink")]
    assert listing.links == ("areas", "picture.png")
    assert (fault.code, fault.path) == ("symlink", "areas/secret.md")
    assert "`areas`" in fault.message


@pytest.mark.parametrize(
    "path",
    ["../x.md", "/etc/x.md", "a//x.md", "a/../x.md", "./x.md", "C:x.md", "a\\x.md", "", "a\0.md"],
)
def test_a_path_that_could_leave_is_refused_unlooked_at(tmp_path: Path, path: str) -> None:
    _file(tmp_path, "x.md")
    memory = tmp_path / "a"
    memory.mkdir()

    assert _fault(read_text(memory, path)).code == memorydir.OUTSIDE


def test_the_listing_is_sorted_and_whole(tmp_path: Path) -> None:
    for path in ("b.md", "a.md", "areas/z.md", "archive/raw/old.md", ".hidden/h.md", "notes.txt"):
        _file(tmp_path, path)

    listing = list_markdown(tmp_path)

    assert listing.paths == (".hidden/h.md", "a.md", "archive/raw/old.md", "areas/z.md", "b.md")
    assert listing.others == ("notes.txt",)
    assert listing.faults == ()


@posix_only
def test_a_file_or_folder_without_permission_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o755)
    closed = _file(tmp_path, "closed.md")
    closed.chmod(0)
    folder = _file(tmp_path, "areas/x.md").parent
    folder.chmod(0)
    # A relative base: the folders above may be closed to the lesser user.
    monkeypatch.chdir(tmp_path)
    try:
        with _without_privilege():
            fault = _fault(read_text(Path(), "closed.md"))
            inside = _fault(read_text(Path(), "areas/x.md"))
            listing = list_markdown(Path())
    finally:
        folder.chmod(0o755)

    assert [fault.code, inside.code] == [memorydir.UNREADABLE] * 2
    assert "permission denied" in fault.message
    assert [f.path for f in listing.faults] == ["areas"]
    assert listing.paths == ("closed.md",)


def test_what_the_operating_system_refuses_is_a_fault(tmp_path: Path) -> None:
    assert _fault(read_text(tmp_path, "a" * 300 + ".md")).code == memorydir.UNREADABLE


def test_a_file_above_the_limit_is_not_read_and_one_at_the_limit_is(tmp_path: Path) -> None:
    _file(tmp_path, "x.md", b"a" * 11)
    _file(tmp_path, "y.md", b"a" * 10)

    assert _fault(read_bytes(tmp_path, "x.md", max_bytes=10)).code == memorydir.TOO_LARGE
    assert read_bytes(tmp_path, "y.md", max_bytes=10) == b"a" * 10


def test_an_absent_memory_directory_lists_nothing(tmp_path: Path) -> None:
    assert list_markdown(tmp_path / "gone") == ((), (), (), ())
