"""Deciding how to leave an interrupted change: forward, back, or keeping what is there.

Source: reliability specification 5.4 and 5.6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from mc_plan.draft import ALWAYS, Blocker, Draft, Operation, Request
from mc_plan.errors import PlanError
from mc_plan.leftover import Leftover, find_leftovers
from mc_plan.snapshot import FileState
from mc_plan.step import (
    AFTER,
    BEFORE,
    CHANGED,
    Step,
    back_step,
    forward_step,
    judge,
    output_of,
)

if TYPE_CHECKING:
    from mc_plan.journal import Journal, JournalFile
    from mc_plan.journal_store import FoundJournal
    from mc_plan.project import Project
    from mc_plan.snapshot import Snapshot

BACK: Final = "back"
FORWARD: Final = "forward"
KEEP: Final = "keep"
NOTHING: Final = "nothing"
BLOCKED: Final = "blocked"
DIRECTIONS: Final = (BACK, FORWARD)


class RecoveredFile(NamedTuple):
    """One file of the interrupted change, as shown: path, state found, and what is done to it."""

    path: str
    state: str
    action: str


class Recovery(NamedTuple):
    """How an interrupted change is left.

    Attributes:
        outcome: `BACK`, `FORWARD`, `KEEP`, `BLOCKED`, or `NOTHING` to do.
        command: The command that was interrupted, empty if unknown.
        files: For rendering.
        leftovers: Temporaries that no journal names; those old enough are removed.
        steps: What to do to the files, in order. Private: not for rendering.
        found: The journal, if there is one.
        keeps_unknown: A file that is neither before nor after stays as it is.
    """

    outcome: str
    command: str = ""
    files: tuple[RecoveredFile, ...] = ()
    leftovers: tuple[Leftover, ...] = ()
    steps: tuple[Step, ...] = ()
    found: FoundJournal | None = None
    keeps_unknown: bool = False

    @property
    def journal(self) -> Journal | None:
        """The journal's content, if it can be used. Private."""
        return None if self.found is None else self.found.journal


def recovery_request(
    project: Project, found: FoundJournal | None, direction: str | None, *, accept_current: bool
) -> Request:
    """Return the request of a recovery; a private journal makes a private one."""
    private = found is not None and found.private
    digest = "" if found is None else found.content_sha256
    files = found.journal.files if found is not None and found.journal is not None else ()
    hidden = [file.path for file in files if file.label != file.path]
    words = ["recover"]
    if direction is not None:
        words += ["--direction", direction]
    if accept_current:
        words.append("--accept-current")
    return Request(
        "recover",
        {"direction": direction, "accept_current": accept_current, "journal": digest},
        confirmation=ALWAYS,
        apply_command=project.command(*words, "--apply", "--confirm-plan", "<PLAN_ID>"),
        private=private,
        private_terms=(digest, *hidden) if private and digest else tuple(hidden),
        any_protocol=True,
    )


def draft_recovery(
    snapshot: Snapshot,
    found: FoundJournal | None,
    direction: str | None,
    *,
    accept_current: bool,
    now: float,
) -> Draft:
    """Return the draft of a recovery; its `result` is the `Recovery`.

    Args:
        snapshot: Of the place as the journal names it.
        found: The journal, or ``None`` if there is only something left over.
        direction: `BACK`, `FORWARD` or ``None`` for the default.
        accept_current: Keep every file as it is and retire the journal.
        now: Epoch seconds, for the age of left-over temporaries.
    """
    journal = None if found is None else found.journal
    leftovers = tuple(find_leftovers(snapshot.project, journal, now))
    removable = {
        left.path: None for left in leftovers if left.is_removable and _is_plain(snapshot, left)
    }
    operations = [Operation("Remove a left-over temporary", path) for path in removable]
    if found is None:
        outcome = BACK if removable else NOTHING
        return Draft(operations, removable, result=Recovery(outcome, leftovers=leftovers))
    if journal is None and not accept_current:
        blocker = _damaged(snapshot.project, found)
        recovery = Recovery(BLOCKED, leftovers=leftovers, found=found)
        return Draft(operations, removable, blockers=[blocker], result=recovery)
    moves = [] if journal is None else [_look(snapshot, file) for file in journal.files]
    states = [state for _, state, _ in moves]
    outcome = KEEP if accept_current else direction or _default_direction(states)
    steps = [step for step in (_step(outcome, *move) for move in moves) if step is not None]
    if outcome == BACK:
        steps.reverse()
    recovery = Recovery(
        outcome,
        "" if journal is None else journal.command,
        tuple(_shown(outcome, file, state) for file, state, _ in moves),
        leftovers,
        tuple(steps),
        found,
        CHANGED in states,
    )
    return Draft(
        [*(_described(file) for file in recovery.files), *_ending(recovery), *operations],
        {**{step.path: output_of(step) for step in steps}, **removable},
        blockers=_blockers(snapshot.project, recovery),
        result=recovery,
    )


