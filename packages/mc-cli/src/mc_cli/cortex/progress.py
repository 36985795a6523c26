"""A progress line on a terminal, for a pass over a root that takes over a second."""

from __future__ import annotations

import time

TYPE_CHECKING = False  # importing `typing` costs a command more than reading a hundred records
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final, TextIO

DELAY_SECONDS: Final = 1.0
_CLEAR: Final = "\r\x1b[K"


class Progress:
    """Says how far the reading is, once a second has gone by."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._begun = clock()
        self._was_shown = False

    def __call__(self, number: int, total: int) -> None:
        """Take note that file *number* of *total* is being read."""
        if self._clock() - self._begun >= DELAY_SECONDS:
            self._stream.write(f"{_CLEAR}reading {number} of {total} files")
            self._stream.flush()
            self._was_shown = True

    def clear(self) -> None:
        """Take the line away, before anything else is printed."""
        if self._was_shown:
            self._stream.write(_CLEAR)
            self._stream.flush()
