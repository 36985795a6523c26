"""The one list of checks, and the report that they make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from mc_cli.check.agents import agent_findings
from mc_cli.check.budgets import budget_findings
from mc_cli.check.entries import Coverage, coverage, entry_findings
from mc_cli.check.evidence import evidence_findings
from mc_cli.check.finding import ERROR, GENERAL, LEGACY_ENTRIES, WARNING, Finding
from mc_cli.check.interrupted import interruption_findings
from mc_cli.check.routes import route_findings
from mc_cli.check.structure import structure_findings
from mc_cli.output import without_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mc_cli.check.inspection import Inspection

NEVER: Final = "never"
CHECKS: Final[tuple[Callable[[Inspection], Iterator[Finding]], ...]] = (
    structure_findings,
    route_findings,
    entry_findings,
    budget_findings,
    evidence_findings,
    agent_findings,
    interruption_findings,
)


class Report(NamedTuple):
    """What `check` answers."""

    findings: tuple[Finding, ...]
    """Sorted by path, line and severity."""
    coverage: Coverage
    strict: bool
    scan_fails_on: str = ERROR
    """``error``, ``warning`` or ``never``: the configuration key `scan.fail-on`."""

    @property
    def passed(self) -> bool:
        """Whether nothing found fails the check."""
        return not any(self._fails(finding) for finding in self.findings)

    def count(self, severity: str) -> int:
        """Return how many findings have *severity*."""
        return sum(finding.severity == severity for finding in self.findings)

    def _fails(self, finding: Finding) -> bool:
        if finding.subject != GENERAL and self.scan_fails_on != ERROR:
            return finding.severity in (ERROR, self.scan_fails_on) and self.scan_fails_on != NEVER
        if finding.severity == ERROR:
            return True
        return self.strict and finding.severity == WARNING and finding.code != LEGACY_ENTRIES


def run_checks(inspection: Inspection, scanned: tuple[Finding, ...], *, strict: bool) -> Report:
    """Return the report on *inspection*, with the findings *scanned* of the scan put in."""
    found = set(scanned)
    for check in CHECKS:
        found.update(_shown(finding) for finding in check(inspection))
    order = {ERROR: 0, WARNING: 1}
    ranked = sorted(found, key=lambda f: (f.path, f.line, order.get(f.severity, 2), f[3:]))
    fails_on = inspection.location.config.get("scan.fail-on", ERROR)
    return Report(tuple(ranked), coverage(inspection), strict, fails_on)


def _shown(finding: Finding) -> Finding:
    """Return *finding* without a secret: it may quote a line of a file."""
    if "`" not in finding.message:
        return finding
    return finding._replace(message=without_secrets(finding.message))
