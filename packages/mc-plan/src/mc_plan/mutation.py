"""What changes in one file: from the bytes that were read to the bytes that will be there.

Source: reliability specification 4.6 (the order), 4.10 (appends).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from mc_plan.canonical import sha256_hex
from mc_plan.errors import InputError, MalformedFileError
from mc_plan.project import path_bytes, require_repo_path

if TYPE_CHECKING:
    from mc_plan.draft import Draft
    from mc_plan.project import Project
    from mc_plan.snapshot import FileState, Snapshot

CREATE: Final = "create"
REPLACE: Final = "replace"
DELETE: Final = "delete"
APPEND: Final = "append"
TAIL_BYTES: Final = 4096
_RANKS: Final = {"do-not-use.md": 1, "changelog.md": 2, "manifest.md": 4}
_APPEND_RANK: Final = 3


class Mutation(NamedTuple):
    """One file's change.

    `before` is the file as it was read. `after` is its whole new content, ``None`` for a deletion.
    For an append, `addition` holds the new bytes and `after` is ``None``.
    """

    kind: str
    before: FileState
    after: bytes | None = None
    addition: bytes = b""

    @property
    def path(self) -> str:
        """The repo-relative POSIX path."""
        return self.before.path

    @property
    def output_sha256(self) -> str | None:
        """The digest the file will have; ``None`` for a deletion and for an append."""
        return None if self.after is None else sha256_hex(self.after)


def plan_mutations(snapshot: Snapshot, draft: Draft) -> tuple[Mutation, ...]:
    """Return the changes and appends of *draft* in the order in which they are applied.

    A change to the bytes that are there already is left out.

    Raises:
        InputError: A path is not repo-relative, or is both changed and appended to.
        MalformedFileError: An append meets a file whose last line has no end.
        UnsafeFileError, UnreadableFileError: A target is no plain file or cannot be read.
    """
    both = sorted(set(draft.changes) & set(draft.appends))
    if both:
        raise InputError("a plan both changes and appends to a file", where=both[0])
    found = [_change(snapshot, path, after) for path, after in draft.changes.items()]
    found += [_append(snapshot, path, data) for path, data in draft.appends.items()]
    kept = [mutation for mutation in found if mutation is not None]
    return tuple(sorted(kept, key=lambda mutation: apply_order(snapshot.project, mutation)))


def apply_order(project: Project, mutation: Mutation) -> tuple[int, bytes]:
    """Sort content first, then tombstones, changelog, appended rows and the manifest last (4.6)."""
    name = project.in_memory(mutation.path)
    rank = _APPEND_RANK if mutation.kind == APPEND else _RANKS.get(name or "", 0)
    return rank, path_bytes(mutation.path)


def _change(snapshot: Snapshot, path: str, after: bytes | None) -> Mutation | None:
    before = snapshot.state(require_repo_path(path))
    if before.data == after:
        return None
    if after is None:
        return Mutation(DELETE, before)
    return Mutation(CREATE if before.data is None else REPLACE, before, after)


def _append(snapshot: Snapshot, path: str, addition: bytes) -> Mutation | None:
    before = snapshot.peek(require_repo_path(path))
    if not addition:
        return None
    if not addition.endswith(b"\n"):
        raise InputError("an appended row must end with a newline", where=path)
    if before.data is None:
        return Mutation(CREATE, before, addition)
    if before.data and not before.data.endswith(b"\n"):
        raise MalformedFileError(
            "the last line of the file has no end, so a row cannot be added",
            where=path,
            hint=f"complete or remove the last line of `{path}`, then run the command again",
        )
    return Mutation(APPEND, before, None, addition)
