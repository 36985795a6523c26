"""The health report: environment in, one report out, and where it is kept.

Source: Cortex contract, section 12 (the health command).
"""

from __future__ import annotations

import json
import os
from math import isfinite
from time import time_ns
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mc_retrieve.health import CRITICAL, assess_evidence, collect_evidence, is_threshold
from mc_retrieve.health_evidence import HealthRoot, health_root
from mc_schema.validity import format_timestamp, parse_timestamp

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT_VARIABLE: Final = "CORTEX_HEALTH_ROOT"
CLOCK_VARIABLE: Final = "CORTEX_HEALTH_NOW"
MANIFEST_VARIABLE: Final = "CORTEX_INDEX_MANIFEST"
NO_WRITE_VARIABLE: Final = "CORTEX_HEALTH_NO_WRITE"
REPORT_VARIABLE: Final = "CORTEX_HEALTH_REPORT_PATH"
THRESHOLD_VARIABLES: Final = {
    "CORTEX_RETRIEVAL_STALE_MS": "retrievalStaleMs",
    "CORTEX_PROPOSAL_BACKLOG": "proposalBacklog",
    "CORTEX_OBSERVABILITY_MAX_BYTES": "observabilityMaxBytes",
    "CORTEX_OBSERVABILITY_MAX_AGE_MS": "observabilityMaxAgeMs",
}
LOG_NAME: Final = "memory-health.jsonl"
_SUBJECTS: Final = ("reviewer", "retrieval", "proposals", "observability", "index")
_ADVICE: Final = {
    "reviewer-evidence-missing": "run the reviewer; its log is OBSERVABILITY/reviewer-runs.jsonl",
    "reviewer-latest-failed": "read the error of the latest row and run the reviewer again",
    "reviewer-latest-parse-failed": "correct the malformed answer or log line, then run it again",
    "reviewer-latest-timed-out": "look why the reviewer did not end, then run it again",
    "reviewer-evidence-invalid": "the latest row has a wrong shape: correct its writer",
    "reviewer-future": "correct the clock of the machine that runs the reviewer",
    "reviewer-stale": "run the reviewer",
    "retrieval-evidence-missing": "collect the retrieval log",
    "retrieval-evidence-malformed": "correct the malformed line of memory-retrievals.jsonl",
    "retrieval-missing": "let the program that searches log into memory-retrievals.jsonl",
    "retrieval-evidence-invalid": "the latest row has a wrong shape: correct its writer",
    "retrieval-future": "correct the clock of the machine that searches",
    "retrieval-stale": "nothing was searched for longer than the threshold",
    "proposal-evidence-missing": "no proposal was ever queued; `propose` makes the queue",
    "proposal-evidence-malformed": "correct the named lines of pending-proposals.jsonl",
    "proposal-backlog-high": "review with `memory-custodian proposals list`",
    "observability-evidence-missing": "no log is there yet below OBSERVABILITY",
    "observability-bytes-exceeded": "archive or remove old logs",
    "observability-age-exceeded": "archive or remove the oldest log",
    "index-evidence-missing": "`memory-custodian cortex init-root DIR` writes the marker",
    "index-integrity-mismatch": "rebuild the index, or remove it and its manifest",
    "index-manifest-invalid": "correct or remove the marker or the manifest",
    "index-freshness-invalid": "correct `indexed_at` of the manifest",
    "index-stale": "rebuild the index",
    "cortex-threshold-invalid": "set the variable to a finite number above zero, or unset it",
}


class Report(NamedTuple):
    """One health report."""

    data: dict[str, Any]
    observability: str
    """The folder of the log."""


def places(
    memory_root: str | None, environ: Mapping[str, str] = os.environ
) -> tuple[HealthRoot, int]:
    """Return where to look, and the clock in milliseconds, as the environment says."""
    manifest = environ.get(MANIFEST_VARIABLE) or None
    return health_root(_root(memory_root, environ), manifest), _now_ms(environ)


