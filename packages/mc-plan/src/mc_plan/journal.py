"""The crash journal: what a multi-file change is about to do, written before its first byte.

It lies in the state directory, keyed by the place of the memory directory and not by the project
id, since a migration changes the id in mid-flight. Its last field is the SHA-256 of the rest.

Source: reliability specification 5.1, 5.2.
"""

from __future__ import annotations

import base64
import json
import os
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mc_plan.canonical import canonical_json, is_plan_id, sha256_hex
from mc_plan.errors import InputError
from mc_plan.mutation import APPEND, CREATE, DELETE, REPLACE, TAIL_BYTES, Mutation
from mc_plan.project import ROOT_MEMORY_DIR, require_repo_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mc_plan.plan import Plan
    from mc_plan.project import Project

SCHEMA: Final = 1
PRIVATE_MARK: Final = b'"private":true'
"""How the bytes of a private change's journal say so, also where they are damaged."""
_SEAL: Final = re.compile(rb',"sha256":"([0-9a-f]{64})"\}\Z')
_TEMPORARY: Final = re.compile(r"(?:.*/)?\.mc-[0-9a-f]{32}\.tmp")
_KINDS: Final = frozenset({CREATE, REPLACE, DELETE, APPEND})


class JournalError(Exception):
    """The bytes are no journal of this version; `reason` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Content(NamedTuple):
    """A file's bytes and how it is kept; `uid` and `gid` are -1 where they do not matter."""

    data: bytes
    mode: int
    uid: int = -1
    gid: int = -1


class JournalFile(NamedTuple):
    """One file of an interrupted change.

    `label` is the path as it may be shown. For an append, `size` and `tail_sha256` (of the last
    4 KiB) tell the old end and `addition` is what comes after it; `before` and `after` are empty.
    """

    path: str
    label: str
    kind: str
    temporary: str
    before: Content | None = None
    after: Content | None = None
    size: int = 0
    tail_sha256: str = ""
    addition: bytes = b""


class Owner(NamedTuple):
    """The process that applied the change."""

    pid: int
    start: str | None
    host: str


class Journal(NamedTuple):
    """A change that has begun.

    `place` is the real path of the memory directory then, `directories` the ones it creates,
    `digest` the seal of the written form, empty until it is written.
    """

    command: str
    plan_id: str
    private: bool
    project_id: str | None
    new_project_id: str | None
    place: str
    memory_dir: str
    owner: Owner
    directories: tuple[str, ...]
    files: tuple[JournalFile, ...]
    digest: str = ""


def compose_journal(
    project: Project, plan: Plan, temporaries: Sequence[str], directories: Sequence[str], umask: int
) -> Journal:
    """Return the journal of *plan*.

    Args:
        project: Where the plan is applied.
        plan: Its mutations become the files.
        temporaries: The repo-relative temporary of each mutation, in the same order.
        directories: Directories that the apply creates, parents first.
        umask: Decides the mode of new files.
    """
    pairs = zip(plan.mutations, temporaries, strict=True)
    return Journal(
        command=plan.request.command,
        plan_id=plan.plan_id,
        private=plan.request.private,
        project_id=plan.identity.project_id,
        new_project_id=plan.draft.new_project_id,
        place=os.path.realpath(project.memory_path),
        memory_dir=project.memory_dir,
        owner=_this_owner(),
        directories=tuple(directories),
        files=tuple(
            _journal_file(mutation, plan.label(mutation.path), temporary, umask)
            for mutation, temporary in pairs
        ),
    )


def format_journal(journal: Journal) -> bytes:
    """Return the written form: canonical JSON with the digest of the rest as its last field."""
    body = canonical_json(
        {
            "schema": SCHEMA,
            "command": journal.command,
            "plan_id": journal.plan_id,
            "private": journal.private,
            "project_id": journal.project_id,
            "new_project_id": journal.new_project_id,
            "place": journal.place.encode("utf-8", "surrogateescape").hex(),
            "memory_dir": journal.memory_dir,
            "owner": journal.owner._asdict(),
            "directories": list(journal.directories),
            "files": [_format_file(file) for file in journal.files],
        }
    )
    return body[:-1] + f',"sha256":"{sha256_hex(body)}"}}'.encode()


