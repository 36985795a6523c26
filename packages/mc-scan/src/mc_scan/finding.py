"""What a scan hands back: findings, notices, errors. None of them holds a matched value."""

from __future__ import annotations

from typing import Final, NamedTuple

ERROR: Final = "error"
WARNING: Final = "warning"

SECURITY: Final = "security"
PRIVACY: Final = "privacy"

IN_SOURCE: Final = "inSource"
EXTERNAL: Final = "external"


class Finding(NamedTuple):
    """One place in a text that looks like a secret or like private data.

    Lines and columns count from 1, columns in code points; ``end_column`` is the column after the
    last character. ``preview`` is built from rule constants and names, never from the value.
    """

    rule: str  # "github-token"
    severity: str  # "error" or "warning"
    path: str  # as shown: relative, "/" separators
    line: int
    column: int
    end_line: int
    end_column: int
    preview: str  # "ghp_[REDACTED]"
    fingerprint: str  # 16 hex digits, independent of the value
    obfuscated: bool  # invisible or full-width characters inside the match
    occurrence: int = 1  # k: this is the k-th finding of the file with equal rule and line
    suppressed: str = ""  # "", "inSource" (a mark) or "external" (a baseline)


class Notice(NamedTuple):
    """Something to know that is not a finding; ``failed`` ones make the exit code 2."""

    # "unreadable", "oversized", "not_followed", "stale_baseline", "bad_baseline", "crashed", ...
    code: str
    path: str  # as shown; "" when no file is meant
    message: str  # one sentence without a full stop
    hint: str = ""  # what to do next
    failed: bool = True


class ScanError(Exception):
    """Base of every error raised on purpose here.

    Args:
        what: One sentence without a full stop. It never holds scanned text.
        where: ``path`` or ``path:line``, as shown in reports; "" if there is none.
        hint: What to do next; may be "".
        code: Machine code in snake case.
    """

    code = "scan_failed"

    def __init__(self, what: str, *, where: str = "", hint: str = "", code: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.hint = hint
        self.code = code or self.code

    def __str__(self) -> str:
        return f"{self.what}: {self.where}" if self.where else self.what


class UnreadableFileError(ScanError, OSError):
    """A file or folder could not be read in full: missing, forbidden, too large, not regular."""

    code = "unreadable"


class BaselineError(ScanError, ValueError):
    """A baseline file is missing, malformed or of an unknown version."""

    code = "bad_baseline"