def make_report(memory_root: str | None, environ: Mapping[str, str] = os.environ) -> Report:
    """Return the report of the root that *memory_root*, else the environment, names."""
    found, now_ms = places(memory_root, environ)
    overrides, invalid = _overrides(environ)
    evidence = collect_evidence(
        _root(memory_root, environ),
        now_ms=now_ms,
        thresholds=overrides,
        manifest=environ.get(MANIFEST_VARIABLE) or None,
    )
    judged = assess_evidence(evidence)
    findings = [*invalid, *(_advised(finding) for finding in judged["findings"])]
    overall = CRITICAL if invalid else judged["overall"]
    troubled = {
        finding["id"].split("-")[0].replace("proposal", "proposals") for finding in findings
    }
    data = {
        "ts": format_timestamp(now_ms),
        "overall": overall,
        "counts": {
            "critical": sum(finding["severity"] == CRITICAL for finding in findings),
            "warn": sum(finding["severity"] == "warn" for finding in findings),
            "ok": sum(subject not in troubled for subject in _SUBJECTS),
        },
        "thresholds": judged["thresholds"],
        "evidence": dict(evidence),
        "findings": findings,
        "ok_summary": [subject for subject in _SUBJECTS if subject not in troubled],
    }
    return Report(data, found.observability)


def save_report(report: Report, environ: Mapping[str, str] = os.environ) -> list[str]:
    """Append the report to the log and write the report file; return lines for standard error."""
    notes = []
    line = json.dumps(report.data, ensure_ascii=False, separators=(",", ":")) + "\n"
    if environ.get(NO_WRITE_VARIABLE) != "1" and os.path.isdir(report.observability):  # noqa: PTH112
        notes += _trying(_append, os.path.join(report.observability, LOG_NAME), line)  # noqa: PTH118
    wanted = environ.get(REPORT_VARIABLE)
    if wanted:
        notes += _trying(_replace, wanted, line)
    return notes


def health_as_text(data: Mapping[str, Any]) -> str:
    """Return the report as a table for people, with what to do for each finding."""
    lines = [f"Cortex health: {data['overall'].upper()}  ({data['ts']})", ""]
    width = max((len(finding["id"]) for finding in data["findings"]), default=0)
    for finding in data["findings"]:
        name, severity = finding["id"], finding["severity"].upper()
        lines.append(f"{severity:<8}  {name:<{width}}  {finding['advice']}")
    if data["ok_summary"]:
        lines.append(f"{'OK':<8}  {', '.join(data['ok_summary'])}")
    return "\n".join(lines) + "\n"


def _root(memory_root: str | None, environ: Mapping[str, str]) -> str:
    if memory_root is not None:
        base = os.path.realpath(memory_root)
        head, tail = os.path.split(base)
        # `<root>/LIFEOS/MEMORY` is the memory of the health root above it.
        if tail == "MEMORY" and os.path.basename(head) == "LIFEOS":  # noqa: PTH119
            return os.path.dirname(head)  # noqa: PTH120
        return base
    chosen = environ.get(ROOT_VARIABLE)
    home = environ.get("HOME") or os.path.expanduser("~")  # noqa: PTH111
    return chosen or os.path.join(home, ".claude")  # noqa: PTH118


def _now_ms(environ: Mapping[str, str]) -> int:
    text = environ.get(CLOCK_VARIABLE, "")
    instant = parse_timestamp(text)
    if instant is None and text.isascii() and text.isdigit():
        instant = int(text)
    return time_ns() // 1_000_000 if instant is None else instant


def _overrides(environ: Mapping[str, str]) -> tuple[dict[str, float], list[dict[str, Any]]]:
    overrides: dict[str, float] = {}
    invalid = []
    for variable, name in THRESHOLD_VARIABLES.items():
        text = environ.get(variable, "")
        if not text:
            continue
        value = _number(text)
        if value is not None and is_threshold(value):
            overrides[name] = int(value) if value.is_integer() else value
        else:
            finding = {"id": "cortex-threshold-invalid", "severity": CRITICAL}
            invalid.append({**_advised(finding), "variable": variable})
    return overrides, invalid


def _number(text: str) -> float | None:
    try:
        value = float(text) if "_" not in text else None
    except ValueError:
        return None
    return value if value is not None and isfinite(value) else None


def _advised(finding: Mapping[str, Any]) -> dict[str, Any]:
    return {**finding, "advice": _ADVICE.get(finding["id"], "")}


def _trying(write: Any, path: str, line: str) -> list[str]:
    try:
        write(path, line)
    except OSError as error:
        return [f"warning: the report was not kept ({error.strerror}): {path}"]
    return []


def _append(path: str, line: str) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(path, flags, 0o600)
    try:
        os.write(descriptor, line.encode("utf-8"))
    finally:
        os.close(descriptor)


def _replace(path: str, line: str) -> None:
    staged = f"{path}.{os.getpid()}.tmp"
    try:
        with open(staged, "x", encoding="utf-8", newline="\n") as file:  # noqa: PTH123
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        os.replace(staged, path)  # noqa: PTH105
    except OSError:
        if os.path.lexists(staged):
            os.unlink(staged)  # noqa: PTH108
        raise
