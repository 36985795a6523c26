"""`check`: look for everything that is wrong with the memory of a project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mc_cli import exits
from mc_cli.check.finding import PRIVACY, SECURITY
from mc_cli.check.inspection import inspect
from mc_cli.check.report import counted, report_as_data, report_as_text
from mc_cli.check.run import run_checks
from mc_cli.check.scanning import as_findings, scan_files
from mc_cli.location import require_memory
from mc_cli.notices import protocol_notices
from mc_cli.options import Parser, command_parser
from mc_cli.output import Result

if TYPE_CHECKING:
    from argparse import Namespace

    from mc_cli.check.inspection import Inspection
    from mc_cli.check.run import Report
    from mc_cli.commands import Command

SARIF: Final = "sarif"
FORMATS: Final = ("text", "json", SARIF)


def parser(command: Command) -> Parser:
    """Return the parser of `check`."""
    result = command_parser(command, "memory-custodian check --strict", formats=FORMATS)
    result.add_argument(
        "--strict", action="store_true", help="Exit 1 on warnings too, legacy entries excepted."
    )
    result.add_argument(
        "--security", action="store_true", help="Scan for secrets, with positions and detail."
    )
    result.add_argument(
        "--privacy", action="store_true", help="Scan for private data, with positions and detail."
    )
    return result


def run(args: Namespace) -> Result:
    """Return the report that *args* ask for."""
    location = require_memory(args)
    inspection = inspect(location)
    asked = [subject for subject in (SECURITY, PRIVACY) if getattr(args, subject)]
    scan = scan_files(inspection, only=asked[0] if len(asked) == 1 else None)
    scanned = (*as_findings(scan.findings), *scan.failures)
    report = run_checks(inspection, scanned, strict=args.strict)

    def text() -> str:
        if args.format == SARIF:
            from mc_cli.check.sarif import report_as_sarif

            return report_as_sarif(report, scan.findings, memory_dir=location.memory_dir)
        return report_as_text(report, detail=bool(asked))

    return Result(
        report_as_data(report, memory_dir=location.memory_dir),
        text,
        exits.OK if report.passed else exits.NO,
        _notices(inspection, report),
    )


def _notices(inspection: Inspection, report: Report) -> tuple[str, ...]:
    manifest = inspection.manifest
    notices = protocol_notices(manifest.metadata) if manifest else ()
    return notices if report.passed else (*notices, f"the check found {counted(report)}")
