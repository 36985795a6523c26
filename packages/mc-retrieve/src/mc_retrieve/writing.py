"""The strict front of the two writes: who may, what, and how much, before anything is stored.

What is stored and how is not decided here: the caller brings a store.

Source: "Order of refusal" of the governed writes; Cortex contract, sections 1.2 and 13 (D18, D25).
"""

from __future__ import annotations

from mc_retrieve.arguments import PROPOSE, REMEMBER
from mc_retrieve.errors import GOVERNANCE_REFUSED, WRITE_REFUSED, InvalidInputError, RetrieveError

TYPE_CHECKING = False  # importing `typing` costs a command more than reading a hundred records
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Final, NoReturn, TypeAlias

    from mc_retrieve.arguments import Arguments

    ReadPayload: TypeAlias = Callable[[int], bytes]
    Store: TypeAlias = "Callable[[WriteRequest], Any]"

MAX_PAYLOAD_BYTES: Final = 262_144
STANDARD_INPUT: Final = "-"
ITEM_TYPES: Final = {
    REMEMBER: ("memory", "idea", "knowledge"),
    PROPOSE: ("proposal",),
}
_LONGEST_EXACT_INTEGER: Final = 300  # digits; longer ones are floats, as in ECMAScript
_UNEXPLAINED: Final = "the store refused the item"


class WriteRequest:
    """One write that passed the front."""

    __slots__ = ("adapter", "command", "item", "memory_root")

    def __init__(
        self, command: str, adapter: str, item: dict[str, Any], memory_root: str | None
    ) -> None:
        self.command = command
        self.adapter = adapter
        self.item = item
        self.memory_root = memory_root
        """The value of ``--memory-root``; ``None`` leaves the choice to the environment."""


def write(arguments: Arguments, store: Store, read_payload: ReadPayload) -> dict[str, Any]:
    """Check a write, hand it to *store*, and return the data of the answer.

    Args:
        arguments: A parsed `remember` or `propose`.
        store: Called once with the request; answers a mapping whose ``ok`` is true, or one with
            ``message`` or ``code``.
        read_payload: Returns at most that many bytes of standard input, for the payload ``-``.

    Raises:
        RetrieveError: ``write_refused`` without permission or for a type that is not the
            command's, ``invalid_input`` for the payload, ``governance_refused`` by the store.
    """
    adapter = arguments.options.get("--adapter")
    if adapter is None or "--allow-write" not in arguments.flags:
        raise RetrieveError(
            f"`{arguments.command}` needs both `--adapter` and `--allow-write`", code=WRITE_REFUSED
        )
    item = parse_payload(_one_payload(arguments, read_payload))
    kinds = ITEM_TYPES[arguments.command]
    if not isinstance(item, dict) or item.get("type") not in kinds:
        raise RetrieveError(
            f"`{arguments.command}` takes an item whose `type` is {' or '.join(kinds)}",
            code=WRITE_REFUSED,
        )
    request = WriteRequest(arguments.command, adapter, item, arguments.options.get("--memory-root"))
    return {"adapter": adapter, "result": _accepted(store(request))}


def parse_payload(text: str) -> Any:
    """Return the JSON value that *text* is.

    Raises:
        InvalidInputError: It is no JSON, strictly read.
    """
    import json

    try:
        return json.loads(text, parse_constant=_refuse_constant, parse_int=_parse_integer)
    except (ValueError, RecursionError):
        raise InvalidInputError("the payload is not JSON") from None


def _one_payload(arguments: Arguments, read_payload: ReadPayload) -> str:
    if len(arguments.positionals) != 1:
        raise InvalidInputError(f"`{arguments.command}` takes exactly one payload")
    payload = arguments.positionals[0]
    if payload == STANDARD_INPUT:
        data = read_payload(MAX_PAYLOAD_BYTES + 1)
    else:
        data = payload.encode("utf-8", "surrogatepass")
    if len(data) > MAX_PAYLOAD_BYTES:
        raise InvalidInputError(f"the payload is larger than {MAX_PAYLOAD_BYTES} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidInputError("the payload is not UTF-8") from None


def _accepted(result: Any) -> Mapping[str, Any]:
    if isinstance(result, dict) and result.get("ok") is True:
        return result
    message = _UNEXPLAINED
    if isinstance(result, dict):
        message = _first_text(result.get("message"), result.get("code")) or _UNEXPLAINED
    raise RetrieveError(message, code=GOVERNANCE_REFUSED)


def _first_text(*values: object) -> str:
    return next((value for value in values if isinstance(value, str) and value), "")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _parse_integer(text: str) -> float:
    return int(text) if len(text) <= _LONGEST_EXACT_INTEGER else float(text)
