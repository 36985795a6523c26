"""Reports: text for people, JSON for programs. They see findings, never values.

A report is written file by file, so that its size does not matter; the JSON summary comes last.
Source: rules page, 6 and 8.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from mc_scan.redact import escape_controls

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mc_scan.finding import Finding, Notice

    class Sink(Protocol):
        """Where a report goes."""

        def write(self, text: str, /) -> object:
            """Take over *text*."""

    class Report(Protocol):
        """One form of a report, written file by file."""

        def begin(self, version: str) -> None:
            """Write the head."""

        def add(self, findings: Iterable[Finding]) -> None:
            """Write the findings of one file."""

        def finish(self, summary: Summary, notices: Sequence[Notice]) -> None:
            """Write the end."""


TOOL_NAME: Final = "mc-scan"


class Summary(NamedTuple):
    """What a scan amounted to."""

    files: int  # scanned in full
    size: int  # bytes read
    errors: int  # not suppressed
    warnings: int
    suppressed: int


class TextReport:
    """``path:line:col: ERROR github-token ghp_[REDACTED]``, one finding a line."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    def begin(self, version: str) -> None:
        """Write nothing: the lines speak for themselves."""

    def add(self, findings: Iterable[Finding]) -> None:
        """Write the findings of one file; suppressed ones are only counted."""
        for finding in findings:
            if not finding.suppressed:
                self._sink.write(format_line(finding) + "\n")

    def finish(self, summary: Summary, notices: Sequence[Notice]) -> None:
        """Write nothing: summary and notices go to standard error."""


class JsonReport:
    """One JSON object, pure ASCII."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._separator = "\n"

    def begin(self, version: str) -> None:
        """Write the head."""
        tool = json.dumps({"name": TOOL_NAME, "version": version})
        self._sink.write(f'{{"version":1,"tool":{tool},"findings":[')

    def add(self, findings: Iterable[Finding]) -> None:
        """Write the findings of one file; suppressed ones are only counted."""
        for finding in findings:
            if not finding.suppressed:
                self._sink.write(self._separator + json.dumps(finding_data(finding)))
                self._separator = ",\n"

    def finish(self, summary: Summary, notices: Sequence[Notice]) -> None:
        """Write summary and notices and close the object."""
        counts = {
            "files": summary.files,
            "bytes": summary.size,
            "errors": summary.errors,
            "warnings": summary.warnings,
            "suppressed": summary.suppressed,
        }
        rows = [
            {"code": notice.code, "path": notice.path, "message": notice.message}
            for notice in notices
        ]
        end = "" if self._separator == "\n" else "\n"
        self._sink.write(f'{end}],"summary":{json.dumps(counts)},"notices":{json.dumps(rows)}}}\n')


def finding_data(finding: Finding) -> dict[str, Any]:
    """Return what the JSON report says of one finding."""
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "path": finding.path,
        "line": finding.line,
        "column": finding.column,
        "end_line": finding.end_line,
        "end_column": finding.end_column,
        "preview": finding.preview,
        "fingerprint": finding.fingerprint,
        "obfuscated": finding.obfuscated,
    }


def format_line(finding: Finding) -> str:
    """Return one finding as a line of the text report, control characters escaped."""
    return escape_controls(
        f"{finding.path}:{finding.line}:{finding.column}: {finding.severity.upper()} "
        f"{finding.rule} {finding.preview}"
    )


def format_notice(notice: Notice) -> str:
    """Return one notice as a line for standard error."""
    kind = "error" if notice.failed else "notice"
    where = f": {notice.path}" if notice.path else ""
    return escape_controls(f"{kind}: {notice.message}{where}")


def format_summary(summary: Summary) -> str:
    """Return the closing line for standard error."""
    hidden = f", {summary.suppressed} suppressed" if summary.suppressed else ""
    return (
        f"{_count(summary.files, 'file')}, {_count(summary.errors, 'error')}, "
        f"{_count(summary.warnings, 'warning')}{hidden}"
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
