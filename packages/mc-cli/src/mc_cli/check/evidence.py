"""Whether the files that evidence names exist, on disk or in Git at a revision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mc_plan.operations.evidence_files import MISSING, NOT_VERIFIED, find_evidence_files
from mc_schema.errors import InvalidEvidenceError
from mc_schema.evidence import parse_evidence_or_none

from mc_cli.check.finding import INFO, WARNING, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mc_schema.evidence import Evidence
    from mc_schema.memoryfile import JudgedUnit

    from mc_cli.check.inspection import Inspection


def evidence_findings(inspection: Inspection) -> Iterator[Finding]:
    """Yield evidence that names no file of the project; the archive is history and not asked."""
    states: dict[Evidence, tuple[str, str]] = {}
    for file in inspection.files(archive=False):
        for unit in file.units:
            for text, value in _values(unit):
                if value not in states:
                    states[value] = _state(inspection, value)
                state, message = states[value]
                if state:
                    severity = INFO if state == NOT_VERIFIED else WARNING
                    yield inspection.at_unit(
                        file,
                        unit,
                        "not_verified" if state == NOT_VERIFIED else "missing_evidence",
                        f"{unit.label}: evidence `{value}` {message}",
                        severity=severity,
                        offset=_offset(unit, text),
                        hint="" if state == NOT_VERIFIED else "correct the path, or restore it",
                    )


def _values(unit: JudgedUnit) -> Iterator[tuple[str, Evidence]]:
    entry = unit.standing.entry
    for text in entry.evidence if entry else ():
        value = parse_evidence_or_none(text)
        if value is not None and value.has_path:
            yield text, value


def _state(inspection: Inspection, value: Evidence) -> tuple[str, str]:
    try:
        found = find_evidence_files(inspection.location.root, [value])[0].state
    except InvalidEvidenceError as error:
        return MISSING, f"is not usable: {error.what}"
    if found == MISSING:
        return MISSING, "names a file that does not exist"
    if found == NOT_VERIFIED:
        return NOT_VERIFIED, "was not verified: Git cannot be asked about the revision"
    return "", ""


def _offset(unit: JudgedUnit, text: str) -> int:
    """Return how many lines below the heading the evidence *text* stands."""
    from mc_schema.lines import scan_lines

    for number, line in enumerate(scan_lines(unit.text).lines):
        if number and line.content.strip().endswith(text):
            return number
    return 0
