"""Small Cortex corpora, and the contract run in process with a clock that stands still."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest
from mc_retrieve.contract import run
from mc_schema.validity import parse_timestamp

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from mc_retrieve.envelope import Result
    from mc_retrieve.writing import WriteRequest

NOW: Final = parse_timestamp("2026-07-26T12:00:00Z")


@pytest.fixture
def make_root(tmp_path: Path) -> Callable[[Mapping[str, str | bytes]], Path]:
    """Return a function that writes files, given by path, and returns their real folder."""

    def make(files: Mapping[str, str | bytes]) -> Path:
        root = tmp_path / "root"
        root.mkdir(exist_ok=True)
        for path, content in files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content if isinstance(content, bytes) else content.encode())
        return root.resolve()

    return make


@pytest.fixture
def cortex() -> Callable[..., Result]:
    """Return a function that runs a contract command; the root is a keyword."""

    def call(
        *argv: str,
        root: Path | None = None,
        environ: Mapping[str, str] | None = None,
        store: Callable[[WriteRequest], Any] | None = None,
        standard_input: bytes = b"",
    ) -> Result:
        place = [] if root is None else ["--memory-root", str(root)]
        return run(
            [*argv, *place],
            store=store or refuse_everything,
            environ=environ or {},
            now_ms=NOW,
            read_payload=lambda limit: standard_input[:limit],
        )

    return call


def refuse_everything(request: WriteRequest) -> dict[str, Any]:
    raise AssertionError("the store was called")


@pytest.fixture
def json_line() -> Callable[..., str]:
    """Return a function that writes one record as a JSON line; fields are overridden by name."""

    def write(record_id: str, content: str = "words", **fields: Any) -> str:
        row = {
            "id": record_id,
            "type": "memory",
            "title": "Title",
            "created": "2026-01-01",
            "updated": "2026-01-02",
            "content": content,
            **fields,
        }
        return json.dumps(row) + "\n"

    return write
