from __future__ import annotations

import pytest
from mc_lock import Host, LockFacts, OwnerRecord, ProcessState, judge
from mc_lock.testing import owner_record
from mc_lock.verdict import age_of, is_same_host, state_of_owner

HOST = Host(pid=10, hostname="here", start="boot:1", machine="m", namespace=1)
RECORD = owner_record(host=HOST)


def facts(owner: str = "unknown", age: float = 0.0, **changes: object) -> LockFacts:
    known = {"record": None if owner == "unknown" else RECORD, "owner": owner, "age_seconds": age}
    return LockFacts(kind="regular")._replace(**{**known, **changes})  # type: ignore[arg-type]


# One row of the table each: facts, row, action without the flag, action with it.
TABLE = [
    pytest.param(facts("alive", 5), 1, "wait", "wait", id="1-alive"),
    pytest.param(facts("alive", 10**6), 1, "wait", "wait", id="1-alive-for-days"),
    pytest.param(facts("gone", 60.001), 2, "refuse", "break", id="2-gone-and-old"),
    pytest.param(facts("gone", 60), 3, "refuse", "refuse", id="3-gone-at-the-limit"),
    pytest.param(facts("gone", 0), 3, "refuse", "refuse", id="3-gone-and-young"),
    pytest.param(facts("gone", -5), 3, "refuse", "refuse", id="3-gone-in-the-future"),
    pytest.param(facts("reused", 61), 4, "refuse", "break", id="4-reused-and-old"),
    pytest.param(facts("reused", 60), 4, "refuse", "refuse", id="4-reused-and-young"),
    pytest.param(facts("elsewhere", 10**6), 5, "wait", "refuse", id="5-elsewhere"),
    pytest.param(facts(age=0), 6, "wait", "wait", id="6-malformed-and-new"),
    pytest.param(facts(age=10), 6, "wait", "wait", id="6-malformed-10-s"),
    pytest.param(facts(age=300), 6, "wait", "wait", id="6-malformed-at-the-limit"),
    pytest.param(facts(age=-1), 6, "wait", "wait", id="6-malformed-in-the-future"),
    pytest.param(facts(age=300.001), 7, "refuse", "break", id="7-malformed-and-old"),
    pytest.param(facts(age=301, private=False), 8, "refuse", "refuse", id="8-not-private"),
    pytest.param(facts(age=10, private=False), 8, "refuse", "refuse", id="8-not-private-young"),
    pytest.param(facts(age=301, kind="symlink"), 9, "refuse", "refuse", id="9-symlink"),
    pytest.param(facts(age=301, kind="directory"), 9, "refuse", "refuse", id="9-directory"),
    pytest.param(facts(age=301, kind="fifo"), 9, "refuse", "refuse", id="9-fifo"),
    pytest.param(facts(age=301, kind="other"), 9, "refuse", "refuse", id="9-device"),
    pytest.param(facts(age=301, owned=False), 10, "refuse", "refuse", id="10-malformed-foreign"),
    pytest.param(facts("gone", 61, owned=False), 10, "refuse", "refuse", id="10-foreign"),
    pytest.param(facts("gone", 61, name_matches=False), 11, "refuse", "refuse", id="11-gone"),
    pytest.param(facts("alive", 5, name_matches=False), 11, "refuse", "refuse", id="11-alive"),
]


@pytest.mark.parametrize(("found", "row", "plain", "with_flag"), TABLE)
def test_table_decides(found: LockFacts, row: int, plain: str, with_flag: str) -> None:
    assert (row, plain) == judge(found, break_stale=False)
    assert (row, with_flag) == judge(found, break_stale=True)


def test_every_row_of_the_table_is_tested() -> None:
    assert set(range(1, 12)) == {row.values[1] for row in TABLE}


def test_nothing_is_broken_without_the_flag() -> None:
    assert "break" not in {
        judge(row.values[0], break_stale=False).action  # type: ignore[arg-type]
        for row in TABLE
    }


@pytest.mark.parametrize(
    ("mtime", "created", "expected"),
    [
        pytest.param(40.0, 30.0, 60.0, id="the-younger-stamp-counts"),
        pytest.param(30.0, 40.0, 60.0, id="touched-before-it-says"),
        pytest.param(40.0, None, 60.0, id="malformed-has-one-stamp"),
        pytest.param(130.0, 30.0, -30.0, id="touched-in-the-future"),
        pytest.param(30.0, 130.0, -30.0, id="created-in-the-future"),
    ],
)
def test_age_is_the_smaller_of_both_stamps(
    mtime: float, created: float | None, expected: float
) -> None:
    assert expected == age_of(100.0, mtime, created)


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        pytest.param(RECORD, True, id="all-equal"),
        pytest.param(RECORD._replace(hostname="renamed"), True, id="same-machine-renamed"),
        pytest.param(RECORD._replace(machine="other"), False, id="other-machine"),
        pytest.param(RECORD._replace(machine=None), True, id="machine-unknown-same-name"),
        pytest.param(
            RECORD._replace(machine=None, hostname="there"), False, id="machine-unknown-other-name"
        ),
        pytest.param(RECORD._replace(ns=2), False, id="other-namespace"),
        pytest.param(RECORD._replace(ns=None), True, id="namespace-unknown"),
    ],
)
def test_host_is_the_same_by_machine_namespace_and_name(
    record: OwnerRecord, *, expected: bool
) -> None:
    assert expected is is_same_host(record, HOST)


def test_namespace_that_cannot_be_compared_might_be_another() -> None:
    assert not is_same_host(RECORD, HOST._replace(namespace=None))


def test_hostname_decides_where_this_machine_has_no_id() -> None:
    host = HOST._replace(machine=None)

    assert is_same_host(RECORD, host)
    assert not is_same_host(RECORD, host._replace(hostname="there"))


@pytest.mark.parametrize(
    ("process", "expected"),
    [
        pytest.param(ProcessState(alive=True, start="boot:1"), "alive", id="same-start"),
        pytest.param(ProcessState(alive=True, start=None), "alive", id="start-unreadable"),
        pytest.param(ProcessState(alive=True, start="boot:2"), "reused", id="other-start"),
        pytest.param(ProcessState(alive=True, start="later:1"), "reused", id="other-boot"),
        pytest.param(ProcessState(alive=False, start=None), "gone", id="gone"),
        pytest.param(None, "elsewhere", id="not-asked"),
    ],
)
def test_owner_is_judged_by_its_process(process: ProcessState | None, expected: str) -> None:
    assert expected == state_of_owner(RECORD, HOST, process)


def test_start_that_was_not_recorded_is_taken_as_alive() -> None:
    process = ProcessState(alive=True, start="boot:2")

    assert state_of_owner(RECORD._replace(start=None), HOST, process) == "alive"


def test_owner_of_another_place_is_elsewhere_even_if_its_pid_is_gone_here() -> None:
    process = ProcessState(alive=False, start=None)

    assert state_of_owner(RECORD._replace(ns=2), HOST, process) == "elsewhere"
