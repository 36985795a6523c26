"""The one front of the contract commands: arguments in, one envelope and one exit code out.

Source: Cortex contract, sections 1 and 13.
"""

from __future__ import annotations

import os
import sys
from time import time_ns

from mc_retrieve.arguments import (
    EXPORT,
    GET,
    PROPOSE,
    REBUILD,
    REMEMBER,
    SEARCH,
    TIMELINE,
    check_positionals,
    parse_arguments,
)
from mc_retrieve.envelope import Result, fail, succeed
from mc_retrieve.errors import INTERNAL_ERROR, InternalError, RetrieveError
from mc_retrieve.layout import is_bare, pin_root

TYPE_CHECKING = False  # importing `typing` costs a command more than reading a hundred records
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, Final, Protocol, TypeAlias

    from mc_retrieve.arguments import Arguments
    from mc_retrieve.corpus import Progress
    from mc_retrieve.record import Record
    from mc_retrieve.writing import ReadPayload, Store

    Warn: TypeAlias = Callable[[str], object]

    class Answering(Protocol):
        """A command: it looks at every record, then answers."""

        def take(self, record: Record, content: bytes, folded: bytes | None) -> object:
            """Look at one record."""

        def answer(self) -> dict[str, Any]:
            """Return the data of the envelope."""


ROOT_VARIABLE: Final = "CORTEX_MEMORY_ROOT"
DEFAULT_ROOT: Final = (".claude", "LIFEOS", "MEMORY")


def run(
    argv: Sequence[str],
    *,
    store: Store,
    environ: Mapping[str, str] = os.environ,
    now_ms: int | None = None,
    read_payload: ReadPayload | None = None,
    warn: Warn | None = None,
    progress: Progress | None = None,
) -> Result:
    """Run one contract command and return its envelope and exit code; nothing is raised.

    Args:
        argv: The arguments, the command first.
        store: Where `remember` and `propose` go once the front has let them pass.
        environ: Read for the root.
        now_ms: The instant that decides what is active; the clock by default.
        read_payload: Reads standard input for the payload ``-``.
        warn: Told, in one line, what a memory directory could not serve.
        progress: Told the number of each file of a Cortex layout, and how many there are.
    """
    command = argv[0] if argv else ""
    try:
        arguments = parse_arguments(argv)
        if arguments.command in {REMEMBER, PROPOSE}:
            from mc_retrieve.writing import write

            data = write(arguments, store, read_payload or _read_standard_input)
        else:
            now = time_ns() // 1_000_000 if now_ms is None else now_ms
            root, reader = _prepare(arguments, environ)
            count = read_records(root, reader, now_ms=now, warn=warn, progress=progress)
            data = _answer(reader, root, count)
        return succeed(command, data)
    except RetrieveError as error:
        return fail(command, error.code, _message(error))
    except Exception as error:  # noqa: BLE001 - the contract: always an envelope, whatever happened
        # The text of an unexpected error could hold memory, so only its kind is told.
        return fail(command, INTERNAL_ERROR, f"unexpected {type(error).__name__}")


def choose_root(option: str | None, environ: Mapping[str, str]) -> str:
    """Return the root to use, not yet pinned: the option, the variable, or the default.

    Raises:
        InternalError: Nothing is given and there is no home to look in.
    """
    chosen = option or environ.get(ROOT_VARIABLE)
    if chosen:
        return chosen
    home = environ.get("HOME") or os.path.expanduser("~")
    if home == "~":
        raise InternalError("there is no home folder to look for the memory root in")
    return os.path.join(home, *DEFAULT_ROOT)


def read_records(
    root: str,
    reader: Answering,
    *,
    now_ms: int,
    warn: Warn | None = None,
    progress: Progress | None = None,
) -> int:
    """Hand every record at *root*, a pinned root of any layout, to *reader*; return their number.

    Raises:
        RetrieveError: The corpus cannot be served.
    """
    if is_bare(root) and _may_be_memory_directory(root):
        from mc_retrieve.project import is_memory_directory, read_project

        if is_memory_directory(root):
            return read_project(root, reader.take, now_ms=now_ms, warn=warn)
    from mc_retrieve.corpus import read_corpus

    return read_corpus(root, reader.take, now_ms=now_ms, progress=progress)


class _Status:
    """Counts, and nothing else."""

    def take(self, record: Record, content: bytes, folded: bytes | None) -> None:
        """Look at one record."""

    def answer(self) -> dict[str, Any]:
        """Return nothing: what `status` says is the root and the count."""
        return {}


def _prepare(arguments: Arguments, environ: Mapping[str, str]) -> tuple[str, Answering]:
    check_positionals(arguments)
    root = pin_root(choose_root(arguments.options.get("--memory-root"), environ))
    return root, _reader(arguments)


def _answer(reader: Answering, root: str, count: int) -> dict[str, Any]:
    if isinstance(reader, _Status):
        canonical = {"root": root, "records": count}
        return {"canonical": canonical, "mode": "local-read-only", "indexes": []}
    return reader.answer()


def _reader(arguments: Arguments) -> Answering:
    # Late imports: a command pays for its own module only.
    if arguments.command == SEARCH:
        from mc_retrieve.search import Search

        return Search(arguments.positionals[0], arguments.options)
    if arguments.command == TIMELINE:
        from mc_retrieve.timeline import Timeline

        return Timeline(arguments.options)
    if arguments.command in {GET, EXPORT}:
        from mc_retrieve.selection import Selection

        return Selection(arguments.positionals)
    if arguments.command == REBUILD:
        from mc_retrieve.digest import Rebuild

        return Rebuild()
    return _Status()


def _may_be_memory_directory(root: str) -> bool:
    return os.path.lexists(f"{root}{os.sep}manifest.md")


def _message(error: RetrieveError) -> str:
    message = f"{error.where}: {error.what}" if error.where else error.what
    return f"{message}; {error.hint}" if error.hint else message


def _read_standard_input(limit: int) -> bytes:
    return sys.stdin.buffer.read(limit)
