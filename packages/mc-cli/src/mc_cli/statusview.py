"""The health of a project as text and as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mc_schema.protocol import CURRENT, MISSING, OLDER, PROTOCOL_VERSION
from mc_schema.storage import INBOX_PATH

from mc_cli import __version__
from mc_cli.check.health import FILE_MISSING, FILE_UNREADABLE, NOT_ENABLED
from mc_cli.output import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mc_cli.check.health import FileHealth, Health
    from mc_cli.location import Location

_COUNTED: Final = ("decisions.md", "do-not-use.md", INBOX_PATH)


def health_as_text(health: Health, location: Location) -> str:
    """Return *health* for people, in the order of the earlier CLI (protocol-0.5.md B2)."""
    lines = [
        "MemoryCustodian status",
        f"CLI version: {__version__}",
        f"Memory directory: {location.memory_path}",
        f"Protocol version: {_protocol(health)}",
        f"Project id: {health.project_id or 'none'}",
        *(f"{file.path}: {_file(file)}" for file in health.files),
        *(f"{folder}/: {_folder(count)}" for folder, count in health.folders.items()),
        "Entries: " + ", ".join(f"{count} {status}" for status, count in health.counts.items()),
        f"Evidence coverage: {health.coverage.sentence()}",
        f"Lock: {_holder(health)}",
        f"Pending plans of this user: {health.pending_plans}",
        *_interruption(health),
    ]
    lines += [f"Journal of a place that is gone: {path}" for path in health.strays]
    if health.attention:
        lines += ["Needs attention:", *(f"- {item}" for item in health.attention)]
    else:
        lines.append("Status: OK")
    return "".join(f"{one_line(line)}\n" for line in lines)


def health_as_data(health: Health, location: Location) -> dict[str, Any]:
    """Return *health* as JSON values; the schema is `docs/schemas/status.schema.json`."""
    holder, interruption = health.holder, health.interruption
    return {
        "cli_version": __version__,
        "memory_dir": location.memory_dir,
        "protocol": {
            "version": health.protocol_version or None,
            "state": health.protocol_state,
            "message": health.protocol_message or None,
        },
        "project_id": health.project_id,
        "files": [
            {
                "path": file.path,
                "state": file.state.replace(" ", "_"),
                "tokens": file.tokens,
                "budget": file.limit,
                "entries": file.entries,
                "detail": file.detail or None,
            }
            for file in health.files
        ],
        "folders": dict(health.folders),
        "entries": dict(health.counts),
        "coverage": health.coverage._asdict(),
        "lock": None if holder is None else holder._asdict(),
        "pending_plans": health.pending_plans,
        "interrupted": None
        if interruption is None
        else {
            "what": interruption.what,
            "hint": interruption.hint,
            "files": list(interruption.details),
        },
        "stray_journals": list(health.strays),
        "needs_attention": list(health.attention),
    }


def _protocol(health: Health) -> str:
    version = health.protocol_version or "missing"
    if health.protocol_state == CURRENT:
        return f"{version} (current)"
    if health.protocol_state in (OLDER, MISSING):
        return f"{version} (migration available to {PROTOCOL_VERSION})"
    if health.protocol_state == "newer":
        return f"{version} (newer than this command supports, {PROTOCOL_VERSION})"
    return f"{version} ({health.protocol_state})"


def _file(file: FileHealth) -> str:
    if file.state == NOT_ENABLED:
        return file.state
    limit = "" if file.limit is None else f"/{file.limit} max"
    parts = [file.state.upper()]
    if file.tokens or not file.detail:
        parts.append(f"{file.tokens} tokens{limit}")
    if file.state in (FILE_MISSING, FILE_UNREADABLE):
        # Nobody knows how many entries it has.
        return ", ".join([*parts, file.detail])
    if file.path == INBOX_PATH:
        parts.append(f"{file.entries} items")
    elif file.path in _COUNTED:
        parts.append(f"{file.entries} entries")
    if file.detail:
        parts.append(file.detail)
    return ", ".join(parts)


def _folder(count: int | None) -> str:
    if count is None:
        return NOT_ENABLED
    return f"enabled, {count} markdown file(s)" if count else "enabled, empty"


def _holder(health: Health) -> str:
    holder = health.holder
    if holder is None:
        return "free"
    who = f"pid {holder.pid} on {holder.hostname}, `{holder.command}`" if holder.pid else "unknown"
    return f"held by {who}, holder {holder.state}, {holder.age_seconds:.0f} s old ({holder.path})"


def _interruption(health: Health) -> Iterator[str]:
    if health.interruption is None:
        yield "Interrupted work: none"
        return
    yield f"Interrupted work: {health.interruption.what}; {health.interruption.hint}"
    yield from (f"- {line}" for line in health.interruption.details)
