"""The baseline file: findings that people have looked at and accepted, by fingerprint.

It holds nothing of a value. An entry silences a finding of its fingerprint, rule and path; an error
never hides behind a warning's entry. Source: rules page, 7.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mc_scan.finding import ERROR, EXTERNAL, BaselineError, Finding

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

BASELINE_NAME: Final = ".mc-scan-baseline.json"
_VERSION: Final = 1
_MAX_BYTES: Final = 64 * 1024 * 1024
_HINT: Final = "write it anew with `mc-scan --write-baseline FILE`"


class BaselineEntry(NamedTuple):
    """One accepted finding."""

    fingerprint: str
    rule: str
    severity: str
    path: str
    reason: str  # why it was accepted; written by people


class Baseline:
    """The entries of a baseline, and which of them a scan has met."""

    def __init__(self, entries: Iterable[BaselineEntry] = ()) -> None:
        self._entries = {
            _key(entry.fingerprint, entry.rule, entry.path): entry for entry in entries
        }
        self._met: set[tuple[str, str, str]] = set()

    @property
    def entries(self) -> list[BaselineEntry]:
        """The entries, sorted by path, rule and fingerprint."""
        return sorted(
            self._entries.values(), key=lambda entry: (entry.path, entry.rule, entry.fingerprint)
        )

    def apply(self, finding: Finding) -> Finding:
        """Return *finding*, suppressed when an entry covers it; inline marks come first."""
        if finding.suppressed:
            return finding
        key = _key(finding.fingerprint, finding.rule, finding.path)
        entry = self._entries.get(key)
        if entry is None:
            return finding
        self._met.add(key)
        if finding.severity == ERROR and entry.severity != ERROR:
            return finding
        return finding._replace(suppressed=EXTERNAL)

    def stale(self, scanned: Collection[str]) -> list[BaselineEntry]:
        """Return entries that no longer match: of a scanned file, or of a file that is gone.

        A scan of some files only (pre-commit) says nothing about the entries of the others.
        """
        return [
            entry
            for entry in self.entries
            if _key(entry.fingerprint, entry.rule, entry.path) not in self._met
            and (entry.path in scanned or not os.path.lexists(entry.path))
        ]

    def updated(
        self, findings: Iterable[Finding], scanned: Collection[str]
    ) -> tuple[Baseline, list[Finding]]:
        """Return the baseline with *findings* and without stale entries, and what is new in it.

        Reasons are kept.
        """
        kept = dict.fromkeys(self.entries)
        for entry in self.stale(scanned):
            del kept[entry]
        entries, added = list(kept), []
        for finding in findings:
            key = _key(finding.fingerprint, finding.rule, finding.path)
            old = self._entries.get(key)
            if old is None or old.severity != finding.severity:
                added.append(finding)
                entries = [entry for entry in entries if entry is not old] if old else entries
                reason = old.reason if old else ""
                entries.append(
                    BaselineEntry(
                        finding.fingerprint, finding.rule, finding.severity, finding.path, reason
                    )
                )
        return Baseline(entries), added


def parse_baseline(text: str, where: str) -> Baseline:
    """Read the text of a baseline file.

    Raises:
        BaselineError: It is not JSON of the form ``{"version": 1, "entries": [...]}``.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise BaselineError("the baseline is not valid JSON", where=where, hint=_HINT) from None
    if not isinstance(data, dict) or data.get("version") != _VERSION:
        raise BaselineError("the baseline is not of version 1", where=where, hint=_HINT)
    raw = data.get("entries")
    if not isinstance(raw, list) or not all(map(_is_entry, raw)):
        raise BaselineError("the baseline holds a malformed entry", where=where, hint=_HINT)
    return Baseline(
        BaselineEntry(*(entry.get(field, "") for field in BaselineEntry._fields)) for entry in raw
    )


def format_baseline(baseline: Baseline) -> str:
    """Return the text of a baseline file: sorted, one entry a line."""
    lines = [json.dumps(entry._asdict(), sort_keys=True) for entry in baseline.entries]
    body = ",\n".join(lines)
    return (
        f'{{"version":{_VERSION},"entries":[\n{body}\n]}}\n'
        if lines
        else '{"version":1,"entries":[]}\n'
    )


def read_baseline(path: str, where: str) -> Baseline:
    """Read a baseline file; *where* is how messages call it.

    Raises:
        BaselineError: It is missing, unreadable, larger than 64 MB, or malformed.
    """
    try:
        with open(path, "rb") as stream:  # noqa: PTH123 - a name that pathlib would change stays as given
            data = stream.read(_MAX_BYTES + 1)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else type(error).__name__
        message = f"the baseline is not readable ({reason})"
        raise BaselineError(message, where=where, hint=_HINT) from None
    if len(data) > _MAX_BYTES:
        raise BaselineError("the baseline is larger than 64 MB", where=where, hint=_HINT)
    try:
        return parse_baseline(data.decode("utf-8-sig"), where)
    except UnicodeDecodeError:
        raise BaselineError("the baseline is not UTF-8", where=where, hint=_HINT) from None


def _key(fingerprint: str, rule: str, path: str) -> tuple[str, str, str]:
    return fingerprint, rule, path


def _is_entry(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and all(isinstance(entry.get(field), str) for field in ("fingerprint", "rule", "path"))
        and entry.get("severity") in ("error", "warning")
        and isinstance(entry.get("reason", ""), str)
    )