def _look(snapshot: Snapshot, file: JournalFile) -> tuple[JournalFile, str, FileState]:
    try:
        found = snapshot.state(file.path)
    except PlanError:
        return file, CHANGED, FileState(file.path)
    return file, judge(file, found.data), found


def _is_plain(snapshot: Snapshot, left: Leftover) -> bool:
    try:
        return snapshot.read(left.path) is not None
    except PlanError:
        return False


def _default_direction(states: list[str]) -> str:
    if CHANGED in states:
        return BLOCKED
    return BACK if all(state == BEFORE for state in states) else FORWARD


def _step(outcome: str, file: JournalFile, state: str, found: FileState) -> Step | None:
    if state == CHANGED:
        return None
    if outcome == BACK and state != BEFORE:
        return back_step(file, found)
    if outcome == FORWARD and state != AFTER:
        return forward_step(file, found)
    return None


def _shown(outcome: str, file: JournalFile, state: str) -> RecoveredFile:
    action = "keep"
    if outcome == BACK and state not in {BEFORE, CHANGED}:
        action = "undo"
    elif outcome == FORWARD and state not in {AFTER, CHANGED}:
        action = "complete"
    return RecoveredFile(file.label, state, action)


def _described(file: RecoveredFile) -> Operation:
    words = {"undo": "Undo the change", "complete": "Complete the change"}
    return Operation(f"{words.get(file.action, 'Keep the file')} (now: {file.state})", file.path)


def _ending(recovery: Recovery) -> list[Operation]:
    if recovery.outcome == BLOCKED:
        return []
    private = recovery.found is not None and recovery.found.private
    if not private and (recovery.outcome == KEEP or recovery.keeps_unknown):
        return [Operation("Keep the journal for 7 more days, out of the way")]
    return [Operation("Remove the journal and its temporaries")]


def _blockers(project: Project, recovery: Recovery) -> list[Blocker]:
    if recovery.outcome != BLOCKED:
        return []
    accept = project.command("recover", "--accept-current")
    return [
        Blocker(
            "changed_since",
            "the file is neither as it was before the interrupted change nor as it should be after",
            file.path,
            f"to keep every file as it is, run `{accept}`; to move the other files only, add"
            " `--direction forward` or `--direction back`",
        )
        for file in recovery.files
        if file.state == CHANGED
    ]


def _damaged(project: Project, found: FoundJournal) -> Blocker:
    accept = project.command("recover", "--accept-current")
    return Blocker(
        "damaged_journal",
        f"the journal cannot be used ({found.problem})",
        found.path.name,
        f"check the files, then run `{accept}`",
    )


def place_of(project: Project, found: FoundJournal | None) -> tuple[Project, FoundJournal | None]:
    """Return the project as the journal's paths see it, and the journal as it can be used there."""
    journal = None if found is None else found.journal
    if found is None or journal is None:
        return project, found
    place = project.rebased(journal.memory_dir)
    if place is None:
        renamed = f"the memory directory was `{journal.memory_dir}` then"
        return project, found._replace(journal=None, problem=renamed)
    return place, found
