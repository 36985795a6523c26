"""The one door through which a project changes: preview without a lock, execute under it.

Order at apply: lock, journal, plan id, blockers, confirmations, and only then the first byte.

Source: reliability specification 2.2.6 and 3.7; design 6 (preview-first flow).
"""

from __future__ import annotations

import time
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mc_plan import files
from mc_plan.apply import Checkpoints, apply_plan
from mc_plan.canonical import canonical_json, is_plan_id
from mc_plan.draft import ALWAYS, BY_PROTOCOL, IMMEDIATE
from mc_plan.errors import (
    BlockedError,
    ConfirmationError,
    InputError,
    PlanError,
    StalePlanError,
    UnconfirmedPlanError,
)
from mc_plan.interruption import refuse_interruption
from mc_plan.journal_store import (
    find_journal,
    forget_retired,
    remove_torn_journal,
    sweep_retired,
)
from mc_plan.pending import Seed, drop_seed, fresh_values, kept_values
from mc_plan.plan import Plan, compute_plan
from mc_plan.project_identity import (
    MANIFEST,
    read_identity,
    read_identity_leniently,
    require_writable_protocol,
)
from mc_plan.redaction import redactor_for
from mc_plan.snapshot import Snapshot

if TYPE_CHECKING:
    from collections.abc import Callable

    from mc_lock import MutationLock, SignalGuard

    from mc_plan.apply import WrittenFile
    from mc_plan.draft import Builder, Request
    from mc_plan.files import Filesystem
    from mc_plan.project import Project
    from mc_plan.project_identity import ProjectIdentity
    from mc_plan.public import PublicPlan

DEFAULT_TIMEOUT_SECONDS: Final = 10.0


class Applied(NamedTuple):
    """A change that is done.

    Attributes:
        plan: What was applied, as it may be shown.
        written: The files, in the order written; empty where there was nothing to do.
        warnings: For standard error.
        result: What the builder handed to the renderer.
        signal: The signal that arrived too late to stop the change, else ``None``; the command
            then lists the files as written and exits with 128 + signal.
    """

    plan: PublicPlan
    written: tuple[WrittenFile, ...]
    warnings: tuple[str, ...]
    result: Any = None
    signal: int | None = None


def preview(
    project: Project,
    build: Builder,
    *,
    request: Request,
    filesystem: Filesystem | None = None,
    now: Callable[[], float] = time.time,
) -> Plan:
    """Return the plan of *request* as it would be applied now. Show its `public()` view.

    No lock is taken and nothing in the project is written. A seed is kept in the state directory
    if the plan draws generated values and is not immediate.

    Raises:
        PlanError, SchemaError: The project cannot be read or the request is wrong.
        StateError: A seed is needed and the state directory cannot be used.
    """
    effects = filesystem or files.SYSTEM
    with _Redacting(request):
        return _compute(_Work(project, build, request, effects, now))


def execute(
    project: Project,
    build: Builder,
    *,
    request: Request,
    confirm: str | None = None,
    notify: Callable[[str], None],
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
    break_stale: bool = False,
    guard: SignalGuard | None = None,
    filesystem: Filesystem | None = None,
    now: Callable[[], float] = time.time,
) -> Applied:
    """Apply *request* under the mutation lock; everything is read and computed again inside.

    Args:
        project: Where.
        build: The operation.
        request: What; `Request.confirmation` says whether a plan id is needed.
        confirm: The plan id given by the user, 16 hex digits, or ``None``.
        notify: Receives one line at a time for standard error (waiting, a broken lock).
        timeout_seconds: Longest wait for the lock.
        break_stale: Break a lock whose owner is provably gone.
        guard: An entered signal guard; one is made if there is none.
        filesystem: The effects; tests pass their own.
        now: The clock, in epoch seconds.

    Raises:
        InputError: *confirm* is not a plan id.
        StateError, LockError: No lock.
        PendingRecoveryError: An interrupted change lies here.
        UnsupportedProtocolError: The protocol is newer or unreadable.
        StalePlanError: *confirm* is not the plan's id; the error carries the plan as it is now.
        UnconfirmedPlanError: The plan needs an id and none was given; carries the plan.
        BlockedError, ConfirmationError: The plan has blockers, or needs a flag.
        ApplyError: The file system failed; `files` says what is on disk.
        SignalReceivedError: Stopped by a signal before the first rename; nothing was written.

    Source: reliability specification 3.7.
    """
    require_plan_id_form(confirm)
    effects = filesystem or files.SYSTEM
    from mc_lock import SignalGuard as Guard

    with _Redacting(request), nullcontext(guard) if guard is not None else Guard() as signals:
        here = project.with_usable_state()
        looks: list[Snapshot] = []
        with lock_project(
            here,
            request,
            looks=looks,
            filesystem=effects,
            notify=notify,
            timeout_seconds=timeout_seconds,
            break_stale=break_stale,
            guard=signals,
        ) as lock:
            # The last look was taken under the lock: what it read need not be read again.
            work = _Work(here, build, request, effects, now, looks[-1])
            applied = _execute_locked(work, confirm, lock, signals)
        return applied._replace(signal=signals.pending)


def require_plan_id_form(confirm: str | None) -> None:
    """Raise `InputError` if *confirm* is given and is not 16 lowercase hex digits."""
    if confirm is None or is_plan_id(confirm):
        return
    raise InputError(
        "a plan id is 16 lowercase hex digits",
        where="--confirm-plan",
        hint="copy the id from the line `Plan ID:` of the preview",
        code="malformed_plan_id",
    )


