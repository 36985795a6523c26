"""`add`: one entry or candidate; with `--supersedes` or `--promotes` a previewed change."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from mc_cli.addview import added_result, masked
from mc_cli.errors import UsageError
from mc_cli.location import require_memory
from mc_cli.mutating import (
    PLAN_ID,
    add_apply_options,
    command_line,
    reporting_files,
    require_unblocked,
    run_request,
)
from mc_cli.options import command_parser

if TYPE_CHECKING:
    from argparse import Namespace
    from typing import TextIO

    from mc_plan.operations.add_request import AddOptions, CheckedAdd, SecretFinding

    from mc_cli.commands import Command
    from mc_cli.options import Parser
    from mc_cli.output import Result

STANDARD_INPUT: Final = "-"
_EXAMPLE: Final = (
    'memory-custodian add "Support Python 3.10+" --type decision --evidence repo:pyproject.toml'
)
_MAX_INPUT_BYTES: Final = 1 << 20


def parser(command: Command) -> Parser:
    """Return the parser of `add`."""
    from mc_schema.storage import ADD_TYPES

    made = command_parser(command, _EXAMPLE)
    made.add_argument("message", metavar="MESSAGE", help="The text; `-` reads standard input.")
    made.add_argument(
        "--type",
        choices=ADD_TYPES,
        help="Kind of memory (default: inbox; with --supersedes or --promotes, that of the old "
        "entry).",
    )
    made.add_argument("--area", metavar="NAME", help="Put it into areas/NAME.md.")
    made.add_argument("--name", metavar="NAME", help="Name of the rule, profile or area.")
    made.add_argument("--title", help="Title (default: the first sentence of the message).")
    made.add_argument("--reason", help="Why; of a candidate, what its promotion needs.")
    made.add_argument(
        "--evidence",
        action="append",
        default=[],
        metavar="EVIDENCE",
        help="What it rests on, such as user-confirmed, repo:PATH or issue:#N; repeatable.",
    )
    made.add_argument(
        "--candidate", action="store_true", help="Write an unconfirmed candidate into inbox.md."
    )
    made.add_argument(
        "--supersedes", metavar="ID", help="Replace the active entry ID; previewed first."
    )
    made.add_argument("--promotes", metavar="ID", help="Promote the candidate ID; previewed first.")
    made.add_argument(
        "--allow-missing-evidence",
        action="store_true",
        help="Keep evidence whose path does not exist.",
    )
    made.add_argument(
        "--allow-long", action="store_true", help="Accept a decision of more than 120 tokens."
    )
    made.add_argument(
        "--allow-secret-like", action="store_true", help="Accept text that looks like a secret."
    )
    made.add_argument("--dry-run", action="store_true", help="Show the change, write nothing.")
    add_apply_options(made)
    return made


@reporting_files
def run(args: Namespace) -> Result:
    """Add, or preview, what *args* ask."""
    from mc_plan import StalePlanError
    from mc_plan.operations.add import add_request, build_add
    from mc_plan.operations.add_request import check_add

    _require_combination(args)
    location = require_memory(args)
    options = _options(args)
    checked = check_add(options, root=location.root, scan=_scan)
    request = add_request(checked, apply_command=_apply_command(args, checked))
    try:
        outcome = run_request(args, location, build_add(checked), request, dry_run=args.dry_run)
    except StalePlanError as error:
        if checked.is_secret_like:
            error.plan = masked(error.plan)
        raise
    require_unblocked(outcome)
    return added_result(checked, outcome)


def _require_combination(args: Namespace) -> None:
    is_preview_first = args.supersedes is not None or args.promotes is not None
    if args.apply and not is_preview_first:
        raise UsageError(
            "`--apply` goes with `--supersedes` or `--promotes`",
            hint="leave it out: a plain `add` is applied at once",
        )
    if args.apply and args.dry_run:
        raise UsageError("`--apply` and `--dry-run` exclude each other", hint="give one")


def _options(args: Namespace) -> AddOptions:
    from mc_plan.operations.add_request import AddOptions

    message = _standard_input() if args.message == STANDARD_INPUT else args.message
    return AddOptions(
        message=message,
        type=args.type,
        area=args.area,
        name=args.name,
        title=args.title,
        reason=args.reason,
        evidence=tuple(args.evidence),
        candidate=args.candidate,
        supersedes=args.supersedes,
        promotes=args.promotes,
        allow_missing_evidence=args.allow_missing_evidence,
        allow_long=args.allow_long,
        allow_secret_like=args.allow_secret_like,
    )


def _standard_input() -> str:
    stream: TextIO | None = sys.stdin
    if stream is None:
        raise UsageError(
            "standard input is closed", hint="give the message as an argument, or pipe it in"
        )
    data = stream.buffer.read(_MAX_INPUT_BYTES + 1)
    if len(data) > _MAX_INPUT_BYTES:
        raise UsageError("the message is too long", where="standard input", hint="shorten it")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"the message is not valid UTF-8 at byte offset {error.start}",
            where="standard input",
            hint="convert it to UTF-8",
            code="not_utf8",
        ) from None


def _scan(text: str) -> list[SecretFinding]:
    """Return what looks secret or private in *text*."""
    from mc_plan.operations.add_request import SecretFinding
    from mc_scan import find_secret, scan_text

    found = [(item, item.severity == "error") for item in scan_text(text, inline=False)]
    if not any(is_error for _, is_error in found):
        # Stricter than a scan of files: a key header alone, because typed text loses its lines.
        secret = find_secret(text)
        found = [(secret, True)] if secret is not None else found
    return [SecretFinding(is_error, f"{item.rule}, line {item.line}") for item, is_error in found]


def _apply_command(args: Namespace, checked: CheckedAdd) -> str:
    options = checked.options
    words: list[str] = []
    for flag, value in (
        ("--type", options.type),
        ("--area", options.area),
        ("--name", options.name),
        ("--title", options.title),
        ("--reason", options.reason),
        ("--supersedes", options.supersedes),
        ("--promotes", options.promotes),
    ):
        if value is not None:
            words.append(f"{flag}={value}" if value.startswith("-") else flag)
            words += [] if value.startswith("-") else [value]
    for evidence in options.evidence:
        words += ["--evidence", evidence]
    for flag, is_given in (
        ("--allow-missing-evidence", options.allow_missing_evidence),
        ("--allow-long", options.allow_long),
        ("--allow-secret-like", options.allow_secret_like),
    ):
        words += [flag] if is_given else []
    words += ["--apply", "--confirm-plan", PLAN_ID]
    # Behind `--` a message that begins with a dash is no option.
    return command_line(args, "add", [*words, "--", options.message])
