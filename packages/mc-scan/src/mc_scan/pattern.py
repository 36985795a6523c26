"""Patterns that are compiled when they are first used.

A scan of a line typed into a command needs a handful of the hundred patterns here; compiling all of
them would take longer than the command.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable


class _LazyPattern:
    """Stands in for a compiled pattern: its methods appear with the first use of one of them."""

    __slots__ = (
        "_flags",
        "_source",
        "findall",
        "finditer",
        "fullmatch",
        "match",
        "search",
        "split",
        "sub",
    )

    def __init__(self, source: Callable[[], str] | str, flags: int) -> None:
        self._source, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        # Called only while the slot *name* is empty.
        source = self._source if isinstance(self._source, str) else self._source()
        compiled = re.compile(source, self._flags)
        for method in ("findall", "finditer", "fullmatch", "match", "search", "split", "sub"):
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def lazy(source: Callable[[], str] | str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern for *source*, or for what it returns, that is compiled at its first use."""
    return cast("re.Pattern[str]", _LazyPattern(source, flags))
