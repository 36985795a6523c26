from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Any

import pytest
from mc_lock import (
    Effects,
    FileCalls,
    Host,
    LockError,
    LockTimeoutError,
    MutationLock,
    NestedLockError,
    ProcessState,
    SignalGuard,
    SignalReceivedError,
    StaleLockError,
    StateDirectory,
    StateError,
    acquire_mutation_lock,
    parse_owner,
    resolve_state_directory,
    this_host,
)
from mc_lock.testing import EPOCH, FakeClock, fake_effects, lock_path, owner_record, write_lock

if TYPE_CHECKING:
    from pathlib import Path

PROJECT = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
OTHER = "16fd2706-8baf-433b-82eb-8c7fada847da"
PEER = Host(pid=20, hostname="h", start=None, machine=None, namespace=None)
ALIVE = {20: ProcessState(alive=True, start=None)}


class Site:
    """A project, its identity as the manifest has it, and a way to lock it."""

    def __init__(self, state: StateDirectory, project: Path, clock: FakeClock) -> None:
        self.state = state
        self.project = project
        self.memory = project / "docs" / "memory"
        self.clock = clock
        self.identity: str | None = None
        self.notes: list[str] = []
        self.effects = fake_effects(clock, host=PEER._replace(pid=10), processes=ALIVE)

    def acquire(self, **options: Any) -> MutationLock:
        chosen = {
            "read_identity": lambda: self.identity,
            "memory_dir": self.memory,
            "project_root": self.project,
            "command": "add",
            "notify": self.notes.append,
            "effects": self.effects,
            **options,
        }
        return acquire_mutation_lock(self.state, **chosen)

    def path_of(self, project_id: str | None) -> Path:
        return lock_path(self.state, project_id, self.memory)

    def held_by_peer(self, project_id: str | None, *, written: float = EPOCH) -> Path:
        path = self.path_of(project_id)
        write_lock(
            path, owner_record(project_id=project_id, host=PEER, created=written), written=written
        )
        return path

    @property
    def locks(self) -> list[Path]:
        return sorted(self.state.locks.iterdir())


@pytest.fixture
def site(state: StateDirectory, project: Path, clock: FakeClock) -> Site:
    return Site(state, project, clock)


def test_lock_is_held_inside_the_with_statement(site: Site) -> None:
    with site.acquire() as lock:
        assert lock.still_ours()
        assert [site.path_of(None)] == site.locks
        assert (str(site.path_of(None)),) == lock.paths

    assert site.locks == []
    assert not lock.still_ours()
    assert site.notes == []


def test_lock_of_a_project_is_named_by_its_id(site: Site) -> None:
    site.identity = PROJECT.upper()

    with site.acquire() as lock:
        assert [site.state.locks / f"{PROJECT}.lock"] == site.locks
        assert lock.project_id == PROJECT


def test_invalid_project_id_is_no_file_name(site: Site) -> None:
    site.identity = "../../../etc/x"

    with site.acquire() as lock:
        assert [site.path_of(None)] == site.locks
        assert lock.project_id is None


def test_record_names_the_owner_and_no_arguments(site: Site) -> None:
    site.identity = PROJECT
    with site.acquire(command="forget") as lock:
        record = parse_owner(site.path_of(PROJECT).read_bytes())

        assert record is not None
        assert lock.still_ours()
        assert (PROJECT, str(site.project), 10, "h", "forget") == (
            record.project_id,
            record.project_root,
            record.pid,
            record.hostname,
            record.command,
        )
        assert record.token is not None
        assert len(record.token) == 32


def test_real_record_says_which_process_this_is(site: Site) -> None:
    with site.acquire(effects=Effects()):
        record = parse_owner(site.path_of(None).read_bytes())

    host = this_host()

    assert record is not None
    assert (host.pid, host.start, host.machine, host.namespace) == (
        record.pid,
        record.start,
        record.machine,
        record.ns,
    )


def test_nothing_is_ever_made_in_the_project(site: Site) -> None:
    with site.acquire():
        assert [site.memory] == list((site.project / "docs").iterdir())
        assert list(site.memory.iterdir()) == []


def test_lock_is_released_when_the_body_fails(site: Site) -> None:
    with pytest.raises(KeyError), site.acquire():
        raise KeyError

    assert site.locks == []


def test_second_release_does_nothing(site: Site) -> None:
    lock = site.acquire()
    lock.release()
    site.held_by_peer(None)

    lock.release()

    assert [site.path_of(None)] == site.locks
    assert site.notes == []


