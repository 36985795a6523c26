from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from mc_lock import (
    Effects,
    Holder,
    Host,
    ProcessState,
    StateDirectory,
    StateError,
    describe_holder,
)
from mc_lock.testing import (
    EPOCH,
    FakeClock,
    fake_effects,
    holder_process,
    lock_path,
    owner_record,
    write_lock,
)

if TYPE_CHECKING:
    from pathlib import Path

PROJECT = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
HERE = Host(pid=10, hostname="here", start=None, machine=None, namespace=None)
RECORD = owner_record(project_id=PROJECT, host=HERE)


def effects(age: float = 5.0, *, alive: bool = True) -> Effects:
    processes = {10: ProcessState(alive=True, start=None)} if alive else {}
    return fake_effects(FakeClock(EPOCH + age), host=HERE, processes=processes)


def test_free_lock_has_no_holder(state: StateDirectory, project: Path) -> None:
    assert describe_holder(state, PROJECT, project) is None
    assert describe_holder(state, None, project) is None


def test_describing_without_state_makes_none(tmp_path: Path, project: Path) -> None:
    state = StateDirectory(tmp_path / "none")

    assert describe_holder(state, None, project) is None
    assert not state.path.exists()


def test_holder_is_described(state: StateDirectory, project: Path) -> None:
    path = lock_path(state, PROJECT, project)
    write_lock(path, RECORD)
    expected = Holder(
        str(path), "alive", 5.0, 10, "here", "add", "2026-07-25T17:20:00+00:00", PROJECT
    )

    assert expected == describe_holder(state, PROJECT, project, effects=effects())


def test_guard_of_the_place_holds_a_project_too(state: StateDirectory, project: Path) -> None:
    path = lock_path(state, None, project)
    write_lock(path, RECORD._replace(project_id=None))

    for project_id in (PROJECT, None, "no uuid"):
        holder = describe_holder(state, project_id, project, effects=effects())

        assert holder is not None
        assert (str(path), "alive") == (holder.path, holder.state)


@pytest.mark.parametrize(
    ("content", "alive", "expected"),
    [
        pytest.param(RECORD, False, "gone", id="gone"),
        pytest.param(RECORD._replace(hostname="there"), True, "elsewhere", id="elsewhere"),
        pytest.param(RECORD._replace(project_id=None), True, "malformed", id="no-project"),
        pytest.param(b"", True, "malformed", id="empty"),
        pytest.param(RECORD._replace(project_id="x"), True, "unsafe", id="misnamed"),
    ],
)
def test_holder_state_follows_the_table(
    state: StateDirectory, project: Path, content: bytes, expected: str, *, alive: bool
) -> None:
    write_lock(lock_path(state, PROJECT, project), content)

    holder = describe_holder(state, PROJECT, project, effects=effects(alive=alive))

    assert holder is not None
    assert expected == holder.state


def test_fifo_at_the_path_is_described_without_opening_it(
    state: StateDirectory, project: Path
) -> None:
    os.mkfifo(lock_path(state, PROJECT, project))

    holder = describe_holder(state, PROJECT, project)

    assert holder is not None
    assert holder.state == "unsafe"


def test_age_of_a_lock_from_the_future_is_shown_as_zero(
    state: StateDirectory, project: Path
) -> None:
    write_lock(lock_path(state, PROJECT, project), RECORD)

    holder = describe_holder(state, PROJECT, project, effects=effects(-50.0))

    assert holder is not None
    assert holder.age_seconds == 0.0


def test_unsafe_state_is_not_read(state: StateDirectory, project: Path) -> None:
    state.locks.chmod(0o777)

    with pytest.raises(StateError):
        describe_holder(state, PROJECT, project)


def test_real_holder_is_alive_until_it_is_killed(tmp_path: Path, project: Path) -> None:
    state = StateDirectory(tmp_path / "home" / "memory-custodian")
    memory = project / "docs" / "memory"

    with holder_process(project, state_home=tmp_path / "home", project_id=PROJECT) as process:
        alive = describe_holder(state, PROJECT, memory)
        process.kill()
        gone = describe_holder(state, PROJECT, memory)

    assert alive is not None
    assert gone is not None
    assert (process.pid, "alive") == (alive.pid, alive.state)
    assert (process.pid, "gone") == (gone.pid, gone.state)


def test_real_holder_that_releases_leaves_nothing(tmp_path: Path, project: Path) -> None:
    state = StateDirectory(tmp_path / "home" / "memory-custodian")

    with holder_process(project, state_home=tmp_path / "home") as process:
        process.release()

        assert list(state.locks.iterdir()) == []
