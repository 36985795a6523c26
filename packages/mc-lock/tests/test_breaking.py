"""Breaking (rule 2.7), stepped through every interleaving of two breakers and a newcomer."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from mc_lock import Effects, FileCalls, Host, LockDisplacedError, ProcessState, StateDirectory
from mc_lock.breaking import (
    ASIDE_PREFIX,
    break_lock,
    breaking_steps,
    breaking_turn,
    sweep_leftovers,
)
from mc_lock.holder import look_at_lock
from mc_lock.lock_file import LockFile, create_lock_file, is_still_ours
from mc_lock.testing import EPOCH, FakeClock, fake_effects, owner_record, write_lock
from mc_lock.verdict import judge

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from mc_lock.holder import Stamp

PROJECT = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
DEAD = owner_record(
    project_id=PROJECT, host=Host(pid=99, hostname="h", start="s:99", machine=None, namespace=1)
)
PROCESSES = {pid: ProcessState(alive=True, start=f"s:{pid}") for pid in (1, 2, 3)}


class World:
    """One lock folder with a dead owner's lock, and what became of each contender."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = str(folder / f"{PROJECT}.lock")
        self.held: dict[int, LockFile] = {}
        self.ends: dict[int, str] = {}
        self.clock = FakeClock(EPOCH + 100)

    def reset(self) -> None:
        for path in self.folder.iterdir():
            path.unlink()
        write_lock(self.folder / f"{PROJECT}.lock", DEAD)
        self.held.clear()
        self.ends.clear()

    def effects(self, pid: int) -> Effects:
        # Syncing thousands of files would only cost time here.
        return fake_effects(
            self.clock,
            host=Host(pid=pid, hostname="h", start=f"s:{pid}", machine=None, namespace=1),
            processes=PROCESSES,
            files=FileCalls(fsync=lambda _descriptor: None),
        )

    def try_to_create(self, pid: int) -> bool:
        host = self.effects(pid).host()
        record = owner_record(project_id=PROJECT, host=host)._replace(token=f"{pid:032}")
        lock = create_lock_file(self.path, record, self.effects(pid))
        if lock is not None:
            self.held[pid] = lock
            self.ends[pid] = "holds"
        return lock is not None

    def newcomer(self, pid: int) -> Generator[str, None, None]:
        yield "create"
        if not self.try_to_create(pid):
            self.ends[pid] = "waits"

    def breaker(self, pid: int) -> Generator[str, None, None]:
        """A process that has found the dead owner's lock and was told to break it."""
        stamp = self.judged(pid)
        while stamp is not None:
            try:
                yield from breaking_steps(self.path, stamp, self.effects(pid))
            except LockDisplacedError:
                self.ends[pid] = "refuses"
                return
            yield "create"
            if self.try_to_create(pid):
                return
            yield "judge"
            stamp = self.judged(pid)
        self.ends[pid] = "waits"

    def judged(self, pid: int) -> Stamp | None:
        sighting = look_at_lock(self.path, PROJECT, self.effects(pid))
        if sighting is None or judge(sighting.facts, break_stale=True).action != "break":
            return None
        return sighting.stamp


class Outcome(NamedTuple):
    schedule: tuple[int, ...]
    ends: dict[int, str]
    believers: list[int]
    owners: list[int]
    tokens: set[str]
    in_place: bool


def run(world: World, schedule: tuple[int, ...]) -> tuple[Outcome, list[int]]:
    """Run one schedule to its end; then return what can be chosen at each of its steps."""
    world.reset()
    contenders = {1: world.breaker(1), 2: world.breaker(2), 3: world.newcomer(3)}
    for contender in contenders.values():
        next(contender)  # nobody has acted yet at the first stop
    taken: list[int] = []
    choices: list[int] = []
    while contenders:
        choice = schedule[len(taken)] if len(taken) < len(schedule) else 0
        choices.append(len(contenders))
        pid = sorted(contenders)[choice]
        taken.append(choice)
        if next(contenders[pid], None) is None:
            del contenders[pid]
    tokens = {path.read_text().partition('"token": "')[2][:32] for path in world.folder.iterdir()}
    owners = [pid for pid, lock in world.held.items() if is_still_ours(lock)]
    outcome = Outcome(
        tuple(taken),
        dict(world.ends),
        sorted(world.held),
        owners,
        tokens,
        os.path.lexists(world.path),
    )
    return outcome, choices


