"""Secrets and private data in memory and agent files, found by `mc_scan`.

Everything is scanned as it is, private spans included: a secret in one is still in the repository.
No finding holds a character of what was found.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from mc_retrieve.memorydir import Fault, TextFile, read_text

from mc_cli.check.agents import AGENT_FILES
from mc_cli.check.finding import ERROR, Finding
from mc_cli.check.progress import tracked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mc_scan import Finding as ScanFinding
    from mc_scan import ScanError

    from mc_cli.check.inspection import Inspection

PREFERENCES: Final = "preferences.md"
MAX_FILE_MB: Final = 32
_BYTES_PER_MB: Final = 1 << 20
_HOME_PATH: Final = "home-path"


class ScanResult(NamedTuple):
    """What the scan found, and what kept it from being whole."""

    findings: tuple[ScanFinding, ...]
    """In order of path, line and column; what a mark or the baseline accepts is left out."""
    failures: tuple[Finding, ...] = ()
    """The baseline, or the scan itself, failed."""


def scan_files(inspection: Inspection, *, only: str | None) -> ScanResult:
    """Scan every text file below the memory directory and the agent files.

    Args:
        inspection: The project; its configuration names the baseline and says whether inline marks
            count.
        only: ``security`` or ``privacy``, to look for one of the two.
    """
    from mc_scan import ScanError

    try:
        found = _scanned(inspection, only)
    except ScanError as error:
        return ScanResult((), (_failed(error),))
    try:
        return ScanResult(_without_accepted(inspection, found))
    except ScanError as error:
        # Without its baseline a scan shows too much, never too little.
        return ScanResult(tuple(found), (_failed(error),))


def as_findings(scanned: Iterable[ScanFinding]) -> tuple[Finding, ...]:
    """Return *scanned* as findings of `check`: errors stay errors, warnings warnings."""
    from mc_scan import RULES

    rules = {rule.id: rule for rule in RULES}
    return tuple(
        Finding(
            found.path,
            found.line,
            found.severity,
            found.rule,
            f"{rules[found.rule].title}: {found.preview}",
            rules[found.rule].advice,
            rules[found.rule].category,
            found.column,
            found.fingerprint,
        )
        for found in scanned
    )


def _scanned(inspection: Inspection, only: str | None) -> list[ScanFinding]:
    from mc_scan import scan_text

    inline = bool(inspection.location.config.get("scan.inline", True))
    found: list[ScanFinding] = []
    for path, text in _texts(inspection):
        found += scan_text(text, path, only=only, inline=inline)
        if path == inspection.repo_path(PREFERENCES) and only != "security":
            found += _machine_paths(text, path)
    return sorted(found, key=lambda f: (f.path, f.line, f.column, f.rule))


def _failed(error: ScanError) -> Finding:
    """Return the finding that says that the scan failed; a `ScanError` holds no scanned text."""
    path, _, _ = error.where.partition(":")
    return Finding(path, 0, ERROR, "scan_failed", error.what, error.hint)


def _without_accepted(inspection: Inspection, found: list[ScanFinding]) -> tuple[ScanFinding, ...]:
    """Return *found* without what the configured baseline accepts.

    Raises:
        BaselineError: It is missing, unreadable or malformed.
    """
    location = inspection.location
    name = location.config.get("scan.baseline")
    if name is None:
        return tuple(found)
    from mc_scan.baseline import read_baseline

    baseline = read_baseline(os.fspath(location.root / name), name)
    return tuple(finding for finding in found if not baseline.apply(finding).suppressed)


def _texts(inspection: Inspection) -> Iterator[tuple[str, str]]:
    """Yield the repo-relative path and the text of what is scanned; the rest is no UTF-8 text."""
    location = inspection.location
    limit = location.config.get("scan.max-file-mb", MAX_FILE_MB)
    max_bytes = int(limit * _BYTES_PER_MB)
    paths = sorted((*inspection.listing.paths, *inspection.listing.others))
    for path in tracked(paths, "scanning file"):
        found = read_text(location.memory_path, path, max_bytes=max_bytes)
        if isinstance(found, TextFile):
            yield inspection.repo_path(path), found.text
    for name in AGENT_FILES:
        found = read_text(location.root, name, max_bytes=max_bytes)
        if found is not None and not isinstance(found, Fault):
            yield name, found.text


def _machine_paths(text: str, path: str) -> list[ScanFinding]:
    """Return the machine paths of preferences that the `home-path` rule does not report itself.

    A path that an inline mark allows is not reported either.
    """
    from mc_scan import scan_machine_paths, scan_text

    known = scan_text(text, path, rules=[_HOME_PATH], inline=False)
    return [
        found
        for found in scan_machine_paths(text, path)
        if not any(_overlap(found, other) for other in known)
    ]


def _overlap(one: ScanFinding, other: ScanFinding) -> bool:
    if one.line != other.line:
        return False
    return one.column < other.end_column and other.column < one.end_column
