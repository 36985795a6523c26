"""Context packs: what one task loads from a memory directory, in complete units, within budgets.

A pack is a value; rendering it is another module's business. Only active and legacy units are in
it; what is left out is listed with its reason. Source: design sections 4 and 6, protocol-0.5.md B4.
"""

from __future__ import annotations

from mc_schema.admission import INADMISSIBLE
from mc_schema.budget import budget_of
from mc_schema.document import GROUP, PREAMBLE, normalise_newlines
from mc_schema.entry import CANDIDATE, PROMOTED, SUPERSEDED
from mc_schema.lines import BOM
from mc_schema.routes import TASKS, RouteSpec
from mc_schema.storage import MODULE_FOLDERS, require_module_name
from mc_schema.tokens import estimate_tokens

from mc_retrieve.memorydir import Fault
from mc_retrieve.memoryset import load_file, original_line, with_ids_judged

TYPE_CHECKING = False  # importing `typing` would cost a command more than its work
if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Final, NamedTuple

    from mc_schema.manifest import Manifest
    from mc_schema.memoryfile import JudgedUnit, MemoryFile
else:
    from mc_schema.value import NamedTuple

BUDGET: Final = "budget"
PRIVATE: Final = "private"
UNREADABLE: Final = "unreadable"
REASONS: Final = (
    BUDGET,
    SUPERSEDED,
    CANDIDATE,
    PROMOTED,
    INADMISSIBLE,
    PRIVATE,
    UNREADABLE,
)
"""Every reason why something of a routed file is not in the pack."""
INCOMPLETE: Final = (BUDGET, INADMISSIBLE, PRIVATE, UNREADABLE)
"""The reasons that make a pack incomplete."""
MAINTENANCE: Final = "maintenance"
DEFAULT_TASK: Final = "default"
CANDIDATE_MARK: Final = "unconfirmed candidate, not a rule"


class PackRequest(NamedTuple):
    """What to load."""

    task: str = DEFAULT_TASK
    """A task name of `mc_schema.routes.TASKS`."""
    rules: tuple[str, ...] = ()
    profiles: tuple[str, ...] = ()
    areas: tuple[str, ...] = ()


class PackedUnit(NamedTuple):
    """One unit in the pack."""

    entry_id: str
    """Empty for a legacy unit."""
    line: int
    """1-based, in the file as it is."""
    status: str
    """``active``, ``legacy``, or ``candidate`` in the maintenance category."""
    text: str
    """Line ends are LF, the blank lines that follow are kept, private spans are gone."""
    tokens: int


class PackedFile(NamedTuple):
    """One file in the pack."""

    path: str
    head: str
    """Front matter and title, without a BOM."""
    units: tuple[PackedUnit, ...]
    tokens: int
    """Of the head and the units; governance lines count nothing."""
    budget: int | None
    removed_spans: int
    """Well-formed private spans that were removed."""

    @property
    def text(self) -> str:
        """What is served of the file, each candidate marked, without blank lines at the end."""
        parts = [self.head]
        for unit in self.units:
            parts += [f"[{CANDIDATE_MARK}]\n" if unit.status == CANDIDATE else "", unit.text]
        return "".join(parts).rstrip("\n")


class Omitted(NamedTuple):
    """One thing that the pack leaves out."""

    path: str
    entry_id: str
    """Empty when the place has no valid id."""
    line: int
    """1-based, in the file as it is; 0 when the whole file is meant."""
    reason: str
    """One of `REASONS`."""
    detail: str = ""
    """More about it, in words that quote nothing of the file."""

    @property
    def label(self) -> str:
        """How people call it: the id, else file and line."""
        return self.entry_id or (f"{self.path}:{self.line}" if self.line else self.path)


class Oversized(NamedTuple):
    """A unit that is larger than what its file's budget leaves, and printed whole."""

    path: str
    label: str
    tokens: int
    budget: int


class ContextPack(NamedTuple):
    """What a task loads."""

    task: str
    category: str
    files: tuple[PackedFile, ...]
    missing: tuple[str, ...]
    """Required files that do not exist."""
    skipped: tuple[str, ...]
    """Optional files that do not exist."""
    omitted: tuple[Omitted, ...]
    oversized: tuple[Oversized, ...]

    @property
    def complete(self) -> bool:
        """Whether everything that belongs into the pack is in it."""
        return not self.missing and not any(item.reason in INCOMPLETE for item in self.omitted)


def build_pack(memory_dir: Path, manifest: Manifest, request: PackRequest) -> ContextPack:
    """Return the context pack of *request*.

    Args:
        memory_dir: A real, absolute path.
        manifest: Of the manifest's text without private spans.
        request: What to load.

    Raises:
        ManifestError: The task is unknown, or its routes are missing, doubled or unsafe.
        InvalidNameError: A rule, profile or area name is malformed.
    """
    specs = pack_specs(manifest, request)
    builder = _Builder(TASKS[request.task] == MAINTENANCE)
    loaded: list[MemoryFile] = []
    for spec in specs:
        found = load_file(memory_dir, spec.path)
        if found is None:
            (builder.missing if spec.required else builder.skipped).append(spec.path)
        elif isinstance(found, Fault):
            builder.omit_file(found)
        else:
            file, builder.texts[spec.path] = found
            loaded.append(file)
    for file in with_ids_judged(memory_dir, loaded):
        builder.take(file, budget_of(file.path, manifest.budgets))
    return builder.pack(request.task)


