from __future__ import annotations

import pytest
from mc_schema.errors import (
    InvalidEvidenceError,
    InvalidNameError,
    InvalidPlacementError,
    InvalidTextError,
    ManifestError,
    SchemaError,
    quoted,
)


def test_error_carries_what_where_hint_and_code() -> None:
    error = SchemaError("it is wrong", where="docs/memory/brief.md:3", hint="edit it", code="wrong")

    assert (
        error.what,
        error.where,
        error.hint,
        error.code,
    ) == ("it is wrong", "docs/memory/brief.md:3", "edit it", "wrong")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        pytest.param(SchemaError("it is wrong"), "it is wrong", id="no-place"),
        pytest.param(SchemaError("it is wrong", where="a.md:1"), "it is wrong: a.md:1", id="place"),
    ],
)
def test_error_reads_as_what_and_where(error: SchemaError, text: str) -> None:
    assert text == str(error)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (SchemaError, "invalid_schema"),
        (InvalidEvidenceError, "invalid_evidence"),
        (InvalidTextError, "invalid_text"),
        (InvalidNameError, "invalid_name"),
        (InvalidPlacementError, "invalid_placement"),
        (ManifestError, "invalid_manifest"),
    ],
)
def test_every_error_has_a_code_of_its_own_and_is_a_value_error(
    error: type[SchemaError], code: str
) -> None:
    assert code == error("x").code
    assert issubclass(error, ValueError)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("acitve", "`acitve`", id="word"),
        pytest.param("x" * 60, f"`{'x' * 60}`", id="longest"),
        pytest.param("x" * 61, "`…`", id="too-long"),
    ],
)
def test_quoted_text_is_whole_or_left_out(text: str, shown: str) -> None:
    """Half a secret is not known as one by whoever takes secrets out of a message."""
    assert shown == quoted(text)
