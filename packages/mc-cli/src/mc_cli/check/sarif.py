"""The report of `check` as SARIF 2.1.0 for code scanning.

No snippet, no content and no author: a location and words of our own are all it holds (rules page,
6 and 8). The same finding has the same fingerprint on every run.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from mc_retrieve.memoryset import MANIFEST
from mc_scan import RULES

from mc_cli import __version__
from mc_cli.check.finding import ERROR, GENERAL, INFO, PRIVACY, WARNING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mc_cli.check.finding import Finding
    from mc_cli.check.run import Report

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: Final = {ERROR: "error", WARNING: "warning", INFO: "note"}
_SECURITY_SEVERITY: Final = {ERROR: "8.5", WARNING: "4.5", INFO: "0.0"}
_PRIVACY_SEVERITY: Final = "3.0"
_DIGEST_CHARS: Final = 16


def report_as_sarif(report: Report, *, memory_dir: str) -> str:
    """Return *report* as a SARIF document with a final line feed, ASCII only."""
    rules = _rules(report.findings)
    index = {rule["id"]: number for number, rule in enumerate(rules)}
    seen: dict[tuple[str, ...], int] = {}
    run = {
        "tool": {
            "driver": {
                "name": "memory-custodian",
                "semanticVersion": __version__,
                "rules": rules,
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [
            _result(finding, index[finding.code], f"{memory_dir}/{MANIFEST}", seen)
            for finding in report.findings
        ],
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, ensure_ascii=True, indent=2) + "\n"


def _rules(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """Return the scan rules, always all of them, and then the codes of what else was found."""
    general = sorted({(f.code, f.severity) for f in findings if f.subject == GENERAL})
    rules = [
        _rule(
            rule.id,
            title=rule.title,
            description=rule.description,
            advice=rule.advice,
            severity=rule.severity,
            properties={
                "tags": ["security", rule.category],
                "precision": rule.precision,
                "security-severity": _PRIVACY_SEVERITY
                if rule.category == PRIVACY
                else _SECURITY_SEVERITY[rule.severity],
            },
        )
        for rule in RULES
    ]
    for code, severity in dict(general).items():
        title = code.replace("_", " ").capitalize()
        rules.append(
            _rule(
                code,
                title=title,
                description=f"{title} in the project memory.",
                advice="See the message; `memory-custodian check` prints the next step.",
                severity=severity,
                properties={"tags": ["memory"], "precision": "very-high"},
            )
        )
    return rules


def _rule(
    code: str,
    *,
    title: str,
    description: str,
    advice: str,
    severity: str,
    properties: dict[str, Any],
) -> dict[str, Any]:
    return {
        "id": code,
        "shortDescription": {"text": title},
        "fullDescription": {"text": description},
        "help": {"text": advice},
        "defaultConfiguration": {"level": _LEVELS[severity]},
        "properties": properties,
    }


def _result(
    finding: Finding, index: int, fallback: str, seen: dict[tuple[str, ...], int]
) -> dict[str, Any]:
    path = finding.path or fallback
    region: dict[str, int] = {"startLine": max(finding.line, 1)}
    if finding.end_column:
        region |= {
            "startColumn": finding.column,
            "endLine": finding.end_line,
            "endColumn": finding.end_column,
        }
    text = finding.message if finding.subject != GENERAL else _sentence(finding)
    return {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": text},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": quote(path.encode("utf-8", "surrogateescape"))},
                    "region": region,
                }
            }
        ],
        "partialFingerprints": {"primaryLocationLineHash": _fingerprint(finding, seen)},
    }


def _sentence(finding: Finding) -> str:
    return f"{finding.message}; {finding.hint}" if finding.hint else finding.message


def _fingerprint(finding: Finding, seen: dict[tuple[str, ...], int]) -> str:
    if finding.fingerprint:
        return f"{finding.fingerprint}:{finding.occurrence}"
    # Without the line: it changes with every entry that is added above.
    key = (finding.code, finding.path, finding.message)
    seen[key] = seen.get(key, 0) + 1
    data = "\0".join(key).encode("utf-8", "surrogatepass")
    return f"{hashlib.sha256(data).hexdigest()[:_DIGEST_CHARS]}:{seen[key]}"
