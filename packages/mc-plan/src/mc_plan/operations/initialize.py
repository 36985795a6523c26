"""`init`: the memory set of a project, its repair, its replacement, and the agent blocks.

Source: protocol-0.5.md A2, A9, A10 and B1; design section 6 (`init`).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from mc_schema.admission import is_content
from mc_schema.document import Document
from mc_schema.manifest import parse_manifest

from mc_plan.draft import ALWAYS, IMMEDIATE, Draft, Operation, Request
from mc_plan.errors import MalformedFileError
from mc_plan.operations.agents import AGENT_FILES, KEPT, WRITTEN, block_of, find_block, with_block
from mc_plan.operations.budgets import budget_lines
from mc_plan.operations.manifests import PACKAGE, index_all, new_manifest, repair_metadata
from mc_plan.operations.memory_set import CORE_FILES, MANIFEST, MemorySet
from mc_plan.operations.modules import new_file

if TYPE_CHECKING:
    from mc_schema.protocol import Metadata

    from mc_plan.draft import Builder
    from mc_plan.pending import Seed
    from mc_plan.snapshot import Snapshot

COMMAND: Final = "init"
EXTENDED_FILES: Final = (
    "preferences.md",
    "changelog.md",
    "rules/README.md",
    "profiles/README.md",
    "archive/README.md",
)
REPAIRED: Final = "repaired"
REPLACED: Final = "replaced"
CURRENT: Final = "kept (already current)"
_SCAFFOLD_BULLETS: Final = 3


class InitOptions(NamedTuple):
    """What `init` was asked."""

    extended: bool = False
    agents: tuple[str, ...] = ()
    """Of ``codex``, ``claude``, ``gemini``; sorted, each once."""
    repair: bool = False
    replace_existing: bool = False
    force_agent: bool = False


class FileResult(NamedTuple):
    """What happens to one file."""

    path: str
    """Repo-relative."""
    result: str


class Initialized(NamedTuple):
    """What `init` does, for the renderer."""

    memory_dir: str
    files: tuple[FileResult, ...]
    metadata: Metadata
    """Of the manifest as it will be."""
    needs_brief: bool
    """Whether the brief is the scaffold that was just written."""


def init_request(options: InitOptions, *, apply_command: str = "") -> Request:
    """Return the request of an `init`: only a replacement asks for a plan id."""
    arguments = {**options._asdict(), "agents": list(options.agents)}
    confirmation = ALWAYS if options.replace_existing else IMMEDIATE
    return Request(COMMAND, arguments, confirmation, apply_command=apply_command)


def build_initialize(options: InitOptions) -> Builder:
    """Return the builder of an `init`.

    It raises `MalformedFileError` when memory files lie there without a manifest and no repair was
    asked for, or when the manifest or an agent block cannot be edited safely.
    """

    def build(snapshot: Snapshot, seed: Seed) -> Draft:
        return _Initialization(snapshot, seed, options).draft()

    return build


class _Initialization:
    def __init__(self, snapshot: Snapshot, seed: Seed, options: InitOptions) -> None:
        self.snapshot = snapshot
        self.project = snapshot.project
        self.seed = seed
        self.options = options
        self.memory = MemorySet(snapshot)
        self.new_id: str | None = None
        self.results: list[FileResult] = []
        self.warnings: list[str] = []
        self.outside: dict[str, str] = {}

    def draft(self) -> Draft:
        had_brief = self.memory.text("brief.md") is not None
        if self.options.replace_existing:
            self._replace()
        else:
            self._complete()
        self._write_agents()
        metadata = parse_manifest(self.memory.text(MANIFEST) or "").metadata
        changes = self.memory.changes()
        changes.update({path: text.encode() for path, text in self.outside.items()})
        budget = budget_lines(self.snapshot, self.memory.before, self.memory.changed())
        return Draft(
            operations=[Operation(done.result.capitalize(), done.path) for done in self.results],
            changes=changes,
            warnings=self.warnings,
            budget=budget if self.options.replace_existing else (),
            new_project_id=self.new_id,
            result=Initialized(
                memory_dir=self.project.memory_dir,
                files=tuple(self.results),
                metadata=metadata,
                needs_brief=not had_brief or self.options.replace_existing,
            ),
        )

    def _names(self) -> tuple[str, ...]:
        return (*CORE_FILES, *(EXTENDED_FILES if self.options.extended else ()))

    def _complete(self) -> None:
        """Write what is missing and keep what is there; complete the manifest in a repair."""
        has_manifest = self.memory.text(MANIFEST) is not None
        if self.memory.names and not has_manifest and not self.options.repair:
            raise MalformedFileError(
                "the memory directory holds files but no manifest",
                where=self.project.memory_dir,
                hint=f"run `{self.project.command(COMMAND, '--repair')}`",
                code="no_manifest",
            )
        self.memory.require_no_conflict(MANIFEST)
        written = [name for name in self._names() if self.memory.text(name) is None]
        for name in written:
            self.memory.write(name, self._template(name))
        is_current = parse_manifest(self.memory.text(MANIFEST) or "").metadata.is_current
        if self.options.repair and has_manifest and is_current:
            self.new_id = repair_metadata(self.memory, self.seed)
        if self.options.repair or not has_manifest or self.options.extended:
            index_all(self.memory, is_current=is_current)
        for name in self._names():
            self._note(name, WRITTEN if name in written else self._outcome(name))

    def _outcome(self, name: str) -> str:
        return REPAIRED if name in self.memory.changed() else KEPT

    def _template(self, name: str) -> str:
        if name != MANIFEST:
            return new_file(name)
        self.new_id = self.seed.project_id()
        return new_manifest(self.new_id, initialized_with=PACKAGE, last_migrated_with=PACKAGE)

    def _replace(self) -> None:
        """Overwrite the files by their templates; identity and modules of the project stay."""
        for name in self._names():
            before, after = self.memory.text(name), self._replacement(name)
            self.memory.write(name, after)
            if before not in (None, after) and _has_content(name, before or ""):
                path = self.project.memory_file(name)
                self.warnings.append(f"`{path}` holds text that is not from a template")
        index_all(self.memory, is_current=True)
        for name in self._names():
            before, after = self.memory.before.get(name), self.memory.after[name]
            done = WRITTEN if before is None else CURRENT if before == after else REPLACED
            self._note(name, done)

    def _replacement(self, name: str) -> str:
        if name != MANIFEST:
            return new_file(name)
        found = parse_manifest(self.memory.before.get(MANIFEST, "")).metadata
        if found.project_id is None:
            self.new_id = self.seed.project_id()
        migrated = found.get("last_migrated_with") if found.is_current else ""
        return new_manifest(
            found.project_id or self.new_id or "",
            initialized_with=found.get("initialized_with") or PACKAGE,
            last_migrated_with=migrated or PACKAGE,
        )

    def _write_agents(self) -> None:
        block = block_of(self.project.memory_dir)
        for agent, path in AGENT_FILES.items():
            asked = agent in self.options.agents
            target = _link_target(self.snapshot, path)
            if target:
                if asked:
                    self._note_path(path, f"kept (a link to `{target}`)")
                continue
            text = self.snapshot.read_text(path) if asked or self.options.repair else None
            if not asked and (text is None or find_block(text, path) is None):
                continue
            replace = self.options.repair or self.options.force_agent
            after, done = with_block(text, block, path=path, replace=replace)
            if after != text:
                self.outside[path] = after
            self._note_path(path, done)

    def _note(self, name: str, result: str) -> None:
        self._note_path(self.project.memory_file(name), result)

    def _note_path(self, path: str, result: str) -> None:
        self.results.append(FileResult(path, result))


def _has_content(name: str, text: str) -> bool:
    """Say whether *text* holds more than a template would."""
    document = Document.parse(text)
    if name == "brief.md":
        return text.count("TODO:") < _SCAFFOLD_BULLETS
    return name == MANIFEST or any(is_content(unit) for unit in document.units)


def _link_target(snapshot: Snapshot, path: str) -> str:
    """Return which other agent file *path* is a link to, empty when it is none."""
    place = snapshot.project.path(path)
    if not place.is_symlink():
        return ""
    real = os.path.realpath(place)
    for other in AGENT_FILES.values():
        if other != path and real == os.path.realpath(snapshot.project.path(other)):
            return other
    return ""
