"""One run of the command: files in, report and notices out, an exit code."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final, TextIO

from mc_scan import __version__
from mc_scan.api import is_kept
from mc_scan.baseline import Baseline, format_baseline, read_baseline
from mc_scan.finding import ERROR, IN_SOURCE, BaselineError, Notice, ScanError
from mc_scan.options import EXIT_CLEAN, EXIT_FOUND, EXIT_TROUBLE
from mc_scan.output import open_private, write_whole
from mc_scan.paths import (
    Scanned,
    Source,
    current_folder,
    find_files,
    home_folder,
    scan_file,
    scan_stream,
)
from mc_scan.progress import Progress
from mc_scan.redact import display_path, escape_controls
from mc_scan.report import (
    JsonReport,
    Summary,
    TextReport,
    format_line,
    format_notice,
    format_summary,
)
from mc_scan.sarif import SarifReport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mc_scan.finding import Finding
    from mc_scan.options import Options
    from mc_scan.report import Report, Sink

_STDIN: Final = "-"
_REPORTS: Final[dict[str, Callable[[Sink], Report]]] = {
    "text": TextReport,
    "json": JsonReport,
    "sarif": SarifReport,
}


def run(options: Options, out: TextIO, err: TextIO) -> int:
    """Scan, report to *out* (or the output file), tell notices and summary to *err*."""
    scan = _Scan(options, err)
    try:
        baseline = scan.read_baseline()
        if options.write_baseline is not None:
            scan.write_baseline(out)
        elif options.output is None:
            scan.report_to(out, baseline)
            out.flush()
        else:
            with open_private(options.output, _shown(options.output)) as stream:
                scan.report_to(stream, baseline)
    except ScanError as error:
        scan.notice(Notice(error.code, error.where, error.what, error.hint))
    return scan.exit_code()


class _Scan:
    """The state of one run: counts, notices, and which files were scanned."""

    def __init__(self, options: Options, err: TextIO) -> None:
        self._options = options
        self._err = err
        self._notices: list[Notice] = []
        self._scanned: set[str] = set()
        self._files = self._bytes = self._errors = self._warnings = self._suppressed = 0
        self._progress: Progress | None = None

    def notice(self, notice: Notice) -> None:
        """Keep a notice for the report and tell it at once."""
        self._notices.append(notice)
        if notice.failed or not self._options.quiet:
            if self._progress is not None:
                self._progress.clear()
            hint = "" if self._options.quiet or not notice.hint else f"\nhint: {notice.hint}\n"
            self._err.write(f"{format_notice(notice)}\n{hint}")

    def read_baseline(self) -> Baseline:
        """Return the baseline asked for; a bad one is a notice and counts as empty."""
        name = self._options.baseline
        if name is None:
            return Baseline()
        try:
            return read_baseline(name, _shown(name))
        except BaselineError as error:
            self.notice(Notice(error.code, error.where, error.what, error.hint))
            return Baseline()

    def report_to(self, out: TextIO, baseline: Baseline) -> None:
        """Write the report, file by file."""
        report = _REPORTS[self._options.format](out)
        report.begin(__version__)
        for scanned in self._scan():
            report.add([self._count(finding) for finding in self._kept(scanned, baseline)])
        for entry in baseline.stale(self._scanned):
            message = f"stale baseline entry {entry.fingerprint} of rule {entry.rule}"
            self.notice(Notice("stale_baseline", entry.path, message, failed=False))
        summary = Summary(self._files, self._bytes, self._errors, self._warnings, self._suppressed)
        report.finish(summary, self._notices)
        if not self._options.quiet:
            self._err.write(format_summary(summary) + "\n")

    def write_baseline(self, out: TextIO) -> None:
        """Write the findings of this run to the baseline and print what is new in it."""
        name = self._options.write_baseline or ""
        old = read_baseline(name, _shown(name)) if os.path.lexists(name) else Baseline()
        met: list[Finding] = []
        for scanned in self._scan():
            met += self._kept(scanned, old)
        accepted = [finding for finding in met if finding.suppressed != IN_SOURCE]
        new, added = old.updated(accepted, self._scanned)
        write_whole(name, format_baseline(new), _shown(name))
        out.writelines(f"added: {format_line(finding)}\n" for finding in added)
        if not self._options.quiet:
            self._err.write(f"{len(new.entries)} entries, {len(added)} added: {_shown(name)}\n")

    def exit_code(self) -> int:
        """Return 1 for findings at or above ``--fail-on``, else 2 after trouble, else 0."""
        fail_on = self._options.fail_on
        if (fail_on != "never" and self._errors) or (fail_on == "warning" and self._warnings):
            return EXIT_FOUND
        return EXIT_TROUBLE if any(notice.failed for notice in self._notices) else EXIT_CLEAN

    def _scan(self) -> Iterator[Scanned]:
        options = self._options
        sources = self._sources()
        self._progress = Progress(self._err, len(sources), is_wanted=not options.quiet)
        for source in sources:
            scanned = self._scan_one(source, self._progress)
            self._progress.add_file()
            if scanned is not None:
                self._files += 1
                self._bytes += scanned.size
                self._scanned.add(scanned.shown)
                self._progress.clear()
                if options.verbose and not options.quiet:
                    self._err.write(f"scanned: {escape_controls(scanned.shown)}\n")
                yield scanned
        self._progress.clear()

    def _sources(self) -> list[Source]:
        names = [path for path in self._options.paths if path != _STDIN]
        sources = find_files(names, on_notice=self.notice) if names else []
        if _STDIN in self._options.paths:
            sources.append(Source(_STDIN, _shown(self._options.stdin_name)))
        return sorted(sources, key=lambda source: source.shown)

    def _scan_one(self, source: Source, progress: Progress) -> Scanned | None:
        limit = self._options.max_file_mb
        if source.place != _STDIN:
            return scan_file(
                source, max_file_mb=limit, on_notice=self.notice, on_read=progress.add_bytes
            )
        # What is there, without waiting for more: the progress line is for slow input too.
        read = getattr(sys.stdin.buffer, "read1", sys.stdin.buffer.read)
        try:
            return scan_stream(read, source.shown, max_file_mb=limit, on_read=progress.add_bytes)
        except ScanError as error:
            where = error.where or source.shown
            self.notice(Notice(error.code, where, error.what, error.hint))
            return None

    def _kept(self, scanned: Scanned, baseline: Baseline) -> Iterator[Finding]:
        for finding in scanned.findings:
            met = finding if self._options.inline else finding._replace(suppressed="")
            met = baseline.apply(met)
            if is_kept(met, self._options.only, self._options.rules):
                yield met

    def _count(self, finding: Finding) -> Finding:
        if finding.suppressed:
            self._suppressed += 1
        elif finding.severity == ERROR:
            self._errors += 1
        else:
            self._warnings += 1
        return finding


def _shown(name: str) -> str:
    return display_path(name, cwd=current_folder(), home=home_folder())
