"""The report of `check` as text and as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mc_cli.check.finding import ERROR, GENERAL, INFO, WARNING
from mc_cli.output import one_line

if TYPE_CHECKING:
    from mc_cli.check.finding import Finding
    from mc_cli.check.run import Report


def report_as_text(report: Report, *, detail: bool) -> str:
    """Return *report* for people; *detail* adds columns and fingerprints of scan findings.

    The words `ERROR` and `FAILED` stand on lines of findings and on the last line only.
    """
    lines = ["MemoryCustodian check"]
    lines += [_finding_line(finding, detail=detail) for finding in report.findings]
    lines += [
        f"evidence coverage: {report.coverage.sentence()}",
        f"findings: {counted(report)}",
        f"check: {'OK' if report.passed else 'FAILED'}",
    ]
    return "".join(f"{one_line(line)}\n" for line in lines)


def report_as_data(report: Report, *, memory_dir: str) -> dict[str, Any]:
    """Return *report* as JSON values; the schema is `docs/schemas/check.schema.json`."""
    return {
        "memory_dir": memory_dir,
        "passed": report.passed,
        "strict": report.strict,
        "summary": {
            "errors": report.count(ERROR),
            "warnings": report.count(WARNING),
            "infos": report.count(INFO),
        },
        "coverage": report.coverage._asdict(),
        "findings": [_finding_as_data(finding) for finding in report.findings],
    }


def counted(report: Report) -> str:
    """Return how much was found in words: ``2 errors, 1 warning, 0 infos``."""
    return ", ".join(
        f"{count} {severity}{'' if count == 1 else 's'}"
        for severity in (ERROR, WARNING, INFO)
        for count in (report.count(severity),)
    )


def _finding_line(finding: Finding, *, detail: bool) -> str:
    place = finding.path
    if finding.line:
        place += f":{finding.line}"
        if finding.column and (detail or finding.subject == GENERAL):
            place += f":{finding.column}"
    text = f"{finding.severity.upper()} {finding.code}: {finding.message}"
    if finding.hint and (detail or finding.subject == GENERAL):
        text += f"; {finding.hint}"
    if detail and finding.fingerprint:
        text += f" [{finding.fingerprint}]"
    return f"{place}: {text}" if place else text


def _finding_as_data(finding: Finding) -> dict[str, Any]:
    return {
        "severity": finding.severity,
        "code": finding.code,
        "subject": finding.subject,
        "message": finding.message,
        "path": finding.path or None,
        "line": finding.line or None,
        "column": finding.column or None,
        "hint": finding.hint or None,
        "fingerprint": finding.fingerprint or None,
    }
