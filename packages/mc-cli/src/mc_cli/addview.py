"""The answer of `add`, as data and as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mc_cli.mutating import files_written_text
from mc_cli.notices import protocol_notices
from mc_cli.output import Result, one_line
from mc_cli.planview import diff_as_text, plan_as_data, plan_as_text

if TYPE_CHECKING:
    from mc_plan import PublicPlan
    from mc_plan.operations.add import Added
    from mc_plan.operations.add_request import CheckedAdd

    from mc_cli.mutating import Outcome

_LONG_TYPE: Final = "decision"
_MASK: Final = "[redacted]"
_TEXT_ARGUMENTS: Final = ("message", "title", "reason")


def added_result(checked: CheckedAdd, outcome: Outcome) -> Result:
    """Return the answer of an `add`: an entry written, a dry run, or the preview of a plan."""
    if checked.is_secret_like:
        outcome = _masked_outcome(outcome)
    added: Added = outcome.result
    warnings = [*checked.notices, *outcome.plan.warnings]
    notices = [*outcome.notices, *(f"warning: {warning}" for warning in warnings)]
    for notice in protocol_notices(added.metadata):
        lost = "; until then evidence cannot be stored" if checked.options.evidence else ""
        notices.append(f"{notice}{lost}")
    data: dict[str, Any] = {
        "applied": outcome.is_applied,
        "entry": {
            "id": added.id or None,
            "type": added.type,
            "status": added.status,
            "scope": added.scope,
            "title": added.title,
            "path": added.path,
            "tokens": added.tokens,
            "supersedes": added.supersedes or None,
            "promotes": added.promotes or None,
        },
        "new_file": added.is_new_file,
        "indexed": added.is_indexed,
        "protocol": added.metadata.version or None,
        "budget": [line._asdict() for line in outcome.plan.budget],
        "warnings": warnings,
        "files_written": list(outcome.written),
    }
    if checked.is_preview_first and not outcome.is_applied:
        data |= {"plan_id": outcome.plan.plan_id, "plan": plan_as_data(outcome.plan)}
    elif not outcome.is_applied:
        data["diff"] = outcome.plan.diff
    return Result(
        data,
        lambda: _text(checked, outcome, added),
        exit_code=outcome.exit_code,
        notices=tuple(notices),
        files_written=bool(outcome.written),
    )


def masked(plan: PublicPlan) -> PublicPlan:
    """Return *plan* without the text that the user gave: it looks like a secret."""
    arguments = {
        name: _MASK if name in _TEXT_ARGUMENTS and value else value
        for name, value in plan.arguments.items()
    }
    return plan._replace(arguments=arguments, diff="", apply_command="")


def _masked_outcome(outcome: Outcome) -> Outcome:
    result = outcome.result._replace(title=_MASK)
    return outcome._replace(plan=masked(outcome.plan), result=result)


def _text(checked: CheckedAdd, outcome: Outcome, added: Added) -> str:
    if not outcome.is_applied:
        if checked.is_preview_first:
            return plan_as_text(outcome.plan)
        return (
            f"Dry run only, nothing is written. {_headline('Would add', added)}\n"
            + diff_as_text(outcome.plan)
        )
    lines = [_headline("Added", added)]
    if added.supersedes:
        lines.append(f"Superseded {added.supersedes}")
    if added.promotes:
        lines.append(f"Promoted {added.promotes}")
    if added.is_indexed:
        lines.append(f"Indexed {one_line(added.path)} in the manifest")
    if added.type == _LONG_TYPE and added.status == "active":
        lines.append(f"Decision entry budget: {added.tokens}/120 tokens")
    lines += [
        f"Budget: {one_line(line.path)} {line.after}/{line.limit} tokens"
        for line in outcome.plan.budget
    ]
    return "\n".join(lines) + "\n" + files_written_text(outcome.written)


def _headline(verb: str, added: Added) -> str:
    word = added.status if added.status == "candidate" else added.type
    what = f"{added.status} {added.id}" if added.id else f"{word} memory"
    return f"{verb} {what} to {one_line(added.path)}"
