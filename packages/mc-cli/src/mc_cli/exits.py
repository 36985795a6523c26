"""Exit codes outside `cortex` (design section 6)."""

from __future__ import annotations

TYPE_CHECKING = False  # importing `typing` costs a `cortex` command more than its reading
if TYPE_CHECKING:
    from typing import Final

OK: Final = 0
"""Done, or nothing to do."""
NO: Final = 1
"""The answer is no: findings, a gate, no memory directory, a file-system error."""
BAD_INPUT: Final = 2
"""The command line, the text given or the project files are wrong."""
STALE: Final = 3
"""The plan is stale or unconfirmed."""
LOCKED: Final = 4
"""The mutation lock could not be had."""
RECOVER: Final = 5
"""An interrupted operation must be recovered first."""
SIGNAL_BASE: Final = 128
"""Stopped by signal n: 128 + n."""
