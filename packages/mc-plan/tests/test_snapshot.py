"""Reading: judged before it is opened, decoded strictly, remembered."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING, Any

import pytest
from mc_plan import (
    IMMEDIATE,
    Draft,
    MalformedFileError,
    PlanError,
    RefusedError,
    Request,
    Snapshot,
    UnreadableFileError,
    UnsafeFileError,
    execute,
    preview,
)
from mc_plan.files import Filesystem
from mc_plan.snapshot import read_state

if TYPE_CHECKING:
    from pathlib import Path

    from mc_plan import Seed

PATH = "docs/memory/areas/odd.md"


def silent(line: str) -> None:
    """Take a line for standard error."""


def make_socket(path: Path) -> None:
    # A socket's address may be at most about 100 characters long.
    os.chdir(path.parent)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)


ODD_FILES = [
    pytest.param(lambda path: path.symlink_to("/etc/passwd"), "a symlink", id="symlink"),
    pytest.param(lambda path: path.symlink_to("nowhere"), "a symlink", id="dangling-symlink"),
    pytest.param(os.mkfifo, "a FIFO", id="fifo"),
    pytest.param(lambda path: path.mkdir(), "a directory", id="directory"),
    pytest.param(make_socket, "a socket", id="socket"),
]


@pytest.mark.parametrize(("make_odd", "kind"), ODD_FILES)
def test_odd_file_is_refused_unopened_by_name(
    place: Any, monkeypatch: pytest.MonkeyPatch, make_odd: Any, kind: str
) -> None:
    path = place.project.path(PATH)
    path.parent.mkdir()
    monkeypatch.chdir(path.parent)
    make_odd(path)

    class Unopened(Filesystem):
        def open_read(self, path: Path) -> int:
            raise AssertionError(path)

    with pytest.raises(UnsafeFileError, match=f"found {kind}") as caught:
        Snapshot(place.project, filesystem=Unopened()).read(PATH)

    assert caught.value.where == PATH


@pytest.mark.parametrize(("make_odd", "kind"), ODD_FILES)
def test_odd_target_is_refused_by_preview_and_apply(
    place: Any, monkeypatch: pytest.MonkeyPatch, make_odd: Any, kind: str
) -> None:
    path = place.project.path(PATH)
    path.parent.mkdir()
    monkeypatch.chdir(path.parent)
    make_odd(path)
    before = place.tree()
    request = Request("x", {}, IMMEDIATE)

    def build(snapshot: Snapshot, seed: Seed) -> Draft:
        return Draft(changes={PATH: b"new\n", "docs/memory/decisions.md": b"new\n"})

    with pytest.raises(UnsafeFileError, match=kind):
        preview(place.project, build, request=request)
    with pytest.raises(UnsafeFileError, match=kind):
        execute(place.project, build, request=request, notify=silent)

    assert before == place.tree()
    assert place.state_files() == []


@pytest.mark.parametrize("level", ["docs", "docs/memory", "docs/memory/areas"])
def test_link_in_place_of_a_folder_is_refused(tmp_path: Path, place: Any, level: str) -> None:
    place.write(PATH, b"inside\n")
    folder = place.project.path(level)
    outside = tmp_path / "outside"
    folder.rename(outside)
    folder.symlink_to(outside)
    victims = {path: path.read_bytes() for path in outside.rglob("*.md")}

    def build(snapshot: Snapshot, seed: Seed) -> Draft:
        return Draft(changes={PATH: b"new\n"})

    with pytest.raises(UnsafeFileError) as caught:
        Snapshot(place.project).read(PATH)
    with pytest.raises(PlanError):
        execute(place.project, build, request=Request("x", {}, IMMEDIATE), notify=silent)

    assert caught.value.where == level
    assert victims == {path: path.read_bytes() for path in outside.rglob("*.md")}


def test_read_only_file_is_refused_before_anything_is_written(place: Any) -> None:
    place.write(PATH, b"x\n", 0o444)
    before = place.tree()

    def build(snapshot: Snapshot, seed: Seed) -> Draft:
        return Draft(changes={"docs/memory/decisions.md": b"new\n", PATH: b"new\n"})

    with pytest.raises(RefusedError, match="write-protected") as caught:
        execute(place.project, build, request=Request("x", {}, IMMEDIATE), notify=silent)

    assert caught.value.where == PATH
    assert "remove the write protection" in caught.value.hint
    assert before == place.tree()


@pytest.mark.parametrize(
    ("data", "offset"),
    [
        pytest.param(b"abc\xff", 3, id="stray-byte"),
        pytest.param("# Ä\n".encode("utf-16"), 0, id="utf-16-with-mark"),
        pytest.param("# Ab\n".encode("utf-16-le"), 1, id="utf-16-without-mark"),
        pytest.param(b"x\xed\xa0\x80", 1, id="surrogate"),
        pytest.param("ä".encode("latin-1"), 0, id="latin-1"),
    ],
)
def test_text_that_is_not_utf_8_names_file_and_offset(place: Any, data: bytes, offset: int) -> None:
    place.write(PATH, data)

    with pytest.raises(MalformedFileError, match=f"byte offset {offset}") as caught:
        Snapshot(place.project).read_text(PATH)

    assert caught.value.where == PATH
    assert data == place.read(PATH)


def test_text_keeps_mark_and_newlines(place: Any) -> None:
    place.write(PATH, b"\xef\xbb\xbfa\r\nb\rc\n")

    assert Snapshot(place.project).read_text(PATH) == "\ufeffa\r\nb\rc\n"


def test_absent_file_reads_as_none_also_without_its_folder(place: Any) -> None:
    snapshot = Snapshot(place.project)

    assert snapshot.read("docs/memory/absent.md") is None
    assert snapshot.read_text("docs/memory/no/such/folder.md") is None
    assert set(snapshot.states) == {"docs/memory/absent.md", "docs/memory/no/such/folder.md"}


def test_file_is_read_once(place: Any) -> None:
    snapshot = Snapshot(place.project)
    first = snapshot.read("docs/memory/decisions.md")
    place.write("docs/memory/decisions.md", b"other\n")

    assert first == snapshot.read("docs/memory/decisions.md")


def test_peek_makes_no_target(place: Any) -> None:
    snapshot = Snapshot(place.project)

    assert snapshot.peek("docs/memory/rows.jsonl").data == b'{"row":1}\n'
    assert snapshot.states == {}


def test_file_that_keeps_changing_is_refused(place: Any) -> None:
    path = place.project.path("docs/memory/decisions.md")

    class Restless(Filesystem):
        count = 0

        def open_read(self, path: Path) -> int:
            self.count += 1
            path.write_bytes(b"x" * self.count)
            return super().open_read(path)

    with pytest.raises(PlanError, match="keeps changing"):
        read_state(place.project, "docs/memory/decisions.md", Restless())

    assert path.read_bytes() == b"xxx"


def test_unreadable_file_is_named_with_the_reason(place: Any) -> None:
    class Denied(Filesystem):
        def open_read(self, path: Path) -> int:
            raise PermissionError(13, "Permission denied", str(path))

    with pytest.raises(UnreadableFileError, match="Permission denied") as caught:
        read_state(place.project, "docs/memory/decisions.md", Denied())

    assert caught.value.where == "docs/memory/decisions.md"


def test_listing_is_sorted_and_follows_no_linked_folder(tmp_path: Path, place: Any) -> None:
    place.write("docs/memory/areas/É.md", b"")
    place.write("docs/memory/areas/z.md", b"")
    place.write("docs/memory/archive/old/a.md", b"")
    place.write("docs/memory/.mc-0.tmp", b"")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.md").write_bytes(b"")
    place.project.path("docs/memory/linked").symlink_to(outside)
    place.project.path("docs/memory/link.md").symlink_to(outside / "x.md")
    snapshot = Snapshot(place.project)

    found = snapshot.list_memory()

    assert found == sorted(found, key=str.encode)
    assert {path.removeprefix("docs/memory/") for path in found} >= {
        "areas/É.md",
        "areas/z.md",
        "archive/old/a.md",
        "link.md",
        "decisions.md",
    }
    assert not [path for path in found if "linked" in path or path.endswith(".tmp")]
    assert snapshot.list_memory("areas/*.md") == [
        "docs/memory/areas/z.md",
        "docs/memory/areas/É.md",
    ]
    assert "docs/memory/areas/z.md" not in snapshot.list_memory("*.md")


def test_listing_of_an_absent_memory_is_empty(tmp_path: Path, samples: Any) -> None:
    assert Snapshot(samples.make_place(tmp_path / "new", files={}).project).list_memory() == []
