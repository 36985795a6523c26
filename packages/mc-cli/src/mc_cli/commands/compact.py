"""`compact`: remove exact duplicates and archive what is over; previewed first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mc_cli.location import require_memory
from mc_cli.mutating import (
    PLAN_ID,
    add_apply_options,
    command_line,
    reporting_files,
    run_request,
)
from mc_cli.options import command_parser
from mc_cli.output import one_line, printable
from mc_cli.previewed import previewed_result

if TYPE_CHECKING:
    from argparse import Namespace

    from mc_plan.operations.compact import CompactResult

    from mc_cli.commands import Command
    from mc_cli.options import Parser
    from mc_cli.output import Result

_EXAMPLE: Final = "memory-custodian compact --target decisions.md"


def parser(command: Command) -> Parser:
    """Return the parser of `compact`."""
    made = command_parser(command, _EXAMPLE)
    made.add_argument(
        "--target",
        metavar="FILE",
        help="A file with a budget, such as decisions.md (default: the inbox, and what is promoted "
        "or superseded anywhere).",
    )
    made.add_argument(
        "--archive-oldest",
        action="store_true",
        help="Accept that the oldest decisions move into the archive.",
    )
    add_apply_options(made)
    return made


@reporting_files
def run(args: Namespace) -> Result:
    """Preview or apply the compaction that *args* ask for."""
    from mc_plan.operations.compact import build_compact, compact_request
    from mc_plan.operations.compact_target import require_target

    location = require_memory(args)
    target = None if args.target is None else require_target(args.target)
    words = [] if target is None else ["--target", target]
    words += ["--archive-oldest"] if args.archive_oldest else []
    request = compact_request(
        target,
        archive_oldest=args.archive_oldest,
        apply_command=command_line(args, "compact", [*words, "--apply", "--confirm-plan", PLAN_ID]),
    )
    outcome = run_request(args, location, build_compact(target), request)
    result: CompactResult = outcome.result
    lines = _inbox_lines(result) if target is None else _target_lines(result)
    return previewed_result(outcome, location, result.as_data(), lines)


def _inbox_lines(result: CompactResult) -> list[str]:
    lines = [
        "# Compaction Plan",
        f"Inbox items: {result.items}",
        f"Exact duplicates removable: {result.duplicates}",
        f"Exact tombstone matches removable: {result.tombstone_matches}",
        *_archived_lines(result),
        f"Candidates requiring Agent review: {len(result.review)}",
    ]
    for number, (label, text) in enumerate(result.review, 1):
        # Each line of a candidate is quoted: what it says cannot pass for a line of this report.
        lines.append(f"{number}. {one_line(label)}")
        lines += [f"   > {printable(line)}" for line in text.replace("\r", "\n").split("\n")]
    return [*lines, "No destination is inferred: promote a candidate with `add --promotes ID`."]


def _target_lines(result: CompactResult) -> list[str]:
    lines = [
        "# Target Compaction Plan",
        f"Target: {one_line(result.target)}",
        f"Current tokens: {result.tokens}/{result.limit} max",
        f"Projected tokens: {result.projected}/{result.limit} max",
        f"Status: {'OK' if result.status == 'ok' else result.status.replace('-', ' ')}",
    ]
    if result.duplicates:
        lines.append(f"Exact duplicates removable: {result.duplicates}")
    lines += _archived_lines(result)
    if result.order:
        lines.append(f"Oldest found by: {result.order}")
        lines.append(f"Entries kept: {result.kept}")
    if result.long_entries:
        lines.append("Long decisions, to be shortened by a person:")
        lines += [f"- {one_line(label)}" for label in result.long_entries]
    return lines


def _archived_lines(result: CompactResult) -> list[str]:
    return [
        f"Entries to archive: {len(result.archived)}",
        *(f"- {one_line(label)} -> {one_line(path)}" for label, path in result.archived),
    ]
