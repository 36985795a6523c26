"""Captures of five sources pass the private boundary and become items; the example runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from mc_cli.cortex.testing import files_of, idea, make_root, rebuild, store
from mc_schema.private import CaptureEnvelope, ingest, is_valid_at

if TYPE_CHECKING:
    from pathlib import Path

SOURCES = ("claude", "hermes", "codex", "subagent", "telegram")
PRIVATE = ("Example Ltd", "/home/ada/keys", "Ada is ill")


@pytest.fixture
def captures(repository_root: Path) -> list[dict[str, Any]]:
    path = repository_root / "docs/examples/cortex-adapter/captures.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_captures_show_every_source(captures: list[dict[str, Any]]) -> None:
    assert tuple(capture["source"] for capture in captures) == SOURCES


@pytest.mark.parametrize("number", range(len(SOURCES)), ids=SOURCES)
def test_capture_round_trips_and_is_valid_when_it_was_made(
    captures: list[dict[str, Any]], number: int
) -> None:
    capture = captures[number]

    assert CaptureEnvelope.from_mapping(capture).to_mapping() == capture
    assert is_valid_at(capture, capture["timestamps"]["captured_at"])


@pytest.mark.parametrize("number", range(len(SOURCES)), ids=SOURCES)
def test_capture_becomes_a_note_without_its_private_text(
    captures: list[dict[str, Any]], number: int, tmp_path: Path
) -> None:
    root = make_root(tmp_path)

    def consume(clean: CaptureEnvelope) -> dict[str, Any]:
        fields = {"source_session": clean.session_id} if clean.session_id else {}
        return store(root, idea(f"From {clean.source}", clean.content, **fields))

    answer = ingest(captures[number], consume)

    assert answer["ok"]
    written = b"".join(files_of(root).values()).decode()
    assert not [text for text in PRIVATE if text in written]
    assert rebuild(root)["records"] == 1


def test_example_drives_the_adapter_under_every_name(repository_root: Path, tmp_path: Path) -> None:
    script = repository_root / "docs/examples/cortex-adapter/drive.py"

    done = subprocess.run(
        [sys.executable, "-W", "error", str(script), str(tmp_path)],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )

    said = done.stdout.decode() + done.stderr.decode()
    assert done.returncode == 0, said
    for name in ("claude", "codex", "hermes", "subagent"):
        assert f"{name}: without permission: write_refused" in said
        assert f"{name}: wrote KNOWLEDGE/Ideas/heard-from-{name}-on-2026-07-26.md" in said
    assert "queued prop-" in said
    assert "status 0" in said
    assert rebuild(tmp_path)["records"] == 6
    written = b"".join(files_of(tmp_path).values()).decode()
    assert not [text for text in PRIVATE if text in written + said]
