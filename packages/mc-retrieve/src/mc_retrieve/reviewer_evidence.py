"""What the reviewer's log and run folders say about its latest run.

The newest evidence goes before any earlier success. Source: Cortex contract, section 12.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Final

from mc_schema.validity import parse_timestamp

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mc_retrieve.health_evidence import Log

_RUN_ID: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2})-([0-9]{2})-([0-9]{2})-([0-9]{3})Z"
)
_SUCCESS_KEYS: Final = {
    "ts",
    "ok",
    "runId",
    "transcript",
    "exchanges",
    "inference_duration_ms",
    "parse_ok",
    "dispatch_summary",
}
_SKIP_KEYS: Final = {
    "ts",
    "ok",
    "runId",
    "exchanges",
    "inference_duration_ms",
    "parse_ok",
    "skipped",
}
_SKIP_OPTIONAL: Final = {"transcript", "error"}
_SUMMARY_COUNTS: Final = (
    "total",
    "succeeded",
    "failed",
    "skipped_guard",
    "proposals_auto_applied",
    "proposals_auto_apply_failed",
)
_SUMMARY_KEYS: Final = {*_SUMMARY_COUNTS, "by_type", "failures", "skips"}
_TYPES: Final = {"memory", "idea", "knowledge", "proposal"}


def reviewer_evidence(log: Log, runs: str, *, now_ms: int, grace_ms: float) -> dict[str, Any]:
    """Return the reviewer's evidence: the latest run by log *log* or run folder below *runs*."""
    if log.malformed:
        lines = ", ".join(map(str, log.malformed))
        return {
            "status": "parse-failed",
            "evidence": log.path,
            "error": f"malformed JSONL lines: {lines}",
        }
    latest = log.rows[-1] if log.rows else None
    unfinished = _unfinished_run(log, runs, latest, now_ms, grace_ms)
    if unfinished is not None:
        return unfinished
    if latest is None:
        return {"status": "missing", "evidence": f"{log.path} and {runs}"}
    return _row_evidence(log, latest)


def _unfinished_run(
    log: Log, runs: str, latest: Mapping[str, Any] | None, now_ms: int, grace_ms: float
) -> dict[str, Any] | None:
    """Return what the newest run folder says when it is newer than the log's latest row."""
    name = _newest_folder(runs)
    written = _run_timestamp(name) if name else None
    instant = parse_timestamp(written) if written else None
    if name is None or instant is None:
        return None
    if latest is not None and instant <= _row_instant(latest):
        return None
    folder = os.path.join(runs, name)
    known = {"ts": written, "runId": name, "priorSuccesses": _successes(log.rows)}
    parse_error = os.path.join(folder, "parse-error.txt")
    if os.path.exists(parse_error):
        return {"status": "parse-failed", **known, "evidence": parse_error}
    if now_ms - instant <= grace_ms:
        return None
    error = f"no terminal reviewer row within {grace_ms:g}ms"
    if float(grace_ms).is_integer():
        error = f"no terminal reviewer row within {int(grace_ms)}ms"
    return {"status": "timed-out", **known, "evidence": folder, "error": error}


def _newest_folder(runs: str) -> str | None:
    try:
        with os.scandir(runs) as entries:
            names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return None
    return max(names, default=None)


def _run_timestamp(run_id: str) -> str | None:
    match = _RUN_ID.fullmatch(run_id)
    return f"{match[1]}:{match[2]}:{match[3]}.{match[4]}Z" if match else None


def _row_instant(row: Mapping[str, Any]) -> float:
    for text in (row.get("ts"), _run_timestamp(str(row.get("runId", "")))):
        instant = parse_timestamp(text) if isinstance(text, str) else None
        if instant is not None:
            return instant
    return float("-inf")


def _successes(rows: list[Any], *, without_skips: bool = False) -> int:
    return sum(
        row.get("ok") is True and not (without_skips and row.get("skipped") is True) for row in rows
    )


def _row_evidence(log: Log, row: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"status": _row_status(row)}
    found |= {key: row[key] for key in ("ts", "runId") if isinstance(row.get(key), str)}
    found["evidence"] = f"{log.path}:latest"
    if isinstance(row.get("error"), str):
        found["error"] = row["error"]
    found["priorSuccesses"] = _successes(log.rows[:-1], without_skips=row.get("skipped") is True)
    return found


def _row_status(row: Mapping[str, Any]) -> str:
    if row.get("skipped") is True:
        return "skipped" if _is_skip(row) else "invalid"
    if row.get("ok") is False or row.get("parse_ok") is False:
        if "timeout" in str(row.get("error", "")).lower():
            return "timed-out"
        return "parse-failed" if row.get("parse_ok") is False else "failed"
    return "ok" if _is_success(row) else "invalid"


def _is_skip(row: Mapping[str, Any]) -> bool:
    if not _SKIP_KEYS <= set(row) <= _SKIP_KEYS | _SKIP_OPTIONAL:
        return False
    return (
        _is_run(row)
        and row["exchanges"] == 0
        and (
            "transcript" not in row
            or row["transcript"] is None
            or isinstance(row["transcript"], str)
        )
        and ("error" not in row or isinstance(row["error"], str))
    )


def _is_success(row: Mapping[str, Any]) -> bool:
    if set(row) != _SUCCESS_KEYS or not _is_run(row):
        return False
    return isinstance(row["transcript"], str) and _is_summary(row["dispatch_summary"])


def _is_run(row: Mapping[str, Any]) -> bool:
    from mc_retrieve.health import is_amount, is_count

    return (
        isinstance(row["ts"], str)
        and isinstance(row["runId"], str)
        and row["ok"] is True
        and row["parse_ok"] is True
        and is_count(row["exchanges"])
        and is_amount(row["inference_duration_ms"])
    )


def _is_summary(summary: object) -> bool:
    from mc_retrieve.health import is_count

    if not isinstance(summary, dict) or set(summary) != _SUMMARY_KEYS:
        return False
    by_type = summary["by_type"]
    if not all(is_count(summary[name]) for name in _SUMMARY_COUNTS) or not isinstance(
        by_type, dict
    ):
        return False
    if not set(by_type) <= _TYPES or not all(map(is_count, by_type.values())):
        return False
    return (
        summary["failed"] == 0
        and summary["proposals_auto_apply_failed"] == 0
        and summary["total"] == summary["succeeded"] + summary["skipped_guard"]
        and summary["failures"] == []
        and isinstance(summary["skips"], list)
        and sum(by_type.values()) == summary["total"]
        and summary["proposals_auto_applied"] <= by_type.get("proposal", 0)
    )
