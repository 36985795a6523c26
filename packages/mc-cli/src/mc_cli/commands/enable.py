"""`enable`: an optional memory file or module."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mc_cli.location import require_memory
from mc_cli.mutating import files_written_text, reporting_files, run_request
from mc_cli.notices import protocol_notices
from mc_cli.options import command_parser
from mc_cli.output import Result, one_line

if TYPE_CHECKING:
    from argparse import Namespace

    from mc_plan.operations.enable import Enabled

    from mc_cli.commands import Command
    from mc_cli.mutating import Outcome
    from mc_cli.options import Parser

_EXAMPLE: Final = "memory-custodian enable area/sync"


def parser(command: Command) -> Parser:
    """Return the parser of `enable`."""
    from mc_plan.operations.enable import FORMS

    made = command_parser(command, _EXAMPLE)
    made.add_argument("feature", metavar="FEATURE", help=f"One of {', '.join(FORMS)}.")
    return made


@reporting_files
def run(args: Namespace) -> Result:
    """Enable what *args* name."""
    from mc_plan.operations.enable import build_enable, enable_request, parse_feature

    feature = parse_feature(args.feature)
    location = require_memory(args)
    outcome = run_request(args, location, build_enable(feature), enable_request(feature))
    enabled: Enabled = outcome.result
    notices = [*outcome.notices, *(f"warning: {warning}" for warning in outcome.plan.warnings)]
    notices += protocol_notices(enabled.metadata)
    data: dict[str, Any] = {
        "path": enabled.path,
        "result": "written" if enabled.is_new else "kept",
        "indexed": enabled.is_indexed,
        "files_written": list(outcome.written),
    }
    return Result(
        data,
        lambda: _text(outcome, enabled),
        exit_code=outcome.exit_code,
        notices=tuple(notices),
        files_written=bool(outcome.written),
    )


def _text(outcome: Outcome, enabled: Enabled) -> str:
    path = one_line(enabled.path)
    if not outcome.written:
        return f"{path}: already enabled\n"
    lines = [f"{path}: {'written' if enabled.is_new else 'kept'}"]
    if enabled.is_indexed:
        lines.append(f"{one_line(enabled.manifest)}: indexed {path}")
    return "\n".join(lines) + "\n" + files_written_text(outcome.written)
