"""Projects of Protocol 0.5, as they are found, read and edited without loss."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from mc_schema.document import Document
from mc_schema.errors import ManifestError
from mc_schema.manifest import parse_manifest
from mc_schema.manifest_edit import add_section_after, set_metadata
from mc_schema.memoryfile import parse_memory_file
from mc_schema.protocol import INVALID, NEWER, OLDER
from mc_schema.routes import TASKS

NEW = "## MC-DEC-20260801-00000001 — New\n\nStatus: active"
STATES = {"malformed-metadata": INVALID, "newer-protocol": NEWER}


def fixtures() -> Path:
    default = Path(__file__).resolve().parents[4] / "shared"
    folder = Path(os.environ.get("MC_SHARED", default)) / "fixtures" / "protocol-0.5"
    if not folder.is_dir():
        pytest.skip(f"shared fixture folder not found: {folder}")
    return folder


def memory_files() -> list[tuple[str, str]]:
    """Return ``(path below the fixtures, text)`` of every memory file."""
    folder = fixtures()
    return [
        (path.relative_to(folder).as_posix(), path.read_bytes().decode("utf-8"))
        for path in sorted(folder.rglob("*.md"))
    ]


def manifests() -> dict[str, str]:
    return {
        path.partition("/")[0]: text
        for path, text in memory_files()
        if path.endswith("docs/memory/manifest.md")
    }


def test_every_file_is_rendered_back_and_grows_by_the_inserted_entry_only() -> None:
    for path, text in memory_files():
        document = Document.parse(text)
        after = document.insert_newest_first(NEW)
        inserted = [unit for unit in Document.parse(after).units if "New" in unit.heading]

        assert text == document.render(), path
        assert [after[u.start : u.content_end].replace("\r\n", "\n") for u in inserted] == [NEW], (
            path
        )
        assert text.replace("\r", "").split() == (
            after.replace("\r", "").replace(NEW, "", 1).split()
        ), path


def test_manifests_tell_their_state_and_load_what_they_route() -> None:
    for name, text in manifests().items():
        manifest = parse_manifest(text)

        assert STATES.get(name, OLDER) == manifest.metadata.state, name
        assert [spec.path for spec in manifest.task_specs("default")], name


def test_migrated_manifest_keeps_every_line_and_every_route() -> None:
    for name, text in manifests().items():
        before = parse_manifest(text)
        after_text = add_section_after(
            set_metadata(
                text, {"protocol_version": "0.6", "admission_policy": "evidence-required"}
            ),
            "MemoryCustodian Protocol",
            "Trust boundary",
            ["Text."],
        )
        after = parse_manifest(after_text)
        position = 0
        kept = [line.content for line in after.lines]
        for line in before.lines:
            if line.content.startswith("- protocol_version:") or line.is_blank:
                continue
            position = kept.index(line.content, position) + 1
        for task in TASKS:
            assert paths(text, task) == paths(after_text, task), (name, task)
        assert (before.budgets, before.indexed) == (after.budgets, after.indexed), name


def paths(text: str, task: str) -> list[str]:
    try:
        return [spec.path for spec in parse_manifest(text).task_specs(task)]
    except ManifestError as error:
        return [error.what]


def test_units_without_an_id_are_served_and_bullets_are_units() -> None:
    for path, text in memory_files():
        if "newer" in path or path.endswith(("inbox.md", "manifest.md")):
            continue
        found = parse_memory_file(path.partition("docs/memory/")[2] or path, text)

        assert all(unit.standing.is_served for unit in found.units), path
        assert found.conflict == found.hidden_line == 0, path
