"""A progress line on a terminal, for work that takes over a second; never when piped."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TextIO

DELAY_SECONDS: Final = 1.0
_CLEAR: Final = "\r\x1b[K"
Item = TypeVar("Item")


def tracked(
    items: Sequence[Item],
    label: str,
    *,
    stream: TextIO | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Item]:
    """Yield *items*; once a second has gone by, say on a terminal how far it is.

    Args:
        items: What is worked on.
        label: What is done, for example ``scanning``.
        stream: Standard error by default.
        clock: Seconds that never go back.
    """
    out = sys.stderr if stream is None else stream
    is_shown = out.isatty()
    begun = clock()
    was_shown = False
    try:
        for number, item in enumerate(items, 1):
            if is_shown and clock() - begun >= DELAY_SECONDS:
                out.write(f"{_CLEAR}{label} {number} of {len(items)}")
                out.flush()
                was_shown = True
            yield item
    finally:
        if was_shown:
            out.write(_CLEAR)
            out.flush()
