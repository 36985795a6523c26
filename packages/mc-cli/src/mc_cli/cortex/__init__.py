"""`memory-custodian cortex`: the contract commands as a process, and their governed store."""

from __future__ import annotations

import os
import sys

from mc_retrieve.contract import run as _run

TYPE_CHECKING = False  # importing `typing` costs a command more than reading a hundred records
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from mc_retrieve.corpus import Progress
    from mc_retrieve.envelope import Result
    from mc_retrieve.writing import Store, WriteRequest


def run(
    argv: Sequence[str],
    *,
    store: Callable[[dict[str, Any]], Any] | None = None,
    progress: Progress | None = None,
) -> Result:
    """Run one contract command in this process.

    Args:
        argv: The arguments after `cortex`, for example ``["get", "idea-1", "--memory-root", "m"]``.
        store: Stands in for the governed store: called with the item of a write that passed the
            front, answers a mapping whose ``ok`` is true or one with ``message`` or ``code``.
        progress: Told the number of each file of a corpus, and how many there are.
    """
    store_of_request = _governed if store is None else _of_item(store)
    return _run(argv, store=store_of_request, warn=_warn, progress=progress)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one contract command, print its envelope and a line feed, return its exit code."""
    import gc

    # A command makes many objects, no cycles worth finding, and ends.
    gc.disable()
    arguments = sys.argv[1:] if argv is None else argv
    result = _run_for_people([_as_text(argument) for argument in arguments])
    line = result.text.encode("utf-8") + b"\n"
    return result.exit_code if _print(line) else 1


def _run_for_people(argv: list[str]) -> Result:
    if not sys.stderr.isatty():
        return run(argv)
    from mc_cli.cortex.progress import Progress

    progress = Progress(sys.stderr)
    try:
        return run(argv, progress=progress)
    finally:
        progress.clear()


def _governed(request: WriteRequest) -> dict[str, Any]:
    from mc_cli.cortex.store import write_item

    return write_item(request, notify=_warn)


def _of_item(store: Callable[[dict[str, Any]], Any]) -> Store:
    return lambda request: store(request.item)


def _as_text(argument: str) -> str:
    # Bytes that are no UTF-8 arrive as half surrogate pairs, which no output could carry.
    if argument.isascii():
        return argument
    return os.fsencode(argument).decode("utf-8", "replace")


def _warn(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def _print(line: bytes) -> bool:
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
    except OSError:
        # The reader is gone. The interpreter flushes once more at exit; give it a place for that.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True
