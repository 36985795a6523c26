"""The public view of a plan: the only form in which a plan leaves the process.

It is a type of its own, built once, with no way back to the private plan. A private plan's view
has no topic, no digests, no diff, and no numbers that tell how long the removed text was.

Source: reliability specification 3.3; design 6 (what a preview shows).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from mc_plan.draft import Blocker, Confirmation, Operation

READ: Final = "read"


class PublicTarget(NamedTuple):
    """A file that decided the plan; `action` is create, replace, delete, append or read."""

    path: str
    action: str
    base_sha256: str | None
    output_sha256: str | None


class PublicBudgetLine(NamedTuple):
    """Estimated tokens of a file; a private view has no numbers, only whether the result fits."""

    path: str
    limit: int
    before: int | None
    after: int | None
    over: bool


class PublicPlan(NamedTuple):
    """What a preview prints.

    `diff` is unified, without private spans, and empty in a private view. `notices` are warnings
    about this machine (hard links) and not part of the plan id.
    """

    plan_id: str
    command: str
    arguments: dict[str, Any]
    project_id: str | None
    protocol: str | None
    memory_dir: str
    private: bool
    targets: tuple[PublicTarget, ...]
    operations: tuple[Operation, ...]
    warnings: tuple[str, ...]
    blockers: tuple[Blocker, ...]
    confirmations: tuple[Confirmation, ...]
    budget: tuple[PublicBudgetLine, ...]
    notices: tuple[str, ...]
    diff: str
    apply_command: str

    @property
    def changes_nothing(self) -> bool:
        """Tell whether applying the plan would write no file."""
        return all(target.action == READ for target in self.targets)

    def as_dict(self) -> dict[str, Any]:
        """Return the view as JSON values, for ``data.plan`` and ``error.plan``."""
        return {
            "plan_id": self.plan_id,
            "command": self.command,
            "arguments": self.arguments,
            "project_id": self.project_id,
            "protocol": self.protocol,
            "memory_dir": self.memory_dir,
            "private": self.private,
            "targets": [target._asdict() for target in self.targets],
            "operations": [operation._asdict() for operation in self.operations],
            "warnings": list(self.warnings),
            "blockers": [blocker._asdict() for blocker in self.blockers],
            "confirmations": [confirmation._asdict() for confirmation in self.confirmations],
            "budget": [line._asdict() for line in self.budget],
            "notices": list(self.notices),
            "diff": self.diff,
            "apply_command": self.apply_command,
        }