def outcomes(world: World) -> Iterator[Outcome]:
    """Run every schedule once, in the manner of an odometer."""
    schedule: tuple[int, ...] = ()
    while True:
        outcome, choices = run(world, schedule)
        yield outcome
        digits = list(outcome.schedule)
        while digits and digits[-1] + 1 >= choices[len(digits) - 1]:
            digits.pop()
        if not digits:
            return
        schedule = (*digits[:-1], digits[-1] + 1)


@pytest.fixture(scope="module")
def every_outcome(tmp_path_factory: pytest.TempPathFactory) -> list[Outcome]:
    return list(outcomes(World(tmp_path_factory.mktemp("locks"))))


def test_every_contender_comes_to_an_end(every_outcome: list[Outcome]) -> None:
    assert len(every_outcome) > 500
    for outcome in every_outcome:
        assert {1, 2, 3} == set(outcome.ends), outcome


def test_at_most_one_contender_finds_the_lock_still_its_own(every_outcome: list[Outcome]) -> None:
    for outcome in every_outcome:
        assert len(outcome.owners) == 1, outcome


def test_living_lock_is_never_removed_by_a_breaker(every_outcome: list[Outcome]) -> None:
    """Nobody releases here, so each lock that was ever taken must still exist somewhere."""
    for outcome in every_outcome:
        assert {f"{pid:032}" for pid in outcome.believers} <= outcome.tokens, outcome


def test_dead_lock_is_gone_in_the_end(every_outcome: list[Outcome]) -> None:
    for outcome in every_outcome:
        assert DEAD.token not in outcome.tokens, outcome
        assert outcome.in_place, outcome


def test_lock_that_could_not_be_put_back_is_reported(every_outcome: list[Outcome]) -> None:
    """Two believers are possible in the window of rule 2.7; the one that lost it can see so."""
    doubled = [outcome for outcome in every_outcome if len(outcome.believers) > 1]

    assert doubled
    for outcome in doubled:
        assert "refuses" in outcome.ends.values(), outcome


def test_exclusion_is_complete_unless_a_lock_was_displaced(every_outcome: list[Outcome]) -> None:
    for outcome in every_outcome:
        if "refuses" not in outcome.ends.values():
            assert len(outcome.believers) == 1, outcome


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    made.reset()
    return made


def steps_until(world: World, name: str) -> Generator[str, None, bool]:
    stamp = world.judged(1)
    assert stamp is not None
    steps = breaking_steps(world.path, stamp, world.effects(1))
    while next(steps) != name:
        pass
    return steps


def finish(steps: Generator[str, None, bool]) -> bool:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return bool(end.value)


def names(world: World) -> list[str]:
    return sorted(path.name for path in world.folder.iterdir())


def test_lock_is_set_aside_under_an_unpredictable_name(world: World) -> None:
    seen = set()
    for _ in range(2):
        world.reset()
        steps = steps_until(world, "look at what was set aside")
        [name] = names(world)
        seen.add(name)
        assert name.startswith(ASIDE_PREFIX)
        assert len(name) == len(ASIDE_PREFIX) + 32
        assert finish(steps)

    assert len(seen) == 2


def replace_lock(world: World) -> LockFile:
    Path(world.path).unlink()
    assert world.try_to_create(2)
    return world.held[2]


def test_lock_that_changed_before_it_was_set_aside_stays(world: World) -> None:
    stamp = world.judged(1)
    assert stamp is not None

    def rename(source: str, _target: str) -> None:
        pytest.fail(f"set aside {source}")

    effects = world.effects(1)
    never = effects._replace(files=effects.files._replace(rename=rename))
    steps = breaking_steps(world.path, stamp, never)
    living = replace_lock(world)

    assert not finish(steps)
    assert is_still_ours(living)
    assert [f"{PROJECT}.lock"] == names(world)


def test_living_lock_that_was_set_aside_is_put_back(world: World) -> None:
    steps = steps_until(world, "set aside")
    living = replace_lock(world)

    assert not finish(steps)
    assert is_still_ours(living)
    assert [f"{PROJECT}.lock"] == names(world)


