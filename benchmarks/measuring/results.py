"""Where figures go: a JSON file in `docs/benchmarks/` with machine, date and versions."""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FOLDER: Final = Path(__file__).resolve().parents[2] / "docs" / "benchmarks"
OURS: Final = ("mc-cli", "mc-lock", "mc-retrieve", "mc-scan", "mc-schema")


def save(name: str, figures: Any, *, peers: Iterable[str] = ()) -> Path:
    """Write *figures* to ``docs/benchmarks/<name>.json`` and return the path."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{name}.json"
    whole = {**_surroundings((*OURS, *peers)), "figures": figures}
    path.write_text(json.dumps(whole, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return path


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return *rows* as a Markdown table; the first is its head, columns but the first go right."""
    head, *body = rows
    lines = [head, ["---", *("---:" for _ in head[1:])], *body]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _surroundings(packages: Iterable[str]) -> dict[str, Any]:
    return {
        "date": dt.datetime.now(dt.timezone.utc).date().isoformat(),
        "machine": {
            "system": platform.system(),
            "release": platform.release(),
            "architecture": platform.machine(),
            "processor": _processor(),
            "processors": os.cpu_count(),
        },
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in packages},
    }


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor()
    names = (line.partition(":")[2].strip() for line in text.split("\n") if "model name" in line)
    return next(names, "")
