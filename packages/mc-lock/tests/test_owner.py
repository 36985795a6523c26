from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mc_lock import Host, OwnerRecord, format_owner, parse_owner
from mc_lock.owner import new_owner, parse_created_at
from mc_lock.testing import EPOCH, owner_record

GUIDE_FIELDS = ["project_id", "project_root", "pid", "hostname", "created_at", "command"]
REST = ["token", "start", "ns", "machine"]

TEXT = st.text(st.characters(codec="utf-8"), max_size=40)
RECORDS = st.builds(
    OwnerRecord,
    project_id=st.none() | TEXT,
    project_root=TEXT,
    pid=st.integers(1, 2**31 - 1),
    hostname=TEXT,
    created_at=st.datetimes().map(lambda moment: moment.isoformat() + "+00:00"),
    command=TEXT,
    token=st.none() | TEXT,
    start=st.none() | TEXT,
    ns=st.none() | st.integers(0, 2**64),
    machine=st.none() | TEXT,
)


def fields_of(record: OwnerRecord) -> dict[str, Any]:
    fields = json.loads(format_owner(record))
    assert isinstance(fields, dict)
    return fields


@given(RECORDS)
@settings(max_examples=100)
def test_formatted_record_is_read_back(record: OwnerRecord) -> None:
    assert record == parse_owner(format_owner(record))


@given(st.binary(max_size=60))
@settings(max_examples=100)
def test_arbitrary_bytes_are_malformed(data: bytes) -> None:
    assert parse_owner(data) is None


def test_record_holds_the_guide_fields_and_the_identity_of_the_process() -> None:
    assert list(fields_of(owner_record())) == GUIDE_FIELDS + REST


def test_record_says_when_in_utc_with_offset() -> None:
    host = Host(pid=1, hostname="h", start=None, machine=None, namespace=None)
    record = new_owner(host, project_id=None, project_root="/p", command="add", now=0.9, token="t")

    assert record.created_at == "1970-01-01T00:00:00+00:00"


def test_unknown_fields_are_ignored() -> None:
    fields = fields_of(owner_record()) | {"shoe_size": 43}

    assert owner_record() == parse_owner(json.dumps(fields).encode())


def test_record_of_the_guide_alone_is_well_formed() -> None:
    """Another implementation may write the six fields of the guide and nothing else."""
    fields = {name: fields_of(owner_record(project_id="p"))[name] for name in GUIDE_FIELDS}

    parsed = parse_owner(json.dumps(fields).encode())

    assert parsed is not None
    assert (parsed.token, parsed.start, parsed.ns, parsed.machine) == (None, None, None, None)


@pytest.mark.parametrize("name", GUIDE_FIELDS)
def test_record_without_a_guide_field_is_malformed(name: str) -> None:
    fields = fields_of(owner_record())
    del fields[name]

    assert parse_owner(json.dumps(fields).encode()) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param("pid", 0, id="pid-zero-means-a-group"),
        pytest.param("pid", -1, id="pid-negative-means-a-group"),
        pytest.param("pid", 2**31, id="pid-overflows"),
        pytest.param("pid", True, id="pid-is-a-bool"),
        pytest.param("pid", "7", id="pid-is-text"),
        pytest.param("pid", 7.0, id="pid-is-a-float"),
        pytest.param("pid", None, id="pid-is-null"),
        pytest.param("project_id", 7, id="project-id-is-a-number"),
        pytest.param("project_root", None, id="root-is-null"),
        pytest.param("hostname", ["h"], id="hostname-is-a-list"),
        pytest.param("command", 1, id="command-is-a-number"),
        pytest.param("created_at", EPOCH, id="created-is-a-number"),
        pytest.param("created_at", "yesterday", id="created-is-no-time"),
        pytest.param("created_at", "", id="created-is-empty"),
        pytest.param("token", 5, id="token-is-a-number"),
        pytest.param("start", 5, id="start-is-a-number"),
        pytest.param("ns", "5", id="namespace-is-text"),
        pytest.param("ns", True, id="namespace-is-a-bool"),
        pytest.param("machine", {}, id="machine-is-an-object"),
    ],
)
def test_field_of_a_wrong_type_makes_the_record_malformed(name: str, value: object) -> None:
    fields = fields_of(owner_record()) | {name: value}

    assert parse_owner(json.dumps(fields).encode()) is None


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"{", id="cut"),
        pytest.param(b"[]", id="list"),
        pytest.param(b"null", id="null"),
        pytest.param(b"\xff\xfe{\x00}\x00", id="utf-16"),
        pytest.param(b"[" * 60_000, id="deeply-nested"),
    ],
)
def test_what_is_no_json_object_is_malformed(data: bytes) -> None:
    assert parse_owner(data) is None


@pytest.mark.parametrize(
    "text",
    [
        "2026-07-26T09:30:00+00:00",
        "2026-07-26T09:30:00Z",
        "2026-07-26T09:30:00",
        "2026-07-26T11:30:00+02:00",
        "2026-07-26T09:30:00.000000+00:00",
    ],
)
def test_one_moment_may_be_written_in_several_ways(text: str) -> None:
    assert parse_created_at(text) == 1_785_058_200.0