def test_finished_record_is_put_back(world: World) -> None:
    """Same file, other bytes: a slow writer completed it after it had been judged malformed."""
    path = Path(world.path)
    path.write_bytes(b"")
    os.utime(world.path, (EPOCH - 400, EPOCH - 400))
    steps = steps_until(world, "set aside")
    with path.open("ab") as file:
        file.write(b"{}")

    assert not finish(steps)
    assert [f"{PROJECT}.lock"] == names(world)


def test_touched_lock_stays(world: World) -> None:
    """The age was judged by the stamp; a new stamp is a new lock."""
    steps = steps_until(world, "look once more")
    os.utime(world.path, (EPOCH + 99, EPOCH + 99))

    assert not finish(steps)
    assert [f"{PROJECT}.lock"] == names(world)


@pytest.mark.parametrize("reason", ["taken", "no hard links"])
def test_lock_that_cannot_be_put_back_is_left_aside_and_both_paths_are_named(
    world: World, reason: str
) -> None:
    stamp = world.judged(1)
    assert stamp is not None
    effects = world.effects(1)
    if reason == "no hard links":

        def link(_source: str, _target: str) -> None:
            raise OSError(errno.EPERM, "no links here")

        effects = effects._replace(files=effects.files._replace(link=link))
    steps = breaking_steps(world.path, stamp, effects)
    while next(steps) != "set aside":
        pass
    living = replace_lock(world)
    while next(steps) != "put back":
        pass
    if reason == "taken":
        assert world.try_to_create(3)

    with pytest.raises(LockDisplacedError) as caught:
        finish(steps)

    [aside] = [name for name in names(world) if name.startswith(ASIDE_PREFIX)]
    assert aside in caught.value.what
    assert world.path == caught.value.where
    assert not is_still_ours(living)
    assert living.token in (world.folder / aside).read_text()
    assert reason == "no hard links" or is_still_ours(world.held[3])


def test_lock_that_another_breaker_took_first_is_not_broken_twice(world: World) -> None:
    steps = steps_until(world, "set aside")
    Path(world.path).unlink()

    assert not finish(steps)
    assert names(world) == []


def test_dead_lock_is_broken_in_one_go(world: World) -> None:
    stamp = world.judged(1)
    assert stamp is not None

    assert break_lock(world.path, stamp, world.effects(1))
    assert names(world) == []


def test_only_one_breaker_has_the_turn(tmp_path: Path) -> None:
    with breaking_turn(str(tmp_path)) as first:
        with breaking_turn(str(tmp_path)) as second:
            assert (first, second) == (True, False)
        with breaking_turn(str(tmp_path)) as third:
            assert not third
    with breaking_turn(str(tmp_path)) as fourth:
        assert fourth


@pytest.fixture
def littered(state: StateDirectory) -> StateDirectory:
    for folder, name in (
        (state.locks, ".broken-1"),
        (state.locks, "x.lock"),
        (state.journal, ".staged-1"),
        (state.journal, "x.json"),
        (state.plans, ".staged-2"),
    ):
        (folder / name).write_text("")
    (state.locks / ".broken-folder").mkdir()
    (state.locks / ".broken-link").symlink_to(state.locks / "x.lock")
    return state


def files_in(state: StateDirectory) -> set[str]:
    return {path.name for folder in state.path.iterdir() for path in folder.iterdir()}


def test_old_leftovers_are_swept_and_nothing_else(littered: StateDirectory) -> None:
    now = (littered.locks / ".broken-1").stat().st_ctime

    sweep_leftovers(littered, fake_effects(FakeClock(now + 301)))

    assert {"x.lock", "x.json", ".broken-folder", ".broken-link"} == files_in(littered)


def test_lock_set_aside_just_now_is_not_swept(littered: StateDirectory) -> None:
    """A rename keeps the modification time, so the time of the last change counts as well."""
    before = files_in(littered)
    for path in littered.locks.glob(".broken-*"):
        os.utime(path, (EPOCH, EPOCH), follow_symlinks=False)
    now = (littered.locks / ".broken-1").stat().st_ctime

    sweep_leftovers(littered, fake_effects(FakeClock(now + 299)))

    assert before == files_in(littered)


def test_missing_folders_are_no_error_to_the_sweep(tmp_path: Path) -> None:
    sweep_leftovers(StateDirectory(tmp_path / "none"), fake_effects(FakeClock()))
