"""The owner record: what a lock file says about who made it.

`format_owner` and `parse_owner` are two pure functions and each other's inverse. Whoever reads a
record may be another version or another tool, so the reader accepts exactly what the rules ask for,
ignores fields it does not know, and calls everything else malformed. Source: reliability rules 2.3
and 2.6, guide section 7.2.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mc_lock.process import is_pid

if TYPE_CHECKING:
    from mc_lock.process import Host

TOKEN_BYTES: Final = 16

_TIME_FORM: Final = "%Y-%m-%dT%H:%M:%S+00:00"
_TEXT_FIELDS: Final = ("project_root", "hostname", "created_at", "command")
_OPTIONAL_TEXT_FIELDS: Final = ("token", "start", "machine")


class OwnerRecord(NamedTuple):
    """The content of a lock file; all but the first six fields may be missing."""

    project_id: str | None
    """``None`` in the guard of a place that has no project id yet."""
    project_root: str
    pid: int
    hostname: str
    created_at: str
    """UTC, ISO 8601 with offset, for example ``2026-07-26T09:30:00+00:00``."""
    command: str
    """The command's name without arguments, which can be private."""
    token: str | None = None
    start: str | None = None
    ns: int | None = None
    machine: str | None = None

    @property
    def created_seconds(self) -> float:
        """`created_at` in seconds since the epoch."""
        seconds = parse_created_at(self.created_at)
        return 0.0 if seconds is None else seconds


def new_owner(
    host: Host, *, project_id: str | None, project_root: str, command: str, now: float, token: str
) -> OwnerRecord:
    """Return the record with which *host* takes a lock at *now* (seconds since the epoch)."""
    return OwnerRecord(
        project_id=project_id,
        project_root=project_root,
        pid=host.pid,
        hostname=host.hostname,
        created_at=time.strftime(_TIME_FORM, time.gmtime(now)),
        command=command,
        token=token,
        start=host.start,
        ns=host.namespace,
        machine=host.machine,
    )


def format_owner(owner: OwnerRecord) -> bytes:
    """Return *owner* as one line of JSON, UTF-8."""
    import json

    return (json.dumps(owner._asdict(), ensure_ascii=True) + "\n").encode("ascii")


def parse_owner(data: bytes) -> OwnerRecord | None:
    """Return the record written in *data*, or ``None`` if it is malformed."""
    fields = _parse_object(data)
    if fields is None or not _has_right_types(fields):
        return None
    return OwnerRecord._make(fields.get(name) for name in OwnerRecord._fields)


def parse_token(data: bytes) -> str | None:
    """Return the token written in *data*, whatever else is; ``None`` if there is none."""
    token = (_parse_object(data) or {}).get("token")
    return token if isinstance(token, str) else None


def parse_created_at(text: str) -> float | None:
    """Return seconds since the epoch, or ``None``; a time without offset is taken as UTC."""
    from datetime import datetime, timezone

    try:
        # Python 3.10 does not know the letter that means UTC.
        moment = datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith(("Z", "z")) else text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=timezone.utc)
        return moment.timestamp()
    except (ValueError, OverflowError):
        return None


def _parse_object(data: bytes) -> dict[str, Any] | None:
    import json

    try:
        fields = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None


def _has_right_types(fields: dict[str, Any]) -> bool:
    return (
        "project_id" in fields
        and _is_text_or_none(fields["project_id"])
        and is_pid(fields.get("pid"))
        and all(isinstance(fields.get(name), str) for name in _TEXT_FIELDS)
        and parse_created_at(fields["created_at"]) is not None
        and all(_is_text_or_none(fields.get(name)) for name in _OPTIONAL_TEXT_FIELDS)
        and (fields.get("ns") is None or type(fields["ns"]) is int)
    )


def _is_text_or_none(value: object) -> bool:
    return value is None or isinstance(value, str)
