"""What a command asks for (`Request`) and what an operation answers (`Draft`).

An operation is a builder, a function of a snapshot and a seed. It reads only through the
snapshot, draws ids and the date only from the seed, and returns the bytes it wants on disk.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    from mc_plan.pending import Seed
    from mc_plan.snapshot import Snapshot

Builder: TypeAlias = "Callable[[Snapshot, Seed], Draft]"
"""An operation: it computes a draft from what it reads and draws."""
IMMEDIATE: Final = "immediate"
"""Applied at once, never asks for a plan id: plain `add`, `init`, `init --repair`, `enable`."""
BY_PROTOCOL: Final = "by-protocol"
"""A plan id is needed on Protocol 0.6, optional on an older project: `forget`, `compact`."""
ALWAYS: Final = "always"
"""A plan id is needed on every project: `migrate`, `recover`, supersession, promotion."""

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class Request(NamedTuple):
    """One invocation, known before anything is read.

    Attributes:
        command: The subcommand, for example ``forget``.
        arguments: Normalised, defaults filled in, paths repo-relative POSIX; text, integers,
            booleans, ``None``, lists and mappings only. Left out: ``--apply``, ``--confirm-plan``,
            ``--break-stale-lock``, ``--format``, ``--project-root`` and the flags in `given_flags`.
        confirmation: `IMMEDIATE`, `BY_PROTOCOL` or `ALWAYS`.
        given_flags: Confirmations on the command line: ``--allow-broad-match``,
            ``--archive-oldest``. They do not enter the plan id.
        apply_command: What applies the plan, ``<PLAN_ID>`` in the id's place, for example
            ``memory-custodian compact --apply --confirm-plan <PLAN_ID>``; with ``<TOPIC>`` instead
            of the topic in a private mode.
        private: Hard and purge modes: public views and errors hide `private_terms`, digests, diffs.
        private_terms: The text to hide, matched after NFKC and case folding.
        any_protocol: Go on whatever the manifest's protocol version says (`recover` only).
    """

    command: str
    arguments: Mapping[str, Any] = _NOTHING
    confirmation: str = BY_PROTOCOL
    given_flags: frozenset[str] = frozenset()
    apply_command: str = ""
    private: bool = False
    private_terms: tuple[str, ...] = ()
    any_protocol: bool = False


class Operation(NamedTuple):
    """One step of a plan in words, for example ``Archive 3 superseded entries`` and a path."""

    what: str
    path: str = ""


class Blocker(NamedTuple):
    """Why a plan cannot be applied; the parts are those of an error."""

    code: str
    what: str
    where: str = ""
    hint: str = ""


class Confirmation(NamedTuple):
    """A flag that the user must give before the plan is applied, and what it allows."""

    flag: str
    what: str


class BudgetLine(NamedTuple):
    """The estimated tokens of one file before and after the plan; `limit` 0 means none."""

    path: str
    limit: int
    before: int
    after: int


class Draft(NamedTuple):
    """What a builder computed.

    Attributes:
        operations: What the plan does, in the order to show.
        changes: Repo-relative path to the whole new content, ``None`` to delete the file. A path
            whose bytes stay the same is dropped.
        appends: Repo-relative path to the bytes to add at the end (audit and queue rows, 4.10). The
            file's old bytes do not enter the plan id.
        warnings: Sentences that do not stop the apply; part of the plan id.
        blockers: Reasons to refuse the apply; part of the plan id.
        confirmations: Flags that the apply needs; part of the plan id.
        budget: Estimated result for each budgeted file; not part of the plan id.
        new_project_id: The id this plan gives to a project that had none, so that its lock is
            taken too.
        result: Anything the renderer wants; handed through untouched, never printed from here.
    """

    operations: Sequence[Operation] = ()
    changes: Mapping[str, bytes | None] = _NOTHING
    appends: Mapping[str, bytes] = _NOTHING
    warnings: Sequence[str] = ()
    blockers: Sequence[Blocker] = ()
    confirmations: Sequence[Confirmation] = ()
    budget: Sequence[BudgetLine] = ()
    new_project_id: str | None = None
    result: Any = None
