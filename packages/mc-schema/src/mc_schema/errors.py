"""Errors of the protocol vocabulary."""

from __future__ import annotations

TYPE_CHECKING = False  # importing `typing` would cost a command more than its work
if TYPE_CHECKING:
    from typing import Final

MAX_QUOTED_CHARS: Final = 60


class SchemaError(ValueError):
    """Text that does not follow the protocol.

    Args:
        what: One sentence that says what is wrong, without a full stop.
        where: The place, for example ``docs/memory/decisions.md:12``; empty when there is none.
        hint: The next step, a command or an edit that exists; empty when there is none.
        code: A machine-readable name in snake case.
    """

    code = "invalid_schema"

    def __init__(self, what: str, *, where: str = "", hint: str = "", code: str = "") -> None:
        super().__init__(f"{what}: {where}" if where else what)
        self.what = what
        self.where = where
        self.hint = hint
        if code:
            self.code = code


class InvalidEvidenceError(SchemaError):
    """An evidence value that the grammar or its path rules refuse."""

    code = "invalid_evidence"


class InvalidTextError(SchemaError):
    """Text that could forge structure, or that is empty, too long or unprintable."""

    code = "invalid_text"


class InvalidNameError(SchemaError):
    """A module name that is malformed or reserved."""

    code = "invalid_name"


class InvalidPlacementError(SchemaError):
    """A combination of type, scope and name that the storage matrix does not have."""

    code = "invalid_placement"


class ManifestError(SchemaError):
    """A manifest that cannot be used for what was asked."""

    code = "invalid_manifest"


def quoted(text: str) -> str:
    """Return *text* in back-ticks, as messages quote what somebody wrote; ``…`` when it is long.

    It is never cut: who prints the message takes secrets out, and half a secret looks like none.
    """
    return f"`{text}`" if len(text) <= MAX_QUOTED_CHARS else "`…`"
