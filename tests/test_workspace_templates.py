"""The templates that mc-plan ships are those of `templates/`, byte for byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copy_templates import COPY, SOURCE, copy_templates, read_tree

if TYPE_CHECKING:
    from pathlib import Path


def test_shipped_templates_equal_their_source(repository_root: Path) -> None:
    """When this fails: `nox -s templates`."""
    assert read_tree(repository_root / COPY) == read_tree(repository_root / SOURCE)


def test_copying_writes_changes_and_removes_what_is_gone(tmp_path: Path) -> None:
    for path, data in {
        f"{SOURCE}/agents/new.md": b"new\r\n",
        f"{SOURCE}/same.md": b"same\n",
        f"{SOURCE}/changed.md": b"after\n",
        f"{COPY}/same.md": b"same\n",
        f"{COPY}/changed.md": b"before\n",
        f"{COPY}/gone.md": b"gone\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)

    changed = copy_templates(tmp_path)

    assert changed == [f"{COPY}/{name}" for name in ("agents/new.md", "changed.md", "gone.md")]
    assert read_tree(tmp_path / COPY) == read_tree(tmp_path / SOURCE)
    assert copy_templates(tmp_path) == []
