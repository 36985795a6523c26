"""Gates: refusals that depend on what the memory files say.

A command that is applied at once simply refuses. In a preview-first command the same refusal is a
blocker of the plan, so that an apply with an outdated plan id is told that the plan is stale.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mc_plan.draft import Blocker, Draft
from mc_plan.errors import RefusedError

if TYPE_CHECKING:
    from mc_plan.draft import Builder
    from mc_plan.pending import Seed
    from mc_plan.snapshot import Snapshot


class GateError(RefusedError):
    """The answer is no: a duplicate, a closed chain, an unknown id, an entry that is too long."""

    default_code = "gate"


def blocking(build: Builder) -> Builder:
    """Return *build* with every `GateError` turned into a plan that only has that blocker."""

    def guarded(snapshot: Snapshot, seed: Seed) -> Draft:
        try:
            return build(snapshot, seed)
        except GateError as error:
            blocker = Blocker(error.code, error.what, error.where, error.hint)
            return Draft(blockers=(blocker,))

    return guarded
