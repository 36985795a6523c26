"""What a check hands back: findings as values."""

from __future__ import annotations

from typing import Final, NamedTuple

ERROR: Final = "error"
WARNING: Final = "warning"
INFO: Final = "info"
SEVERITIES: Final = (ERROR, WARNING, INFO)

LEGACY_ENTRIES: Final = "legacy_entries"
"""The one warning that `--strict` does not count (design section 6)."""

GENERAL: Final = "general"
SECURITY: Final = "security"
PRIVACY: Final = "privacy"


class Finding(NamedTuple):
    """One thing that a check found."""

    path: str
    """Repo-relative, POSIX; empty when no file is meant."""
    line: int
    """1-based; 0 when the whole file is meant."""
    severity: str
    """``error``, ``warning`` or ``info``."""
    code: str
    """Snake case; the rule id of a scan finding."""
    message: str
    """One sentence without a full stop; never private text, never a secret."""
    hint: str = ""
    """The next step, a command or an edit that exists."""
    subject: str = GENERAL
    """``general``, ``security`` or ``privacy``."""
    column: int = 0
    """1-based; 0 when the whole line is meant."""
    fingerprint: str = ""
    """Of a scan finding; independent of the value."""
