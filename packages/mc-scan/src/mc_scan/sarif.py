"""SARIF 2.1.0, the fields that GitHub code scanning reads. No snippet, no context, no contents.

Source: rules page, 6 and 8; SARIF 2.1.0; GitHub, "SARIF support for code scanning".
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from mc_scan.finding import ERROR, PRIVACY
from mc_scan.report import TOOL_NAME
from mc_scan.rules import RULE_INDEX, RULES, Rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mc_scan.finding import Finding, Notice
    from mc_scan.report import Sink, Summary

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_MAX_RESULTS: Final = 25_000  # GitHub rejects a run with more
_SCORES: Final = {"error": "8.5", "warning": "4.5"}
_PRIVACY_SCORE: Final = "3.0"


class SarifReport:
    """One SARIF log with one run."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._separator = "\n"
        self._count = 0

    def begin(self, version: str) -> None:
        """Write the tool and its rules."""
        driver = {
            "name": TOOL_NAME,
            "semanticVersion": version,
            "rules": [_descriptor(rule) for rule in RULES],
        }
        self._sink.write(
            f'{{"$schema":{json.dumps(SCHEMA)},"version":"2.1.0","runs":[{{"tool":'
            f'{json.dumps({"driver": driver})},"columnKind":"unicodeCodePoints","results":['
        )

    def add(self, findings: Iterable[Finding]) -> None:
        """Write the results of one file, suppressed ones marked."""
        for finding in findings:
            self._count += 1
            if self._count <= _MAX_RESULTS:
                self._sink.write(self._separator + json.dumps(_result(finding)))
                self._separator = ",\n"

    def finish(self, summary: Summary, notices: Sequence[Notice]) -> None:
        """Write how the run went and close the log."""
        told = [_notification(notice) for notice in notices]
        left_out = self._count - _MAX_RESULTS
        if left_out > 0:
            told.append(
                _message(f"{left_out} results left out: code scanning takes 25,000", "warning")
            )
        invocation: dict[str, Any] = {
            "executionSuccessful": not any(notice.failed for notice in notices),
            "toolExecutionNotifications": told,
            "properties": {"files": summary.files, "suppressed": summary.suppressed},
        }
        end = "" if self._separator == "\n" else "\n"
        self._sink.write(f'{end}],"invocations":{json.dumps([invocation])}}}]}}\n')


def _descriptor(rule: Rule) -> dict[str, Any]:
    score = _PRIVACY_SCORE if rule.category == PRIVACY else _SCORES[rule.severity]
    return {
        "id": rule.id,
        "name": "".join(word.capitalize() for word in rule.id.split("-")),
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.description},
        "help": {"text": f"{rule.description}\n\n{rule.advice}"},
        "defaultConfiguration": {"level": rule.severity},
        "properties": {
            "tags": ["security", rule.category]
            if rule.category == PRIVACY
            else ["security", "secret"],
            "precision": rule.precision,
            "security-severity": score,
        },
    }


def _result(finding: Finding) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": RULE_INDEX[finding.rule],
        "level": finding.severity,
        "message": {"text": f"{RULES[RULE_INDEX[finding.rule]].title}: {finding.preview}"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": to_uri(finding.path)},
                    "region": {
                        "startLine": finding.line,
                        "startColumn": finding.column,
                        "endLine": finding.end_line,
                        "endColumn": finding.end_column,
                    },
                }
            }
        ],
        "partialFingerprints": {
            "primaryLocationLineHash": f"{finding.fingerprint}:{finding.occurrence}"
        },
    }
    if finding.suppressed:
        result["suppressions"] = [{"kind": finding.suppressed}]
    return result


def to_uri(path: str) -> str:
    """Return a shown path as a relative URI: ``docs/a b.md`` becomes ``docs/a%20b.md``.

    A path outside of the working folder loses its leading slash: code scanning takes no others.
    """
    return quote(os.fsencode(path.lstrip("/")), safe="/~") or "."


def _notification(notice: Notice) -> dict[str, Any]:
    told = _message(notice.message, ERROR if notice.failed else "note")
    if notice.path:
        place = {"artifactLocation": {"uri": to_uri(notice.path)}}
        told["locations"] = [{"physicalLocation": place}]
    return told


def _message(text: str, level: str) -> dict[str, Any]:
    return {"message": {"text": text}, "level": level}