def pack_specs(manifest: Manifest, request: PackRequest) -> tuple[RouteSpec, ...]:
    """Return the files of *request* in their order: routes, then rules, profiles, areas by name.

    Each file comes once. Errors are those of `build_pack`.
    """
    named = []
    for kind, names in (
        ("rule", request.rules),
        ("profile", request.profiles),
        ("area", request.areas),
    ):
        named += [f"{MODULE_FOLDERS[kind]}/{require_module_name(name)}.md" for name in names]
    specs = {spec.path: spec for spec in manifest.task_specs(request.task)}
    for path in named:
        specs.setdefault(path, RouteSpec(path, required=False, line=0))
    return tuple(specs.values())


class _Builder:
    """What a pack is collected in."""

    def __init__(self, shows_candidates: bool) -> None:  # noqa: FBT001 - one caller, private
        self.shows_candidates = shows_candidates
        self.texts: dict[str, str] = {}
        self.files: list[PackedFile] = []
        self.missing: list[str] = []
        self.skipped: list[str] = []
        self.omitted: list[Omitted] = []
        self.oversized: list[Oversized] = []

    def pack(self, task: str) -> ContextPack:
        return ContextPack(
            task,
            TASKS[task],
            tuple(self.files),
            tuple(self.missing),
            tuple(self.skipped),
            tuple(self.omitted),
            tuple(self.oversized),
        )

    def omit_file(self, fault: Fault) -> None:
        self.omitted.append(Omitted(fault.path, "", fault.line, UNREADABLE, fault.message))

    def take(self, file: MemoryFile, budget: int | None) -> None:
        """Put what is served of *file* into the pack."""
        served = [unit for unit in file.units if self._is_served(unit)]
        head = file.document.text[: file.document.head_end].lstrip(BOM)
        taken = self._within(file, served, estimate_tokens(head), budget)
        self._list_omitted(file, {unit.unit.ordinal for unit in taken})
        units = tuple(self._packed(file, unit) for unit in taken)
        tokens = estimate_tokens(head) + sum(unit.tokens for unit in units)
        head = normalise_newlines(head)
        self.files.append(PackedFile(file.path, head, units, tokens, budget, file.removed_spans))

    def _is_served(self, unit: JudgedUnit) -> bool:
        if unit.standing.status == CANDIDATE:
            return self.shows_candidates
        return unit.standing.is_served

    def _within(
        self, file: MemoryFile, units: Sequence[JudgedUnit], tokens: int, budget: int | None
    ) -> list[JudgedUnit]:
        """Return the leading *units* that fit beside the *tokens* of the head.

        The first entry is always taken, whole; so is the introduction, which therefore never
        leaves a file without any entry (protocol-0.5.md B4, fault 44).
        """
        taken: list[JudgedUnit] = []
        has_entry = False
        for unit in units:
            is_entry = _is_entry(unit)
            cost = unit.tokens
            if budget is not None and tokens + cost > budget:
                if is_entry and has_entry:
                    break
                if is_entry or unit.unit.kind == PREAMBLE:
                    label = self._label(file, unit)
                    self.oversized.append(Oversized(file.path, label, cost, budget))
            taken.append(unit)
            tokens += cost
            has_entry = has_entry or is_entry
        return _without_bare_groups(taken)

    def _list_omitted(self, file: MemoryFile, taken: set[int]) -> None:
        for unit in file.units:
            if unit.unit.ordinal in taken or not _is_entry(unit):
                continue
            reason = BUDGET if self._is_served(unit) else unit.standing.status
            # Codes, not messages: those quote the entry, and this list is outside its frame.
            codes = dict.fromkeys(problem.code for problem in unit.standing.problems)
            detail = ", ".join(code.replace("_", " ") for code in codes)
            line = self._line(file, unit.unit.line)
            self.omitted.append(Omitted(file.path, unit.entry_id, line, reason, detail))
        if file.hidden_line:
            detail = "an unclosed or malformed private opener hides the rest of the file"
            self.omitted.append(Omitted(file.path, "", file.hidden_line, PRIVATE, detail))

    def _packed(self, file: MemoryFile, unit: JudgedUnit) -> PackedUnit:
        text = normalise_newlines(file.document.text[unit.unit.start : unit.unit.end])
        return PackedUnit(
            unit.entry_id,
            self._line(file, unit.unit.line),
            unit.standing.status,
            text,
            unit.tokens,
        )

    def _label(self, file: MemoryFile, unit: JudgedUnit) -> str:
        return unit.entry_id or f"{file.path}:{self._line(file, unit.unit.line)}"

    def _line(self, file: MemoryFile, line: int) -> int:
        return original_line(self.texts[file.path], file, line)


def _is_entry(unit: JudgedUnit) -> bool:
    """Say whether *unit* is memory of its own: no introduction and no heading without prose."""
    if unit.unit.kind == PREAMBLE:
        return False
    return unit.unit.kind != GROUP or bool(normalise_newlines(unit.text).partition("\n")[2].strip())


def _without_bare_groups(taken: list[JudgedUnit]) -> list[JudgedUnit]:
    """Return *taken* without headings below which nothing was taken."""
    filled = {unit.unit.section for unit in taken}
    return [
        unit
        for unit in taken
        if unit.unit.kind != GROUP or _is_entry(unit) or unit.unit.ordinal in filled
    ]
