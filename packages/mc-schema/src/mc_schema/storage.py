"""The storage matrix: which type lives where, under which code and body label.

One table, read in both directions: to place a new entry and to judge an existing one.
Source: design section 4, guide sections 四 and 13.1.
"""

from __future__ import annotations

import re

from mc_schema.errors import InvalidNameError, InvalidPlacementError, quoted

TYPE_CHECKING = False  # importing `typing` would cost a command more than its work
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Final, NamedTuple

    from mc_schema.entry import Entry
else:
    from mc_schema.value import NamedTuple

PROJECT: Final = "project"
INBOX_PATH: Final = "inbox.md"
UNSPECIFIED: Final = "unspecified"
ARCHIVE: Final = "archive/"


class Row(NamedTuple):
    """One cell of the matrix."""

    type: str
    """The word of ``--type`` and of ``Candidate-Type:``."""
    scope: str
    """``project``, ``area``, ``rule`` or ``profile``."""
    code: str
    label: str
    path: str
    """Path below the memory directory; ``{name}`` stands for the module name."""
    newest_first: bool


MATRIX: Final = (
    Row("decision", "project", "DEC", "Decision", "decisions.md", newest_first=True),
    Row("decision", "area", "AREA", "Decision", "areas/{name}.md", newest_first=True),
    Row("constraint", "project", "CON", "Constraint", "constraints.md", newest_first=False),
    Row("constraint", "area", "CON", "Constraint", "areas/{name}.md", newest_first=False),
    Row("preference", "project", "PREF", "Preference", "preferences.md", newest_first=False),
    Row("preference", "area", "PREF", "Preference", "areas/{name}.md", newest_first=False),
    Row("do-not-use", "project", "DNU", "Rejected", "do-not-use.md", newest_first=True),
    Row("do-not-use", "area", "DNU", "Rejected", "areas/{name}.md", newest_first=True),
    Row("rule", "rule", "AREA", "Rule", "rules/{name}.md", newest_first=False),
    Row("profile", "profile", "AREA", "Profile", "profiles/{name}.md", newest_first=False),
)
CANDIDATE_ROW: Final = Row("candidate", "any", "INBOX", "Statement", INBOX_PATH, newest_first=True)
TOMBSTONE_ROW: Final = Row(
    "tombstone", "project", "TOMB", "Rejected", "do-not-use.md", newest_first=True
)

ADD_TYPES: Final = (
    "decision",
    "constraint",
    "preference",
    "do-not-use",
    "tombstone",
    "rule",
    "profile",
    "area",
    "inbox",
)
"""The words that ``add --type`` takes."""
CANDIDATE_TYPES: Final = (
    "decision",
    "constraint",
    "preference",
    "do-not-use",
    "rule",
    "profile",
    UNSPECIFIED,
)
AREA_TYPES: Final = ("decision", "constraint", "preference", "do-not-use", "tombstone")
"""The types that ``--area`` goes with."""
MODULE_FOLDERS: Final = {"rule": "rules", "profile": "profiles", "area": "areas"}

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*", re.ASCII)
_WINDOWS_RESERVED: Final = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [f"{port}{number}" for port in ("com", "lpt") for number in range(10)]
)
_MAX_NAME: Final = 100


class Placement(NamedTuple):
    """Where a new entry goes."""

    row: Row
    path: str
    """Relative to the memory directory."""
    scope: str
    candidate_type: str
    """Empty unless the entry is a candidate."""

    @property
    def module(self) -> tuple[str, str] | None:
        """``(kind, name)`` when the file is an area, rule or profile, else ``None``."""
        kind, colon, name = self.scope.partition(":")
        return (kind, name) if colon and not self.candidate_type else None


def place(
    type_: str, *, area: str | None = None, name: str | None = None, candidate: bool = False
) -> Placement:
    """Return where an entry of *type_* goes.

    Raises:
        InvalidPlacementError: The type does not take that combination of area and name.
        InvalidNameError: The area or name is malformed, or is ``README``.
    """
    type_, area, name = _normalised(type_, area, name)
    kind = "area" if area is not None else type_ if type_ in ("rule", "profile") else PROJECT
    module = area if area is not None else name
    scope = PROJECT if module is None else f"{kind}:{module}"
    if candidate or type_ == "inbox":
        candidate_type = UNSPECIFIED if type_ == "inbox" else type_
        return Placement(CANDIDATE_ROW, INBOX_PATH, scope, candidate_type)
    row = next(row for row in MATRIX if (row.type, row.scope) == (type_, kind))
    return Placement(row, row.path.format(name=module), scope, "")


def _normalised(
    type_: str, area: str | None, name: str | None
) -> tuple[str, str | None, str | None]:
    if type_ not in ADD_TYPES:
        raise InvalidPlacementError(
            f"unknown type `{type_}`", hint=f"use one of {', '.join(ADD_TYPES)}"
        )
    if area is not None and name is not None:
        raise InvalidPlacementError("`--area` and `--name` exclude each other", hint="give one")
    named = type_ in MODULE_FOLDERS
    if named and name is None and not (type_ == "area" and area is not None):
        raise InvalidPlacementError(
            f"type `{type_}` needs `--name`", hint=f"add `--name <name>` for {type_}s/<name>.md"
        )
    if name is not None and not named:
        raise InvalidPlacementError(
            f"type `{type_}` takes no `--name`", hint="use `--name` with rule, profile or area"
        )
    if type_ == "area":
        type_, area, name = "decision", area if area is not None else name, None
    if area is not None and type_ not in AREA_TYPES:
        raise InvalidPlacementError(
            f"type `{type_}` takes no `--area`",
            hint=f"use `--area` with {', '.join(AREA_TYPES)}",
        )
    for module in (area, name):
        if module is not None:
            _require_not_readme(require_module_name(module))
    return ("do-not-use" if type_ == "tombstone" else type_), area, name


