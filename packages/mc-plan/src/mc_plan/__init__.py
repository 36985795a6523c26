"""Plans with stable ids, their atomic application to several files, and the crash journal.

`preview` and `execute` are the only way in. Names are loaded when they are first used, so that a
command pays only for what it needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from mc_plan.apply import WrittenFile
    from mc_plan.draft import (
        ALWAYS,
        BY_PROTOCOL,
        IMMEDIATE,
        Blocker,
        BudgetLine,
        Builder,
        Confirmation,
        Draft,
        Operation,
        Request,
    )
    from mc_plan.errors import (
        ApplyError,
        BlockedError,
        ChangedWhileApplyingError,
        ConfirmationError,
        FilesReport,
        InputError,
        LostLockError,
        MalformedFileError,
        PendingRecoveryError,
        PlanError,
        RefusedError,
        StalePlanError,
        UnconfirmedPlanError,
        UnreadableFileError,
        UnsafeFileError,
        UnsupportedProtocolError,
        files_report,
    )
    from mc_plan.execution import Applied, execute, preview
    from mc_plan.files import Filesystem
    from mc_plan.interruption import Interruption, find_interruption, find_strays
    from mc_plan.journal_store import list_journals
    from mc_plan.pending import Seed, pending_count
    from mc_plan.plan import Plan
    from mc_plan.project import Project, open_memory_root, open_project
    from mc_plan.project_identity import ProjectIdentity, read_identity
    from mc_plan.public import PublicPlan
    from mc_plan.snapshot import Snapshot

__version__ = "0.10.0"

_HOMES: Final = {
    "apply": ("WrittenFile",),
    "draft": (
        "ALWAYS",
        "BY_PROTOCOL",
        "IMMEDIATE",
        "Blocker",
        "BudgetLine",
        "Builder",
        "Confirmation",
        "Draft",
        "Operation",
        "Request",
    ),
    "errors": (
        "ApplyError",
        "BlockedError",
        "ChangedWhileApplyingError",
        "ConfirmationError",
        "FilesReport",
        "InputError",
        "LostLockError",
        "MalformedFileError",
        "PendingRecoveryError",
        "PlanError",
        "RefusedError",
        "StalePlanError",
        "UnconfirmedPlanError",
        "UnreadableFileError",
        "UnsafeFileError",
        "UnsupportedProtocolError",
        "files_report",
    ),
    "execution": ("Applied", "execute", "preview"),
    "files": ("Filesystem",),
    "interruption": ("Interruption", "find_interruption", "find_strays"),
    "journal_store": ("list_journals",),
    "pending": ("Seed", "pending_count"),
    "plan": ("Plan",),
    "project": ("Project", "open_memory_root", "open_project"),
    "project_identity": ("ProjectIdentity", "read_identity"),
    "public": ("PublicPlan",),
    "snapshot": ("Snapshot",),
}

__all__ = [
    "ALWAYS",
    "BY_PROTOCOL",
    "IMMEDIATE",
    "Applied",
    "ApplyError",
    "BlockedError",
    "Blocker",
    "BudgetLine",
    "Builder",
    "ChangedWhileApplyingError",
    "Confirmation",
    "ConfirmationError",
    "Draft",
    "FilesReport",
    "Filesystem",
    "InputError",
    "Interruption",
    "LostLockError",
    "MalformedFileError",
    "Operation",
    "PendingRecoveryError",
    "Plan",
    "PlanError",
    "Project",
    "ProjectIdentity",
    "PublicPlan",
    "RefusedError",
    "Request",
    "Seed",
    "Snapshot",
    "StalePlanError",
    "UnconfirmedPlanError",
    "UnreadableFileError",
    "UnsafeFileError",
    "UnsupportedProtocolError",
    "WrittenFile",
    "__version__",
    "execute",
    "files_report",
    "find_interruption",
    "find_strays",
    "list_journals",
    "open_memory_root",
    "open_project",
    "pending_count",
    "preview",
    "read_identity",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    for module, names in _HOMES.items():
        if name in names:
            value = getattr(import_module(f"mc_plan.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
