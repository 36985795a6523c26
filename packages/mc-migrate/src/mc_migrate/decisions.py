"""Giving ids to legacy decisions whose boundary is clear (design 7)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from mc_schema.admission import entry_problems
from mc_schema.document import SECTION, Document
from mc_schema.entry import parse_entry
from mc_schema.evidence import LEGACY
from mc_schema.ids import is_calendar_date
from mc_schema.lines import scan_lines
from mc_schema.private import strip_private
from mc_schema.storage import PROJECT, is_scope

from mc_migrate.workspace import NewId, Place

if TYPE_CHECKING:
    from mc_schema.document import Unit

    from mc_migrate.workspace import Workspace

DECISIONS: Final = "decisions.md"
_LABEL: Final = re.compile(r"(Decision|Reason|Status|Scope|Evidence):", re.ASCII)
_DATED: Final = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:\s*[-\u2013\u2014:]\s*|\s+)(?![-\u2013\u2014:\s]*$)(.+)",
    re.ASCII,
)
_DATE_ALONE: Final = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})", re.ASCII)


class _Target(NamedTuple):
    name: str
    type: str
    scope: str


def give_ids(workspace: Workspace) -> None:
    """Turn every clear legacy decision into an entry with `legacy-unverified` evidence."""
    for name in sorted(workspace.after):
        target = _target(name)
        if target is not None:
            _migrate_file(workspace, target)


def is_clear(text: str) -> bool:
    """Say whether the `##` unit *text* is one decision with a clear boundary.

    Exactly one `Decision:` at the start of a line outside fences and comments, at most one
    `Reason:`, and none of the fields that a migration would add.
    """
    labels = []
    for line in scan_lines(text).lines[1:]:
        match = None if line.is_opaque else _LABEL.match(line.content)
        if match:
            labels.append(match[1])
    others = {"Status", "Scope", "Evidence"} & set(labels)
    return labels.count("Decision") == 1 and labels.count("Reason") <= 1 and not others


def split_date(heading: str) -> tuple[str, str]:
    """Return the date (``YYYYMMDD`` or empty) and the title of a legacy *heading*."""
    match = _DATED.fullmatch(heading)
    if match and is_calendar_date("".join(match.groups()[:3])):
        return "".join(match.groups()[:3]), match[4].strip()
    alone = _DATE_ALONE.fullmatch(heading)
    if alone and is_calendar_date("".join(alone.groups())):
        return "".join(alone.groups()), heading
    return "", heading


def _target(name: str) -> _Target | None:
    if name == DECISIONS:
        return _Target(name, "DEC", PROJECT)
    folder, _, file = name.partition("/")
    scope = f"area:{file.removesuffix('.md')}"
    if folder == "areas" and "/" not in file and file != "README.md" and is_scope(scope):
        return _Target(name, "AREA", scope)
    return None


def _migrate_file(workspace: Workspace, target: _Target) -> None:
    document = Document.parse(workspace.after[target.name])
    if document.conflict:
        return
    visible = _visible_units(document)
    changes = []
    for unit in document.units:
        text = document.unit_text(unit)
        if unit.kind != SECTION or not is_clear(text):
            continue
        date, title = split_date(unit.heading)
        entry_id = workspace.free_entry_id(target.type, date)
        migrated = _with_fields(document, unit, f"## {entry_id} — {title}", target.scope)
        if text not in visible or entry_problems(parse_entry(migrated), target.name):
            # A private span reaches over its edge, or it would not be admitted: a person decides.
            workspace.manual.append(Place(target.name, unit.line, "a decision that is not clear"))
            continue
        changes.append((unit, migrated))
        workspace.ids.append(NewId(entry_id, target.name, unit.line))
    if changes:
        count = f"{len(changes)} decision{'s' if len(changes) > 1 else ''}"
        text = document.replace_units(changes)
        workspace.replace(target.name, text, f"Give an id to {count}")


def _visible_units(document: Document) -> set[str]:
    visible = Document.parse(strip_private(document.text))
    return {visible.unit_text(unit) for unit in visible.units}


def _with_fields(document: Document, unit: Unit, heading: str, scope: str) -> str:
    """Return the unit with its new heading and fields; every other line stays as it is."""
    newline = document.newline
    first = scan_lines(document.unit_text(unit)).lines[0]
    rest = document.unit_text(unit)[first.content_end :]
    fields = ["", "Status: active", f"Scope: {scope}", "Evidence:", f"- {LEGACY}"]
    if not rest.startswith(newline * 2):
        fields.append("")
    return newline.join([heading, *fields]) + rest
