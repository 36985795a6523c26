"""State directory and mutation lock that keeps two processes from losing each other's work.

Names are loaded when they are first used, so that a command that only reads does not pay for the
lock.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing `typing` would cost a command more than its work
if TYPE_CHECKING:
    from typing import Any, Final

    from mc_lock.effects import Effects
    from mc_lock.errors import (
        LockCreationError,
        LockDisplacedError,
        LockError,
        LockHeldError,
        LockTimeoutError,
        MalformedLockError,
        McLockError,
        NestedLockError,
        SignalReceivedError,
        StaleLockError,
        StateError,
        UnsafeLockError,
    )
    from mc_lock.file_calls import FileCalls
    from mc_lock.holder import Holder, describe_holder
    from mc_lock.lock import MutationLock, acquire_mutation_lock
    from mc_lock.owner import OwnerRecord, format_owner, parse_owner
    from mc_lock.place import place_of
    from mc_lock.private_file import read_private_file, write_private_file
    from mc_lock.process import Host, ProcessState, examine_process, this_host
    from mc_lock.signals import SignalGuard
    from mc_lock.state import StateDirectory, resolve_state_directory
    from mc_lock.verdict import LockFacts, Verdict, judge

__version__ = "0.10.0"

__all__ = [
    "Effects",
    "FileCalls",
    "Holder",
    "Host",
    "LockCreationError",
    "LockDisplacedError",
    "LockError",
    "LockFacts",
    "LockHeldError",
    "LockTimeoutError",
    "MalformedLockError",
    "McLockError",
    "MutationLock",
    "NestedLockError",
    "OwnerRecord",
    "ProcessState",
    "SignalGuard",
    "SignalReceivedError",
    "StaleLockError",
    "StateDirectory",
    "StateError",
    "UnsafeLockError",
    "Verdict",
    "__version__",
    "acquire_mutation_lock",
    "describe_holder",
    "examine_process",
    "format_owner",
    "judge",
    "parse_owner",
    "place_of",
    "read_private_file",
    "resolve_state_directory",
    "this_host",
    "write_private_file",
]

_HOMES: Final = {
    "effects": ("Effects",),
    "errors": (
        "LockCreationError",
        "LockDisplacedError",
        "LockError",
        "LockHeldError",
        "LockTimeoutError",
        "MalformedLockError",
        "McLockError",
        "NestedLockError",
        "SignalReceivedError",
        "StaleLockError",
        "StateError",
        "UnsafeLockError",
    ),
    "file_calls": ("FileCalls",),
    "holder": ("Holder", "describe_holder"),
    "lock": ("MutationLock", "acquire_mutation_lock"),
    "owner": ("OwnerRecord", "format_owner", "parse_owner"),
    "place": ("place_of",),
    "private_file": ("read_private_file", "write_private_file"),
    "process": ("Host", "ProcessState", "examine_process", "this_host"),
    "signals": ("SignalGuard",),
    "state": ("StateDirectory", "resolve_state_directory"),
    "verdict": ("LockFacts", "Verdict", "judge"),
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    for module, names in _HOMES.items():
        if name in names:
            value = getattr(import_module(f"mc_lock.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
