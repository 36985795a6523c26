"""Writing a report or a baseline to a file."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TextIO

from mc_scan.finding import ScanError

if TYPE_CHECKING:
    from collections.abc import Iterator

_PRIVATE: Final = 0o600


@contextmanager
def open_private(path: str, shown: str) -> Iterator[TextIO]:
    """Open *path* for writing, readable by its owner only, whatever was there before.

    Raises:
        ScanError: It cannot be written (code ``unwritable``).
    """
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _PRIVATE)
        with os.fdopen(
            descriptor, "w", encoding="utf-8", errors="backslashreplace", newline="\n"
        ) as stream:
            if hasattr(os, "fchmod"):
                os.fchmod(descriptor, _PRIVATE)
            yield stream
    except OSError as error:
        raise _unwritable(shown, error) from None


def write_whole(path: str, text: str, shown: str) -> None:
    """Replace the file at *path* by *text* in one step, so that a reader never sees half of it.

    Raises:
        ScanError: It cannot be written (code ``unwritable``).
    """
    draft = f"{path}.{os.getpid()}.tmp"
    try:
        with open(draft, "w", encoding="utf-8", newline="\n") as stream:  # noqa: PTH123 - names stay as given
            stream.write(text)
        os.replace(draft, path)  # noqa: PTH105
    except OSError as error:
        raise _unwritable(shown, error) from None


def _unwritable(shown: str, error: OSError) -> ScanError:
    reason = os.strerror(error.errno) if error.errno else type(error).__name__
    return ScanError(
        f"not writable ({reason})",
        where=shown,
        hint="name a file in a folder you can write to",
        code="unwritable",
    )
