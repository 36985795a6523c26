"""Plans as people and programs see them: the public view only (design section 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mc_cli.output import one_line, printable

if TYPE_CHECKING:
    from mc_plan import PublicPlan

_DIGEST_CHARS: Final = 12
_NONE: Final = "- none"


def plan_as_data(plan: PublicPlan) -> dict[str, Any]:
    """Return *plan* as JSON values, for ``data.plan`` and ``error.plan``."""
    return plan.as_dict()


def plan_as_text(plan: PublicPlan) -> str:
    """Return *plan* as text; it holds the line ``Plan ID: <16 hex>`` once.

    No other line can have that form: every line that comes from a memory file stands in the diff,
    behind a sign or a blank, and everything else is kept on one line.
    """
    parts = [
        f"Plan of `{plan.command}` in {one_line(plan.memory_dir)}, not applied",
        f"Plan ID: {plan.plan_id}",
        "",
        *_section("Target files", _targets(plan)),
        *_section("Operations", _operations(plan)),
        *_section("Blockers", _blockers(plan)),
        *_section("Warnings", [*plan.warnings, *plan.notices]),
        *_section("Estimated budget", _budget(plan)),
    ]
    if plan.confirmations:
        needed = [f"{wanted.flag}: {wanted.what}" for wanted in plan.confirmations]
        parts += _section("Needed confirmations", needed)
    if plan.diff:
        parts += ["Diff:", printable(plan.diff).rstrip("\n"), ""]
    if plan.apply_command and not plan.blockers:
        parts += ["Apply it with:", f"  {one_line(plan.apply_command)}"]
    return "\n".join(parts).rstrip("\n") + "\n"


def diff_as_text(plan: PublicPlan) -> str:
    """Return the diff of *plan*, safe for a terminal, with its final newline."""
    return printable(plan.diff).rstrip("\n") + "\n" if plan.diff else ""


def _section(title: str, lines: list[str]) -> list[str]:
    return [f"{title}:", *([f"- {one_line(line)}" for line in lines] or [_NONE]), ""]


def _targets(plan: PublicPlan) -> list[str]:
    return [f"{target.path}: {target.action}{_base(plan, target)}" for target in plan.targets]


def _base(plan: PublicPlan, target: Any) -> str:
    if plan.private:
        return ""
    if target.base_sha256 is None:
        return ", base absent" if target.action != "append" else ""
    return f", base {target.base_sha256[:_DIGEST_CHARS]}"


def _operations(plan: PublicPlan) -> list[str]:
    return [f"{step.what} ({step.path})" if step.path else step.what for step in plan.operations]


def _blockers(plan: PublicPlan) -> list[str]:
    lines = []
    for blocker in plan.blockers:
        where = f": {blocker.where}" if blocker.where else ""
        hint = f" ({blocker.hint})" if blocker.hint else ""
        lines.append(f"{blocker.what}{where}{hint}")
    return lines


def _budget(plan: PublicPlan) -> list[str]:
    lines = []
    for line in plan.budget:
        over = ", over budget" if line.over else ""
        if line.before is None or line.after is None:
            lines.append(f"{line.path}: {'over budget' if line.over else 'within budget'}")
        else:
            lines.append(f"{line.path}: {line.before} -> {line.after} of {line.limit} tokens{over}")
    return lines
