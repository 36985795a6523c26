"""Pending seeds: reused, private, expiring, never an oracle."""

from __future__ import annotations

import os
import threading
import time
import uuid
from typing import TYPE_CHECKING, Any

import pytest
from mc_lock import StateError
from mc_plan import Draft, Request, Seed, StalePlanError, execute, preview
from mc_plan.pending import (
    EXPIRY_SECONDS,
    SeedValues,
    fresh_values,
    kept_values,
    pending_count,
    sweep_expired,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mc_plan import Snapshot

NOW = time.time()
TOPIC = "Zebra-Topic"


def silent(line: str) -> None:
    """Take a line for standard error."""


def seed_path(place: Any) -> Path:
    found: list[Path] = list((place.state / "memory-custodian" / "plans").glob("*.seed"))
    assert len(found) == 1
    return found[0]


def draw(place: Any, now: float = NOW, **arguments: Any) -> SeedValues:
    return kept_values(place.project, "p", Request("forget", arguments), now)


def age(path: Path, seconds: float) -> None:
    os.utime(path, (NOW - seconds, NOW - seconds))


@pytest.fixture
def time_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Set ``TZ`` with it, then call `time.tzset`; the zone before is restored."""
    yield monkeypatch
    monkeypatch.undo()
    time.tzset()


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone cannot be set on this system")
@pytest.mark.parametrize(
    ("zone", "date"),
    [
        pytest.param("UTC-14", "20260727", id="already-tomorrow"),
        pytest.param("UTC0", "20260726", id="utc"),
        pytest.param("UTC+12", "20260725", id="still-yesterday"),
    ],
)
def test_date_of_an_id_is_the_local_one(
    time_zone: pytest.MonkeyPatch, zone: str, date: str
) -> None:
    """Guide 4.1. The moment is 2026-07-26 11:00 in UTC."""
    time_zone.setenv("TZ", zone)
    time.tzset()

    assert date == fresh_values(1_785_063_600.0).date


def test_same_request_reuses_its_seed(place: Any) -> None:
    assert draw(place, topic="a") == draw(place, topic="a")


@pytest.mark.parametrize(
    ("project_id", "command", "arguments"),
    [
        pytest.param("q", "forget", {"topic": "a"}, id="project"),
        pytest.param("p", "compact", {"topic": "a"}, id="command"),
        pytest.param("p", "forget", {"topic": "b"}, id="arguments"),
    ],
)
def test_other_request_has_another_seed(
    place: Any, project_id: str, command: str, arguments: Any
) -> None:
    first = draw(place, topic="a")

    assert first != kept_values(place.project, project_id, Request(command, arguments), NOW)


def test_seed_is_private_and_says_nothing_in_name_or_bytes(place: Any) -> None:
    draw(place, topic=TOPIC)

    for path in (place.state / "memory-custodian").rglob("*"):
        assert TOPIC.casefold() not in path.name.casefold()
        if path.is_file():
            assert path.lstat().st_mode & 0o777 == 0o600
            assert TOPIC.encode() not in path.read_bytes()


def test_name_of_a_seed_depends_on_a_secret(tmp_path: Path, samples: Any) -> None:
    one, two = samples.make_place(tmp_path / "1"), samples.make_place(tmp_path / "2")
    for place in one, two:
        draw(place, topic=TOPIC)

    assert seed_path(one).name != seed_path(two).name


@pytest.mark.parametrize(
    ("seconds", "is_reused"),
    [
        pytest.param(EXPIRY_SECONDS, True, id="seven-days"),
        pytest.param(EXPIRY_SECONDS + 1, False, id="a-second-more"),
        pytest.param(-EXPIRY_SECONDS * 9, True, id="from-the-future"),
    ],
)
def test_seed_expires_after_seven_days(place: Any, seconds: float, *, is_reused: bool) -> None:
    first = draw(place)
    age(seed_path(place), seconds)

    assert is_reused == (first == draw(place))


def test_expired_seeds_of_all_requests_are_swept_at_most_100_at_a_time(place: Any) -> None:
    plans = place.project.state.ensure().plans
    for number in range(120):
        path = plans / f"{number:064x}.seed"
        path.write_bytes(b"old")
        age(path, EXPIRY_SECONDS + 10)
    (plans / "names.key").write_bytes(b"k" * 32)
    age(plans / "names.key", EXPIRY_SECONDS * 9)

    sweep_expired(plans, NOW)
    assert len(list(plans.glob("*.seed"))) == 20
    sweep_expired(plans, NOW)
    assert [path.name for path in plans.iterdir()] == ["names.key"]


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda path: path.chmod(0o644), id="open-to-others"),
        pytest.param(
            lambda path: (path.rename(path.with_name("x")), path.symlink_to("x")), id="symlink"
        ),
        pytest.param(lambda path: (path.unlink(), path.mkdir()), id="directory"),
    ],
)
def test_seed_that_may_be_forged_is_refused_and_left_in_place(place: Any, spoil: Any) -> None:
    draw(place)
    path = seed_path(place)
    spoil(path)

    with pytest.raises(StateError) as caught:
        draw(place)

    assert caught.value.where == str(path)
    assert os.path.lexists(path)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"[]",
        b"\xff",
        b'{"schema":1,"nonce":"ab","date":"20260101"}',
        b'{"schema":2,"nonce":"' + b"a" * 64 + b'","date":"20260101"}',
        b'{"schema":1,"nonce":"' + b"a" * 64 + b'","date":"2026-1-1"}',
    ],
)
def test_damaged_seed_is_replaced(place: Any, data: bytes) -> None:
    first = draw(place)
    seed_path(place).write_bytes(data)

    second = draw(place)

    assert first != second
    assert second == draw(place)


def test_expired_name_that_cannot_be_removed_is_refused(place: Any) -> None:
    draw(place)
    path = seed_path(place)
    path.unlink()
    path.mkdir()
    age(path, EXPIRY_SECONDS + 1)

    with pytest.raises(StateError) as caught:
        draw(place)

    assert str(path) in caught.value.where


def test_damaged_key_is_replaced(place: Any) -> None:
    draw(place)
    key = place.state / "memory-custodian" / "plans" / "names.key"
    key.write_bytes(b"short")

    draw(place)

    assert len(key.read_bytes()) == 32


def test_previews_at_once_share_one_seed(place: Any) -> None:
    found: list[SeedValues] = []
    start = threading.Barrier(8)

    def work() -> None:
        start.wait()
        found.append(draw(place))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(found) == 8
    assert len(set(found)) == 1


def test_lost_seed_makes_the_plan_stale_and_the_next_id_works(place: Any) -> None:
    request = Request("x", {})

    def build(snapshot: Snapshot, seed: Seed) -> Draft:
        return Draft(changes={"docs/memory/inbox.md": seed.entry_id("DEC").encode()})

    plan = preview(place.project, build, request=request)
    seed_path(place).unlink()

    with pytest.raises(StalePlanError) as caught:
        execute(place.project, build, request=request, confirm=plan.plan_id, notify=silent)

    next_id = caught.value.plan.plan_id
    assert execute(place.project, build, request=request, confirm=next_id, notify=silent).written


def test_pending_seeds_are_counted_without_the_expired(place: Any) -> None:
    draw(place, topic="a")
    age(seed_path(place), EXPIRY_SECONDS + 1)
    before = pending_count(place.project, NOW)

    assert before == 0
    assert seed_path(place).exists()
    draw(place, topic="b")
    assert pending_count(place.project, NOW) == 1


def test_drawn_values_are_well_formed_and_differ() -> None:
    seed = Seed(lambda: SeedValues("ab" * 32, "20260726"))
    again = Seed(lambda: SeedValues("ab" * 32, "20260726"))
    drawn = [seed.entry_id("DEC"), seed.entry_id("DEC"), seed.project_id()]

    assert drawn == [again.entry_id("DEC"), again.entry_id("DEC"), again.project_id()]
    assert len(set(drawn)) == 3
    assert drawn[0].startswith("MC-DEC-20260726-")
    assert seed.entry_id("DEC", date="20200101").startswith("MC-DEC-20200101-")
    assert uuid.UUID(drawn[2]).version == 4
    assert uuid.UUID(drawn[2]).variant == uuid.RFC_4122
    assert seed.iso_date == "2026-07-26"


def test_seed_is_loaded_only_when_something_is_drawn() -> None:
    def load() -> SeedValues:
        raise AssertionError

    assert not Seed(load).is_used
