"""Files that are made when they are first needed, and the manifest's index of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mc_schema.manifest import parse_manifest
from mc_schema.manifest_edit import add_index_entry
from mc_schema.storage import MODULE_FOLDERS, require_new_module_name

from mc_plan.errors import MalformedFileError
from mc_plan.operations.memory_set import MANIFEST
from mc_plan.template import index_sentence, render_template

if TYPE_CHECKING:
    from mc_plan.operations.memory_set import MemorySet

KINDS: Final = {folder: kind for kind, folder in MODULE_FOLDERS.items()}
"""Folder to kind: ``areas`` to ``area``."""
OPTIONAL_FILES: Final = ("preferences.md", "changelog.md")
"""Optional files that the index of Protocol 0.6 names too."""
README: Final = "README.md"


def require_module(memory: MemorySet, scope: str) -> None:
    """Check that the module of *scope* exists or may be made.

    Raises:
        InvalidNameError: The name is reserved, or clashes with another one by letter case.
    """
    kind, colon, name = scope.partition(":")
    if not colon:
        return
    prefix = f"{MODULE_FOLDERS[kind]}/"
    existing = [
        path[len(prefix) : -len(".md")]
        for path in memory.names
        if path.startswith(prefix) and path.count("/") == 1
    ]
    if name not in existing:
        require_new_module_name(name, existing)


def ensure_file(memory: MemorySet, name: str) -> bool:
    """Make the file *name* from its template when it is missing; say whether that was so."""
    if memory.text(name) is not None:
        return False
    memory.write(name, new_file(name))
    return True


def new_file(name: str) -> str:
    """Return the text of a new memory file, for example of ``areas/sync.md``."""
    folder, slash, file = name.partition("/")
    if not slash or file == README:
        return render_template(f"memory/{name}")
    stem = file[: -len(".md")]
    title = stem.replace("-", " ").replace("_", " ").title()
    return render_template(f"modules/{KINDS[folder]}.md", {"title": title, "name": stem})


def ensure_indexed(memory: MemorySet, name: str, *, is_current: bool) -> bool:
    """Let the manifest's index name the optional file *name*; say whether it did not.

    Protocol 0.5 indexes rules, profiles and areas alone; a README is never indexed.

    Raises:
        MalformedFileError: The new line would not be part of the index.
    """
    if not is_indexable(name, is_current=is_current):
        return False
    text = memory.text(MANIFEST) or ""
    if parse_manifest(text).is_indexed(name):
        return False
    kind = KINDS.get(name.partition("/")[0], "")
    sentence = index_sentence(name[: -len(".md")])
    after = add_index_entry(text, kind, name, sentence)
    if not parse_manifest(after).is_indexed(name):
        raise MalformedFileError(
            "the optional module index cannot take a new line",
            where=memory.project.memory_file(MANIFEST),
            hint="look for an unclosed code fence or comment in the manifest, and close it",
        )
    memory.write(MANIFEST, after)
    return True


def is_indexable(name: str, *, is_current: bool) -> bool:
    """Say whether *name* belongs into the index: an optional file of one level, no README.

    A name that a line of the manifest cannot show as it is, is not written into it: a line feed in
    it would forge a route, an escape sequence would act on the terminal of whoever reads it.
    """
    folder, slash, file = name.partition("/")
    if not slash:
        return is_current and name in OPTIONAL_FILES
    if not file.isprintable() or "`" in file:
        return False
    return folder in KINDS and "/" not in file and file.casefold() != README.casefold()
