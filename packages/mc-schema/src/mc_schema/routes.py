"""Context routes of a manifest: which files a task loads (protocol-0.5.md A5.3)."""

from __future__ import annotations

TYPE_CHECKING = False  # importing `typing` would cost a command more than its work
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Final, NamedTuple

    from mc_schema.lines import Line
else:
    from mc_schema.value import NamedTuple

GENERAL: Final = "general"
GENERAL_HEADING: Final = "Always load"
CATEGORIES: Final = {
    "planning": ("Planning / architecture / refactoring",),
    "implementation": (
        "Implementation / execution / debugging",
        "Implementation / execution",
    ),
    "artifact": ("User-facing artifact / output", "User-facing artifact generation"),
    "preferences": ("Preferences", "User or project preferences"),
    "history": ("Change history / recap", "Change history / project recap"),
    "maintenance": ("Memory maintenance",),
}
"""The heading of each task category; further ones are those of Protocol 0.3, read as aliases."""
TASKS: Final = {
    "default": GENERAL,
    "general": GENERAL,
    "planning": "planning",
    "architecture": "planning",
    "refactoring": "planning",
    "implementation": "implementation",
    "execution": "implementation",
    "debugging": "implementation",
    "artifact": "artifact",
    "output": "artifact",
    "preferences": "preferences",
    "history": "history",
    "recap": "history",
    "status": "history",
    "maintenance": "maintenance",
    "compact": "maintenance",
    "forget": "maintenance",
}
"""Task names of ``read --task`` and the category each asks for."""


class RouteFault(NamedTuple):
    """A line of the manifest that makes a route unusable, or that does not do what it seems to."""

    message: str
    line: int
    is_fatal: bool
    """Whether reading the category must stop."""


class RouteSpec(NamedTuple):
    """One file of a route."""

    path: str
    """Below the memory directory, without a leading ``./``."""
    required: bool
    line: int


class Route(NamedTuple):
    """The files of one category, in the order written."""

    category: str
    specs: tuple[RouteSpec, ...]
    faults: tuple[RouteFault, ...]


def parse_route(category: str, lines: Iterable[tuple[int, Line]]) -> Route:
    """Return the route written in the numbered *lines* of one section, heading excluded."""
    required = True
    specs: list[RouteSpec] = []
    faults: list[RouteFault] = []
    for number, line in lines:
        content = line.content.strip()
        if line.is_opaque or not content:
            continue
        word = content.lower()
        if word in ("load:", "also load:"):
            required = True
        elif word == "load if present:":
            required = False
        elif content.startswith("- "):
            _take_path(content[2:], number, required, specs, faults)
        elif content.startswith(("* ", "+ ")) and content.rstrip("`").endswith(".md"):
            faults.append(
                RouteFault(
                    f"`{content}` loads nothing: a route line begins with `- `", number, False
                )
            )
    return Route(category, tuple(specs), tuple(faults))


def _take_path(
    text: str,
    number: int,
    required: bool,  # noqa: FBT001 - private, and every caller names the variable
    specs: list[RouteSpec],
    faults: list[RouteFault],
) -> None:
    path = text.strip().strip("`").strip()
    if not path or path.endswith("/"):
        return
    while path.startswith("./"):
        path = path[2:]
    fault = route_path_fault(path)
    if fault:
        faults.append(RouteFault(f"`{path}`: {fault}", number, True))
    else:
        specs.append(RouteSpec(path, required, number))


def route_path_fault(path: str) -> str:
    """Return why *path* cannot be routed, or an empty string."""
    parts = path.split("/")
    if path.startswith("/") or ":" in parts[0]:
        return "the path must be relative"
    if "\\" in path:
        return "the path must use `/`"
    if ".." in parts:
        return "the path leaves the memory directory"
    if "" in parts or "." in parts:
        return "the path has an empty or `.` part"
    if not path.endswith(".md") or parts[-1] == ".md":
        return "the path must end in `.md`, with nothing behind it"
    if any(ord(character) < 32 or ord(character) == 127 for character in path):  # noqa: PLR2004
        return "the path holds a control character"
    return ""


def merged_specs(general: Route, category: Route | None) -> tuple[RouteSpec, ...]:
    """Return the files of a task: general first; a repeated file keeps its first place.

    It is required when any of its mentions is.
    """
    merged: dict[str, RouteSpec] = {}
    for spec in (*general.specs, *(category.specs if category else ())):
        known = merged.get(spec.path)
        if known is None:
            merged[spec.path] = spec
        elif spec.required and not known.required:
            merged[spec.path] = known._replace(required=True)
    return tuple(merged.values())


def repeated_paths(general: Route, category: Route | None) -> list[RouteSpec]:
    """Return the mentions of a task that repeat an earlier one."""
    seen: set[str] = set()
    repeats = []
    for spec in (*general.specs, *(category.specs if category else ())):
        if spec.path in seen:
            repeats.append(spec)
        seen.add(spec.path)
    return repeats
