"""The steps from one protocol version to the next: a new one is one more module and one row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from mc_schema.protocol import MISSING, parse_version

from mc_migrate import to_0_5, to_0_6

if TYPE_CHECKING:
    from collections.abc import Callable

    from mc_schema.protocol import Metadata

    from mc_migrate.workspace import Workspace


class Step(NamedTuple):
    """One migration step."""

    version: str
    """The protocol version it leads to."""
    run: Callable[[Workspace], None]


STEPS: Final = (
    Step("0.5", to_0_5.run),
    Step("0.6", to_0_6.run),
)
"""Oldest first; a project takes every step above its own version, all in one plan."""


def steps_for(metadata: Metadata) -> list[Step]:
    """Return the steps that a project with *metadata* still has to take, oldest first."""
    if metadata.state == MISSING:
        return list(STEPS)
    own = parse_version(metadata.version) or ()
    return [step for step in STEPS if own < (parse_version(step.version) or ())]
