"""The adapter factory: the contract commands for a host that runs in the same process.

Naming an adapter grants nothing. Each write grants itself with ``allow_write=True``, and bad input
is a result, never an exception.

Source: governed writes, "Adapter factory"; Cortex contract, section 9.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mc_retrieve.arguments import (
    ADAPTERS,
    EXPORT,
    GET,
    PROPOSE,
    REMEMBER,
    SEARCH,
    STATUS,
    TIMELINE,
)
from mc_retrieve.envelope import fail
from mc_retrieve.errors import INVALID_INPUT

from mc_cli.cortex import run

if TYPE_CHECKING:
    from mc_retrieve.envelope import Result

_ALLOW: Final = "allow_write"
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")


class CortexAdapter(NamedTuple):
    """The contract commands under one name. It is frozen; make it with `create_adapter`.

    Every method returns a result with `exit_code` and `envelope`, as the command would.
    """

    name: str
    memory_root: str | None
    """``None`` leaves the choice to the environment."""

    def status(self) -> Result:
        """Return the pinned root and how many records it has."""
        return self._run(STATUS)

    def search(self, query: str) -> Result:
        """Return the cards of the records that *query* finds."""
        return self._look_up(SEARCH, query)

    def timeline(self, anchor: str) -> Result:
        """Return the cards around *anchor*, a record id or a date."""
        if not _are_texts((anchor,)):
            return fail(TIMELINE, INVALID_INPUT, f"`{TIMELINE}` takes a text")
        return self._run(TIMELINE, "--anchor", anchor)

    def get(self, *ids: str) -> Result:
        """Return the records with those ids, all or none."""
        return self._look_up(GET, *ids)

    def export(self, *ids: str) -> Result:
        """Return the records with those ids in the export form, all or none."""
        return self._look_up(EXPORT, *ids)

    def remember(self, item: Any, /, **options: Any) -> Result:
        """Store *item*, a mapping of JSON values.

        Args:
            item: The typed item.
            options: ``allow_write=True`` grants this one write; there is no other option.
        """
        return self._write(REMEMBER, item, options)

    def propose(self, item: Any, /, **options: Any) -> Result:
        """Queue the proposal *item*; arguments as `remember`."""
        return self._write(PROPOSE, item, options)

    def _look_up(self, command: str, *ids: str) -> Result:
        if not _are_texts(ids):
            return fail(command, INVALID_INPUT, f"`{command}` takes texts")
        # An id is never an option: `get("--memory-root", "/elsewhere")` must not leave the root.
        if any(each.startswith("--") for each in ids):
            return fail(command, INVALID_INPUT, f"`{command}` takes no text that begins with `--`")
        return self._run(command, *ids)

    def _write(self, command: str, item: Any, options: dict[str, Any]) -> Result:
        if set(options) - {_ALLOW}:
            return fail(command, INVALID_INPUT, f"`{command}` has no option but `{_ALLOW}`")
        allowed = options.get(_ALLOW, False)
        if type(allowed) is not bool:
            return fail(command, INVALID_INPUT, f"`{_ALLOW}` is `True` or `False`")
        payload = _to_json(item)
        if payload is None:
            return fail(command, INVALID_INPUT, "the item has no JSON form")
        return self._run(command, payload, *(["--allow-write"] if allowed else []))

    def _run(self, command: str, *arguments: str) -> Result:
        root = [] if self.memory_root is None else ["--memory-root", self.memory_root]
        return run([command, *arguments, *root, "--adapter", self.name])


def create_adapter(
    name: object, *, memory_root: str | os.PathLike[str] | None = None
) -> CortexAdapter:
    """Return the frozen adapter called *name*: claude, hermes, codex or subagent.

    Args:
        name: Who reads and writes.
        memory_root: The root; by default the one that the environment names.

    Raises:
        ValueError: *name* is another one.
    """
    if not isinstance(name, str) or name not in ADAPTERS:
        raise ValueError(f"an adapter is one of {', '.join(ADAPTERS)}")
    return CortexAdapter(name, None if memory_root is None else os.fsdecode(memory_root))


def _are_texts(values: tuple[object, ...]) -> bool:
    return all(isinstance(value, str) for value in values)


def _to_json(item: Any) -> str | None:
    try:
        text = json.dumps(item, ensure_ascii=False, allow_nan=False)
    except Exception:  # noqa: BLE001 - a foreign object may raise anything while it is looked at
        return None
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
