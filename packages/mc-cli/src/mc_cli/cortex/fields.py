"""Reading the fields of an untrusted JSON item: private spans are gone before anything looks.

No error repeats a key or a value of the item, since either may be private or secret.

Source: governed writes, "Typed items"; design 3 (writers refuse where an opener would hide text).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from mc_schema.private import strip_private, strip_private_spans

from mc_cli.cortex import bounds
from mc_cli.cortex.governance import GovernanceError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping


class Fields:
    """The fields of one item, each checked as it is taken. ``None`` stands for an absent field."""

    def __init__(self, item: Mapping[str, Any], allowed: Collection[str], *, name: str) -> None:
        self.removed = 0
        """Private spans taken out so far."""
        self._item = item
        self._name = name
        if any(key not in allowed for key in item):
            known = ", ".join(f"`{key}`" for key in allowed)
            raise GovernanceError(f"{name} has an unknown field", hint=f"its fields are {known}")

    def has(self, key: str) -> bool:
        """Return whether the field is there, whatever its value."""
        return key in self._item

    def refuse(self, key: str, why: str) -> None:
        """Refuse the field *key* if it is there.

        Raises:
            GovernanceError: It is.
        """
        if key in self._item:
            raise GovernanceError(f"`{key}` does not go with {why}", hint="leave it out")

    def text(self, key: str) -> str:
        """Return a required free text."""
        return bounds.require_text(self._public(self._need(key), key), key)

    def line(self, key: str, limit: int = bounds.MAX_METADATA) -> str:
        """Return a required text on one line, trimmed."""
        return bounds.require_line(self._public(self._need(key), key), key, limit)

    def optional_text(self, key: str) -> str | None:
        """Return an optional free text."""
        return self.text(key) if key in self._item else None

    def optional_line(self, key: str) -> str | None:
        """Return an optional text on one line."""
        return self.line(key) if key in self._item else None

    def session(self, key: str) -> str | None:
        """Return an optional session id; a blank one counts as absent."""
        if key not in self._item:
            return None
        return bounds.require_session(self._public(self._item[key], key), key)

    def choice(self, key: str, choices: Iterable[str]) -> str:
        """Return a required text that is one of *choices*."""
        value = self._public(self._need(key), key)
        known = tuple(choices)
        if value not in known:
            listed = ", ".join(f"`{choice}`" for choice in known)
            raise GovernanceError(f"`{key}` has an unknown value", hint=f"give one of {listed}")
        return value

    def optional_choice(self, key: str, choices: Iterable[str]) -> str | None:
        """Return an optional text that is one of *choices*."""
        return self.choice(key, choices) if key in self._item else None

    def confidence(self, key: str) -> float:
        """Return a required finite number from 0 to 1; a boolean is no number."""
        value = self._need(key)
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value) or not 0 <= value <= 1:
            raise GovernanceError(f"`{key}` is not a number from 0 to 1", hint="give such a number")
        return float(value)

    def optional_confidence(self, key: str) -> float | None:
        """Return an optional finite number from 0 to 1."""
        return self.confidence(key) if key in self._item else None

    def optional_count(self, key: str) -> int | None:
        """Return an optional positive integer; ``2.0`` is one, a boolean is not."""
        if key not in self._item:
            return None
        value = self._item[key]
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or value != value // 1 or not 1 <= value <= bounds.MAX_COUNT:
            raise GovernanceError(f"`{key}` is not a positive integer", hint="give a whole number")
        return int(value)

    def list(self, key: str, limit: int) -> list[Any]:
        """Return a required list of at most *limit* values, not looked at; 0 is no limit."""
        values = self._need(key)
        if not isinstance(values, list):
            raise GovernanceError(f"`{key}` is not a list", hint="give a JSON list")
        if limit and len(values) > limit:
            what = f"`{key}` has {len(values)} values, {len(values) - limit} over"
            raise GovernanceError(what, hint=f"give at most {limit}")
        return values

    def public(self, value: object, name: str) -> str:
        """Return the text *value*, a part of a list named *name*, without private spans."""
        return self._public(value, name)

    def unmarked(self, key: str, limit: int) -> str:
        """Return a required text on one line that must not hold any private markup."""
        value = self._need(key)
        if isinstance(value, str) and strip_private(value) != value:
            raise GovernanceError(f"`{key}` holds a private mark", hint="leave the mark out")
        return self.line(key, limit)

    def _need(self, key: str) -> Any:
        if key not in self._item:
            raise GovernanceError(f"{self._name} has no `{key}`", hint=f"give `{key}`")
        return self._item[key]

    def _public(self, value: object, name: str) -> str:
        if not isinstance(value, str):
            raise GovernanceError(f"`{name}` is not a text", hint="give a JSON string")
        stripped = strip_private_spans(value)
        if stripped.cut_at is not None:
            raise GovernanceError(
                f"`{name}` has an unclosed or malformed `<private>` tag",
                hint="close it with `</private>`, or leave it out",
            )
        self.removed += stripped.removed
        return stripped.text
