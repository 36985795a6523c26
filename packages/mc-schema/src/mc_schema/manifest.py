"""The manifest: metadata, routes, optional module index and budgets, read from its sections."""

from __future__ import annotations

import re

from mc_schema.errors import ManifestError
from mc_schema.lines import Line, scan_lines
from mc_schema.protocol import (
    FOREIGN,
    METADATA_HEADING,
    TRUST_HEADING,
    Metadata,
    MetadataField,
    version_state,
)
from mc_schema.routes import (
    CATEGORIES,
    GENERAL,
    GENERAL_HEADING,
    TASKS,
    Route,
    RouteFault,
    RouteSpec,
    merged_specs,
    parse_route,
)

TYPE_CHECKING = False  # importing `typing` would cost a command more than its work
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Final, NamedTuple
else:
    from mc_schema.value import NamedTuple

INDEX_HEADING: Final = "Optional module index"
BUDGET_HEADING: Final = "Context budget"
REQUIRED_SECTIONS: Final = (GENERAL_HEADING,)
POLICY_MENTIONS: Final = ("brief.md", "do-not-use.md", "archive/", "rules/", "profiles/")
"""Words that `check` expects somewhere in the manifest (protocol-0.5.md A5.5)."""

_FIELD: Final = re.compile(r"- ([A-Za-z_]+):(.*)", re.ASCII)
_FOREIGN: Final = re.compile(r"[-* ]*protocol_version\s*:", re.ASCII)
_BACKTICKED: Final = re.compile(r"`([^`\r\n]+)`")
# The name begins with no blank: two neighbours that both take blanks would try every split.
_BUDGET: Final = re.compile(
    r"[-*+][ \t]+`?([^`:\s][^`:]*)`?:[ \t]*([0-9]{1,9})[ \t]+tokens\b", re.ASCII
)


class Section(NamedTuple):
    """A heading of level two or three and where its text goes."""

    level: int
    title: str
    """Folded for comparison."""
    heading: int
    """0-based index of the heading line."""
    end: int
    """0-based index after the last line: the next heading of the same or a higher level."""


