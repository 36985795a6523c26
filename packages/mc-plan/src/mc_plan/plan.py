"""The private plan: everything an apply needs, and the plan id that a person confirms.

A `Plan` holds bytes and may hold a private topic. It never leaves the process except into the
journal; what is shown is `Plan.public()`.

Source: reliability specification 3.1 to 3.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mc_plan.canonical import compute_plan_id
from mc_plan.draft import Blocker, Confirmation, Operation
from mc_plan.errors import RefusedError
from mc_plan.mutation import APPEND, CREATE, DELETE, REPLACE, Mutation, plan_mutations
from mc_plan.project import path_bytes
from mc_plan.public import READ, PublicBudgetLine, PublicPlan, PublicTarget
from mc_plan.redaction import redactor_for

if TYPE_CHECKING:
    from mc_plan.draft import Draft, Request
    from mc_plan.pending import Seed
    from mc_plan.project_identity import ProjectIdentity
    from mc_plan.redaction import Redactor
    from mc_plan.snapshot import Snapshot

SCHEMA: Final = 1
_OWNER_WRITE: Final = 0o200


class Target(NamedTuple):
    """A file that decided the plan: its digest now and then; ``None`` is absent or deleted."""

    path: str
    action: str
    base_sha256: str | None
    output_sha256: str | None

    def content(self) -> dict[str, Any]:
        """Return what enters the plan id."""
        shown: dict[str, Any] = {
            "path": self.path,
            "base_sha256": self.base_sha256,
            "output_sha256": self.output_sha256,
        }
        if self.action == APPEND:
            shown["append"] = True
        return shown


class Plan:
    """One computed change of a project. It prints as its id only, since it may be private."""

    __slots__ = ("draft", "identity", "memory_dir", "mutations", "plan_id", "request", "targets")

    def __init__(
        self,
        *,
        request: Request,
        identity: ProjectIdentity,
        memory_dir: str,
        draft: Draft,
        mutations: tuple[Mutation, ...],
        targets: tuple[Target, ...],
        nonce: str | None,
    ) -> None:
        self.request = request
        self.identity = identity
        self.memory_dir = memory_dir
        self.draft = draft
        self.mutations = mutations
        self.targets = targets
        self.plan_id = compute_plan_id(self._content(nonce))

    def __repr__(self) -> str:
        return f"<Plan {self.plan_id}>"

    @property
    def blockers(self) -> tuple[Blocker, ...]:
        """The private blockers; show those of `public`."""
        return tuple(self.draft.blockers)

    @property
    def missing_confirmations(self) -> tuple[Confirmation, ...]:
        """The flags that the plan needs and the request does not have."""
        given = self.request.given_flags
        return tuple(needed for needed in self.draft.confirmations if needed.flag not in given)

    @property
    def result(self) -> Any:
        """What the builder handed to the renderer."""
        return self.draft.result

    def label(self, path: str) -> str:
        """Return *path* as it may be shown."""
        return redactor_for(self.request).text(path)

    def public(self, *, with_diff: bool = True) -> PublicPlan:
        """Return the view that may be shown; the diff is rendered now, if it is wanted."""
        redactor = redactor_for(self.request)
        private = self.request.private
        return PublicPlan(
            plan_id=self.plan_id,
            command=self.request.command,
            arguments=redactor.value(dict(self.request.arguments)),
            project_id=self.identity.project_id,
            protocol=self.identity.protocol,
            memory_dir=self.memory_dir,
            private=private,
            targets=tuple(
                _public_target(target, redactor, private=private) for target in self.targets
            ),
            operations=tuple(
                Operation(redactor.text(step.what), redactor.text(step.path))
                for step in self.draft.operations
            ),
            warnings=tuple(map(redactor.text, self.draft.warnings)),
            blockers=tuple(_public_blocker(blocker, redactor) for blocker in self.draft.blockers),
            confirmations=tuple(
                Confirmation(needed.flag, redactor.text(needed.what))
                for needed in self.draft.confirmations
            ),
            budget=self._public_budget(redactor),
            notices=tuple(map(redactor.text, self.notices())),
            diff=self.diff() if with_diff and not private else "",
            apply_command=self._apply_command(redactor),
        )

    def diff(self) -> str:
        """Return the unified diff of all changes, private spans left out of both sides."""
        from mc_plan.diff import unified_diff

        return "".join(unified_diff(mutation) for mutation in self.mutations)

    def notices(self) -> list[str]:
        """Return what this machine should be told and no other: names that keep the old text."""
        replaced = [mutation.before for mutation in self.mutations if mutation.kind != APPEND]
        return [
            f"`{state.path}` has {state.links} names (hard links): the others keep the old text"
            for state in replaced
            if state.links > 1
        ]

    def _apply_command(self, redactor: Redactor) -> str:
        command = self.request.apply_command
        # The command that is shown must apply; what its flags allow is listed beside it.
        for needed in self.missing_confirmations if command else ():
            head, marker, tail = command.partition(" --apply")
            command = f"{head} {needed.flag}{marker}{tail}"
        if redactor.is_private(command.replace("<TOPIC>", "")):
            return ""
        return command.replace("<PLAN_ID>", self.plan_id)

    def _public_budget(self, redactor: Redactor) -> tuple[PublicBudgetLine, ...]:
        shown = []
        for line in self.draft.budget:
            path, over = redactor.text(line.path), 0 < line.limit < line.after
            if self.request.private:
                shown.append(PublicBudgetLine(path, line.limit, None, None, over))
            else:
                shown.append(PublicBudgetLine(path, line.limit, line.before, line.after, over))
        return tuple(shown)

    def _content(self, nonce: str | None) -> dict[str, Any]:
        content: dict[str, Any] = {
            "schema": SCHEMA,
            "command": self.request.command,
            "arguments": dict(self.request.arguments),
            "project_id": self.identity.project_id,
            "protocol": self.identity.protocol,
            "memory_dir": self.memory_dir,
            "targets": [target.content() for target in self.targets],
            "operations": [list(step) for step in self.draft.operations],
            "warnings": list(self.draft.warnings),
            "blockers": [list(blocker) for blocker in self.draft.blockers],
            "confirmations": [list(needed) for needed in self.draft.confirmations],
        }
        if nonce is not None:
            content["nonce"] = nonce
        return content


def compute_plan(
    snapshot: Snapshot, seed: Seed, draft: Draft, *, request: Request, identity: ProjectIdentity
) -> Plan:
    """Return the plan of *draft*, with every file the snapshot read as a target.

    Raises:
        InputError, MalformedFileError, UnsafeFileError, UnreadableFileError: As `plan_mutations`.
        RefusedError: A file to change is write-protected.
    """
    mutations = plan_mutations(snapshot, draft)
    for mutation in mutations:
        require_writable(mutation)
    return Plan(
        request=request,
        identity=identity,
        memory_dir=snapshot.project.memory_dir,
        draft=draft,
        mutations=mutations,
        targets=_targets(snapshot, mutations),
        nonce=_private_nonce(request, seed),
    )


def require_writable(mutation: Mutation) -> None:
    """Raise `RefusedError` if the file has no write permission for its owner (4.1)."""
    before = mutation.before
    if before.identity is None or before.mode & _OWNER_WRITE:
        return
    raise RefusedError(
        "the file is write-protected",
        where=before.path,
        hint=f"remove the write protection of `{before.path}` first",
        code="read_only_file",
    )


def _private_nonce(request: Request, seed: Seed) -> str | None:
    # Without it a private plan id could be tested against a list of topics.
    return seed.nonce if request.private else None


def _targets(snapshot: Snapshot, mutations: tuple[Mutation, ...]) -> tuple[Target, ...]:
    states = snapshot.states
    found = {path: Target(path, READ, state.sha256, state.sha256) for path, state in states.items()}
    for mutation in mutations:
        path = mutation.path
        known = path in states
        base = mutation.before.sha256 if known else None
        output = mutation.output_sha256 if mutation.kind in {CREATE, REPLACE, DELETE} else base
        action = mutation.kind
        if not known:
            action, output = APPEND, None
        found[path] = Target(path, action, base, output)
    return tuple(found[path] for path in sorted(found, key=path_bytes))


def _public_target(target: Target, redactor: Redactor, *, private: bool) -> PublicTarget:
    path = redactor.text(target.path)
    if private:
        return PublicTarget(path, target.action, None, None)
    return PublicTarget(path, target.action, target.base_sha256, target.output_sha256)


def _public_blocker(blocker: Blocker, redactor: Redactor) -> Blocker:
    return Blocker(blocker.code, *(redactor.text(part) for part in blocker[1:]))
