"""One file's way from one state to another, staged beside it and then renamed into place.

Applying, undoing and recovering all take these steps, each with its own last look.

Source: reliability specification 4.3, 4.5, 4.6, 4.10 and 5.4.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from mc_plan import files
from mc_plan.canonical import sha256_hex
from mc_plan.errors import ChangedWhileApplyingError, PlanError
from mc_plan.mutation import APPEND, CREATE, DELETE, TAIL_BYTES
from mc_plan.snapshot import FileState, identity_of, read_state

if TYPE_CHECKING:
    from pathlib import Path

    from mc_plan.files import Filesystem
    from mc_plan.journal import Content, JournalFile
    from mc_plan.project import Project

BEFORE: Final = "before"
AFTER: Final = "after"
PARTIAL: Final = "partial"
"""An append of which only a part is there: it can be cut off or completed."""
CHANGED: Final = "changed since"

WRITE: Final = "write"
REMOVE: Final = "remove"
EXTEND: Final = "extend"
CUT: Final = "cut"


class Step(NamedTuple):
    """One file to change. `base` is what must be there at the last look.

    `content` is for `WRITE`; `size` is where the file's old bytes end and `addition` what follows
    them, for `EXTEND` and `CUT`.
    """

    file: JournalFile
    action: str
    base: FileState
    content: Content | None = None

    @property
    def path(self) -> str:
        """The repo-relative path."""
        return self.file.path


def forward_step(file: JournalFile, base: FileState) -> Step:
    """Return the step that leads from *base* to the state after the change."""
    if file.kind == APPEND:
        return Step(file, EXTEND, base)
    if file.kind == DELETE:
        return Step(file, REMOVE, base)
    return Step(file, WRITE, base, file.after)


def back_step(file: JournalFile, base: FileState) -> Step:
    """Return the step that leads from *base* to the state before the change."""
    if file.kind == APPEND:
        return Step(file, CUT, base)
    if file.kind == CREATE:
        return Step(file, REMOVE, base)
    return Step(file, WRITE, base, file.before)


def judge(file: JournalFile, data: bytes | None) -> str:
    """Return the state that *data*, the bytes there now, mean for *file*."""
    if file.kind == APPEND:
        return _judge_append(file, data)
    if data == _bytes(file.before):
        return BEFORE
    return AFTER if data == _bytes(file.after) else CHANGED


def look(project: Project, file: JournalFile, filesystem: Filesystem) -> tuple[str, FileState]:
    """Return which state *file* is in, and the file as it is.

    A file that is no plain file any more, or cannot be read, is `CHANGED`.
    """
    try:
        found = read_state(project, file.path, filesystem)
    except PlanError:
        return CHANGED, FileState(file.path)
    return judge(file, found.data), found


def output_of(step: Step) -> bytes | None:
    """Return the bytes that the file will hold after *step*; ``None`` if it will be absent."""
    if step.action == REMOVE:
        return None
    if step.content is not None:
        return step.content.data
    kept = (step.base.data or b"")[: step.file.size]
    return kept + step.file.addition if step.action == EXTEND else kept


def stage(project: Project, step: Step, filesystem: Filesystem) -> list[str]:
    """Write the step's new content to its temporary, durable and with the old owner and mode.

    Returns:
        Warnings, for example that access lists could not be copied.

    Raises:
        OSError: The temporary is not usable; it is removed, if that could be arranged.

    Source: reliability specification 4.3, 4.4.
    """
    content = step.content
    if content is None:
        return []
    temporary = project.path(step.file.temporary)
    descriptor = filesystem.open_create(temporary)
    try:
        try:
            files.write_all(filesystem, descriptor, content.data)
            warnings = _dress(project, step, content, descriptor, filesystem)
            files.flush(filesystem, descriptor)
        finally:
            filesystem.close(descriptor)
    except BaseException:
        files.unlink_quietly(filesystem, temporary)
        raise
    return warnings


def commit(project: Project, step: Step, filesystem: Filesystem) -> None:
    """Make the step visible; `require_unchanged` comes immediately before.

    Raises:
        ChangedWhileApplyingError: The end of the file moved before it could be changed.
        OSError: The step failed.

    Source: reliability specification 4.6, 4.10.
    """
    target = project.path(step.path)
    if step.action == WRITE:
        files.rename(filesystem, project.path(step.file.temporary), target)
    elif step.action == REMOVE:
        filesystem.unlink(target)
    else:
        _change_end(target, step, filesystem)


def require_unchanged(
    project: Project, base: FileState, label: str, filesystem: Filesystem
) -> None:
    """Look a last time: the file must still be *base*, bytes and identity.

    Raises:
        ChangedWhileApplyingError: It is not; *label* names it.
        PlanError: It is no plain file any more, or cannot be read.

    Source: reliability specification 4.5.
    """
    found = read_state(project, base.path, filesystem)
    if (found.identity, found.sha256) == (base.identity, base.sha256):
        return
    raise ChangedWhileApplyingError(
        "the file changed while applying, and its new text is kept",
        where=label,
        hint="run the command again",
    )


def _bytes(content: Content | None) -> bytes | None:
    return None if content is None else content.data


def _judge_append(file: JournalFile, data: bytes | None) -> str:
    if data is None or len(data) < file.size:
        return CHANGED
    if sha256_hex(data[: file.size][-TAIL_BYTES:]) != file.tail_sha256:
        return CHANGED
    added = data[file.size :]
    if not added:
        return BEFORE
    if added == file.addition:
        return AFTER
    return PARTIAL if file.addition.startswith(added) else CHANGED


def _dress(
    project: Project, step: Step, content: Content, descriptor: int, filesystem: Filesystem
) -> list[str]:
    """Give the temporary the attributes, owner and mode that the file has or had."""
    warnings = []
    if step.base.identity is not None:
        try:
            filesystem.copy_attributes(project.path(step.path), descriptor)
        except OSError as error:
            warnings.append(
                f"extended attributes of `{step.file.label}` were not copied"
                f" ({error.strerror or type(error).__name__})"
            )
    made = os.fstat(descriptor)
    owner = (content.uid, content.gid)
    if content.uid >= 0 and owner != (made.st_uid, made.st_gid):
        filesystem.chown(descriptor, *owner)
    # After the attributes and the owner, since both may change the mode bits.
    filesystem.chmod(descriptor, project.path(step.file.temporary), content.mode)
    return warnings


def _change_end(target: Path, step: Step, filesystem: Filesystem) -> None:
    descriptor = filesystem.open_append(target)
    try:
        if step.base.identity is None or identity_of(os.fstat(descriptor)) != step.base.identity:
            raise ChangedWhileApplyingError(
                "the file changed while applying, and its new text is kept", where=step.file.label
            )
        if step.base.identity.size > step.file.size:
            filesystem.truncate(descriptor, step.file.size)
        if step.action == EXTEND:
            files.write_all(filesystem, descriptor, step.file.addition)
        files.flush(filesystem, descriptor)
    finally:
        filesystem.close(descriptor)
