"""The decision table of rule 2.6 with real files: every row, with and without the flag."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import pytest
from mc_lock import (
    Effects,
    Host,
    LockError,
    LockHeldError,
    LockTimeoutError,
    MalformedLockError,
    MutationLock,
    ProcessState,
    StaleLockError,
    StateDirectory,
    UnsafeLockError,
    acquire_mutation_lock,
    format_owner,
)
from mc_lock.testing import EPOCH, FakeClock, fake_effects, lock_path, owner_record, write_lock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PROJECT = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
OTHER = "16fd2706-8baf-433b-82eb-8c7fada847da"
FLAG = "--break-stale-lock"
HERE = Host(pid=10, hostname="here", start="boot:10", machine=None, namespace=1)
OWNER = HERE._replace(pid=20, start="boot:20")
RECORD = owner_record(project_id=PROJECT, host=OWNER)
ALIVE = {20: ProcessState(alive=True, start="boot:20")}
REUSED = {20: ProcessState(alive=True, start="boot:99")}
GONE: dict[int, ProcessState] = {}


class Row(NamedTuple):
    """What lies there, who runs, how old it is, and what must come of it."""

    make: Callable[[Path], None]
    age: float
    processes: dict[int, ProcessState]
    plain: tuple[type[LockError], int, bool, str]
    """Error, row, waited the whole time, part of the hint."""
    flag: tuple[type[LockError], int, bool, str] | None
    """The same with the flag; ``None``: broken, acquired."""


def lock(content: object) -> Callable[[Path], None]:
    return lambda path: write_lock(path, content)  # type: ignore[arg-type]


def loosened(mode: int) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        write_lock(path, b"")
        path.chmod(mode)

    return make


def twice_named(path: Path) -> None:
    write_lock(path, b"")
    os.link(path, path.with_suffix(".twin"))


def link_to_victim(path: Path) -> None:
    victim = path.with_name("victim")
    write_lock(victim, b"precious")
    path.symlink_to(victim)


def dangling_link(path: Path) -> None:
    path.symlink_to(path.with_name("nowhere"))


T, H, S, M, U = (
    LockTimeoutError,
    LockHeldError,
    StaleLockError,
    MalformedLockError,
    UnsafeLockError,
)
THERE = RECORD._replace(hostname="there")
TABLE = [
    pytest.param(
        Row(lock(RECORD), 5, ALIVE, (T, 1, True, "pid 20"), (T, 1, True, "pid 20")), id="1-alive"
    ),
    pytest.param(
        Row(
            lock(RECORD._replace(start=None)),
            5,
            REUSED,
            (T, 1, True, "pid 20"),
            (T, 1, True, "pid 20"),
        ),
        id="1-start-unknown",
    ),
    pytest.param(Row(lock(RECORD), 61, GONE, (S, 2, False, FLAG), None), id="2-gone"),
    pytest.param(
        Row(lock(RECORD), 20, GONE, (S, 3, False, "wait 41 s"), (S, 3, False, "wait 41 s")),
        id="3-gone-young",
    ),
    pytest.param(
        Row(lock(RECORD), 60, GONE, (S, 3, False, "wait 1 s"), (S, 3, False, "wait 1 s")),
        id="3-gone-at-the-limit",
    ),
    pytest.param(
        Row(
            lock(RECORD),
            -(10**6),
            GONE,
            (S, 3, False, "by hand"),
            (S, 3, False, "by hand"),
        ),
        id="3-gone-stamp-far-in-the-future",
    ),
    pytest.param(Row(lock(RECORD), 61, REUSED, (S, 4, False, FLAG), None), id="4-reused"),
    pytest.param(
        Row(lock(RECORD), 59, REUSED, (S, 4, False, FLAG), (S, 4, False, "wait 2 s")),
        id="4-reused-young",
    ),
    pytest.param(
        Row(lock(THERE), 10**6, GONE, (T, 5, True, "`there`"), (H, 5, False, "by hand")),
        id="5-other-hostname",
    ),
    pytest.param(
        Row(
            lock(RECORD._replace(ns=2)), 99, GONE, (T, 5, True, "`here`"), (H, 5, False, "by hand")
        ),
        id="5-other-namespace",
    ),
    pytest.param(
        Row(lock(b""), 10.5, GONE, (T, 6, True, "wait 280 s"), (T, 6, True, FLAG)),
        id="6-empty-10-s",
    ),
    pytest.param(
        Row(lock(b'{"pid"'), 250.5, GONE, (T, 6, True, "wait 40 s"), (T, 6, True, FLAG)),
        id="6-cut-250-s",
    ),
    pytest.param(Row(lock(b""), 301, GONE, (M, 7, False, FLAG), None), id="7-empty-301-s"),
    pytest.param(
        Row(lock(format_owner(RECORD) + b" " * 70_000), 301, ALIVE, (M, 7, False, FLAG), None),
        id="7-too-large",
    ),
    pytest.param(
        Row(lock(RECORD._replace(project_id=None)), 301, ALIVE, (M, 7, False, FLAG), None),
        id="7-project-lock-without-project",
    ),
    pytest.param(
        Row(loosened(0o644), 301, GONE, (M, 8, False, "yourself"), (M, 8, False, "yourself")),
        id="8-open-to-others",
    ),
    pytest.param(
        Row(twice_named, 301, GONE, (M, 8, False, "yourself"), (M, 8, False, "yourself")),
        id="8-second-name",
    ),
    pytest.param(
        Row(link_to_victim, 301, GONE, (U, 9, False, "remove"), (U, 9, False, "remove")),
        id="9-symlink",
    ),
    pytest.param(
        Row(dangling_link, 301, GONE, (U, 9, False, "remove"), (U, 9, False, "remove")),
        id="9-dangling-symlink",
    ),
    pytest.param(
        Row(os.mkdir, 301, GONE, (U, 9, False, "remove"), (U, 9, False, "remove")),
        id="9-directory",
    ),
    pytest.param(
        Row(os.mkfifo, 301, GONE, (U, 9, False, "remove"), (U, 9, False, "remove")), id="9-fifo"
    ),
    pytest.param(
        Row(
            lock(RECORD._replace(project_id=OTHER)),
            301,
            GONE,
            (U, 11, False, "remove"),
            (U, 11, False, "remove"),
        ),
        id="11-misnamed",
    ),
]


class Attempt(NamedTuple):
    state: StateDirectory
    memory: Path
    clock: FakeClock
    notes: list[str]

    def acquire(self, effects: Effects, *, break_stale: bool) -> MutationLock:
        return acquire_mutation_lock(
            self.state,
            read_identity=lambda: PROJECT,
            memory_dir=self.memory,
            project_root=self.memory,
            command="add",
            notify=self.notes.append,
            break_stale=break_stale,
            effects=effects,
        )


@pytest.fixture
def attempt(state: StateDirectory, project: Path, clock: FakeClock) -> Attempt:
    return Attempt(state, project / "docs" / "memory", clock, [])


def snapshot(folder: Path) -> list[tuple[str, int, bytes]]:
    return [
        (path.name, path.lstat().st_ino, path.read_bytes() if path.is_file() else b"")
        for path in sorted(folder.iterdir())
    ]


def refused(
    attempt: Attempt,
    row: Row,
    expected: tuple[type[LockError], int, bool, str],
    *,
    break_stale: bool,
) -> None:
    error, number, waited, hint = expected
    path = lock_path(attempt.state, PROJECT, attempt.memory)
    before = snapshot(attempt.state.locks)
    effects = fake_effects(attempt.clock, host=HERE, processes=row.processes)

    with pytest.raises(error) as caught:
        attempt.acquire(effects, break_stale=break_stale)

    assert type(caught.value) is error
    assert number == caught.value.row
    assert hint in caught.value.hint
    assert str(path) == caught.value.where
    assert "\n" not in caught.value.what + caught.value.hint
    assert waited == (attempt.clock.elapsed == pytest.approx(10.0))
    assert waited or attempt.clock.pauses == []
    assert before == snapshot(attempt.state.locks)
    assert attempt.notes == []


def prepare(attempt: Attempt, row: Row) -> Path:
    path = lock_path(attempt.state, PROJECT, attempt.memory)
    row.make(path)
    attempt.clock.wall = EPOCH + row.age
    return path


@pytest.mark.parametrize("row", TABLE)
def test_plain_command_never_breaks(attempt: Attempt, row: Row) -> None:
    prepare(attempt, row)

    refused(attempt, row, row.plain, break_stale=False)


@pytest.mark.parametrize("row", TABLE)
def test_flag_breaks_only_what_the_table_allows(attempt: Attempt, row: Row) -> None:
    path = prepare(attempt, row)
    if row.flag is not None:
        refused(attempt, row, row.flag, break_stale=True)
        return
    effects = fake_effects(attempt.clock, host=HERE, processes=row.processes)

    with attempt.acquire(effects, break_stale=True) as held:
        assert held.still_ours()
        assert [path] == list(attempt.state.locks.iterdir())

    assert list(attempt.state.locks.iterdir()) == []
    assert attempt.clock.pauses == []
    [note] = attempt.notes
    assert str(path) in note
    assert "memory-custodian check" in note


def test_broken_lock_is_described_by_its_former_owner(attempt: Attempt) -> None:
    write_lock(lock_path(attempt.state, PROJECT, attempt.memory), RECORD)
    attempt.clock.wall = EPOCH + 75
    effects = fake_effects(attempt.clock, host=HERE, processes=GONE)

    attempt.acquire(effects, break_stale=True).release()

    [note] = attempt.notes
    assert all(part in note for part in ("pid 20", "`here`", "`add`", "75 s"))


def test_waiting_refusal_names_pid_command_and_age(attempt: Attempt) -> None:
    write_lock(lock_path(attempt.state, PROJECT, attempt.memory), RECORD)
    attempt.clock.wall = EPOCH + 5.5
    effects = fake_effects(attempt.clock, host=HERE, processes=ALIVE)

    with pytest.raises(LockTimeoutError) as caught:
        attempt.acquire(effects, break_stale=False)

    assert all(part in caught.value.what for part in ("pid 20", "`add`", "15 s"))
    assert caught.value.holder is not None
    assert (caught.value.holder.pid, caught.value.holder.state) == (20, "alive")


def test_misnamed_lock_is_refused_with_both_names(attempt: Attempt) -> None:
    path = lock_path(attempt.state, PROJECT, attempt.memory)
    write_lock(path, RECORD._replace(project_id=OTHER))

    with pytest.raises(UnsafeLockError) as caught:
        attempt.acquire(fake_effects(attempt.clock), break_stale=True)

    assert OTHER in caught.value.what
    assert PROJECT in caught.value.what


def test_guard_that_names_a_project_is_misnamed(attempt: Attempt) -> None:
    """A guard holds no project id; with one inside, somebody renamed another lock."""
    from mc_lock.holder import look_at_lock
    from mc_lock.place import guard_key

    key = guard_key(attempt.memory)
    path = lock_path(attempt.state, None, attempt.memory)
    found = []
    for project_id in (None, "", key, PROJECT):
        write_lock(path, RECORD._replace(project_id=project_id))
        sighting = look_at_lock(str(path), key, fake_effects(attempt.clock, host=HERE))
        assert sighting is not None
        found.append(sighting.facts.name_matches)

    assert found == [True, True, True, False]


def test_pid_of_another_place_is_never_asked_about(attempt: Attempt) -> None:
    """Here that number may be some other process."""
    write_lock(lock_path(attempt.state, PROJECT, attempt.memory), THERE)

    def examine(pid: int) -> ProcessState:
        pytest.fail(f"asked about {pid}")

    effects = fake_effects(attempt.clock, host=HERE)._replace(examine=examine)

    with pytest.raises(LockHeldError):
        attempt.acquire(effects, break_stale=True)


def test_project_id_inside_may_be_spelled_in_capitals(attempt: Attempt) -> None:
    path = lock_path(attempt.state, PROJECT, attempt.memory)
    write_lock(path, RECORD._replace(project_id=PROJECT.upper()))
    attempt.clock.wall = EPOCH + 61
    effects = fake_effects(attempt.clock, host=HERE, processes=GONE)

    attempt.acquire(effects, break_stale=True).release()

    assert list(attempt.state.locks.iterdir()) == []


def test_well_formed_lock_is_judged_by_the_table_whatever_its_mode(attempt: Attempt) -> None:
    """Privacy of the file is asked of malformed locks only: a record can be checked otherwise."""
    path = lock_path(attempt.state, PROJECT, attempt.memory)
    write_lock(path, RECORD)
    path.chmod(0o644)
    attempt.clock.wall = EPOCH + 61
    effects = fake_effects(attempt.clock, host=HERE, processes=GONE)

    attempt.acquire(effects, break_stale=True).release()

    assert list(attempt.state.locks.iterdir()) == []


def test_lock_of_another_user_is_refused(attempt: Attempt) -> None:
    """Only root can make such a file; everybody can meet one through a directory of root's."""
    path = lock_path(attempt.state, PROJECT, attempt.memory)
    if os.geteuid() != 0:
        from mc_lock.holder import look_at_lock

        sighting = look_at_lock("/etc/passwd", PROJECT, fake_effects(attempt.clock))
        assert sighting is not None
        assert (sighting.facts.owned, sighting.stamp) == (False, None)
        return
    write_lock(path, RECORD)
    os.chown(path, 12345, 12345)
    attempt.clock.wall = EPOCH + 301
    row = Row(lock(RECORD), 301, GONE, (U, 10, False, "uid 12345"), (U, 10, False, "uid 12345"))

    refused(attempt, row, row.plain, break_stale=False)
    refused(attempt, row, row.plain, break_stale=True)


