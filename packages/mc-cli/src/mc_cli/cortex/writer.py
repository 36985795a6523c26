"""Who writes, where and when, and what a builder answers: shared by all builders here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mc_plan import Draft, MalformedFileError, Operation
from mc_schema.validity import format_timestamp

from mc_cli.cortex.audit import audit_row, log_of
from mc_cli.cortex.governance import EINVAL_TARGET, GovernanceError, require_tier

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mc_plan import Project, Snapshot

    from mc_cli.cortex.place import Place

_MS_PER_SECOND: Final = 1000


class Moment(NamedTuple):
    """One reading of the clock."""

    ms: int

    @property
    def text(self) -> str:
        """The timestamp, ``2026-07-26T10:00:00.000Z``."""
        return format_timestamp(self.ms)

    @property
    def date(self) -> str:
        """The day in UTC, ``2026-07-26``."""
        return self.text[:10]


class Effects(NamedTuple):
    """What a write gets from outside."""

    environ: Mapping[str, str]
    """Decides the state directory."""
    clock: Callable[[], float]
    """Epoch seconds."""
    notify: Callable[[str], None]
    """Told one line at a time."""
    timeout_seconds: float
    """Longest wait for the lock."""


def with_state(project: Project, effects: Effects) -> Project:
    """Return *project* with a usable state directory; say so where it is not the usual one.

    Raises:
        StateError: There is none.
    """
    here = project.with_usable_state()
    if here.state.fallback:
        effects.notify(here.state.fallback)
    return here


class Writer(NamedTuple):
    """Who writes where."""

    place: Place
    adapter: str | None
    """``None`` for a person."""
    clock: Callable[[], float]
    """Epoch seconds."""

    def moment(self) -> Moment:
        """Return now."""
        return Moment(int(self.clock() * _MS_PER_SECOND))


class Written(NamedTuple):
    """What was written, for the answer."""

    type: str
    path: str
    """As seen from the root."""
    detail: dict[str, Any]

    def as_result(self) -> dict[str, Any]:
        """Return the answer of the store."""
        return {"ok": True, "type": self.type, "path": self.path, "detail": self.detail}


def draft_write(
    writer: Writer,
    moment: Moment,
    *,
    item_type: str,
    path: str,
    content: str,
    changes: Mapping[str, bytes | None],
    detail: Mapping[str, Any],
    what: str,
    extra: Mapping[str, Any] | None = None,
    rows: Mapping[str, bytes] | None = None,
) -> Draft:
    """Return the draft of one accepted write: the change, and its audit row in the same plan.

    Args:
        writer: Who and where.
        moment: When.
        item_type: The type, which decides the log.
        path: What is written, below the memory.
        content: What is added, for the row's length and digest.
        changes: Whole new contents, by path below the memory.
        detail: For the answer.
        what: The step in words, without any content.
        extra: Further facts for the row.
        rows: Other rows to append, by path below the memory.
    """
    place = writer.place
    shown = place.file(path)
    row = audit_row(
        at=moment.text,
        adapter=writer.adapter,
        item_type=item_type,
        path=shown,
        content=content,
        extra=extra,
    )
    appended = {**(rows or {}), log_of(item_type): row}
    changed = {**place.founding(path), **changes}
    return Draft(
        operations=[Operation(what, shown)],
        changes={place.file(name): data for name, data in changed.items()},
        appends={place.file(name): data for name, data in appended.items()},
        result=Written(item_type, shown, dict(detail)),
    )


def read_target(snapshot: Snapshot, writer: Writer, item_type: str, path: str) -> str | None:
    """Return the text of *path*, below the memory, after checking that *item_type* may write it.

    Raises:
        GovernanceError: ``ETIER_MISMATCH``, or ``EINVAL_TARGET`` where the file is not UTF-8.
        PlanError: It is no plain file, or cannot be read.
    """
    require_tier(item_type, path, writer.place)
    shown = writer.place.file(path)
    try:
        return snapshot.read_text(shown)
    except MalformedFileError as error:
        hint = "save the file as UTF-8"
        raise GovernanceError(error.what, where=shown, hint=hint, code=EINVAL_TARGET) from error
