from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from mc_retrieve.errors import IntegrityError, InternalError
from mc_retrieve.layout import find_files, pin_root

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from typing import Any


def paths_of(root: Path) -> list[str]:
    return [file.path for file in find_files(str(root))]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param(
            ["KNOWLEDGE/a.md", "KNOWLEDGE/b/c.jsonl", "X_MEMORY.md", "_MEMORY.md", "other.md"],
            ["KNOWLEDGE/a.md", "KNOWLEDGE/b/c.jsonl", "X_MEMORY.md", "_MEMORY.md"],
            id="knowledge-and-hot-files",
        ),
        pytest.param(
            ["MEMORY/KNOWLEDGE/a.md", "X_MEMORY.md", "MEMORY/Y_MEMORY.md"],
            ["MEMORY/KNOWLEDGE/a.md"],
            id="nested-knowledge-alone",
        ),
        pytest.param(
            ["KNOWLEDGE/a.md", "MEMORY/KNOWLEDGE/b.md"], ["KNOWLEDGE/a.md"], id="outer-one-first"
        ),
        pytest.param(
            ["a.md", "b/c.md", "X_MEMORY.md", "_MEMORY.md", "MEMORY/d.md"],
            ["MEMORY/d.md", "X_MEMORY.md", "a.md", "b/c.md"],
            id="bare",
        ),
        pytest.param(
            ["KNOWLEDGE/_a.md", "KNOWLEDGE/.b/c.md", "KNOWLEDGE/d.MD", "KNOWLEDGE/e.md.txt"],
            [],
            id="skipped-names",
        ),
        pytest.param(["KNOWLEDGE/x.md/y.md"], ["KNOWLEDGE/x.md/y.md"], id="folder-with-a-suffix"),
        pytest.param(
            ["KNOWLEDGE/\U00010000.md", "KNOWLEDGE/\uff5e.md"],
            ["KNOWLEDGE/\U00010000.md", "KNOWLEDGE/\uff5e.md"],
            id="utf-16-order",
        ),
    ],
)
def test_corpus_is_chosen_by_the_folders_that_exist(
    make_root: Callable[[Mapping[str, str | bytes]], Path], files: list[str], expected: list[str]
) -> None:
    root = make_root(dict.fromkeys(files, ""))

    assert expected == paths_of(root)


def test_empty_root_is_an_empty_corpus(tmp_path: Path) -> None:
    assert paths_of(tmp_path) == []


@pytest.mark.parametrize("name", ["KNOWLEDGE/a.md", "KNOWLEDGE/a.txt", "KNOWLEDGE/folder"])
def test_link_below_the_tree_is_refused_whatever_its_name(
    make_root: Callable[[Mapping[str, str | bytes]], Path], name: str
) -> None:
    root = make_root({"KNOWLEDGE/b.md": ""})
    (root / name).symlink_to(root / "nowhere")

    with pytest.raises(IntegrityError) as caught:
        find_files(str(root))

    assert name == caught.value.where


def test_pipe_with_a_record_name_is_refused_without_opening(
    make_root: Callable[[Mapping[str, str | bytes]], Path],
) -> None:
    root = make_root({"KNOWLEDGE/b.md": ""})
    os.mkfifo(root / "KNOWLEDGE" / "a.jsonl")

    with pytest.raises(IntegrityError):
        find_files(str(root))


def test_unreadable_folder_is_an_internal_error_that_names_it(
    make_root: Callable[[Mapping[str, str | bytes]], Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    root = make_root({"KNOWLEDGE/locked/a.md": ""})
    scan = os.scandir

    def refuse(path: str) -> Any:
        if path.endswith("locked"):
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    # Root may read everything, so on some machines only a stand-in refuses.
    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(InternalError) as caught:
        find_files(str(root))

    assert caught.value.where == "KNOWLEDGE/locked/"


def test_root_is_pinned_with_its_links_resolved(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "alias").symlink_to("real")

    assert pin_root(f"{tmp_path}/alias/../alias/.") == str(tmp_path.resolve() / "real")


@pytest.mark.parametrize("name", ["missing", "file", "dangling", "nul\0", "x" * 300])
def test_root_that_is_no_folder_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "dangling").symlink_to("nowhere")

    with pytest.raises(IntegrityError):
        pin_root(str(tmp_path / name))