def row_of(entry: Entry) -> Row | None:
    """Return the matrix row that *entry* claims by its id code, body label and scope."""
    if entry.id is None:
        return None
    if entry.id.type == CANDIDATE_ROW.code:
        return CANDIDATE_ROW
    if entry.id.type == TOMBSTONE_ROW.code:
        return TOMBSTONE_ROW
    kind, _, _ = entry.scope.partition(":")
    for row in MATRIX:
        if (row.code, row.label) != (entry.id.type, entry.body_label):
            continue
        if row.scope == kind or (row.scope in ("rule", "profile") and kind == PROJECT):
            return row
    return None


def entry_type(entry: Entry) -> str:
    """Return the type word of *entry*: of the matrix, ``candidate``, ``tombstone``, ``unknown``."""
    row = row_of(entry)
    return row.type if row else "unknown"


def placement_faults(entry: Entry, path: str) -> list[str]:
    """Return how *entry* in file *path* (relative to the memory directory) breaks the matrix.

    Id code, body label, scope and file are judged against each other; an empty list means that they
    agree. Files in the archive may hold any type.
    """
    if entry.id is None:
        return []
    if not is_scope(entry.scope):
        return [f"invalid scope {quoted(entry.scope)}"] if entry.scope else []
    row = row_of(entry)
    if row is None:
        if not entry.body_label:
            # The grammar reports that; without the label no row can be told.
            return []
        claim = f"id type {entry.id.type}, body label `{entry.body_label}:`"
        return [f"{claim} and scope {quoted(entry.scope)} do not go together"]
    faults = []
    if row.label != entry.body_label:
        faults.append(f"id type {entry.id.type} needs the body label `{row.label}:`")
    if row is TOMBSTONE_ROW and entry.scope != PROJECT:
        faults.append("a tombstone has the scope `project`")
    if not path.startswith(ARCHIVE):
        faults += _path_faults(row, entry.scope, path)
    if row is CANDIDATE_ROW and entry.candidate_type not in CANDIDATE_TYPES:
        faults.append(
            f"`Candidate-Type:` is {quoted(entry.candidate_type)}, which is unknown"
            if entry.candidate_type
            else "`Candidate-Type:` is missing"
        )
    return faults


def _path_faults(row: Row, scope: str, path: str) -> list[str]:
    kind, _, name = scope.partition(":")
    if "{name}" in row.path and kind == PROJECT:
        folder = row.path.partition("/")[0]
        matches = path.startswith(f"{folder}/") and path.count("/") == 1
        expected = f"{folder}/<name>.md"
    else:
        expected = row.path.format(name=name)
        matches = path == expected
    return [] if matches else [f"belongs into `{expected}`"]


def is_scope(text: str) -> bool:
    """Say whether *text* is ``project``, ``area:<name>``, ``rule:<name>`` or ``profile:<name>``."""
    kind, colon, name = text.partition(":")
    if not colon:
        return kind == PROJECT
    return kind in MODULE_FOLDERS and _NAME.fullmatch(name) is not None


def require_module_name(name: str) -> str:
    """Return *name* when it can name an area, rule or profile.

    Raises:
        InvalidNameError: It is not ``[A-Za-z0-9][A-Za-z0-9._-]*`` or too long.
    """
    if not _NAME.fullmatch(name) or len(name) > _MAX_NAME:
        raise InvalidNameError(
            "the name is not valid",
            where=quoted(name),
            hint="use ASCII letters, digits, `.`, `_` and `-`, beginning with a letter or digit, "
            f"at most {_MAX_NAME} characters",
        )
    return name


def require_new_module_name(name: str, existing: Iterable[str]) -> str:
    """Return *name* when a new module may have it; *existing* are the names of that folder.

    Raises:
        InvalidNameError: The name is malformed, reserved (``README``, device names of Windows),
            ends in a dot, or differs from an existing one by letter case only.
    """
    require_module_name(name)
    _require_not_readme(name)
    if name.lower().split(".")[0] in _WINDOWS_RESERVED or name.endswith("."):
        raise _reserved(name)
    for other in existing:
        if other != name and other.casefold() == name.casefold():
            raise InvalidNameError(
                "the name differs from an existing one by letter case only",
                where=f"`{name}`",
                hint=f"use `{other}`, or choose another name",
            )
    return name


def _require_not_readme(name: str) -> None:
    """Refuse the file that explains a folder: it is never indexed (protocol-0.5.md, fault 47)."""
    if name.casefold() == "readme":
        raise _reserved(name)


def _reserved(name: str) -> InvalidNameError:
    return InvalidNameError("the name is reserved", where=quoted(name), hint="choose another name")
