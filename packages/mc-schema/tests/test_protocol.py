from __future__ import annotations

import mc_schema
import pytest
from mc_schema.protocol import (
    CURRENT,
    FOREIGN,
    INVALID,
    MISSING,
    NEWER,
    OLDER,
    PACKAGE_VERSION,
    REPEATED,
    Metadata,
    MetadataField,
    parse_version,
    version_state,
)

PROJECT_ID = "C0FFEE00-0000-4000-8000-000000000000"


@pytest.mark.parametrize(
    ("left", "right"),
    [("0.5", "0.5.0"), ("0.5", "00.5"), ("0.6", "0.06.0.0"), ("1", "1.0"), ("0", "0.0")],
)
def test_versions_that_differ_by_zeros_are_equal(left: str, right: str) -> None:
    assert parse_version(left) == parse_version(right) is not None


@pytest.mark.parametrize(("lower", "higher"), [("0.9", "0.10"), ("0.5", "0.5.1"), ("0.6", "1")])
def test_versions_are_compared_by_number(lower: str, higher: str) -> None:
    first, second = parse_version(lower), parse_version(higher)

    assert first is not None
    assert second is not None
    assert first < second


@pytest.mark.parametrize(
    "text",
    [
        "",
        "v0.5",
        "five",
        "0.5 # note",
        "0.5-beta",
        "0.²",
        "0.５",
        "0.",
        ".5",
        "0..5",
        "-1",
        "0.5\n",
    ],
)
def test_anything_but_dotted_ascii_numbers_is_no_version(text: str) -> None:
    assert parse_version(text) is None


@pytest.mark.parametrize(
    ("versions", "state"),
    [
        ([], MISSING),
        (["0.6"], CURRENT),
        (["0.6.0"], CURRENT),
        (["0.5"], OLDER),
        (["0.5.0"], OLDER),
        (["0"], OLDER),
        (["0.6.1"], NEWER),
        (["0.10"], NEWER),
        (["1"], NEWER),
        (["0.²"], INVALID),
        (["zero.five"], INVALID),
        ([""], INVALID),
        (["0.9", "0.4"], REPEATED),
        (["0.6", "0.6"], REPEATED),
    ],
)
def test_state_follows_from_the_versions_written(versions: list[str], state: str) -> None:
    assert state == version_state(versions)


@pytest.mark.parametrize(
    ("state", "writable"),
    [
        (CURRENT, True),
        (OLDER, True),
        (MISSING, True),
        (NEWER, False),
        (INVALID, False),
        (REPEATED, False),
        (FOREIGN, False),
    ],
)
def test_commands_write_only_what_they_understand(state: str, writable: bool) -> None:  # noqa: FBT001
    metadata = Metadata((), state, "", 0)

    assert writable == metadata.is_writable
    assert (state == CURRENT) == metadata.is_current


@pytest.mark.parametrize(
    ("values", "project_id"),
    [
        pytest.param([], None, id="missing"),
        pytest.param([PROJECT_ID], PROJECT_ID.lower(), id="folded"),
        pytest.param([PROJECT_ID, PROJECT_ID], None, id="repeated"),
        pytest.param(["not-a-uuid"], None, id="invalid"),
        pytest.param(["c0ffee00-0000-1000-8000-000000000000"], None, id="not-version-4"),
    ],
)
def test_project_id_counts_only_when_it_is_one_uuid4(
    values: list[str], project_id: str | None
) -> None:
    fields = tuple(MetadataField("project_id", value, 3) for value in values)

    assert project_id == Metadata(fields, CURRENT, "0.6", 1).project_id


def test_package_version_is_that_of_the_package() -> None:
    assert mc_schema.__version__ == PACKAGE_VERSION
