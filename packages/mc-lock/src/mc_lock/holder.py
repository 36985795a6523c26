"""Who holds a lock: one look at a lock file, and its description for people.

Looking never follows a link, never opens anything but a regular file, and changes nothing.
"""

# The calls of `os` are used by name: their flags, descriptors and errno are the subject here.
# ruff: noqa: PTH118

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, Final, NamedTuple

from mc_lock.effects import Effects
from mc_lock.owner import parse_owner
from mc_lock.place import LOCK_SUFFIX, guard_key, key_of_project
from mc_lock.private_file import (
    MAX_PRIVATE_BYTES,
    READ_FLAGS,
    is_closed_to_others,
    is_ours,
    read_all,
)
from mc_lock.verdict import LockFacts, age_of, is_same_host, state_of_owner

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Literal

    from mc_lock.owner import OwnerRecord
    from mc_lock.process import Host
    from mc_lock.state import StateDirectory
    from mc_lock.verdict import Kind, OwnerState

    HolderState = Literal["alive", "gone", "elsewhere", "malformed", "unsafe"]

_MAX_SHOWN_CHARS: Final = 64
_ENDED: Final = frozenset({"gone", "reused"})
_HOLDER_STATES: Final[dict[OwnerState, HolderState]] = {
    "alive": "alive",
    "gone": "gone",
    "reused": "gone",
    "elsewhere": "elsewhere",
    "unknown": "malformed",
}


class Stamp(NamedTuple):
    """Which file was judged, and in what state; equal stamps mean the very same lock."""

    device: int
    inode: int
    mtime_ns: int
    content: bytes
    """The whole file, or its first 64 KiB and one byte."""


class Sighting(NamedTuple):
    """One look at a lock."""

    facts: LockFacts
    stamp: Stamp | None
    """``None`` if the file was not opened."""


class Holder(NamedTuple):
    """What is known of a lock and of who made it; texts are cut and safe to print."""

    path: str
    state: HolderState
    age_seconds: float
    pid: int | None = None
    hostname: str = ""
    command: str = ""
    created_at: str = ""
    project_id: str | None = None


def describe_holder(
    state: StateDirectory,
    project_id: str | None,
    memory_dir: Path,
    *,
    effects: Effects = Effects(),  # noqa: B008 - an immutable value
) -> Holder | None:
    """Return who holds the lock of a project, or ``None`` if it is free; nothing is changed.

    Args:
        state: The state directory; it need not exist.
        project_id: A UUID. Anything else, or no lock of that id, asks for the place's guard.
        memory_dir: The project's memory directory, which names the guard.
        effects: The outside world.

    Raises:
        StateError: The state directory is not safe to read.
    """
    if not state.verify():
        return None
    for key in (key_of_project(project_id), guard_key(memory_dir)):
        if key is None:
            continue
        path = os.path.join(state.locks, key + LOCK_SUFFIX)
        try:
            sighting = look_at_lock(path, key, effects)
        except OSError:
            return Holder(path, "unsafe", 0.0)
        if sighting is not None:
            return holder_of(path, sighting.facts)
    return None


def look_at_lock(path: str, key: str, effects: Effects) -> Sighting | None:
    """Return what lies at *path*, or ``None`` if nothing does.

    An owner releases first and ends then. So a lock that was read before its owner released it
    seems to be left by a dead process; only one that still lies there afterwards is.

    Args:
        path: The lock file.
        key: Its name without ``.lock``: a project id, or a guard key.
        effects: The outside world.

    Raises:
        PermissionError: On Windows, while a peer deletes the file; look again later.
        OSError: The file system failed.
    """
    while True:
        sighting = _look_once(path, key, effects)
        if sighting is None or sighting.stamp is None:
            return sighting
        if sighting.facts.owner not in _ENDED or stamp_at(path) == sighting.stamp:
            return sighting


