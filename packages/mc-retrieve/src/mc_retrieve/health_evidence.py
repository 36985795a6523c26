"""Reading the evidence of operational health: logs, run folders, sizes, index state.

Source: Cortex contract, section 12, "Collection".
"""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mc_retrieve.health import is_amount, is_count
from mc_retrieve.index_policy import index_evidence
from mc_retrieve.reviewer_evidence import reviewer_evidence

if TYPE_CHECKING:
    from collections.abc import Mapping

_RETRIEVAL_KEYS: Final = {"ts", "query_hash", "returned_count", "duration_ms"}
_LOG_SUFFIXES: Final = (".jsonl", ".log")


class HealthRoot(NamedTuple):
    """The folders that health looks at."""

    memory: str
    observability: str
    policy: str
    """The index-policy marker."""
    manifest: str
    """The manifest of an adopted index."""


class Log(NamedTuple):
    """One JSONL log."""

    path: str
    exists: bool
    rows: list[Any]
    malformed: list[int]
    """1-based numbers of lines that are no JSON; blank lines count."""


def health_root(root: Any, manifest: str | None = None) -> HealthRoot:
    """Return where health looks below *root*.

    A root made by `cortex init-root` is its own memory; any other has it in `LIFEOS/MEMORY`.
    """
    base = os.path.realpath(root)
    memory = base if is_plain_root(base) else os.path.join(base, "LIFEOS", "MEMORY")
    policy = policy_of(memory)
    found = manifest or os.path.join(memory, "INDEX", "index-manifest.json")
    return HealthRoot(memory, os.path.join(memory, "OBSERVABILITY"), policy, found)


def policy_of(memory: str) -> str:
    """Return where the index-policy marker of the memory root *memory* lies.

    It is `LIFEOS/CORTEX_INDEX_POLICY.json` for `LIFEOS/MEMORY`, else in the root itself.
    """
    parent, name = os.path.split(memory)
    is_nested = name == "MEMORY" and os.path.basename(parent) == "LIFEOS"
    return os.path.join(parent if is_nested else memory, "CORTEX_INDEX_POLICY.json")


def is_plain_root(base: str) -> bool:
    """Say whether *base* is itself a memory root, without a `LIFEOS` folder around it."""
    if os.path.lexists(os.path.join(base, "LIFEOS")):
        return False
    return any(os.path.isdir(os.path.join(base, name)) for name in ("KNOWLEDGE", "OBSERVABILITY"))


def collect(
    root: Any, *, now_ms: int, grace_ms: float, manifest: str | None = None
) -> dict[str, Any]:
    """Return the evidence below *root*; see `mc_retrieve.health.collect_evidence`."""
    places = health_root(root, manifest)
    log = os.path.join(places.observability, "reviewer-runs.jsonl")
    runs = os.path.join(places.observability, "reviewer-runs")
    return {
        "reviewer": reviewer_evidence(
            read_log(log, objects_only=True), runs, now_ms=now_ms, grace_ms=grace_ms
        ),
        "retrieval": _retrieval(read_log(_in(places, "memory-retrievals.jsonl"))),
        "proposals": _proposals(
            read_log(_in(places, "pending-proposals.jsonl"), objects_only=True)
        ),
        "observability": _observability(places.observability),
        "index": index_evidence(places.manifest, places.policy, places.memory, now_ms=now_ms),
    }


def read_log(path: str, *, objects_only: bool = False) -> Log:
    """Return the rows of the JSONL file *path*; what is no plain file has none.

    Args:
        path: The log.
        objects_only: A row that is no object is a malformed line (section 13, D20).
    """
    rows: list[Any] = []
    malformed: list[int] = []
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return Log(path, exists=False, rows=rows, malformed=malformed)
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return Log(path, exists=False, rows=rows, malformed=malformed)
    for number, line in enumerate(data.replace(b"\r\n", b"\n").split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line.decode("utf-8"), parse_constant=_refuse)
        except (ValueError, RecursionError):
            malformed.append(number)
            continue
        if objects_only and not isinstance(row, dict):
            malformed.append(number)
        else:
            rows.append(row)
    return Log(path, exists=True, rows=rows, malformed=malformed)


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON")


def _in(places: HealthRoot, name: str) -> str:
    return os.path.join(places.observability, name)


def _retrieval(log: Log) -> dict[str, Any]:
    odd = [row for row in log.rows if row and not isinstance(row, dict)]
    if log.malformed or odd:
        found: dict[str, Any] = {"status": "invalid", "evidence": log.path}
        return found | ({"malformedLines": log.malformed} if log.malformed else {})
    latest = log.rows[-1] if log.rows else None
    if not latest:
        return {"status": "missing", "evidence": log.path}
    if not _is_retrieval(latest):
        return {"status": "invalid", "evidence": f"{log.path}:latest"}
    return {
        "status": "ok",
        "ts": latest["ts"],
        "queryHash": latest["query_hash"],
        "returnedCount": latest["returned_count"],
        "durationMs": latest["duration_ms"],
        "evidence": f"{log.path}:latest",
    }


def _is_retrieval(row: Mapping[str, Any]) -> bool:
    if set(row) - {"top_score"} != _RETRIEVAL_KEYS:
        return False
    return (
        isinstance(row["ts"], str)
        and isinstance(row["query_hash"], str)
        and is_count(row["returned_count"])
        and is_amount(row["duration_ms"])
        and ("top_score" not in row or is_amount(row["top_score"]))
    )


def _proposals(log: Log) -> dict[str, Any]:
    return {
        "pending": sum(row.get("status") == "pending" for row in log.rows),
        "evidence": log.path,
        "available": log.exists,
        "malformedLines": log.malformed,
    }


def _observability(folder: str) -> dict[str, Any]:
    """Measure every regular log file at any depth; links are not followed."""
    sizes, times = [], []
    for base, folders, names in os.walk(folder):
        folders.sort()
        for name in names:
            if not name.endswith(_LOG_SUFFIXES):
                continue
            found = os.lstat(os.path.join(base, name))
            if stat.S_ISREG(found.st_mode):
                sizes.append(found.st_size)
                times.append(found.st_mtime_ns // 1_000_000)
    return {
        "bytes": sum(sizes),
        "oldestMs": min(times) if times else None,
        "files": len(sizes),
        "evidence": folder,
        "available": bool(sizes),
    }
