from __future__ import annotations

import pytest
from mc_schema.entry import parse_entry
from mc_schema.fields import remove_field, set_field

ID = "MC-DEC-20260801-9e7425bf"
ENTRY = """## MC-DEC-20260726-a1b2c3d4 — T

Status:  active\t
Scope: project
Evidence:
- issue:#1

Decision:
```
Superseded-By: text
```
<!-- note -->

Reason:
Superseded-By: more text  """


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
def test_new_field_is_one_line_below_the_status(newline: str) -> None:
    unit = ENTRY.replace("\n", newline)

    changed = set_field(unit, "Superseded-By", ID)

    assert unit.replace("active\t", f"active\t{newline}Superseded-By: {ID}") == changed
    assert parse_entry(changed).superseded_by == ID


def test_existing_field_is_replaced_in_place() -> None:
    changed = set_field(ENTRY, "Status", "superseded")

    assert ENTRY.replace("Status:  active\t", "Status: superseded") == changed


def test_field_goes_below_the_heading_when_the_anchor_is_missing() -> None:
    changed = set_field("## X — T\nScope: project", "Status", "active", after="Nothing")

    assert changed == "## X — T\nStatus: active\nScope: project"


def test_removed_field_takes_its_line_end_and_no_more() -> None:
    unit = ENTRY.replace("Scope", f"Supersedes: {ID}\r\nScope")

    assert remove_field(unit, "Supersedes") == ENTRY


def test_text_of_the_body_and_reason_is_no_field() -> None:
    assert remove_field(ENTRY, "Superseded-By") == ENTRY


def test_removing_what_is_not_there_changes_nothing() -> None:
    assert remove_field(ENTRY, "Promoted-To") == ENTRY
