"""What may be written where: refusal codes, mutation tiers and pinned proposal targets.

Source: governed writes, "Typed items" and "Governance".
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from mc_plan import Blocker
from mc_plan.errors import RefusedError

if TYPE_CHECKING:
    from mc_cli.cortex.place import Place

EINVAL_ITEM: Final = "EINVAL_ITEM"
EUNKNOWN_TYPE: Final = "EUNKNOWN_TYPE"
ETITLE_CONFLICT: Final = "ETITLE_CONFLICT"
EAT_CAP: Final = "EAT_CAP"
ESUSPECT_SHRINK: Final = "ESUSPECT_SHRINK"
ETIER_MISMATCH: Final = "ETIER_MISMATCH"
EINVAL_TARGET: Final = "EINVAL_TARGET"
ESOURCE_OWNED: Final = "ESOURCE_OWNED"
ESECRET_LIKE: Final = "ESECRET_LIKE"
EUNSUPPORTED_LAYOUT: Final = "EUNSUPPORTED_LAYOUT"

MEMORY: Final = "memory"
IDEA: Final = "idea"
KNOWLEDGE: Final = "knowledge"
PROPOSAL: Final = "proposal"

SET_OVERWRITE: Final = "A"
APPEND: Final = "B"
PROPOSE_ONLY: Final = "C"
UNTOUCHABLE: Final = "D"
DECLARED_TIERS: Final = {
    MEMORY: SET_OVERWRITE,
    IDEA: APPEND,
    KNOWLEDGE: APPEND,
    PROPOSAL: PROPOSE_ONLY,
}

HOT_FILES: Final = {"principal": "PRINCIPAL_MEMORY.md", "assistant": "DA_MEMORY.md"}
NOTE_FOLDERS: Final = {
    "idea": "KNOWLEDGE/Ideas",
    "person": "KNOWLEDGE/People",
    "company": "KNOWLEDGE/Companies",
    "research": "KNOWLEDGE/Research",
}
IDENTITY: Final = "identity"
TARGETS: Final = {
    IDENTITY: ("PRINCIPAL_IDENTITY.md", "DA_IDENTITY.md"),
    "style": ("STYLE.md",),
    "definition": ("DEFINITIONS.md",),
    "canonical-content": ("CANONICAL.md",),
    "resume": ("RESUME.md",),
    "operational-rule": ("RULES.md",),
    "projects": ("PROJECTS.md",),
    "contacts": ("CONTACTS.md",),
}
_USER: Final = "USER/"
_NESTED: Final = "MEMORY/"
_NOTE: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\.md", re.ASCII)


class GovernanceError(RefusedError):
    """A write that governance refuses; `code` is one of the constants of this module."""

    default_code = EINVAL_ITEM

    def message(self) -> str:
        """Return the refusal in one line that begins with the code."""
        where = f": {self.where}" if self.where else ""
        hint = f"; {self.hint}" if self.hint else ""
        return f"{self.code}: {self.what}{where}{hint}"

    def as_blocker(self) -> Blocker:
        """Return the refusal as what blocks a plan; there a code is in lower case."""
        return Blocker(self.code.lower(), f"{self.code}: {self.what}", self.where, self.hint)


class Target(NamedTuple):
    """A proposal's target once it is pinned; `path` is below the memory, ``USER/STYLE.md``."""

    kind: str
    path: str


def tier_of(path: str) -> str:
    """Return the mutation tier of *path*, POSIX and below the memory; what is not listed is D."""
    folder, _, name = path.rpartition("/")
    if path in HOT_FILES.values():
        return SET_OVERWRITE
    if folder in NOTE_FOLDERS.values() and _NOTE.fullmatch(name):
        return APPEND
    if f"{folder}/" == _USER and any(name in names for names in TARGETS.values()):
        return PROPOSE_ONLY
    return UNTOUCHABLE


def require_tier(item_type: str, path: str, place: Place) -> None:
    """Check that *path*, links resolved, is itself and has the tier that *item_type* declares.

    Args:
        item_type: One of the keys of `DECLARED_TIERS`.
        path: POSIX, below the memory, for example ``KNOWLEDGE/Ideas/cats.md``.
        place: Where the memory lies.

    Raises:
        GovernanceError: ``ETIER_MISMATCH`` where the tiers differ, ``EINVAL_TARGET`` where a link
            leads to another file of the same tier.
    """
    base = place.project.path(place.prefix.rstrip("/") or ".")
    resolved = _relative(os.path.realpath(base / path), str(base))
    declared = DECLARED_TIERS[item_type]
    tier = UNTOUCHABLE if resolved is None else tier_of(resolved)
    if tier != declared:
        raise GovernanceError(
            f"the type `{item_type}` writes tier {declared}, and the path is of tier {tier}",
            where=place.file(path),
            hint="replace a link there by a plain file or folder",
            code=ETIER_MISMATCH,
        )
    if resolved != path:
        raise GovernanceError(
            "the path is a link to another file",
            where=place.file(path),
            hint="replace it by a plain file",
            code=EINVAL_TARGET,
        )


def pin_target(target_file: str, target_kind: str | None) -> Target:
    """Return the one canonical target that a proposal can mean.

    Args:
        target_file: As supplied; of a kind with one file it is replaced.
        target_kind: One of the keys of `TARGETS`, or ``None`` to infer it from the path.

    Raises:
        GovernanceError: ``EINVAL_TARGET``: no known file, or another one than the kind has.
    """
    name = target_file.removeprefix("./").removeprefix(_NESTED).removeprefix(_USER)
    kind = target_kind
    if kind is None:
        kind = next((found for found, names in TARGETS.items() if name in names), None)
    if kind is None:
        known = ", ".join(f"`{_USER}{names[0]}`" for names in TARGETS.values())
        raise GovernanceError(
            "`target_file` is no file that proposals may change",
            hint=f"give a `target_kind`, or one of {known}, `{_USER}{TARGETS[IDENTITY][1]}`",
            code=EINVAL_TARGET,
        )
    names = TARGETS[kind]
    if len(names) == 1:
        return Target(kind, _USER + names[0])
    if name not in names:
        known = " or ".join(f"`{_USER}{each}`" for each in names)
        raise GovernanceError(
            f"`target_file` is no file of the kind `{kind}`",
            hint=f"give {known}",
            code=EINVAL_TARGET,
        )
    return Target(kind, _USER + name)


def _relative(path: str, base: str) -> str | None:
    prefix = base.rstrip(os.sep) + os.sep
    if not path.startswith(prefix):
        return None
    return path[len(prefix) :].replace(os.sep, "/")