def stamp_at(path: str) -> Stamp | None:
    """Return the stamp of a regular file, ``None`` if there is none or it cannot be read."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return None
        descriptor = os.open(path, READ_FLAGS)
    except OSError:
        return None
    try:
        return _read_stamp(descriptor)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def holder_of(path: str, facts: LockFacts) -> Holder:
    """Return the description of a lock from one look at it."""
    if facts.kind != "regular" or not facts.owned or not facts.name_matches:
        state: HolderState = "unsafe"
    else:
        state = _HOLDER_STATES[facts.owner]
    age_seconds = max(0.0, facts.age_seconds)
    record = facts.record
    if record is None:
        return Holder(path, state, age_seconds)
    return Holder(
        path,
        state,
        age_seconds,
        pid=record.pid,
        hostname=_shown(record.hostname),
        command=_shown(record.command),
        created_at=_shown(record.created_at),
        project_id=None if record.project_id is None else _shown(record.project_id),
    )


def _look_once(path: str, key: str, effects: Effects) -> Sighting | None:
    try:
        named = os.lstat(path)
        if not stat.S_ISREG(named.st_mode):
            return Sighting(LockFacts(_kind_of(named), uid=named.st_uid), None)
        if not is_ours(named):
            return Sighting(LockFacts("regular", owned=False, uid=named.st_uid), None)
        descriptor = os.open(path, READ_FLAGS)
    except FileNotFoundError:
        return None
    except OSError as error:
        return _unopened(error)
    try:
        stamp = _read_stamp(descriptor)
        facts = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    return Sighting(_facts_of(facts, stamp.content, key, effects), stamp)


def _read_stamp(descriptor: int) -> Stamp:
    facts = os.fstat(descriptor)
    content = read_all(descriptor, MAX_PRIVATE_BYTES + 1)
    return Stamp(facts.st_dev, facts.st_ino, facts.st_mtime_ns, content)


def _facts_of(facts: os.stat_result, content: bytes, key: str, effects: Effects) -> LockFacts:
    # What was opened decides, not what the name stood for a moment before.
    if not stat.S_ISREG(facts.st_mode):
        return LockFacts(_kind_of(facts), uid=facts.st_uid)
    record = None if len(content) > MAX_PRIVATE_BYTES else parse_owner(content)
    if record is not None and record.project_id is None and key_of_project(key) is not None:
        record = None  # a project lock without its project id lacks a field
    return LockFacts(
        "regular",
        owned=is_ours(facts),
        uid=facts.st_uid,
        private=is_closed_to_others(facts) and facts.st_nlink == 1,
        record=record,
        name_matches=record is None or _names(record, key),
        owner="unknown" if record is None else _owner_state(record, effects),
        age_seconds=age_of(
            effects.now(), facts.st_mtime, None if record is None else record.created_seconds
        ),
    )


def _owner_state(record: OwnerRecord, effects: Effects) -> OwnerState:
    host: Host = effects.host()
    # A pid of another place must not be asked about here: some other process may have it.
    asked = effects.examine(record.pid) if is_same_host(record, host) else None
    return state_of_owner(record, host, asked)


def _names(record: OwnerRecord, key: str) -> bool:
    if key_of_project(key) is None:
        return record.project_id in {None, "", key}
    return key_of_project(record.project_id) == key


def _unopened(error: OSError) -> Sighting:
    if error.errno == errno.ELOOP:
        return Sighting(LockFacts("symlink"), None)
    if isinstance(error, PermissionError) and os.name == "posix":
        # Ours and yet closed to us: it cannot be judged, so it cannot be broken either.
        return Sighting(LockFacts("regular", private=False), None)
    raise error


def _kind_of(facts: os.stat_result) -> Kind:
    mode = facts.st_mode
    if stat.S_ISLNK(mode):
        return "symlink"
    if stat.S_ISDIR(mode):
        return "directory"
    return "fifo" if stat.S_ISFIFO(mode) else "other"


def _shown(text: str) -> str:
    """Return *text* without anything that could steer a terminal, at most 64 characters."""
    clean = "".join(char if char.isprintable() else "?" for char in text)
    return clean if len(clean) <= _MAX_SHOWN_CHARS else clean[: _MAX_SHOWN_CHARS - 1] + "…"
