"""The five-field envelope and its exit code, checked before either leaves the library.

Source: Cortex contract, section 1.
"""

from __future__ import annotations

from mc_retrieve import errors
from mc_retrieve.jsontext import format_json

TYPE_CHECKING = False  # importing `typing` costs a command more than reading a hundred records
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Final

SCHEMA: Final = "lifeos-cortex/v1"
EXIT_OK: Final = 0
EXIT_CODES: Final = {
    errors.INTERNAL_ERROR: 1,
    errors.NOT_FOUND: 3,
    errors.INVALID_INPUT: 4,
    errors.INTEGRITY_ERROR: 4,
    errors.WRITE_REFUSED: 5,
    errors.GOVERNANCE_REFUSED: 5,
}
_FIELDS: Final = ("schema", "ok", "command", "data", "error")


class Result:
    """What a contract command answers: an exit code and the envelope, which agree."""

    __slots__ = ("envelope", "exit_code", "text")

    def __init__(self, exit_code: int, envelope: Mapping[str, Any]) -> None:
        """Check and hold both.

        Raises:
            ValueError: The envelope is malformed, or does not fit the exit code.
            TypeError: Its data has no JSON form.
        """
        check_envelope(envelope, exit_code)
        self.exit_code = exit_code
        self.envelope = envelope
        self.text = format_json(envelope)
        """The envelope as the one line of standard output, without its line feed."""


def succeed(command: str, data: Mapping[str, Any]) -> Result:
    """Return the result of a command that answered with *data*."""
    return Result(
        EXIT_OK,
        {"schema": SCHEMA, "ok": True, "command": command, "data": data, "error": None},
    )


def fail(command: str, code: str, message: str) -> Result:
    """Return the result of a command that was refused or failed.

    Args:
        command: The first argument as it was given, even an unknown one.
        code: One of the codes of `mc_retrieve.errors`.
        message: One sentence for people; no private text.
    """
    return Result(
        EXIT_CODES[code],
        {
            "schema": SCHEMA,
            "ok": False,
            "command": command,
            "data": None,
            "error": {"code": code, "message": message},
        },
    )


def check_envelope(envelope: Mapping[str, Any], exit_code: int) -> None:
    """Refuse an envelope that the published schema would refuse.

    Raises:
        ValueError: A field is missing, unknown or of the wrong type, success and failure are
            mixed, or the exit code belongs to another outcome.
    """
    if tuple(envelope) != _FIELDS:
        raise ValueError("an envelope has exactly five fields, in order")
    if envelope["schema"] != SCHEMA or not isinstance(envelope["command"], str):
        raise ValueError("an envelope names its schema and its command")
    data, error = envelope["data"], envelope["error"]
    if envelope["ok"] is True:
        is_whole = isinstance(data, dict) and error is None and exit_code == EXIT_OK
    else:
        is_whole = envelope["ok"] is False and data is None and _is_error(error, exit_code)
    if not is_whole:
        raise ValueError("an envelope is a success with data or a failure with an error")


def _is_error(error: object, exit_code: int) -> bool:
    if not isinstance(error, dict) or tuple(error) != ("code", "message"):
        return False
    return isinstance(error["message"], str) and EXIT_CODES.get(error["code"]) == exit_code
