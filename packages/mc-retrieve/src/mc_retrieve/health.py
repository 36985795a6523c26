"""Operational health: what the evidence says, and what is missing. Missing evidence is never green.

`collect_evidence` reads logs and index state below a health root; `assess_evidence` judges them and
reads nothing. Source: Cortex contract, section 12.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from mc_schema.validity import parse_timestamp

if TYPE_CHECKING:
    from collections.abc import Mapping

OK: Final = "ok"
WARN: Final = "warn"
CRITICAL: Final = "critical"
EXITS: Final = {OK: 0, WARN: 1, CRITICAL: 2}
"""Exit code of the health command by overall severity."""

DEFAULT_THRESHOLDS: Final = {
    "reviewerStaleMs": 7 * 24 * 60 * 60 * 1000,
    "retrievalStaleMs": 24 * 60 * 60 * 1000,
    "proposalBacklog": 10,
    "observabilityMaxBytes": 256 * 1024 * 1024,
    "observabilityMaxAgeMs": 30 * 24 * 60 * 60 * 1000,
    "reviewerRunGraceMs": 10 * 60 * 1000,
    "indexStaleMs": 7 * 24 * 60 * 60 * 1000,
}
"""Milliseconds, bytes and counts; a value equal to its threshold is fine."""

_LATEST_FAILURES: Final = ("failed", "parse-failed", "timed-out")


class InvalidThresholdError(ValueError):
    """An override that is no finite number above zero; ``name`` says which."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} must be finite and > 0")
        self.name = name


class Evidence(dict[str, Any]):
    """Collected evidence: a mapping that remembers the clock and thresholds it was read with."""

    def __init__(
        self, found: Mapping[str, Any], *, now_ms: int, thresholds: Mapping[str, float]
    ) -> None:
        super().__init__(found)
        self.now_ms = now_ms
        self.thresholds = dict(thresholds)


def effective_thresholds(overrides: Mapping[str, Any] | None) -> dict[str, float]:
    """Return the thresholds with *overrides* put in.

    Raises:
        InvalidThresholdError: An override is unknown, not finite, or not above zero.
    """
    thresholds: dict[str, float] = dict(DEFAULT_THRESHOLDS)
    for name, value in (overrides or {}).items():
        if name not in thresholds or not is_threshold(value):
            raise InvalidThresholdError(name)
        thresholds[name] = value
    return thresholds


def is_threshold(value: object) -> bool:
    """Say whether *value* can be a threshold: a finite number above zero, no boolean."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return isfinite(value) and value > 0


def collect_evidence(
    root: Any,
    *,
    now_ms: int,
    thresholds: Mapping[str, Any] | None = None,
    manifest: str | None = None,
) -> dict[str, Any]:
    """Return the evidence below the health root *root*.

    Args:
        root: A folder with `LIFEOS/MEMORY`, or a plain memory root made by `cortex init-root`.
        now_ms: The clock, milliseconds since 1970.
        thresholds: Overrides; the reviewer's grace decides what counts as timed out.
        manifest: Path of an adopted index's manifest, in place of the usual one.

    Raises:
        InvalidThresholdError: An override is not a finite number above zero.
    """
    from mc_retrieve.health_evidence import collect

    effective = effective_thresholds(thresholds)
    grace_ms = effective["reviewerRunGraceMs"]
    found = collect(root, now_ms=now_ms, grace_ms=grace_ms, manifest=manifest)
    return Evidence(found, now_ms=now_ms, thresholds=effective)


def assess_evidence(evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``{overall, findings, thresholds}`` for *evidence*.

    ``nowMs`` and ``thresholds`` of the mapping are used when it has them; evidence from
    `collect_evidence` knows its own.

    Raises:
        InvalidThresholdError: A threshold of *evidence* is not a finite number above zero.
    """
    now_ms = evidence.get("nowMs", getattr(evidence, "now_ms", None))
    given = evidence.get("thresholds", getattr(evidence, "thresholds", None))
    thresholds = effective_thresholds(given)
    findings = [
        *_reviewer(evidence.get("reviewer"), now_ms, thresholds),
        *_retrieval(evidence.get("retrieval"), now_ms, thresholds),
        *_proposals(evidence.get("proposals"), thresholds),
        *_observability(evidence.get("observability"), now_ms, thresholds),
        *_index(evidence.get("index"), thresholds),
    ]
    severities = {finding["severity"] for finding in findings}
    overall = CRITICAL if CRITICAL in severities else WARN if WARN in severities else OK
    return {"overall": overall, "findings": findings, "thresholds": thresholds}