def test_lock_that_was_replaced_is_left_and_reported(site: Site) -> None:
    lock = site.acquire()
    site.path_of(None).unlink()
    site.held_by_peer(None)

    assert not lock.still_ours()

    lock.release()

    assert [site.path_of(None)] == site.locks
    assert str(site.path_of(None)) in site.notes[0]


def test_failed_unlink_is_a_warning(site: Site) -> None:
    def unlink(_path: str) -> None:
        raise OSError(errno.EROFS, "read-only")

    files = FileCalls(unlink=unlink)

    site.acquire(effects=site.effects._replace(files=files)).release()

    assert "EROFS" in site.notes[0]


def test_second_acquire_in_one_process_is_an_error_and_no_wait(site: Site) -> None:
    with site.acquire() as lock:
        with pytest.raises(NestedLockError):
            site.acquire()

        assert lock.still_ours()
        assert site.clock.pauses == []
    with site.acquire():
        pass


def test_second_acquire_under_another_spelling_is_an_error_too(site: Site, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(site.state.path.parent)
    with site.acquire():
        site.state = StateDirectory(tmp_path / "link" / site.state.path.name)

        with pytest.raises(NestedLockError):
            site.acquire()
    site.acquire().release()
    site.acquire().release()


def test_failed_acquire_may_be_repeated(site: Site) -> None:
    path = site.held_by_peer(None)
    with pytest.raises(LockTimeoutError):
        site.acquire(timeout_seconds=0)
    path.unlink()

    site.acquire().release()


def test_two_projects_do_not_exclude_each_other(site: Site) -> None:
    site.identity = PROJECT
    with site.acquire(), site.acquire(read_identity=lambda: OTHER):
        assert len(site.locks) == 2


def test_forked_child_holds_and_releases_nothing(site: Site) -> None:
    lock = site.acquire(effects=Effects())
    child = os.fork()
    if child == 0:
        still_ours = lock.still_ours()
        lock.release()
        os._exit(1 if still_ours else 0)

    _, status = os.waitpid(child, 0)

    assert os.waitstatus_to_exitcode(status) == 0
    assert lock.still_ours()
    lock.release()
    assert site.locks == []


def test_forked_child_waits_like_a_stranger(site: Site) -> None:
    lock = site.acquire(effects=Effects())
    child = os.fork()
    if child == 0:
        try:
            site.acquire(effects=Effects(), timeout_seconds=0)
        except LockTimeoutError:
            os._exit(0)
        finally:
            os._exit(1)

    _, status = os.waitpid(child, 0)
    lock.release()

    assert os.waitstatus_to_exitcode(status) == 0


def test_waiting_retries_every_100_to_250_ms_until_the_deadline(site: Site) -> None:
    site.held_by_peer(None)

    with pytest.raises(LockTimeoutError):
        site.acquire()

    assert all(0.10 <= pause <= 0.25 for pause in site.clock.pauses[:-1])
    assert sum(site.clock.pauses) == pytest.approx(10.0)
    assert 40 <= len(site.clock.pauses) <= 101


def test_zero_timeout_tries_once(site: Site) -> None:
    site.held_by_peer(None)

    with pytest.raises(LockTimeoutError):
        site.acquire(timeout_seconds=0)

    assert site.clock.pauses == []


def test_lock_that_becomes_free_is_taken(site: Site) -> None:
    path = site.held_by_peer(None)
    site.clock.on_sleep = lambda: path.unlink() if len(site.clock.pauses) == 3 else None

    with site.acquire() as lock:
        assert lock.still_ours()

    assert len(site.clock.pauses) == 3


def test_wall_clock_jumps_do_not_change_the_wait(site: Site) -> None:
    site.held_by_peer(None)

    def jump() -> None:
        site.clock.wall -= 3600

    site.clock.on_sleep = jump

    with pytest.raises(LockTimeoutError):
        site.acquire()

    assert sum(site.clock.pauses) == pytest.approx(10.0)


def test_identity_that_changed_while_waiting_leads_to_the_right_lock(site: Site) -> None:
    """A migration gave the project its id while we waited for the guard."""
    path = site.held_by_peer(None)

    def migrated() -> None:
        site.identity = PROJECT
        path.unlink()

    site.clock.on_sleep = migrated

    with site.acquire() as lock:
        assert lock.project_id == PROJECT
        assert [site.path_of(PROJECT)] == site.locks


def test_changed_identity_keeps_the_first_deadline(site: Site) -> None:
    guard = site.held_by_peer(None)
    site.held_by_peer(PROJECT)

    def migrated() -> None:
        if site.clock.elapsed > 6 and guard.exists():
            guard.unlink()
            site.identity = PROJECT

    site.clock.on_sleep = migrated

    with pytest.raises(LockTimeoutError) as caught:
        site.acquire()

    assert str(site.path_of(PROJECT)) == caught.value.where
    assert sum(site.clock.pauses) == pytest.approx(10.0)


def test_identity_that_never_settles_is_refused(site: Site) -> None:
    answers = iter([PROJECT, OTHER] * 1000)

    with pytest.raises(LockError) as caught:
        site.acquire(read_identity=lambda: next(answers))

    assert caught.value.code == "identity_unsettled"
    assert site.locks == []


def test_memory_directory_that_moved_while_waiting_is_locked_where_it_is(
    site: Site, tmp_path: Path
) -> None:
    moved = tmp_path / "moved"
    moved.mkdir()
    path = site.held_by_peer(None)

    def move() -> None:
        path.unlink()
        site.memory.rmdir()
        site.memory.symlink_to(moved)

    site.clock.on_sleep = move

    with site.acquire():
        assert [lock_path(site.state, None, moved)] == site.locks


def test_guard_of_the_place_a_project_moved_to_is_respected(site: Site, tmp_path: Path) -> None:
    site.identity = PROJECT
    moved = tmp_path / "moved"
    moved.mkdir()
    guard = lock_path(site.state, None, moved)
    write_lock(guard, owner_record(host=PEER))
    path = site.held_by_peer(PROJECT)

    def move() -> None:
        if path.exists():
            path.unlink()
            site.memory.rmdir()
            site.memory.symlink_to(moved)

    site.clock.on_sleep = move

    with pytest.raises(LockTimeoutError) as caught:
        site.acquire()

    assert str(guard) == caught.value.where


def test_unreadable_manifest_after_acquiring_releases(site: Site) -> None:
    answers = iter([PROJECT])

    def read_identity() -> str:
        try:
            return next(answers)
        except StopIteration:
            raise ValueError("unreadable") from None

    with pytest.raises(ValueError, match="unreadable"):
        site.acquire(read_identity=read_identity)

    assert site.locks == []


def test_guard_of_the_place_excludes_a_project_too(site: Site) -> None:
    """A migration may still be renaming files although the new id can be read already."""
    site.identity = PROJECT
    guard = site.held_by_peer(None)

    with pytest.raises(LockTimeoutError) as caught:
        site.acquire()

    assert str(guard) == caught.value.where
    assert sum(site.clock.pauses) == pytest.approx(10.0)
    assert [guard] == site.locks


def test_project_lock_is_free_while_waiting_for_the_guard(site: Site) -> None:
    """The guard's owner needs that very lock before it can finish."""
    site.identity = PROJECT
    guard = site.held_by_peer(None)
    seen: list[list[Path]] = []

    def look() -> None:
        seen.append(site.locks)
        if len(seen) == 3:
            guard.unlink()

    site.clock.on_sleep = look

    with site.acquire() as lock:
        assert lock.still_ours()

    assert [[guard]] * 3 == seen


def test_guard_of_another_place_excludes_nobody(site: Site, tmp_path: Path) -> None:
    site.identity = PROJECT
    write_lock(lock_path(site.state, None, tmp_path), owner_record(host=PEER))

    with site.acquire():
        pass

    assert site.clock.pauses == []


def test_stale_guard_is_judged_by_the_same_table_and_covered_by_the_same_flag(
    site: Site,
) -> None:
    site.identity = PROJECT
    guard = site.held_by_peer(None)
    site.clock.wall = EPOCH + 61
    site.effects = fake_effects(site.clock, host=PEER._replace(pid=10), processes={})

    with pytest.raises(StaleLockError) as caught:
        site.acquire()
    with site.acquire(break_stale=True) as lock:
        assert [site.path_of(PROJECT)] == site.locks
        assert lock.still_ours()

    assert (str(guard), 2) == (caught.value.where, caught.value.row)
    assert len(site.notes) == 1


def test_stale_lock_and_stale_guard_are_both_broken(site: Site) -> None:
    site.identity = PROJECT
    site.held_by_peer(None)
    site.held_by_peer(PROJECT)
    site.clock.wall = EPOCH + 61
    site.effects = fake_effects(site.clock, host=PEER._replace(pid=10), processes={})

    site.acquire(break_stale=True).release()

    assert len(site.notes) == 2
    assert site.locks == []


def test_migration_holds_guard_and_new_id(site: Site) -> None:
    with site.acquire() as lock:
        lock.also_lock_project(PROJECT.upper())

        assert sorted([site.path_of(None), site.path_of(PROJECT)]) == site.locks
        assert lock.project_id == PROJECT
        assert lock.still_ours()

        site.path_of(PROJECT).unlink()

        assert not lock.still_ours()

    assert site.locks == []


def test_migration_waits_for_the_new_id_and_keeps_the_guard(site: Site) -> None:
    with site.acquire() as lock:
        site.held_by_peer(PROJECT)

        with pytest.raises(LockTimeoutError):
            lock.also_lock_project(PROJECT)

        assert lock.still_ours()
        assert lock.project_id is None


def test_flag_covers_the_second_lock_of_a_migration(site: Site) -> None:
    site.held_by_peer(PROJECT)
    site.clock.wall = EPOCH + 61
    site.effects = fake_effects(site.clock, host=PEER._replace(pid=10), processes={})

    with site.acquire(break_stale=True) as lock:
        lock.also_lock_project(PROJECT)

        assert lock.still_ours()


def test_second_lock_must_be_a_uuid(site: Site) -> None:
    with site.acquire() as lock, pytest.raises(ValueError, match="UUID"):
        lock.also_lock_project("../x")


def test_owner_of_the_guard_cannot_wait_for_itself(site: Site) -> None:
    with site.acquire(), pytest.raises(NestedLockError):
        site.acquire(read_identity=lambda: PROJECT)


def test_pending_signal_ends_the_wait(site: Site) -> None:
    site.held_by_peer(None)
    guard = SignalGuard()
    site.clock.on_sleep = lambda: guard.note(15)

    with pytest.raises(SignalReceivedError) as caught:
        site.acquire(guard=guard)

    assert caught.value.signum == 15
    assert len(site.clock.pauses) == 1


def test_missing_state_is_made(site: Site, tmp_path: Path) -> None:
    site.state = StateDirectory(tmp_path / "new" / "state")

    site.acquire().release()

    assert site.state.locks.is_dir()


def test_fallback_that_turned_out_necessary_is_told(site: Site, tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    environ = {"XDG_STATE_HOME": str(tmp_path / "x"), "TMPDIR": str(tmp_path / "tmp")}
    site.state = resolve_state_directory(site.project, environ=environ)
    (tmp_path / "x").symlink_to(tmp_path / "nowhere")

    with site.acquire() as lock:
        assert site.state.spare == lock.state

    assert [lock.state.fallback] == site.notes


def test_unsafe_state_is_refused_before_anything_is_written(site: Site) -> None:
    site.state.locks.rmdir()
    site.state.locks.write_text("")

    with pytest.raises(StateError):
        site.acquire()

    assert site.state.locks.read_text() == ""


def test_leftovers_are_swept_while_the_lock_is_held(site: Site) -> None:
    aside = site.state.locks / ".broken-0"
    aside.write_text("")
    site.clock.wall = aside.stat().st_ctime + 301

    with site.acquire():
        assert not aside.exists()


def test_lock_is_judged_again_when_it_is_our_turn_to_break(site: Site) -> None:
    """Whoever had the turn before has made a living lock of its own here meanwhile."""
    from mc_lock.contest import Request, _break_in_turn
    from mc_lock.place import guard_key

    path = site.held_by_peer(None)
    key = guard_key(site.memory)
    request = Request(
        site.state, key, "/p", "add", site.notes.append, 10.0, True, None, site.effects
    )

    assert _break_in_turn(request, str(path), key, request.new_deadline()) is None
    assert [path] == site.locks


def test_turn_of_another_breaker_is_waited_for(site: Site) -> None:
    from mc_lock.breaking import breaking_turn

    site.held_by_peer(None)
    site.clock.wall = EPOCH + 61
    site.effects = fake_effects(site.clock, host=PEER._replace(pid=10), processes={})

    with breaking_turn(str(site.state.locks)), pytest.raises(LockTimeoutError):
        site.acquire(break_stale=True)

    assert sum(site.clock.pauses) == pytest.approx(10.0)
    assert [site.path_of(None)] == site.locks


def test_file_system_error_while_breaking_is_a_refusal(site: Site) -> None:
    def rename(_source: str, _target: str) -> None:
        raise OSError(errno.EIO, "broken drive")

    site.held_by_peer(None)
    site.clock.wall = EPOCH + 61
    site.effects = fake_effects(
        site.clock, host=PEER._replace(pid=10), processes={}, files=FileCalls(rename=rename)
    )

    with pytest.raises(LockError, match="EIO"):
        site.acquire(break_stale=True)

    assert [site.path_of(None)] == site.locks