def test_locks_folder_that_is_a_link_is_refused(attempt: Attempt, tmp_path: Path) -> None:
    from mc_lock import StateError

    attempt.state.locks.rmdir()
    (tmp_path / "elsewhere").mkdir()
    attempt.state.locks.symlink_to(tmp_path / "elsewhere")

    for break_stale in (False, True):
        with pytest.raises(StateError, match="symbolic link"):
            attempt.acquire(fake_effects(attempt.clock), break_stale=break_stale)

    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_flag_without_a_lock_changes_nothing(attempt: Attempt) -> None:
    with attempt.acquire(fake_effects(attempt.clock), break_stale=True) as held:
        assert held.still_ours()

    assert attempt.notes == []


def test_owner_that_ends_while_we_wait_is_refused_at_once(attempt: Attempt) -> None:
    """It will not come back to release the lock, so the rest of the wait would be useless."""
    write_lock(lock_path(attempt.state, PROJECT, attempt.memory), RECORD)
    processes = dict(ALIVE)
    attempt.clock.on_sleep = processes.clear

    with pytest.raises(StaleLockError):
        attempt.acquire(
            fake_effects(attempt.clock, host=HERE, processes=processes), break_stale=False
        )

    assert len(attempt.clock.pauses) == 1


def test_owner_that_releases_and_ends_is_no_stale_owner(attempt: Attempt) -> None:
    """Its lock may be read just before it is released, and its process asked about just after."""
    path = lock_path(attempt.state, PROJECT, attempt.memory)
    write_lock(path, RECORD)
    effects = fake_effects(attempt.clock, host=HERE, processes=GONE)

    def examine(pid: int) -> ProcessState:
        path.unlink(missing_ok=True)
        return effects.examine(pid)

    with attempt.acquire(effects._replace(examine=examine), break_stale=False) as held:
        assert held.still_ours()


def test_hostile_record_cannot_steer_the_terminal(attempt: Attempt) -> None:
    hostile = RECORD._replace(command="\x1b[2J\nerror: " + "x" * 500, hostname="h\x07\u202e")
    write_lock(lock_path(attempt.state, PROJECT, attempt.memory), hostile)
    attempt.clock.wall = EPOCH + 61

    with pytest.raises(LockError) as caught:
        attempt.acquire(fake_effects(attempt.clock, host=HERE, processes=GONE), break_stale=False)

    assert caught.value.what.isprintable()
    assert len(caught.value.what) < 300
