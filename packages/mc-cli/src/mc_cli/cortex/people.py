"""People's commands on a Cortex root: their options, their place, and running what they ask.

Source: design 6 (`proposals` and `cortex-restore` take `--memory-root`); governed writes.
"""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Final

from mc_cli import exits
from mc_cli.errors import CommandError, UsageError
from mc_cli.mutating import PLAN_ID, Outcome, add_apply_options
from mc_cli.options import Parser
from mc_cli.output import one_line

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from mc_plan import Builder, Request

    from mc_cli.commands import Command
    from mc_cli.cortex.place import Place
    from mc_cli.cortex.writer import Writer

LIST: Final = "list"


def root_parser(command: Command, example: str) -> Parser:
    """Return the parser of a command that works on a Cortex root."""
    made = Parser(
        prog=f"memory-custodian {command.name}",
        description=command.summary,
        epilog=f"example: {example}",
        allow_abbrev=False,
    )
    made.add_argument(
        "--memory-root",
        metavar="DIR",
        help="The Cortex root (default: CORTEX_MEMORY_ROOT, else ~/.claude/LIFEOS/MEMORY).",
    )
    made.add_argument(
        "--format", choices=("text", "json"), default="text", help="Form of the answer."
    )
    made.add_argument(
        "--json", action="store_const", const="json", dest="format", help="Short for --format json."
    )
    made.add_argument(
        "--break-stale-lock",
        action="store_true",
        help="Break a mutation lock whose holder is provably gone.",
    )
    add_apply_options(made)
    return made


def require_no_apply(args: Namespace) -> None:
    """Refuse the options of a change for an action that changes nothing.

    Raises:
        UsageError: ``--apply`` or ``--confirm-plan`` is given.
    """
    if args.apply or args.confirm_plan is not None:
        raise UsageError(
            f"`{args.action}` changes nothing and takes no `--apply` or `--confirm-plan`",
            hint="leave them out",
        )


def open_place(args: Namespace) -> Place:
    """Return the Cortex root that *args* name.

    Raises:
        CommandError: It is missing, cannot be a corpus, or is a project's memory directory.
    """
    from mc_retrieve.contract import choose_root
    from mc_retrieve.errors import RetrieveError
    from mc_retrieve.layout import pin_root

    from mc_cli.cortex.governance import GovernanceError
    from mc_cli.cortex.place import find_place, is_memory_directory

    try:
        root = pin_root(choose_root(args.memory_root, os.environ))
        if is_memory_directory(root):
            raise CommandError(
                "this is a project's memory, which has no proposals and no snapshots",
                where=root,
                hint="candidates are promoted with `memory-custodian add --promotes ID`",
                code="not_a_cortex_root",
            )
        return find_place(root)
    except GovernanceError as error:
        blocker = error.as_blocker()
        raise CommandError(
            blocker.what, where=blocker.where, hint=blocker.hint, code=blocker.code
        ) from error
    except RetrieveError as error:
        raise CommandError(
            error.what, where=error.where, hint=error.hint, code=error.code
        ) from error


def person_at(place: Place) -> Writer:
    """Return the person who works at *place*."""
    from mc_cli.cortex.writer import Writer

    return Writer(place, None, time.time)


def request_of(place: Place, command: str, words: Sequence[str]) -> Request:
    """Return the preview-first request of *command* with the arguments *words*."""
    import shlex

    from mc_plan import ALWAYS, Request

    from mc_cli.cortex.queue import people_command

    shown = people_command(place, command, *map(shlex.quote, words))
    return Request(
        command,
        {"words": list(words)},
        ALWAYS,
        apply_command=f"{shown} --apply --confirm-plan {PLAN_ID}",
        any_protocol=True,
    )


def run_people_request(args: Namespace, place: Place, build: Builder, request: Request) -> Outcome:
    """Preview *request*, or apply it with ``--apply``.

    Raises:
        UsageError: ``--confirm-plan`` without ``--apply``.
        PlanError, LockError, StateError, SignalReceivedError: As `mc_plan.execute`.
    """
    if args.confirm_plan is not None and not args.apply:
        raise UsageError("`--confirm-plan` goes with `--apply`", hint="leave it out to preview")
    if not args.apply:
        return _preview(place, build, request)
    from mc_lock import SignalGuard
    from mc_plan import execute

    here = place.project.with_usable_state()
    if here.state.fallback:
        _notify(here.state.fallback)
    with SignalGuard() as guard:
        applied = execute(
            here,
            build,
            request=request,
            confirm=args.confirm_plan,
            notify=_notify,
            break_stale=args.break_stale_lock,
            guard=guard,
        )
    written = tuple(file.path for file in applied.written)
    notices = tuple(f"warning: {warning}" for warning in applied.warnings)
    code = exits.OK
    if applied.signal is not None:
        code = exits.SIGNAL_BASE + applied.signal
        notices += tuple(f"written: {path}" for path in written)
    return Outcome(applied.plan, applied.result, True, written, notices, code)


def _preview(place: Place, build: Builder, request: Request) -> Outcome:
    from mc_plan import find_interruption, preview

    notices: tuple[str, ...] = ()
    found = find_interruption(place.project)
    if found is not None:
        notices = (f"warning: {found.what}; {found.hint}",)
    plan = preview(place.project, build, request=request)
    code = exits.OK
    if plan.blockers:
        code = exits.NO
        notices += tuple(f"error: {blocker.what}: {blocker.where}" for blocker in plan.blockers)
    return Outcome(plan.public(), plan.result, False, (), notices, code)


def _notify(line: str) -> None:
    sys.stderr.write(f"{one_line(line)}\n")
    sys.stderr.flush()
