"""The governed store: one accepted item is one plan, one refused item is no byte.

Source: governed writes, "Order of refusal", 7 and 8.
"""

from __future__ import annotations

import os
import shlex
import time
from typing import TYPE_CHECKING, Any, Final

from mc_lock.errors import (
    BREAK_FLAG,
    LockError,
    McLockError,
    NestedLockError,
    StaleLockError,
)
from mc_plan import (
    IMMEDIATE,
    LostLockError,
    PendingRecoveryError,
    PlanError,
    Request,
    execute,
    files_report,
)
from mc_plan.execution import DEFAULT_TIMEOUT_SECONDS
from mc_retrieve.contract import choose_root
from mc_retrieve.errors import InternalError
from mc_retrieve.layout import pin_root
from mc_schema.errors import SchemaError

from mc_cli.cortex.governance import GovernanceError
from mc_cli.cortex.items import MemoryItem, NoteItem, check_item
from mc_cli.cortex.place import find_place, is_memory_directory
from mc_cli.cortex.secret import require_no_secret
from mc_cli.cortex.writer import Effects, Writer, Written, with_state

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mc_plan import Builder
    from mc_retrieve.writing import WriteRequest

    from mc_cli.cortex.items import Item

ELOCKED: Final = "ELOCKED"
ERECOVER: Final = "ERECOVER"
EIO: Final = "EIO"

_AGAIN_WITH_FLAG: Final = f"run the command again with `{BREAK_FLAG}`"


def write_item(
    request: WriteRequest,
    *,
    environ: Mapping[str, str] = os.environ,
    clock: Callable[[], float] = time.time,
    notify: Callable[[str], None] = lambda _line: None,
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
) -> dict[str, Any]:
    """Write the item of *request*, which passed the front, and return the store's answer.

    Args:
        request: The item, who writes, and the root they named.
        environ: Decides the root where the request names none, and the state directory.
        clock: Epoch seconds.
        notify: Told, one line at a time, what happens meanwhile (waiting for the lock).
        timeout_seconds: Longest wait for the lock.

    Returns:
        ``{"ok": True, "type", "path", "detail"}``; or ``{"ok": False, "code", "message"}`` for what
        governance refuses, with the code at the start of the message.

    Raises:
        RetrieveError: ``integrity_error`` for a root that is missing or cannot be a corpus;
            ``internal_error`` for a lock not had (``ELOCKED``), an interrupted change
            (``ERECOVER``) or a failing file system (``EIO``), naming the command that leads out.
    """
    root = pin_root(choose_root(request.memory_root, environ))
    effects = Effects(environ, clock, notify, timeout_seconds)
    try:
        return _write(request, root, effects).as_result()
    except GovernanceError as error:
        return {"ok": False, "code": error.code, "message": error.message()}
    except (LockError, NestedLockError) as error:
        raise InternalError(f"{ELOCKED}: {_locked(error, root)}") from error
    except PendingRecoveryError as error:
        way_out = recover_command(root)
        raise InternalError(
            f"{ERECOVER}: {error.what}; nothing was written; run `{way_out}`, then repeat the write"
        ) from error
    except (PlanError, SchemaError, McLockError, OSError) as error:
        code = ELOCKED if isinstance(error, LostLockError) else EIO
        raise InternalError(f"{code}: {_failed(error, root)}") from error


def builder_of(item: Item, writer: Writer) -> Builder:
    """Return the builder of a checked *item*."""
    # Late imports: a write pays for its own kind only.
    if isinstance(item, MemoryItem):
        from mc_cli.cortex.hot_memory import build_hot_memory

        return build_hot_memory(item, writer)
    if isinstance(item, NoteItem):
        from mc_cli.cortex.notes import build_note

        return build_note(item, writer)
    from mc_cli.cortex.queue import build_proposal

    return build_proposal(item, writer)


def recover_command(root: str, *words: str) -> str:
    """Return the whole command that leads out of an interrupted write at *root*."""
    return " ".join(["memory-custodian", "recover", "--memory-root", shlex.quote(root), *words])


def _write(
    request: WriteRequest,
    root: str,
    effects: Effects,
) -> Written:
    if is_memory_directory(root):
        from mc_cli.cortex.memory_items import write_entry

        return write_entry(request.item, root, effects)
    place = find_place(root, environ=effects.environ)
    item = check_item(request.item)
    require_no_secret(item)
    writer = Writer(place, request.adapter, effects.clock)
    applied = execute(
        with_state(place.project, effects),
        builder_of(item, writer),
        request=Request(
            f"cortex {request.command}",
            {"type": item.type},
            confirmation=IMMEDIATE,
            # A Cortex root has no protocol of ours, whatever a file `manifest.md` in it says.
            any_protocol=True,
        ),
        notify=effects.notify,
        timeout_seconds=effects.timeout_seconds,
        now=effects.clock,
    )
    for warning in applied.warnings:
        effects.notify(f"warning: {warning}")
    written: Written = applied.result
    return written


def _locked(error: LockError | NestedLockError, root: str) -> str:
    way_out = recover_command(root, BREAK_FLAG)
    if isinstance(error, NestedLockError):
        return "another write of this process is going on; nothing was written; try again"
    if isinstance(error, StaleLockError) and _AGAIN_WITH_FLAG in error.hint:
        step = error.hint.replace(_AGAIN_WITH_FLAG, f"run `{way_out}`")
        return f"{error.what}; nothing was written; {step}, then repeat the write"
    hint = error.hint.replace(_AGAIN_WITH_FLAG, f"run `{way_out}`")
    shown = f"{error.what}; nothing was written; {hint}"
    if way_out in shown:
        return shown
    return f"{shown}; if its owner is gone, run `{way_out}`"


def _failed(error: Exception, root: str) -> str:
    what = str(getattr(error, "what", "")) or "the file system refused"
    where = str(getattr(error, "where", ""))
    if isinstance(error, OSError) and not where:
        what = f"{what} ({error.strerror or type(error).__name__})"
    shown = f"{what}: {where}" if where else what
    report = files_report(error)
    if report.written or report.unknown:
        return f"{shown}; {'; '.join(report.lines())}; run `{recover_command(root)}`"
    hint = str(getattr(error, "hint", "")) or "correct the cause, then repeat the write"
    return f"{shown}; nothing was written; {hint}; `{recover_command(root)}` shows what is left"
