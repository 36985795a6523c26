"""Canonical JSON and digests: equal values give equal bytes on every machine.

Source: reliability specification 3.1.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

PLAN_ID_LENGTH: Final = 16
_PLAN_ID_DIGITS: Final = frozenset("0123456789abcdef")


def canonical_json(value: Any) -> bytes:
    """Return *value* as canonical JSON in UTF-8: sorted keys, no blanks, text as given.

    Args:
        value: Mappings with text keys, lists or tuples, text, integers, booleans and ``None``.

    Raises:
        TypeError: A float, a key that is not text, or any other type.
        ValueError: Text that UTF-8 cannot hold (a lone surrogate).

    Source: reliability specification 3.1.
    """
    require_plain(value)
    return json.dumps(
        value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    ).encode()


def require_plain(value: Any) -> None:
    """Raise ``TypeError`` unless canonical JSON can hold *value* the same way on every machine."""
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise TypeError(f"canonical JSON has text keys only, not `{type(key).__name__}`")
            require_plain(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            require_plain(item)
    # A float has more than one text form, so it could give one plan two ids.
    elif value is not None and not isinstance(value, (str, int)):
        raise TypeError(f"canonical JSON has no `{type(value).__name__}`")


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of *data* as 64 lowercase hex digits."""
    return hashlib.sha256(data).hexdigest()


def compute_plan_id(content: Any) -> str:
    """Return the plan id of plan *content*: the first 16 hex digits of its digest."""
    return sha256_hex(canonical_json(content))[:PLAN_ID_LENGTH]


def is_plan_id(text: str) -> bool:
    """Tell whether *text* has the form of a plan id: 16 lowercase hex digits."""
    return len(text) == PLAN_ID_LENGTH and _PLAN_ID_DIGITS.issuperset(text)
