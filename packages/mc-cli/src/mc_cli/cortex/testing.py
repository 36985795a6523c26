"""What tests of the governed writes need: a root, a clock that stands still, one-line writes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from mc_retrieve.writing import WriteRequest

from mc_cli.cortex import run
from mc_cli.cortex.store import write_item

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mc_retrieve.envelope import Result

NOW: Final = 1_785_060_000.0
"""2026-07-26T10:00:00Z."""
NOW_TEXT: Final = "2026-07-26T10:00:00.000Z"


def make_root(folder: Path, layout: int = 1) -> Path:
    """Return a new root below *folder*: of layout 1, or 2 with its corpus in `MEMORY/KNOWLEDGE`."""
    root = folder / "root"
    (root / ("KNOWLEDGE" if layout == 1 else "MEMORY/KNOWLEDGE")).mkdir(parents=True)
    return root


def store(
    root: Path,
    item: Mapping[str, Any],
    *,
    adapter: str = "claude",
    now: float = NOW,
    environ: Mapping[str, str] = os.environ,
    timeout_seconds: float = 10.0,
) -> dict[str, Any]:
    """Return the store's answer to *item*, written at the instant *now* (epoch seconds)."""
    command = "propose" if item.get("type") == "proposal" else "remember"
    request = WriteRequest(command, adapter, dict(item), str(root))
    return write_item(request, clock=lambda: now, environ=environ, timeout_seconds=timeout_seconds)


def refusal(root: Path, item: Mapping[str, Any]) -> str:
    """Return the code of the refusal of *item*, or ``ok``; the message must begin with it."""
    answer = store(root, item)
    if answer["ok"]:
        return "ok"
    if not answer["message"].startswith(f"{answer['code']}: "):
        raise ValueError(answer["message"])
    return str(answer["code"])


def get(root: Path, *ids: str) -> list[dict[str, Any]]:
    """Return the records with those ids, as `cortex get` gives them."""
    return list(_data(run(["get", *ids, "--memory-root", str(root)]))["items"])


def rebuild(root: Path) -> dict[str, Any]:
    """Return what `cortex rebuild` says of *root*."""
    return _data(run(["rebuild", "--from-canonical", "--memory-root", str(root)]))


def files_of(root: Path) -> dict[str, bytes]:
    """Return the content of every file below *root*, by POSIX path."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def idea(title: Any = "Cats", content: Any = "They purr.", **fields: Any) -> dict[str, Any]:
    """Return an idea."""
    return {"type": "idea", "title": title, "content": content, **fields}


def memory(content: str = "RULE: be kind", **fields: Any) -> dict[str, Any]:
    """Return a hot memory item that adds one entry to the principal's file."""
    return {"type": "memory", "actor": "principal", "content": content, **fields}


def memory_set(*entries: str) -> dict[str, Any]:
    """Return a hot memory item that sets the entries of the principal's file."""
    return {"type": "memory", "actor": "principal", "op": "set", "entries": list(entries)}


def proposal(edit: str = "Use short words.", **fields: Any) -> dict[str, Any]:
    """Return a proposal."""
    return {
        "type": "proposal",
        "target_file": "USER/STYLE.md",
        "edit": edit,
        "confidence": 0.9,
        "rationale": "It reads better.",
        **fields,
    }


def _data(result: Result) -> dict[str, Any]:
    if result.exit_code:
        raise ValueError(result.text)
    return dict(result.envelope["data"])
