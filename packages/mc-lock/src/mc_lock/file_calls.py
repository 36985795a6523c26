"""The calls that change files, as a value: tests make one of them fail, or act in between."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class FileCalls(NamedTuple):
    """The calls that change files, in the signatures of `os`."""

    open: Callable[[str, int, int], int] = os.open
    write: Callable[[int, memoryview], int] = os.write
    fsync: Callable[[int], None] = os.fsync
    rename: Callable[[str, str], None] = os.rename
    replace: Callable[[str, str], None] = os.replace
    link: Callable[[str, str], None] = os.link
    unlink: Callable[[str], None] = os.unlink
