"""Items on a MemoryCustodian memory directory: `remember` is `add`, `propose` is a candidate.

Source: governed writes, "Items on a MemoryCustodian memory directory"; design 8.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mc_plan import RefusedError, UnsupportedProtocolError
from mc_plan.errors import InputError, MalformedFileError, UnreadableFileError, UnsafeFileError
from mc_schema.errors import SchemaError

from mc_cli.cortex import bounds
from mc_cli.cortex.fields import Fields
from mc_cli.cortex.governance import (
    EINVAL_ITEM,
    EINVAL_TARGET,
    ESECRET_LIKE,
    EUNKNOWN_TYPE,
    EUNSUPPORTED_LAYOUT,
    IDEA,
    KNOWLEDGE,
    MEMORY,
    PROPOSAL,
    GovernanceError,
)
from mc_cli.cortex.place import open_memory_directory
from mc_cli.cortex.writer import Written, with_state

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mc_plan.operations.add import Added
    from mc_plan.operations.add_request import AddOptions, SecretFinding

    from mc_cli.cortex.writer import Effects

ENTRY_TYPES: Final = ("decision", "constraint", "preference", "do-not-use")

_FIELDS: Final = ("type", "entry_type", "content", "title", "reason", "area", "evidence")
_FLAG: Final = "--"
_FILE_ERRORS: Final = (UnsafeFileError, UnreadableFileError)
_DATE_DIGITS: Final = 8


def write_entry(
    item: Mapping[str, Any],
    root: str,
    effects: Effects,
) -> Written:
    """Add the entry that *item* describes to the memory directory *root*, a pinned root.

    Raises:
        GovernanceError: `add` would refuse it, or the item is of another layout.
        PlanError, LockError, StateError: As `mc_plan.execute`.
    """
    from mc_plan import execute
    from mc_plan.operations.add import add_request, build_add
    from mc_plan.operations.add_request import check_add

    options, removed = _options(item)
    project = open_memory_directory(root, environ=effects.environ)
    try:
        checked = check_add(options, root=project.root, scan=_scan, environ=effects.environ)
        applied = execute(
            with_state(project, effects),
            build_add(checked),
            request=add_request(checked),
            notify=effects.notify,
            timeout_seconds=effects.timeout_seconds,
            now=effects.clock,
        )
    except _FILE_ERRORS:
        raise
    except (SchemaError, InputError, RefusedError, UnsupportedProtocolError) as error:
        raise _refusal(error, options) from error
    except MalformedFileError as error:
        raise GovernanceError(
            error.what, where=error.where, hint=error.hint, code=EINVAL_TARGET
        ) from error
    added: Added = applied.result
    path = project.in_memory(added.path) or added.path
    detail: dict[str, Any] = {"id": added.id, "created": _created(added.id), "status": added.status}
    if removed:
        detail["private_spans_removed"] = removed
    return Written(str(item["type"]), path, detail)


def _options(item: Mapping[str, Any]) -> tuple[AddOptions, int]:
    from mc_plan.operations.add_request import AddOptions

    kind = item.get("type")
    if kind in (IDEA, KNOWLEDGE):
        raise GovernanceError(
            "a project's memory takes entries, not notes",
            hint='send `"type": "memory"` with an `entry_type`',
            code=EUNSUPPORTED_LAYOUT,
        )
    if kind not in (MEMORY, PROPOSAL):
        raise GovernanceError(
            "unknown item type", hint=f"give `{MEMORY}` or `{PROPOSAL}`", code=EUNKNOWN_TYPE
        )
    fields = Fields(item, _FIELDS, name=f"a {kind} item for a project's memory")
    entry_type = fields.choice("entry_type", ENTRY_TYPES)
    content = fields.text("content")
    title = fields.optional_line("title")
    reason = fields.optional_text("reason")
    area = fields.optional_line("area")
    evidence: list[str] = []
    if kind == MEMORY or fields.has("evidence"):
        for number, value in enumerate(fields.list("evidence", bounds.MAX_EVIDENCE), 1):
            name = f"evidence[{number}]"
            evidence.append(bounds.require_line(fields.public(value, name), name))
    options = AddOptions(
        message=content,
        type=entry_type,
        area=area,
        title=title,
        reason=reason,
        evidence=tuple(evidence),
        candidate=kind == PROPOSAL,
    )
    return options, fields.removed


def _scan(text: str) -> list[SecretFinding]:
    from mc_plan.operations.add_request import SecretFinding
    from mc_scan.api import find_secret

    found = find_secret(text, "item")
    return [] if found is None else [SecretFinding(True, f"rule `{found.rule}`, line {found.line}")]


def _refusal(
    error: SchemaError | InputError | RefusedError | UnsupportedProtocolError, options: AddOptions
) -> GovernanceError:
    """Return *error* as governance says it. Hints that name options help no adapter."""
    code = EINVAL_ITEM
    if _is_about_secret(error):
        code = ESECRET_LIKE
    elif isinstance(error, UnsupportedProtocolError):
        code = EUNSUPPORTED_LAYOUT
    hint = error.hint
    if _FLAG in hint:
        hint = "correct the item" if options.candidate else "correct the item, or use `propose`"
    return GovernanceError(error.what, where=error.where, hint=hint, code=code)


def _is_about_secret(error: Exception) -> bool:
    return getattr(error, "code", "") == "secret_like"


def _created(entry_id: str) -> str | None:
    from mc_schema.ids import parse_entry_id

    found = parse_entry_id(entry_id)
    if found is None or len(found.created) != _DATE_DIGITS:
        return None
    return f"{found.created[:4]}-{found.created[4:6]}-{found.created[6:]}"
