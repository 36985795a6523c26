"""`recover`: leave an interrupted change in exactly the before or the after state."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mc_cli import exits
from mc_cli.errors import UsageError
from mc_cli.location import locate
from mc_cli.mutating import LOCK_TIMEOUT_KEY, Outcome, add_apply_options, reporting_files
from mc_cli.options import command_parser
from mc_cli.output import one_line
from mc_cli.previewed import previewed_result

if TYPE_CHECKING:
    from argparse import Namespace

    from mc_plan import Project
    from mc_plan.operations.recover import RecoverOptions
    from mc_plan.plan import Plan
    from mc_plan.recovery import Recovery

    from mc_cli.commands import Command
    from mc_cli.options import Parser
    from mc_cli.output import Result

_EXAMPLE: Final = "memory-custodian recover"
_TIMEOUT_SECONDS: Final = 10.0


def parser(command: Command) -> Parser:
    """Return the parser of `recover`."""
    made = command_parser(command, _EXAMPLE)
    made.add_argument(
        "--memory-root", metavar="DIR", help="A Cortex root, in place of a project's memory."
    )
    made.add_argument(
        "--direction",
        choices=("forward", "back"),
        help="Complete or undo the change (default: undo where nothing was done, else complete).",
    )
    made.add_argument(
        "--accept-current",
        action="store_true",
        help="Keep every file as it is now and retire the journal.",
    )
    add_apply_options(made)
    return made


@reporting_files
def run(args: Namespace) -> Result:
    """Preview or apply the recovery of the place that *args* name."""
    from mc_plan.operations.recover import RecoverOptions, preview_recover
    from mc_plan.recovery import NOTHING

    if args.confirm_plan is not None and not args.apply:
        raise UsageError("`--confirm-plan` goes with `--apply`", hint="leave it out to preview")
    project, timeout = _place(args)
    options = RecoverOptions(args.direction, args.accept_current)
    plan = None if args.apply else preview_recover(project, options)
    if plan is None or (args.break_stale_lock and _is_idle(plan)):
        # With nothing to recover there is no plan to confirm, and the lock alone is in the way.
        outcome = _applied(args, project, options, timeout)
    else:
        code = exits.NO if plan.blockers else exits.OK
        outcome = Outcome(plan.public(), plan.result, False, (), (), code)
        if plan.blockers:
            blocked = [f"error: {blocker.what}: {blocker.where}" for blocker in plan.blockers]
            outcome = outcome._replace(notices=tuple(blocked))
    recovery: Recovery = outcome.result
    lines = _lines(recovery, project)
    result = previewed_result(outcome, None, _data(recovery), lines, nothing="")
    if recovery.outcome == NOTHING:
        # There is nothing to confirm, so no plan id is offered.
        return result._replace(text=lambda: "".join(f"{line}\n" for line in lines))
    return result


def _is_idle(plan: Plan) -> bool:
    from mc_plan.recovery import NOTHING

    recovery: Recovery = plan.result
    return recovery.outcome == NOTHING and not recovery.leftovers


def _place(args: Namespace) -> tuple[Project, float]:
    from mc_plan import open_memory_root, open_project

    if args.memory_root is None:
        location = locate(args)
        timeout = float(location.config.get(LOCK_TIMEOUT_KEY, _TIMEOUT_SECONDS))
        return open_project(location.root, location.memory_dir), timeout
    if args.project_root is not None or args.memory_dir is not None:
        raise UsageError(
            "`--memory-root` stands in place of `--project-root` and `--memory-dir`",
            hint="give one of them",
        )
    root = Path(args.memory_root).expanduser()
    if not root.is_dir():
        raise UsageError(
            "the memory root is not a folder",
            where=args.memory_root,
            hint="give an existing folder",
        )
    return open_memory_root(root), _TIMEOUT_SECONDS


def _applied(args: Namespace, project: Project, options: RecoverOptions, timeout: float) -> Outcome:
    from mc_plan.operations.recover import execute_recover

    applied = execute_recover(
        project,
        options,
        confirm=args.confirm_plan,
        notify=_notify,
        timeout_seconds=timeout,
        break_stale=args.break_stale_lock,
    )
    written = tuple(file.path for file in applied.written)
    code = exits.OK if applied.signal is None else exits.SIGNAL_BASE + applied.signal
    notices = tuple(f"warning: {warning}" for warning in applied.warnings)
    return Outcome(applied.plan, applied.result, True, written, notices, code)


def _notify(line: str) -> None:
    sys.stderr.write(f"{one_line(line)}\n")


def _data(recovery: Recovery) -> dict[str, object]:
    return {
        "outcome": recovery.outcome,
        "interrupted_command": recovery.command or None,
        "files": [file._asdict() for file in recovery.files],
        "leftovers": [leftover.path for leftover in recovery.leftovers],
    }


def _lines(recovery: Recovery, project: Project) -> list[str]:
    from mc_plan.recovery import BLOCKED, NOTHING

    if recovery.outcome == NOTHING:
        kept = [f"- {one_line(left.path)}: left-over temporary" for left in recovery.leftovers]
        if kept:
            kept.append(
                "Younger than 300 s, they may belong to a running command: try again later."
            )
        return ["No interrupted change was found: nothing to recover.", *kept]
    lines = [f"Interrupted command: {recovery.command or 'unknown'}"]
    lines += [f"- {one_line(file.path)}: {file.state}; {file.action}" for file in recovery.files]
    lines += [f"- {one_line(left.path)}: left-over temporary" for left in recovery.leftovers]
    lines.append(f"Direction: {recovery.outcome}")
    if recovery.outcome == BLOCKED:
        lines.append(f"The way out: {project.command('recover', '--accept-current')}")
    return lines
