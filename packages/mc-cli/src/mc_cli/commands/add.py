"""`add`: one entry or candidate; with `--supersedes` or `--promotes` a previewed change."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from mc_cli.errors import UsageError
from mc_cli.location import require_memory
from mc_cli.mutating import (
    PLAN_ID,
    add_apply_options,
    command_line,
    files_written_text,
    reporting_files,
    require_unblocked,
    run_request,
)
from mc_cli.notices import protocol_notices
from mc_cli.options import command_parser
from mc_cli.output import Result, one_line
from mc_cli.planview import diff_as_text, plan_as_data, plan_as_text

if TYPE_CHECKING:
    from argparse import Namespace

    from mc_plan import PublicPlan
    from mc_plan.operations.add import Added
    from mc_plan.operations.add_request import AddOptions, CheckedAdd, SecretFinding

    from mc_cli.commands import Command
    from mc_cli.mutating import Outcome
    from mc_cli.options import Parser

STANDARD_INPUT: Final = "-"
_EXAMPLE: Final = (
    'memory-custodian add "Support Python 3.10+" --type decision --evidence repo:pyproject.toml'
)
_MAX_INPUT_BYTES: Final = 1 << 20
_LONG_TYPE: Final = "decision"
_MASK: Final = "[redacted]"
_TEXT_ARGUMENTS: Final = ("message", "title", "reason")


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
            error.plan = _masked(error.plan)
        raise
    require_unblocked(outcome)
    if checked.is_secret_like:
        outcome = _masked_outcome(outcome)
    return _result(checked, outcome)


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
    data = sys.stdin.buffer.read(_MAX_INPUT_BYTES + 1)
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
    from mc_scan import scan_text

    return [
        SecretFinding(found.severity == "error", f"{found.rule}, line {found.line}")
        for found in scan_text(text)
    ]


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


def _masked_outcome(outcome: Outcome) -> Outcome:
    result = outcome.result._replace(title=_MASK)
    return outcome._replace(plan=_masked(outcome.plan), result=result)


def _masked(plan: PublicPlan) -> PublicPlan:
    """Return *plan* without the text that the user gave: it looks like a secret."""
    arguments = {
        name: _MASK if name in _TEXT_ARGUMENTS and value else value
        for name, value in plan.arguments.items()
    }
    return plan._replace(arguments=arguments, diff="", apply_command="")


def _result(checked: CheckedAdd, outcome: Outcome) -> Result:
    added: Added = outcome.result
    warnings = [*checked.notices, *outcome.plan.warnings]
    notices = [*outcome.notices, *(f"warning: {warning}" for warning in warnings)]
    for notice in protocol_notices(added.metadata):
        lost = "; until then evidence cannot be stored" if checked.options.evidence else ""
        notices.append(f"{notice}{lost}")
    data: dict[str, Any] = {
        "applied": outcome.is_applied,
        "entry": {
            "id": added.id or None,
            "type": added.type,
            "status": added.status,
            "scope": added.scope,
            "title": added.title,
            "path": added.path,
            "tokens": added.tokens,
            "supersedes": added.supersedes or None,
            "promotes": added.promotes or None,
        },
        "new_file": added.is_new_file,
        "indexed": added.is_indexed,
        "protocol": added.metadata.version or None,
        "budget": [line._asdict() for line in outcome.plan.budget],
        "warnings": warnings,
        "files_written": list(outcome.written),
    }
    if checked.is_preview_first and not outcome.is_applied:
        data |= {"plan_id": outcome.plan.plan_id, "plan": plan_as_data(outcome.plan)}
    elif not outcome.is_applied:
        data["diff"] = outcome.plan.diff
    return Result(
        data,
        lambda: _text(checked, outcome, added),
        exit_code=outcome.exit_code,
        notices=tuple(notices),
        files_written=bool(outcome.written),
    )


def _text(checked: CheckedAdd, outcome: Outcome, added: Added) -> str:
    if not outcome.is_applied:
        if checked.is_preview_first:
            return plan_as_text(outcome.plan)
        return (
            f"Dry run only, nothing is written. {_headline('Would add', added)}\n"
            + diff_as_text(outcome.plan)
        )
    lines = [_headline("Added", added)]
    if added.supersedes:
        lines.append(f"Superseded {added.supersedes}")
    if added.promotes:
        lines.append(f"Promoted {added.promotes}")
    if added.is_indexed:
        lines.append(f"Indexed {one_line(added.path)} in the manifest")
    if added.type == _LONG_TYPE and added.status == "active":
        lines.append(f"Decision entry budget: {added.tokens}/120 tokens")
    lines += [
        f"Budget: {one_line(line.path)} {line.after}/{line.limit} tokens"
        for line in outcome.plan.budget
    ]
    return "\n".join(lines) + "\n" + files_written_text(outcome.written)


def _headline(verb: str, added: Added) -> str:
    word = added.status if added.status == "candidate" else added.type
    what = f"{added.status} {added.id}" if added.id else f"{word} memory"
    return f"{verb} {what} to {one_line(added.path)}"
