"""The operation `recover`: leave an interrupted change in exactly the before or the after state.

It is the only operation that goes on while a journal lies there, and it adds none of its own: it
stages under the temporary names that the journal records, so that its own death leaves nothing
unnamed and it can be run again.

Source: reliability specification 5.4 to 5.6.
"""

from __future__ import annotations

import time
from contextlib import nullcontext
from typing import TYPE_CHECKING, NamedTuple

from mc_plan import files
from mc_plan.apply import (
    WrittenFile,
    make_directories,
    missing_directories,
    run_step,
    stage_all,
    touched_directories,
)
from mc_plan.errors import ApplyError, FilesReport, InputError, PlanError
from mc_plan.execution import (
    DEFAULT_TIMEOUT_SECONDS,
    Applied,
    lock_project,
    require_approval,
    require_plan_id_form,
    watch,
)
from mc_plan.failure import failed
from mc_plan.journal_store import find_journal, remove_journal, remove_torn_journal, retire_journal
from mc_plan.pending import Seed, drop_seed, kept_values
from mc_plan.plan import Plan, compute_plan
from mc_plan.project_identity import read_identity_leniently
from mc_plan.recovery import (
    BACK,
    DIRECTIONS,
    KEEP,
    NOTHING,
    Recovery,
    draft_recovery,
    place_of,
    recovery_request,
)
from mc_plan.rollback import remove_leftovers
from mc_plan.snapshot import Snapshot
from mc_plan.step import CHANGED, REMOVE, look, output_of, require_unchanged

if TYPE_CHECKING:
    from collections.abc import Callable

    from mc_lock import SignalGuard

    from mc_plan.apply import Checkpoints
    from mc_plan.files import Filesystem
    from mc_plan.journal import Journal, JournalFile
    from mc_plan.project import Project
    from mc_plan.step import Step


class RecoverOptions(NamedTuple):
    """What the user asked for: a direction (``back``, ``forward``) or to keep every file."""

    direction: str | None = None
    accept_current: bool = False


DEFAULT_OPTIONS = RecoverOptions()


def preview_recover(
    project: Project,
    options: RecoverOptions = DEFAULT_OPTIONS,
    *,
    now: Callable[[], float] = time.time,
) -> Plan:
    """Return the plan that leaves the interrupted change; `Plan.result` is a `Recovery`.

    Nothing to do: the recovery's outcome is ``nothing``, exit 0. Blocked: the plan has blockers,
    exit 1.

    Raises:
        InputError: An unknown direction, or a direction together with `accept_current`.
        StateError: The state directory is not safe to read.
    """
    _require_options(options)
    return _compute(project, options, files.SYSTEM, now())[1]


def execute_recover(
    project: Project,
    options: RecoverOptions = DEFAULT_OPTIONS,
    *,
    confirm: str | None,
    notify: Callable[[str], None],
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
    break_stale: bool = False,
    guard: SignalGuard | None = None,
    filesystem: Filesystem | None = None,
    now: Callable[[], float] = time.time,
) -> Applied:
    """Recover under the mutation lock; `Applied.result` is the `Recovery`.

    Where there is nothing to do, no plan id is needed and nothing is written. The arguments and
    errors are those of `mc_plan.execute`; after an `ApplyError` it can be run again.
    """
    _require_options(options)
    require_plan_id_form(confirm)
    effects = filesystem or files.SYSTEM
    from mc_lock import SignalGuard as Guard

    with nullcontext(guard) if guard is not None else Guard() as signals:
        here = project.with_usable_state()
        with lock_project(
            here,
            recovery_request(here, None, None, accept_current=False),
            notify=notify,
            timeout_seconds=timeout_seconds,
            break_stale=break_stale,
            guard=signals,
        ) as lock:
            place, plan = _compute(here, options, effects, now())
            recovery: Recovery = plan.result
            if recovery.outcome == NOTHING:
                remove_torn_journal(here, effects)
                return Applied(plan.public(), (), (), recovery)
            signals.check()
            require_approval(plan, confirm)
            journal = recovery.journal
            new_id = None if journal is None else journal.new_project_id
            if new_id is not None and lock.project_id is None:
                lock.also_lock_project(new_id)
            written, warnings = _recover(place, plan, effects, watch(lock, signals), now())
            drop_seed(here, plan.identity.project_id, plan.request)
        view = plan.public(with_diff=False)
        return Applied(view, tuple(written), tuple(warnings), recovery, signals.pending)


def _require_options(options: RecoverOptions) -> None:
    if options.direction is not None and options.direction not in DIRECTIONS:
        raise InputError(
            f"unknown direction `{options.direction}`",
            where="--direction",
            hint="use `--direction forward` or `--direction back`",
        )
    if options.direction is not None and options.accept_current:
        raise InputError(
            "`--direction` and `--accept-current` exclude each other",
            hint="give one of them",
        )


