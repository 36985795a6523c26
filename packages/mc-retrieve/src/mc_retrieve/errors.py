"""Refusals of the retrieval contract: a code that fixes the exit, and one sentence."""

from __future__ import annotations

TYPE_CHECKING = False  # importing `typing` costs a command more than reading a hundred records
if TYPE_CHECKING:
    from typing import Final

INTERNAL_ERROR: Final = "internal_error"
NOT_FOUND: Final = "not_found"
INVALID_INPUT: Final = "invalid_input"
INTEGRITY_ERROR: Final = "integrity_error"
WRITE_REFUSED: Final = "write_refused"
GOVERNANCE_REFUSED: Final = "governance_refused"


class RetrieveError(Exception):
    """A request that the contract refuses, or a corpus that it cannot serve.

    Args:
        what: One sentence that says what is wrong, without a full stop and without memory text.
        where: The place, for example ``KNOWLEDGE/a.md``; empty when there is none.
        hint: The next step, a command or an edit that exists; empty when there is none.
        code: One of the constants of this module.
    """

    code = INTERNAL_ERROR

    def __init__(self, what: str, *, where: str = "", hint: str = "", code: str = "") -> None:
        super().__init__(f"{what}: {where}" if where else what)
        self.what = what
        self.where = where
        self.hint = hint
        if code:
            self.code = code


class InvalidInputError(RetrieveError):
    """An option, argument or bound that the contract does not allow."""

    code = INVALID_INPUT


class NotFoundError(RetrieveError):
    """An id or anchor that names no active record."""

    code = NOT_FOUND


class IntegrityError(RetrieveError):
    """A corpus that breaks a rule; nothing of it is served."""

    code = INTEGRITY_ERROR


class InternalError(RetrieveError):
    """A failure that is no fault of the request or of the corpus."""

    code = INTERNAL_ERROR


def reading_error(error: OSError, where: str) -> InternalError:
    """Return the error for a file or folder that the operating system does not let us read."""
    reason = (error.strerror or type(error).__name__).lower()
    return InternalError(
        f"cannot be read ({reason})",
        where=where,
        hint="check that it exists and that you may read it",
    )