def _finding(name: str, severity: str = WARN) -> list[dict[str, str]]:
    return [{"id": name, "severity": severity}]


def _reviewer(
    found: Mapping[str, Any] | None, now_ms: int, thresholds: Mapping[str, float]
) -> list[dict[str, str]]:
    if found is None or found.get("status") == "missing":
        return _finding("reviewer-evidence-missing")
    status = found.get("status")
    if status in _LATEST_FAILURES:
        return _finding(f"reviewer-latest-{status}", CRITICAL)
    instant = _instant(found.get("ts"))
    if status not in ("ok", "skipped") or instant is None:
        return _finding("reviewer-evidence-invalid", CRITICAL)
    return _age("reviewer", now_ms - instant, thresholds["reviewerStaleMs"])


def _retrieval(
    found: Mapping[str, Any] | None, now_ms: int, thresholds: Mapping[str, float]
) -> list[dict[str, str]]:
    if found is None:
        return _finding("retrieval-evidence-missing")
    if found.get("status") == "missing":
        return _finding("retrieval-missing")
    if found.get("status") != "ok":
        return _finding("retrieval-evidence-malformed")
    instant = _instant(found.get("ts"))
    is_sound = (
        instant is not None
        and bool(found.get("queryHash"))
        and is_count(found.get("returnedCount"))
        and is_amount(found.get("durationMs"))
    )
    if instant is None or not is_sound:
        return _finding("retrieval-evidence-invalid")
    return _age("retrieval", now_ms - instant, thresholds["retrievalStaleMs"])


def _proposals(
    found: Mapping[str, Any] | None, thresholds: Mapping[str, float]
) -> list[dict[str, str]]:
    if found is None or found.get("available") is not True:
        return _finding("proposal-evidence-missing")
    findings = []
    if found.get("malformedLines"):
        findings += _finding("proposal-evidence-malformed")
    if found.get("pending", 0) > thresholds["proposalBacklog"]:
        findings += _finding("proposal-backlog-high")
    return findings


def _observability(
    found: Mapping[str, Any] | None, now_ms: int, thresholds: Mapping[str, float]
) -> list[dict[str, str]]:
    if found is None or found.get("available") is not True:
        return _finding("observability-evidence-missing")
    findings = []
    if found.get("bytes", 0) > thresholds["observabilityMaxBytes"]:
        findings += _finding("observability-bytes-exceeded")
    oldest = found.get("oldestMs")
    if oldest is not None and now_ms - oldest > thresholds["observabilityMaxAgeMs"]:
        findings += _finding("observability-age-exceeded")
    return findings


def _index(
    found: Mapping[str, Any] | None, thresholds: Mapping[str, float]
) -> list[dict[str, str]]:
    status = found.get("status") if found else "absent"
    if found is None or status == "absent":
        return _finding("index-evidence-missing")
    if status == "no-index-v1":
        return []
    if status == "mismatch":
        return _finding("index-integrity-mismatch", CRITICAL)
    if status != "ok":
        return _finding("index-manifest-invalid", CRITICAL)
    age = found.get("ageMs")
    if not isinstance(age, (int, float)) or not is_amount(age):
        return _finding("index-freshness-invalid")
    return _finding("index-stale") if age > thresholds["indexStaleMs"] else []


def _age(subject: str, age_ms: int, limit_ms: float) -> list[dict[str, str]]:
    if age_ms < 0:
        return _finding(f"{subject}-future")
    return _finding(f"{subject}-stale") if age_ms > limit_ms else []


def _instant(text: object) -> int | None:
    return parse_timestamp(text) if isinstance(text, str) else None


def is_count(value: object) -> bool:
    """Say whether *value* is a whole number, 0 or more."""
    return is_amount(value) and float(value) == int(value)  # type: ignore[arg-type,call-overload]


def is_amount(value: object) -> bool:
    """Say whether *value* is a finite number, 0 or more, and no boolean."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return isfinite(value) and value >= 0