def _compute(
    project: Project, options: RecoverOptions, effects: Filesystem, now: float
) -> tuple[Project, Plan]:
    identity = read_identity_leniently(Snapshot(project, filesystem=effects))
    place, found = place_of(project, find_journal(project, identity.project_id))
    direction, accept = options
    request = recovery_request(place, found, direction, accept_current=accept)
    snapshot = Snapshot(place, filesystem=effects)
    draft = draft_recovery(snapshot, found, direction, accept_current=accept, now=now)
    seed = Seed(lambda: kept_values(project, identity.project_id, request, now))
    return place, compute_plan(snapshot, seed, draft, request=request, identity=identity)


def _recover(
    project: Project, plan: Plan, effects: Filesystem, checkpoints: Checkpoints, now: float
) -> tuple[list[WrittenFile], list[str]]:
    recovery: Recovery = plan.result
    begun: list[JournalFile] = []
    warnings: list[str] = []
    try:
        if recovery.journal is not None:
            _clear_temporaries(project, recovery.journal, effects)
            warnings = _take_steps(project, recovery, begun, effects, checkpoints)
            _clean_up(project, recovery.journal, recovery, effects)
        _remove_strays(project, plan, effects)
        _end_journal(recovery, effects, now)
    except PlanError as error:
        error.files = _report(project, recovery, begun, effects)
        error.hint = f"correct the cause, then run `{project.command('recover')}`"
        raise
    return [WrittenFile(step.file.label, _action(step)) for step in recovery.steps], warnings


def _action(step: Step) -> str:
    if step.action == REMOVE:
        return "deleted"
    return "created" if step.base.identity is None else "updated"


def _clear_temporaries(project: Project, journal: Journal, effects: Filesystem) -> None:
    for file in journal.files:
        if not files.unlink_quietly(effects, project.path(file.temporary)):
            raise ApplyError("a temporary could not be removed", where=file.temporary)


def _take_steps(
    project: Project,
    recovery: Recovery,
    begun: list[JournalFile],
    effects: Filesystem,
    checkpoints: Checkpoints,
) -> list[str]:
    """Move the files, under the temporary names that the journal knows."""
    needed = [step.path for step in recovery.steps if step.action != REMOVE]
    make_directories(project, missing_directories(project, needed), effects)
    warnings = stage_all(project, recovery.steps, effects)
    checkpoints.check()
    with checkpoints.hold():
        for step in recovery.steps:
            run_step(project, step, begun, effects, checkpoints)
    return warnings


def _clean_up(project: Project, journal: Journal, recovery: Recovery, effects: Filesystem) -> None:
    try:
        for directory in touched_directories(project, journal):
            files.flush_directory(effects, directory)
    except OSError as error:
        raise failed("the drive did not confirm the files", "", error) from error
    gone = remove_leftovers(project, journal, effects, with_directories=recovery.outcome == BACK)
    if not gone:
        raise ApplyError("a temporary of the interrupted change could not be removed")


def _remove_strays(project: Project, plan: Plan, effects: Filesystem) -> None:
    recovery: Recovery = plan.result
    planned = {step.path for step in recovery.steps}
    for mutation in plan.mutations:
        if mutation.path in planned:
            continue
        require_unchanged(project, mutation.before, mutation.path, effects)
        try:
            effects.unlink(project.path(mutation.path))
        except OSError as error:
            raise failed("a temporary could not be removed", mutation.path, error) from error


def _end_journal(recovery: Recovery, effects: Filesystem, now: float) -> None:
    found = recovery.found
    if found is None:
        return
    try:
        if recovery.outcome == KEEP or recovery.keeps_unknown:
            retire_journal(found, effects, now)
        else:
            remove_journal(found.path, effects)
    except OSError as error:
        raise failed("the journal could not be removed", str(found.path), error) from error


def _report(
    project: Project, recovery: Recovery, begun: list[JournalFile], effects: Filesystem
) -> FilesReport:
    """Return what this run wrote, by what each file of its steps holds now."""
    written, not_written, unknown = [], [], []
    for step in recovery.steps:
        state, found = look(project, step.file, effects)
        if step.file not in begun:
            not_written.append(step.file.label)
        elif state == CHANGED:
            unknown.append(step.file.label)
        elif found.data == output_of(step):
            written.append(step.file.label)
        elif found.data == step.base.data:
            not_written.append(step.file.label)
        else:
            unknown.append(step.file.label)
    return FilesReport(tuple(written), tuple(not_written), tuple(unknown))
