"""A progress line on a terminal, for scans that take longer than a second."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

_PATIENCE_SECONDS: Final = 1.0
_INTERVAL_SECONDS: Final = 0.2
_MB: Final = 1_000_000


class Progress:
    """Counts files and bytes; shows them only on a terminal and only once a second has passed."""

    def __init__(
        self,
        stream: TextIO,
        total: int,
        *,
        is_wanted: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream, self._total, self._clock = stream, total, clock
        self._is_wanted = is_wanted and stream.isatty()
        self._next = clock() + _PATIENCE_SECONDS if self._is_wanted else 0.0
        self._files = self._bytes = self._width = 0

    def add_bytes(self, size: int) -> None:
        """Count bytes that were read."""
        self._bytes += size
        if self._is_wanted:
            self._show()

    def add_file(self) -> None:
        """Count a file."""
        self._files += 1

    def clear(self) -> None:
        """Remove the line."""
        if self._width:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()
            self._width = 0

    def _show(self) -> None:
        now = self._clock()
        if now < self._next:
            return
        self._next = now + _INTERVAL_SECONDS
        line = f"scanning: file {self._files + 1} of {self._total}, {self._bytes / _MB:.0f} MB"
        self._stream.write("\r" + line.ljust(self._width))
        self._stream.flush()
        self._width = len(line)