class Manifest:
    """One manifest text, parsed. Fences and HTML comments hold no sections or routes."""

    __slots__ = ("_index", "budgets", "lines", "metadata", "sections", "swallowing", "text")

    def __init__(self, text: str) -> None:
        scan = scan_lines(text)
        self.text = text
        self.lines = scan.lines
        self.swallowing = scan.swallowing
        """1-based line of the open fence or comment that text put at the end would fall into."""
        self.sections = tuple(_sections(self.lines))
        self.metadata = self._metadata()
        self.budgets = self._budgets()
        self._index = self._indexed()

    def section(self, title: str, *, level: int = 2) -> Section | None:
        """Return the first section with that title; letter case and `#` signs are ignored."""
        folded = fold_heading(title)
        for section in self.sections:
            if section.level == level and section.title == folded:
                return section
        return None

    def has_trust_boundary(self) -> bool:
        """Say whether the manifest has the trust-boundary section of Protocol 0.6."""
        return self.section(TRUST_HEADING) is not None

    def is_indexed(self, path: str) -> bool:
        """Say whether the optional module index names *path* in back-ticks."""
        return path in self._index

    @property
    def indexed(self) -> frozenset[str]:
        """Every path in back-ticks in the optional module index."""
        return self._index

    def route(self, category: str) -> Route:
        """Return the route of *category*, `general` included; its faults are listed in it.

        There must be exactly one section for a category (protocol-0.5.md A5.3).
        """
        level, titles = (
            (2, (GENERAL_HEADING,)) if category == GENERAL else (3, CATEGORIES[category])
        )
        folded = [fold_heading(title) for title in titles]
        matching = [s for s in self.sections if s.level == level and s.title in folded]
        # An alias counts where the heading of Protocol 0.5 is absent; else it is another section.
        found = [s for s in matching if s.title == folded[0]] or matching
        if len(found) != 1:
            named = "`## Always load`" if category == GENERAL else f"`### {titles[0]}`"
            places = ", ".join(str(section.heading + 1) for section in found)
            message = f"expected one section {named}, found {len(found)}" + (
                f" (lines {places})" if places else ""
            )
            line = found[0].heading + 1 if found else 0
            return Route(category, (), (RouteFault(message, line, is_fatal=True),))
        return parse_route(category, self._numbered(found[0]))

    def task_specs(self, task: str) -> tuple[RouteSpec, ...]:
        """Return the files that *task* loads.

        Raises:
            ManifestError: The task is unknown, or a section it needs is missing, doubled or unsafe.
        """
        category = TASKS.get(task)
        if category is None:
            raise ManifestError(
                f"unknown task `{task}`", hint=f"use one of {', '.join(TASKS)}", code="unknown_task"
            )
        general = self.route(GENERAL)
        route = None if category == GENERAL else self.route(category)
        for fault in (*general.faults, *(route.faults if route else ())):
            if fault.is_fatal:
                raise ManifestError(
                    fault.message,
                    where=f"manifest.md:{fault.line}" if fault.line else "manifest.md",
                    hint="correct the manifest; `memory-custodian check` lists all its faults",
                    code="invalid_route",
                )
        return merged_specs(general, route)

    def _numbered(self, section: Section) -> Iterator[tuple[int, Line]]:
        for index in range(section.heading + 1, section.end):
            yield index + 1, self.lines[index]

    def _metadata(self) -> Metadata:
        section = self.section(METADATA_HEADING)
        if section is None:
            return self._without_section()
        # A second section repeats what the first says: its fields count, so that no version hides.
        sections = [s for s in self.sections if (s.level, s.title) == (2, section.title)]
        fields = []
        for number, line in (pair for s in sections for pair in self._numbered(s)):
            match = None if line.is_opaque else _FIELD.fullmatch(line.content.strip())
            if match:
                fields.append(MetadataField(match[1], match[2].strip(), number))
        versions = [field.value for field in fields if field.key == "protocol_version"]
        return Metadata(
            tuple(fields),
            version_state(versions),
            versions[0] if versions else "",
            section.heading + 1,
        )

    def _without_section(self) -> Metadata:
        """Tell a project without metadata from one whose metadata another tool wrote."""
        for line in self.lines:
            if not line.is_opaque and _FOREIGN.match(line.content):
                value = line.content.partition(":")[2].strip()
                return Metadata((), FOREIGN, value, 0)
        return Metadata((), version_state([]), "", 0)

    def _budgets(self) -> dict[str, int]:
        section = self.section(BUDGET_HEADING)
        budgets: dict[str, int] = {}
        for _, line in self._numbered(section) if section else ():
            match = None if line.is_opaque else _BUDGET.match(line.content.strip())
            if match:
                budgets.setdefault(match[1].strip(), int(match[2]))
        return budgets

    def _indexed(self) -> frozenset[str]:
        section = self.section(INDEX_HEADING)
        found: set[str] = set()
        for _, line in self._numbered(section) if section else ():
            if not line.is_opaque:
                found.update(_BACKTICKED.findall(line.content))
        return frozenset(found)


def parse_manifest(text: str) -> Manifest:
    """Return the manifest written in *text*; every text is one, faults are found when asked."""
    return Manifest(text)


def fold_heading(text: str) -> str:
    """Return *text* as headings are compared: no blanks or `#` at the ends, case-folded."""
    return text.strip().strip("#").strip().casefold()


def _sections(lines: list[Line]) -> list[Section]:
    sections: list[Section] = []
    open_at: dict[int, int] = {}
    for index, line in enumerate(lines):
        content = line.content.strip()
        if line.is_opaque or not content.startswith(("## ", "### ")):
            continue
        level = 3 if content.startswith("###") else 2
        for open_level in [other for other in open_at if other >= level]:
            position = open_at.pop(open_level)
            sections[position] = sections[position]._replace(end=index)
        open_at[level] = len(sections)
        sections.append(Section(level, fold_heading(content), index, len(lines)))
    return sections
