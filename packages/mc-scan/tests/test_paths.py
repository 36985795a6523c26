from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from mc_scan import Notice, UnreadableFileError, scan_bytes, scan_paths, scan_text
from mc_scan.paths import find_files, scan_file
from mc_scan.testing import fake

if TYPE_CHECKING:
    from pathlib import Path

TOKEN = fake("github-classic").text


@pytest.fixture
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "b.md").write_text(f"a\n{TOKEN}\nana@harrow.dev")
    (tmp_path / "docs" / "a.txt").write_text("password: k9Xq2Lm7Pz")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "docs"


def test_folder_and_its_files_are_scanned_once(docs: Path) -> None:
    found = scan_paths(["docs", docs / "b.md", "./docs/../docs/b.md"])

    assert [(f.path, f.line) for f in found] == [
        ("docs/a.txt", 1),
        ("docs/b.md", 2),
        ("docs/b.md", 3),
    ]


def test_file_text_and_bytes_give_the_same_findings(docs: Path) -> None:
    data = (docs / "b.md").read_bytes()

    assert scan_paths(["docs/b.md"]) == scan_bytes(data, "docs/b.md")
    assert scan_bytes(data, "docs/b.md") == scan_text(data.decode(), "docs/b.md")


def test_filters_apply_to_paths(docs: Path) -> None:
    assert [f.rule for f in scan_paths([docs], only="privacy")] == ["email"]
    assert [f.rule for f in scan_paths([docs], rules=["github-token"])] == ["github-token"]


def test_unreadable_path_is_never_passed_over(docs: Path) -> None:
    told: list[Notice] = []

    with pytest.raises(UnreadableFileError) as caught:
        scan_paths(["docs", "gone.md"])
    assert (caught.value.code, caught.value.where) == ("unreadable", "gone.md")
    assert len(scan_paths(["docs", "gone.md"], on_notice=told.append)) == 3
    assert [(n.code, n.path, n.failed) for n in told] == [("unreadable", "gone.md", True)]


def test_file_that_vanishes_is_reported(docs: Path) -> None:
    sources = find_files(["docs"])
    (docs / "b.md").unlink()
    told: list[Notice] = []
    done = [scan_file(source, on_notice=told.append) for source in sources]

    assert [scanned.shown for scanned in done if scanned is not None] == ["docs/a.txt"]
    assert [(n.code, n.path) for n in told] == [("unreadable", "docs/b.md")]


def test_file_that_grows_above_the_limit_is_reported(docs: Path) -> None:
    (source, _) = find_files(["docs"])
    told: list[Notice] = []
    turns = iter(range(8))

    def grow(_size: int) -> None:
        if next(turns, None) is None:
            return
        with (docs / "a.txt").open("a") as stream:
            stream.write("x" * 500_000)

    assert scan_file(source, max_file_mb=1, on_notice=told.append, on_read=grow) is None
    assert [n.code for n in told] == ["oversized"]


def test_folder_in_place_of_a_file_is_reported(docs: Path) -> None:
    (docs / "c.md").mkdir()
    (source,) = find_files(["docs/a.txt"])
    told: list[Notice] = []

    assert scan_file(source._replace(place="docs/c.md"), on_notice=told.append) is None
    assert [n.code for n in told] == ["unreadable"]
    assert [s.shown for s in find_files(["docs/c.md"])] == []


def test_deep_folders_are_walked(tmp_path: Path) -> None:
    deep = tmp_path
    for _ in range(120):
        deep /= "d"
    deep.mkdir(parents=True)
    (deep / "a.md").write_text(TOKEN)

    assert len(scan_paths([tmp_path])) == 1


def test_working_folder_may_be_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.name != "posix":
        return
    gone, kept = tmp_path / "gone", tmp_path / "kept.md"
    gone.mkdir()
    kept.write_text(TOKEN)
    monkeypatch.chdir(gone)
    gone.rmdir()

    assert len(scan_paths([kept])) == 1
    monkeypatch.chdir(tmp_path)


HOSTILE = [
    *("a", "-", "=", "/", "eyJ", "sk-", "://a:", "password: ", "-----BEGIN", "1 ", "a@a."),
    *("\0", "\\_", "~", "号", "\u200b", "Ａ", "\r", "<!-- mc-scan: allow ", "C:\\Users\\"),
    *("-----BEGIN " + "PRIVATE KEY-----\n", '"private_key": "', "Bearer ", "://", "+1", "0"),
]


@pytest.mark.parametrize("pattern", HOSTILE, ids=ascii)
def test_hostile_repetition_is_scanned_to_its_end(pattern: str) -> None:
    text = pattern * (120_000 // len(pattern))
    (finding,) = [f for f in scan_text(f"{text}\n{TOKEN}") if f.rule == "github-token"]

    assert finding.column == 1


def test_secret_at_the_end_of_a_huge_line_is_found() -> None:
    filler = "lorem ipsum " * 100_000
    (finding,) = scan_text(f"{filler}{TOKEN}")

    assert (1, len(filler) + 1) == (finding.line, finding.column)


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """A file of 24 MB is read in pieces: what is held stays below a few windows."""
    import tracemalloc

    path = tmp_path / "big.md"
    path.write_bytes(b"a" * 12_000_000 + "\U0001f600".encode() * 3_000_000)
    tracemalloc.start()
    scan_paths([path])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 20_000_000
