"""The decision table: from facts about a lock to what to do with it.

A pure function. Nothing here looks at a file, a clock or a process. Source: reliability rule 2.6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from typing import Literal

    from mc_lock.owner import OwnerRecord
    from mc_lock.process import Host, ProcessState

    Action = Literal["wait", "refuse", "break"]
    Kind = Literal["regular", "symlink", "directory", "fifo", "other"]
    OwnerState = Literal["alive", "gone", "reused", "elsewhere", "unknown"]

ROW_HELD: Final = 1
ROW_STALE: Final = 2
ROW_YOUNG: Final = 3
ROW_REUSED: Final = 4
ROW_ELSEWHERE: Final = 5
ROW_UNFINISHED: Final = 6
ROW_DAMAGED: Final = 7
ROW_NOT_PRIVATE: Final = 8
ROW_NOT_A_FILE: Final = 9
ROW_FOREIGN: Final = 10
ROW_MISNAMED: Final = 11

STALE_AFTER_SECONDS: Final = 60.0
MALFORMED_AFTER_SECONDS: Final = 300.0


class LockFacts(NamedTuple):
    """What was found at the lock's path."""

    kind: Kind
    owned: bool = True
    """The file belongs to the effective user."""
    uid: int = 0
    private: bool = True
    """No permission bit for group or others, one name only, readable by its owner."""
    record: OwnerRecord | None = None
    """``None`` if malformed."""
    name_matches: bool = True
    """The record's project id is the one in the file name."""
    owner: OwnerState = "unknown"
    age_seconds: float = 0.0
    """Negative when a stamp lies in the future: then the age is unknown and counts as 0."""


class Verdict(NamedTuple):
    """What to do: ``wait`` and look again, ``refuse`` at once, or ``break`` the lock."""

    row: int
    action: Action


def judge(facts: LockFacts, *, break_stale: bool) -> Verdict:
    """Return the verdict of the decision table for one look at a lock."""
    if facts.kind != "regular":
        return Verdict(ROW_NOT_A_FILE, "refuse")
    if not facts.owned:
        return Verdict(ROW_FOREIGN, "refuse")
    if facts.record is None:
        return _judge_malformed(facts, break_stale=break_stale)
    if not facts.name_matches:
        return Verdict(ROW_MISNAMED, "refuse")
    if facts.owner == "elsewhere":
        return Verdict(ROW_ELSEWHERE, "refuse" if break_stale else "wait")
    if facts.owner == "gone":
        old = facts.age_seconds > STALE_AFTER_SECONDS
        return Verdict(
            ROW_STALE if old else ROW_YOUNG, "break" if old and break_stale else "refuse"
        )
    if facts.owner == "reused":
        old = facts.age_seconds > STALE_AFTER_SECONDS
        return Verdict(ROW_REUSED, "break" if old and break_stale else "refuse")
    return Verdict(ROW_HELD, "wait")


def age_of(now: float, mtime: float, created: float | None) -> float:
    """Return a lock's age in seconds, the smaller of both stamps' answers.

    A clock that was set back or a stamp from the future gives a negative number. It counts as 0,
    and only tells how long it will take until the lock looks old enough.
    """
    stamps = [mtime] if created is None else [mtime, created]
    return min(now - stamp for stamp in stamps)


def is_same_host(record: OwnerRecord, host: Host) -> bool:
    """Say whether the record's pid means a process of this very system.

    Two known machine ids decide; only without them does the hostname. Another pid namespace (a
    container) is another place even so, and one that cannot be compared might be another.
    """
    if record.ns is not None and record.ns != host.namespace:
        return False
    if record.machine is not None and host.machine is not None:
        return record.machine == host.machine
    return record.hostname == host.hostname


def state_of_owner(record: OwnerRecord, host: Host, process: ProcessState | None) -> OwnerState:
    """Return the owner's state; *process* is what this system says of the recorded pid.

    *process* is ``None`` when it was not asked, because the record is of another place.
    """
    if process is None or not is_same_host(record, host):
        return "elsewhere"
    if not process.alive:
        return "gone"
    if record.start is None or process.start is None or record.start == process.start:
        return "alive"
    return "reused"


def _judge_malformed(facts: LockFacts, *, break_stale: bool) -> Verdict:
    if not facts.private:
        return Verdict(ROW_NOT_PRIVATE, "refuse")
    if facts.age_seconds <= MALFORMED_AFTER_SECONDS:
        return Verdict(ROW_UNFINISHED, "wait")
    return Verdict(ROW_DAMAGED, "break" if break_stale else "refuse")
