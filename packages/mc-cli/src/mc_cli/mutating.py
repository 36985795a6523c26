"""Running a mutating command: preview or apply, with the lock, signals and what is reported.

A command hands over a request and a builder; it gets back an `Outcome` and renders it.
"""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mc_cli import exits
from mc_cli.errors import CommandError, UsageError
from mc_cli.output import one_line

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable
    from typing import TypeAlias

    from mc_plan import Applied, Builder, Project, PublicPlan, Request

    from mc_cli.location import Location
    from mc_cli.options import Parser
    from mc_cli.output import Result

    Run: TypeAlias = Callable[[Namespace], Result]

LOCK_TIMEOUT_KEY: Final = "lock-timeout"
PLAN_ID: Final = "<PLAN_ID>"

_written: Final[list[str]] = []
"""What this process has written, for an interruption between the apply and its report."""


class Outcome(NamedTuple):
    """What became of a request."""

    plan: PublicPlan
    result: Any
    """What the operation's builder handed over for the renderer."""
    is_applied: bool
    written: tuple[str, ...]
    """Repo-relative paths, in the order written."""
    notices: tuple[str, ...]
    """Lines for standard error."""
    exit_code: int


def add_apply_options(parser: Parser) -> None:
    """Add the options of a preview-first command to *parser*."""
    parser.add_argument(
        "--apply", action="store_true", help="Apply the plan that --confirm-plan names."
    )
    parser.add_argument(
        "--confirm-plan",
        metavar="PLAN_ID",
        help="The id from the line `Plan ID:` of the preview.",
    )


def reporting_files(run: Run) -> Run:
    """Return the `run` of a command that, when interrupted late, still tells what it wrote.

    Without it Ctrl-C after the last rename would be reported as `no files were written`.
    """

    def told(args: Namespace) -> Result:
        _written.clear()
        try:
            return run(args)
        except KeyboardInterrupt as error:
            if _written:
                from mc_plan import FilesReport

                error.files = FilesReport(written=tuple(_written))  # type: ignore[attr-defined]
            raise

    return told


def project_at(location: Location) -> Project:
    """Return the project at *location* as plans see it."""
    from mc_plan import open_project

    return open_project(location.root, location.memory_dir)


def run_request(
    args: Namespace, location: Location, build: Builder, request: Request, *, dry_run: bool = False
) -> Outcome:
    """Preview or apply *request*, as *args* ask.

    An immediate request is applied unless *dry_run*; a preview-first one is applied with
    ``--apply`` alone.

    Raises:
        UsageError: ``--confirm-plan`` without ``--apply``.
        PlanError, SchemaError, LockError, StateError, SignalReceivedError: As `mc_plan.execute`.
    """
    from mc_plan import IMMEDIATE

    is_immediate = request.confirmation == IMMEDIATE
    apply, confirm = getattr(args, "apply", False), getattr(args, "confirm_plan", None)
    if confirm is not None and (not apply or is_immediate):
        raise UsageError(
            "`--confirm-plan` goes with `--apply` of a previewed change",
            hint="leave it out to see the preview",
        )
    project = project_at(location)
    if dry_run or not (is_immediate or apply):
        return _previewed(project, build, request)
    here = project.with_usable_state()
    if here.state.fallback:
        _notify(here.state.fallback)
    from mc_lock import SignalGuard
    from mc_plan import execute

    with SignalGuard() as guard:
        applied = execute(
            here,
            build,
            request=request,
            confirm=confirm,
            notify=_notify,
            timeout_seconds=float(location.config.get(LOCK_TIMEOUT_KEY, 10.0)),
            break_stale=args.break_stale_lock,
            guard=guard,
        )
        _written.extend(file.path for file in applied.written)
    return _outcome(applied)


def require_unblocked(outcome: Outcome) -> None:
    """Refuse a preview whose plan has a blocker, as the command would be refused at once.

    Raises:
        CommandError: With the parts of the first blocker.
    """
    for blocker in outcome.plan.blockers:
        raise CommandError(blocker.what, where=blocker.where, hint=blocker.hint, code=blocker.code)


def command_line(args: Namespace, command: str, words: list[str]) -> str:
    """Return a whole command line for a shell: *words*, and the place that *args* name.

    It is one line whatever a word holds: a word of several lines is written through ``printf``.
    """
    place: list[str] = []
    for flag, value in (("--project-root", args.project_root), ("--memory-dir", args.memory_dir)):
        if value is not None:
            place += [flag, value]
    quoted = " ".join(_quoted(word) for word in [*place, *words])
    return f"memory-custodian {command} {quoted}".rstrip()


def files_written_text(written: tuple[str, ...]) -> str:
    """Return the list of the files that were changed, for people."""
    if not written:
        return "No file changed.\n"
    return "Files written:\n" + "".join(f"- {one_line(path)}\n" for path in written)


def _quoted(word: str) -> str:
    if word == PLAN_ID:
        return word
    if "\n" not in word:
        return shlex.quote(word)
    lines = " ".join(shlex.quote(line) for line in word.split("\n"))
    return f"\"$(printf '%s\\n' {lines})\""


def _previewed(project: Project, build: Builder, request: Request) -> Outcome:
    from mc_plan import IMMEDIATE, preview

    notices = _interruption_notices(project)
    plan = preview(project, build, request=request)
    if project.state.fallback and request.confirmation != IMMEDIATE:
        notices.append(project.state.fallback)
    return Outcome(plan.public(), plan.result, False, (), tuple(notices), exits.OK)


def _interruption_notices(project: Project) -> list[str]:
    from mc_lock import StateError
    from mc_plan import find_interruption

    try:
        found = find_interruption(project)
    except StateError as error:
        # A preview only reads: a state directory that cannot be used does not stop it.
        return [f"warning: {error.what}: {error.where}"]
    return [] if found is None else [f"warning: {found.what}; {found.hint}"]


def _outcome(applied: Applied) -> Outcome:
    written = tuple(file.path for file in applied.written)
    notices = tuple(f"warning: {warning}" for warning in applied.warnings)
    code = exits.OK
    if applied.signal is not None:
        code = exits.SIGNAL_BASE + applied.signal
        late = f"stopped by signal {applied.signal} after the change was complete"
        notices = (*notices, late, *(f"written: {path}" for path in written))
    return Outcome(applied.plan, applied.result, True, written, notices, code)


def _notify(line: str) -> None:
    sys.stderr.write(f"{one_line(line)}\n")
    sys.stderr.flush()
