"""Preview-first commands: what is common to how their answers are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mc_cli.mutating import files_written_text
from mc_cli.notices import protocol_notices
from mc_cli.output import Result
from mc_cli.planview import plan_as_data, plan_as_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mc_cli.location import Location
    from mc_cli.mutating import Outcome


def previewed_result(
    outcome: Outcome,
    location: Location | None,
    data: Mapping[str, Any],
    lines: Sequence[str],
    *,
    nothing: str = "Nothing to change.",
) -> Result:
    """Return the answer of a preview-first command.

    Args:
        outcome: What became of the request.
        location: Where; its protocol hint goes to standard error. ``None`` for a Cortex root.
        data: What the operation computed, as JSON values.
        lines: The same for people; the plan, or the files written, follow them.
        nothing: Said when the plan writes no file; empty to say nothing.
    """
    notices = list(outcome.notices)
    if location is not None:
        notices += _protocol_hints(location)
    shown: dict[str, Any] = {
        "applied": outcome.is_applied,
        **data,
        "files_written": list(outcome.written),
    }
    if not outcome.is_applied:
        shown |= {"plan_id": outcome.plan.plan_id, "plan": plan_as_data(outcome.plan)}
    return Result(
        shown,
        lambda: _text(outcome, lines, nothing),
        exit_code=outcome.exit_code,
        notices=tuple(notices),
        files_written=bool(outcome.written),
    )


def _text(outcome: Outcome, lines: Sequence[str], nothing: str) -> str:
    head = "".join(f"{line}\n" for line in lines)
    if outcome.is_applied:
        return head + files_written_text(outcome.written)
    if nothing and outcome.plan.changes_nothing and not outcome.plan.blockers:
        head += f"{nothing}\n"
    return head + "\n" + plan_as_text(outcome.plan)


def _protocol_hints(location: Location) -> list[str]:
    from mc_schema.manifest import parse_manifest

    try:
        data = (location.memory_path / "manifest.md").read_bytes()
    except OSError:
        return []
    return list(protocol_notices(parse_manifest(data.decode("utf-8", "replace")).metadata))
