"""The report of `check` as SARIF 2.1.0: one run of `mc-scan`, one of the other checks.

No snippet, no content and no author: a location and words of our own are all it holds (rules page,
6 and 8). The same finding has the same fingerprint on every run.
"""

from __future__ import annotations

import hashlib
import io
import json
from typing import TYPE_CHECKING, Any, Final

from mc_retrieve.memoryset import MANIFEST
from mc_scan.report import Summary
from mc_scan.sarif import SarifReport, to_uri

from mc_cli import __version__
from mc_cli.check.finding import ERROR, GENERAL, INFO, WARNING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mc_scan import Finding as ScanFinding

    from mc_cli.check.finding import Finding
    from mc_cli.check.run import Report

_LEVELS: Final = {ERROR: "error", WARNING: "warning", INFO: "note"}
_DIGEST_CHARS: Final = 16
_ADVICE: Final = "The message ends with the next step."


def report_as_sarif(report: Report, scanned: Sequence[ScanFinding], *, memory_dir: str) -> str:
    """Return *report* as a SARIF document with a final line feed, ASCII only.

    Args:
        report: Its general findings make the second run.
        scanned: The findings of the scan, rendered by `mc_scan` itself.
        memory_dir: A finding without a file is put at the manifest: every result needs a place.
    """
    document = _scan_document(scanned)
    general = [finding for finding in report.findings if finding.subject == GENERAL]
    document["runs"].append(_run(general, f"{memory_dir}/{MANIFEST}"))
    return json.dumps(document, ensure_ascii=True, indent=2) + "\n"


def _scan_document(scanned: Sequence[ScanFinding]) -> dict[str, Any]:
    sink = io.StringIO()
    report = SarifReport(sink)
    report.begin(__version__)
    report.add(scanned)
    errors = sum(finding.severity == ERROR for finding in scanned)
    files = len({finding.path for finding in scanned})
    report.finish(Summary(files, 0, errors, len(scanned) - errors, 0), ())
    document: dict[str, Any] = json.loads(sink.getvalue())
    return document


def _run(findings: Sequence[Finding], fallback: str) -> dict[str, Any]:
    levels = {finding.code: _LEVELS[finding.severity] for finding in findings}
    codes = sorted(levels)
    driver = {
        "name": "memory-custodian",
        "semanticVersion": __version__,
        "rules": [_rule(code, levels[code]) for code in codes],
    }
    seen: dict[tuple[str, ...], int] = {}
    return {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [
            _result(finding, codes.index(finding.code), fallback, seen) for finding in findings
        ],
    }


def _rule(code: str, level: str) -> dict[str, Any]:
    title = code.replace("_", " ").capitalize()
    return {
        "id": code,
        "shortDescription": {"text": title},
        "fullDescription": {"text": f"{title} in the project memory."},
        "help": {"text": _ADVICE},
        "defaultConfiguration": {"level": level},
        "properties": {"tags": ["memory"], "precision": "very-high"},
    }


def _result(
    finding: Finding, index: int, fallback: str, seen: dict[tuple[str, ...], int]
) -> dict[str, Any]:
    place = {
        "artifactLocation": {"uri": to_uri(finding.path or fallback)},
        "region": {"startLine": max(finding.line, 1)},
    }
    text = f"{finding.message}; {finding.hint}" if finding.hint else finding.message
    return {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": text},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"primaryLocationLineHash": _fingerprint(finding, seen)},
    }


def _fingerprint(finding: Finding, seen: dict[tuple[str, ...], int]) -> str:
    # Without the line: it changes with every entry that is added above.
    key = (finding.code, finding.path, finding.message)
    seen[key] = seen.get(key, 0) + 1
    data = "\0".join(key).encode("utf-8", "surrogatepass")
    return f"{hashlib.sha256(data).hexdigest()[:_DIGEST_CHARS]}:{seen[key]}"
