"""`forget`: remove every complete entry that holds a topic; previewed first."""

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
from mc_cli.output import one_line
from mc_cli.previewed import previewed_result

if TYPE_CHECKING:
    from argparse import Namespace

    from mc_plan.operations.forget import ForgetResult

    from mc_cli.commands import Command
    from mc_cli.options import Parser
    from mc_cli.output import Result

_EXAMPLE: Final = 'memory-custodian forget "old topic" --mode soft'
_PLACEHOLDER: Final = "<TOPIC>"


def parser(command: Command) -> Parser:
    """Return the parser of `forget`."""
    from mc_plan.operations.forget_search import MODES, SOFT

    made = command_parser(command, _EXAMPLE)
    made.add_argument(
        "topic", metavar="TOPIC", help="Literal text; letter case and width are ignored."
    )
    made.add_argument(
        "--mode",
        choices=MODES,
        default=SOFT,
        help="soft leaves a tombstone that names the topic, hard one that does not, purge none, "
        "and searches the archive too (default: soft).",
    )
    made.add_argument(
        "--allow-broad-match",
        action="store_true",
        help="Accept a topic of less than four characters or that touches several entries.",
    )
    add_apply_options(made)
    return made


@reporting_files
def run(args: Namespace) -> Result:
    """Preview or apply the removal that *args* ask for."""
    from mc_plan.operations.forget import build_forget, forget_request, require_topic
    from mc_plan.operations.forget_search import SOFT

    location = require_memory(args)
    topic = require_topic(args.topic)
    words = ["--mode", args.mode]
    words += ["--allow-broad-match"] if args.allow_broad_match else []
    words += ["--apply", "--confirm-plan", PLAN_ID]
    # Behind `--` a topic that begins with a dash is no option.
    words += ["--", topic if args.mode == SOFT else _PLACEHOLDER]
    request = forget_request(
        topic,
        args.mode,
        allow_broad=args.allow_broad_match,
        apply_command=command_line(args, "forget", words),
    )
    outcome = run_request(args, location, build_forget(topic, args.mode), request)
    result: ForgetResult = outcome.result
    return previewed_result(outcome, location, result.as_data(), _lines(result))


def _lines(result: ForgetResult) -> list[str]:
    lines = [
        f"Mode: {result.mode}",
        f"Searched files: {len(result.searched)}",
        f"Matched files: {len({path for path, _, _ in result.matches})}",
        f"Matched units: {len(result.matches)}",
        *(f"- {_place(place)}" for place in result.matches),
        f"Tombstone: {result.tombstone or 'none added'}",
        f"Broad-match confirmation required: {'yes' if result.broad else 'no'}",
        f"Manual rewrite required: {len(result.manual)}",
        *(f"- {_place(place)}" for place in result.manual),
    ]
    if result.archived:
        lines.append(f"Archived units that still match: {result.archived}")
    return lines


def _place(place: tuple[str, int, str]) -> str:
    path, line, what = place
    return one_line(f"{path}:{line}: {what}" if line else f"{path}: {what}")
