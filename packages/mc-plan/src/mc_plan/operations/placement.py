"""Where a new entry goes, and whether the same is said already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mc_schema.admission import duplicate_key
from mc_schema.entry import ACTIVE, Entry
from mc_schema.memoryfile import parse_memory_file
from mc_schema.private import strip_private
from mc_schema.storage import (
    ARCHIVE,
    AREA_TYPES,
    INBOX_PATH,
    PROJECT,
    UNSPECIFIED,
    Placement,
    entry_type,
    place,
    row_of,
)

from mc_plan.errors import InputError
from mc_plan.operations.gate import GateError

if TYPE_CHECKING:
    from mc_schema.memoryfile import JudgedUnit

    from mc_plan.operations.add_request import CheckedAdd
    from mc_plan.operations.lifecycle import ExistingEntry
    from mc_plan.operations.memory_set import MemorySet

INBOX_TYPE = "inbox"
_AREA_WORDS = (*AREA_TYPES, "area")


def placement_of(checked: CheckedAdd, model: ExistingEntry | None) -> Placement:
    """Return where the entry goes.

    Args:
        checked: What was asked.
        model: The entry that is promoted or superseded; its type and scope hold where the command
            line names none.

    Raises:
        InputError: Neither names a type.
        InvalidPlacementError, InvalidNameError: The storage matrix has no such place.
    """
    options = checked.options
    type_, area, name = options.type, options.area, options.name
    if model is not None:
        type_ = type_ or _type_of(model)
        if area is None and name is None:
            area, name = _module_of(type_, model)
    return place(type_ or INBOX_TYPE, area=area, name=name, candidate=options.candidate)


def require_no_duplicate(
    memory: MemorySet, placement: Placement, body: str, *, replaces: str = ""
) -> None:
    """Check that no other active entry says the same for the same type and scope.

    Args:
        memory: The memory set.
        placement: Of the new entry.
        body: Of the new entry.
        replaces: The id of an entry that the new one supersedes; it may say the same.

    Raises:
        GateError: One does; it is named.
    """
    wanted = duplicate_key(placement.row.type, placement.scope, body)
    for name in memory.names:
        if name.startswith(ARCHIVE) or name == INBOX_PATH:
            continue
        text = memory.text(name) or ""
        # Parsing is what `add` spends its time on under the lock; most files do not say the same.
        if wanted[2] not in " ".join(strip_private(text).casefold().split()):
            continue
        for unit in parse_memory_file(name, text).units:
            entry = unit.standing.entry
            if entry is None or unit.standing.status != ACTIVE or unit.entry_id == replaces:
                continue
            if duplicate_key(entry_type(entry), _scope_of(unit, entry), entry.body) == wanted:
                raise GateError(
                    f"{unit.entry_id} says the same already",
                    where=f"{memory.project.memory_file(unit.path)}:{unit.unit.line}",
                    hint=f"change the text, or replace that entry with "
                    f"`--supersedes {unit.entry_id}`",
                    code="duplicate",
                )


def _type_of(model: ExistingEntry) -> str:
    type_ = model.entry.candidate_type if model.is_candidate else entry_type(model.entry)
    if type_ in (UNSPECIFIED, "unknown", ""):
        raise InputError(
            f"{model.id} names no type for the new entry",
            where=model.where,
            hint="give it with `--type`",
            code="type_needed",
        )
    return type_


def _module_of(type_: str, model: ExistingEntry) -> tuple[str | None, str | None]:
    """Return the area and the name that the scope of *model* gives to *type_*."""
    kind, _, module = _scope_of(model.unit, model.entry).partition(":")
    if kind == "area" and type_ in _AREA_WORDS:
        return module, None
    if kind == type_ and module:
        return None, module
    return None, None


def _scope_of(unit: JudgedUnit, entry: Entry) -> str:
    """Return the scope, that of the file where a rule or profile says `project`."""
    row = row_of(entry)
    if row is None or entry.scope != PROJECT or row.scope not in ("rule", "profile"):
        return entry.scope
    return f"{row.scope}:{unit.path.rpartition('/')[2][: -len('.md')]}"
