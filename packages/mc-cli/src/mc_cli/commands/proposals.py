"""`proposals`: what adapters proposed, and what a person decides about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mc_schema.private import strip_private

from mc_cli import exits
from mc_cli.cortex.people import (
    LIST,
    open_place,
    person_at,
    request_of,
    require_no_apply,
    root_parser,
    run_people_request,
)
from mc_cli.errors import UsageError
from mc_cli.mutating import reporting_files
from mc_cli.output import Result, one_line, printable
from mc_cli.previewed import previewed_result

if TYPE_CHECKING:
    from argparse import Namespace

    from mc_cli.commands import Command
    from mc_cli.cortex.place import Place
    from mc_cli.cortex.queue import Queue, Row
    from mc_cli.options import Parser

SHOW: Final = "show"
_EXAMPLE: Final = "memory-custodian proposals list --memory-root ~/memory"
_ACTIONS: Final = (LIST, SHOW, "approve", "reject")
_LIST_KEYS: Final = ("ts", "status", "target_file", "target_kind", "confidence")
_SHOW_KEYS: Final = (
    *_LIST_KEYS, "source_session", "observed_across_sessions", "rationale", "edit",
)  # fmt: skip


def parser(command: Command) -> Parser:
    """Return the parser of `proposals`."""
    made = root_parser(command, _EXAMPLE)
    made.add_argument("action", choices=_ACTIONS, help="What to do.")
    made.add_argument("id", nargs="?", help="The proposal; for every action but list.")
    made.add_argument("--all", action="store_true", help="List decided proposals too.")
    return made


@reporting_files
def run(args: Namespace) -> Result:
    """List or show proposals, or preview or apply a decision."""
    from mc_cli.cortex.decisions import Decided, build_decision

    if (args.action == LIST) != (args.id is None):
        needs = "takes no id" if args.action == LIST else "needs the id of a proposal"
        raise UsageError(
            f"`{args.action}` {needs}", hint="`memory-custodian proposals list` shows the ids"
        )
    if args.all and args.action != LIST:
        raise UsageError(f"`--all` does not go with `{args.action}`", hint="leave it out")
    place = open_place(args)
    if args.action in (LIST, SHOW):
        require_no_apply(args)
        return _list(args, place) if args.action == LIST else _show(args, place)
    build = build_decision(args.id, args.action, person_at(place))
    request = request_of(place, "proposals", [args.action, args.id])
    outcome = run_people_request(args, place, build, request)
    decided = outcome.result if isinstance(outcome.result, Decided) else None
    data = {
        "action": args.action,
        "id": args.id,
        "target_file": None if decided is None else decided.target_file or None,
    }
    verb = {"approve": "Approve", "reject": "Reject"}[args.action]
    lines = [f"{verb} proposal {one_line(args.id)}"]
    return previewed_result(outcome, None, data, lines)


def _list(args: Namespace, place: Place) -> Result:
    from mc_cli.cortex.queue import PENDING

    queue = _queue(place)
    shown = [row for row in queue.rows if args.all or row.status == PENDING]
    pending = sum(row.status == PENDING for row in queue.rows)
    data = {
        "action": LIST,
        "proposals": [_fields(row, _LIST_KEYS) for row in shown],
        "pending": pending,
        "malformed_lines": list(queue.malformed),
    }
    return Result(
        data,
        lambda: _list_text(data),
        exit_code=exits.NO if queue.malformed else exits.OK,
        notices=_malformed_notices(place, queue),
        files_written=False,
    )


def _show(args: Namespace, place: Place) -> Result:
    queue = _queue(place)
    row = next((row for row in queue.rows if row.id == args.id), None)
    if row is None:
        from mc_cli.errors import CommandError

        raise CommandError(
            "there is no proposal with this id",
            where=args.id,
            hint="`memory-custodian proposals list --all` shows the ids",
            code="unknown_proposal",
        )
    fields = _fields(row, _SHOW_KEYS)
    return Result(
        {"action": SHOW, "proposal": fields},
        lambda: _show_text(fields),
        notices=_malformed_notices(place, queue),
        files_written=False,
    )


def _queue(place: Place) -> Queue:
    from mc_plan import Snapshot

    from mc_cli.cortex.queue import read_queue

    return read_queue(Snapshot(place.project), place)


def _fields(row: Row, keys: tuple[str, ...]) -> dict[str, Any]:
    """Return what may be shown of *row*: a queue can be written by others, private spans too."""
    shown: dict[str, Any] = {"id": strip_private(row.id)}
    for key in keys:
        value = row.fields.get(key)
        if isinstance(value, str):
            value = strip_private(value)
        elif isinstance(value, (dict, list)):
            value = None
        shown[key] = value
    return shown


def _malformed_notices(place: Place, queue: Queue) -> tuple[str, ...]:
    from mc_cli.cortex.queue import QUEUE

    path = place.file(QUEUE)
    return tuple(f"error: not a proposal: {path}:{line}" for line in queue.malformed)


def _list_text(data: dict[str, Any]) -> str:
    if not data["proposals"]:
        return "No pending proposal.\n"
    lines = []
    for shown in data["proposals"]:
        facts = [shown["id"], shown["status"], shown["ts"], shown["target_file"]]
        lines.append("  ".join(one_line(str(fact or "-")) for fact in facts))
    return "\n".join([*lines, f"{data['pending']} pending", ""])


def _show_text(fields: dict[str, Any]) -> str:
    lines = [f"Proposal {one_line(fields['id'])}"]
    for key, value in fields.items():
        if key == "id" or value is None:
            continue
        if key in ("rationale", "edit"):
            lines.append(f"{key}:")
            # Quoted line by line, so that no proposed text can pass for a line of this report.
            lines += [f"  > {line}" for line in printable(str(value)).split("\n")]
        else:
            lines.append(f"{key}: {one_line(str(value))}")
    return "\n".join([*lines, ""])