def lock_project(
    project: Project,
    request: Request,
    *,
    notify: Callable[[str], None],
    timeout_seconds: float,
    break_stale: bool,
    guard: SignalGuard,
    looks: list[Snapshot] | None = None,
    filesystem: Filesystem | None = None,
) -> MutationLock:
    """Take the mutation lock of *project*, as the manifest names it; use it in a ``with``.

    Each look at the manifest is added to *looks*: the last one was taken under the lock.
    """
    from mc_lock import acquire_mutation_lock

    def read_project_id() -> str | None:
        snapshot = Snapshot(project, filesystem=filesystem)
        if looks is not None:
            looks.append(snapshot)
        return _identity(snapshot, request).project_id

    return acquire_mutation_lock(
        project.state,
        read_identity=read_project_id,
        memory_dir=project.memory_path,
        project_root=project.root,
        command=request.command,
        timeout_seconds=timeout_seconds,
        break_stale=break_stale,
        notify=notify,
        guard=guard,
    )


def watch(lock: MutationLock, guard: SignalGuard) -> Checkpoints:
    """Return what may stop an apply under *lock*."""
    return Checkpoints(guard.check, guard.hold, lock.still_ours)


def require_approval(plan: Plan, confirm: str | None) -> None:
    """Compare the confirmed id with *plan*, then look at its blockers and confirmations.

    Raises:
        StalePlanError, UnconfirmedPlanError, BlockedError, ConfirmationError: As `execute`.
    """
    if confirm is not None and confirm != plan.plan_id:
        what = f"plan is stale, something it depends on changed since the preview of `{confirm}`"
        raise StalePlanError(what, plan=plan.public(), given=confirm, hint=_retry_hint(plan))
    if confirm is None and _needs_id(plan):
        what = "plan is not confirmed, applying it needs `--confirm-plan`"
        raise UnconfirmedPlanError(what, plan=plan.public(), hint=_retry_hint(plan))
    if plan.blockers:
        view = plan.public()
        raise BlockedError(view.blockers[0], plan=view)
    missing = plan.missing_confirmations
    if missing:
        view = plan.public()
        shown = next(needed for needed in view.confirmations if needed.flag == missing[0].flag)
        raise ConfirmationError(shown, plan=view)


class _Work(NamedTuple):
    project: Project
    build: Builder
    request: Request
    effects: Filesystem
    now: Callable[[], float]
    snapshot: Snapshot | None = None
    """What has been read under the lock, if anything."""


def _execute_locked(
    work: _Work, confirm: str | None, lock: MutationLock, guard: SignalGuard
) -> Applied:
    project, request, effects = work.project, work.request, work.effects
    found = find_journal(project, lock.project_id)
    if found is not None:
        raise refuse_interruption(project, found)
    remove_torn_journal(project, effects)
    sweep_retired(project.state.journal, work.now())
    plan = _compute(work)
    guard.check()
    require_approval(plan, confirm)
    view = plan.public(with_diff=False)
    if not plan.mutations:
        return Applied(view, (), view.notices, plan.result)
    new_id = plan.draft.new_project_id
    if new_id is not None and new_id != lock.project_id:
        lock.also_lock_project(new_id)
    checkpoints = watch(lock, guard)
    written, warnings = apply_plan(project, plan, filesystem=effects, checkpoints=checkpoints)
    if request.confirmation != IMMEDIATE:
        drop_seed(project, plan.identity.project_id, request)
    if request.private:
        warnings += forget_retired(project, plan.identity.project_id, effects)
    return Applied(view, tuple(written), (*view.notices, *warnings), plan.result)


def _compute(work: _Work) -> Plan:
    project, request = work.project, work.request
    _require_text(request)
    snapshot = work.snapshot or Snapshot(project, filesystem=work.effects)
    identity = _identity(snapshot, request)
    if not request.any_protocol:
        require_writable_protocol(identity, project.memory_file(MANIFEST))
    seed = Seed(
        lambda: (
            fresh_values(work.now())
            if request.confirmation == IMMEDIATE
            else kept_values(project, identity.project_id, request, work.now())
        )
    )
    draft = work.build(snapshot, seed)
    return compute_plan(snapshot, seed, draft, request=request, identity=identity)


def _require_text(request: Request) -> None:
    try:
        canonical_json(dict(request.arguments))
    except UnicodeEncodeError:
        raise InputError(
            "an argument holds text that is not valid Unicode",
            hint="type the argument again in a UTF-8 terminal",
            code="not_unicode",
        ) from None


def _identity(snapshot: Snapshot, request: Request) -> ProjectIdentity:
    return read_identity_leniently(snapshot) if request.any_protocol else read_identity(snapshot)


def _needs_id(plan: Plan) -> bool:
    confirmation = plan.request.confirmation
    return confirmation == ALWAYS or (confirmation == BY_PROTOCOL and plan.identity.is_current)


def _retry_hint(plan: Plan) -> str:
    if plan.blockers:
        return "read the new preview, and remove what blocks it first"
    return f"read the new preview, then apply it with `--confirm-plan {plan.plan_id}`"


class _Redacting:
    """Takes the private terms of a request out of the errors that leave the block."""

    def __init__(self, request: Request) -> None:
        self._redactor = redactor_for(request)

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, (PlanError, ValueError)) and hasattr(error, "what"):
            self._redactor.clean_error(error)