def parse_journal(data: bytes) -> Journal:
    """Return the journal written in *data*.

    Raises:
        JournalError: Torn, altered, of a newer schema, or naming a path outside the project.
    """
    seal = _SEAL.search(data)
    if seal is None:
        raise JournalError("it is incomplete")
    body = data[: seal.start()] + b"}"
    digest = seal[1].decode()
    if sha256_hex(body) != digest:
        raise JournalError("its digest does not match")
    try:
        return _parse_fields(json.loads(body), digest)
    except (KeyError, TypeError, ValueError, InputError, AttributeError) as error:
        raise JournalError("it is of another version of memory-custodian") from error


def _parse_fields(fields: dict[str, Any], digest: str) -> Journal:
    if fields["schema"] != SCHEMA or not is_plan_id(fields["plan_id"]):
        raise ValueError("unknown schema")
    memory_dir = fields["memory_dir"]
    if memory_dir != ROOT_MEMORY_DIR:
        require_repo_path(memory_dir)
    return Journal(
        command=fields["command"],
        plan_id=fields["plan_id"],
        private=fields["private"] is True,
        project_id=fields["project_id"],
        new_project_id=fields["new_project_id"],
        place=bytes.fromhex(fields["place"]).decode("utf-8", "surrogateescape"),
        memory_dir=memory_dir,
        owner=Owner(**fields["owner"]),
        directories=tuple(map(require_repo_path, fields["directories"])),
        files=tuple(map(_parse_file, fields["files"])),
        digest=digest,
    )


def _journal_file(mutation: Mutation, label: str, temporary: str, umask: int) -> JournalFile:
    state = mutation.before
    if mutation.kind == APPEND:
        data = state.data or b""
        tail = sha256_hex(data[-TAIL_BYTES:])
        return JournalFile(
            state.path, label, APPEND, temporary, None, None, len(data), tail, mutation.addition
        )
    before = after = None
    if state.data is not None:
        before = Content(state.data, state.mode, state.uid, state.gid)
    if mutation.after is not None:
        mode = 0o644 & ~umask if before is None else before.mode
        owner = (-1, -1) if before is None else (before.uid, before.gid)
        after = Content(mutation.after, mode, *owner)
    return JournalFile(state.path, label, mutation.kind, temporary, before, after)


def _format_file(file: JournalFile) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "path": file.path,
        "label": file.label,
        "kind": file.kind,
        "temporary": file.temporary,
    }
    if file.kind == APPEND:
        return {
            **shown,
            "size": file.size,
            "tail_sha256": file.tail_sha256,
            "addition": _encode(file.addition),
        }
    return {**shown, "before": _format_content(file.before), "after": _format_content(file.after)}


def _format_content(content: Content | None) -> dict[str, Any] | None:
    if content is None:
        return None
    return {
        "bytes": _encode(content.data),
        "sha256": sha256_hex(content.data),
        "mode": content.mode,
        "uid": content.uid,
        "gid": content.gid,
    }


def _parse_file(shown: dict[str, Any]) -> JournalFile:
    kind, temporary = shown["kind"], shown["temporary"]
    if kind not in _KINDS or not _TEMPORARY.fullmatch(require_repo_path(temporary)):
        raise ValueError("unknown kind or temporary")
    names = (require_repo_path(shown["path"]), shown["label"], kind, temporary)
    if kind == APPEND:
        addition = base64.b64decode(shown["addition"], validate=True)
        return JournalFile(*names, None, None, shown["size"], shown["tail_sha256"], addition)
    return JournalFile(*names, _parse_content(shown["before"]), _parse_content(shown["after"]))


def _parse_content(shown: dict[str, Any] | None) -> Content | None:
    if shown is None:
        return None
    data = base64.b64decode(shown["bytes"], validate=True)
    if sha256_hex(data) != shown["sha256"]:
        raise ValueError("content and digest differ")
    return Content(data, shown["mode"], shown["uid"], shown["gid"])


def _encode(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _this_owner() -> Owner:
    from mc_lock.process import this_host

    host = this_host()
    return Owner(host.pid, host.start, host.hostname)
