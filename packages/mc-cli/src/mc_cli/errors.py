"""Refusals of the command line itself, and how every expected error becomes an exit."""

from __future__ import annotations

import sys

from mc_cli import exits

TYPE_CHECKING = False  # importing `typing` would cost a command more than its work
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Final, NamedTuple
else:
    from mc_schema.value import NamedTuple


class CommandError(Exception):
    """A refusal decided by a command.

    Args:
        what: One sentence without a full stop.
        where: The place; empty when there is none.
        hint: A command or edit that exists.
        code: Machine-readable name in snake case.
        exit_code: One of `mc_cli.exits`.
    """

    def __init__(
        self,
        what: str,
        *,
        where: str = "",
        hint: str = "",
        code: str = "refused",
        exit_code: int = exits.NO,
    ) -> None:
        super().__init__(f"{what}: {where}" if where else what)
        self.what = what
        self.where = where
        self.hint = hint
        self.code = code
        self.exit_code = exit_code


class UsageError(CommandError):
    """The command line is wrong."""

    def __init__(self, what: str, *, where: str = "", hint: str = "", code: str = "usage") -> None:
        super().__init__(what, where=where, hint=hint, code=code, exit_code=exits.BAD_INPUT)


class Failure(NamedTuple):
    """An expected error, ready to be printed."""

    exit_code: int
    code: str
    what: str
    where: str
    hint: str
    plan: Mapping[str, Any] | None
    """The new public plan of a stale or unconfirmed one."""
    plan_text: str
    file_lines: tuple[str, ...]
    """What is on disk: `no files were written`, or one line a file."""


NOTHING_WRITTEN: Final = "no files were written"

# By module and class: what was never imported raised nothing, so nothing is imported here.
_EXITS: Final = (
    ("mc_plan.errors", "PendingRecoveryError", exits.RECOVER),
    ("mc_plan.errors", "StalePlanError", exits.STALE),
    ("mc_plan.errors", "InputError", exits.BAD_INPUT),
    ("mc_plan.errors", "MalformedFileError", exits.BAD_INPUT),
    ("mc_plan.errors", "UnsupportedProtocolError", exits.BAD_INPUT),
    ("mc_plan.errors", "PlanError", exits.NO),
    ("mc_schema.errors", "SchemaError", exits.BAD_INPUT),
    ("mc_retrieve.errors", "InvalidInputError", exits.BAD_INPUT),
    ("mc_retrieve.errors", "RetrieveError", exits.NO),
    ("mc_scan.finding", "ScanError", exits.NO),
    ("mc_lock.errors", "LockError", exits.LOCKED),
    ("mc_lock.errors", "StateError", exits.NO),
)


def failure_of(error: BaseException) -> Failure | None:
    """Return how *error* is reported, or ``None`` when it is a programming error."""
    if isinstance(error, CommandError):
        return _failure(error, error.exit_code)
    signal_number = _signal_number(error)
    if signal_number:
        return _failure(error, exits.SIGNAL_BASE + signal_number)
    for module, name, exit_code in _EXITS:
        kind = getattr(sys.modules.get(module), name, None)
        if kind is not None and isinstance(error, kind):
            return _failure(error, exit_code)
    if isinstance(error, OSError):
        return _os_failure(error)
    return None


def _failure(error: BaseException, exit_code: int) -> Failure:
    plan = getattr(error, "plan", None)
    files = getattr(error, "files", None)
    lines = (NOTHING_WRITTEN,) if files is None else tuple(files.lines())
    plan_data, plan_text = None, ""
    if plan is not None:
        from mc_cli.planview import plan_as_data, plan_as_text

        plan_data, plan_text = plan_as_data(plan), plan_as_text(plan)
    what, where, hint = (
        _shown(str(getattr(error, name, default)), exit_code)
        for name, default in (("what", error), ("where", ""), ("hint", ""))
    )
    return Failure(
        exit_code=exit_code,
        code=str(getattr(error, "code", "error")),
        what=what,
        where=where,
        hint=hint,
        plan=plan_data,
        plan_text=plan_text,
        file_lines=(*lines, *getattr(error, "details", ())),
    )


def _shown(text: str, exit_code: int) -> str:
    # Only these two answers are about words that the user gave or that stand in a file.
    if not text or exit_code not in (exits.NO, exits.BAD_INPUT):
        return text
    from mc_cli.output import without_secrets

    return without_secrets(text)


def _signal_number(error: BaseException) -> int:
    if isinstance(error, KeyboardInterrupt):
        return 2
    kind = getattr(sys.modules.get("mc_lock"), "SignalReceivedError", None)
    if kind is not None and isinstance(error, kind):
        return int(getattr(error, "signum", 0))
    return 0


def _os_failure(error: OSError) -> Failure:
    name = error.filename
    where = name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name or "")
    return Failure(
        exit_code=exits.NO,
        code="file_error",
        what=(error.strerror or "the operating system refused").lower(),
        where=where,
        hint="check that the path exists and that you may use it, then run the command again",
        plan=None,
        plan_text="",
        file_lines=(NOTHING_WRITTEN,),
    )
