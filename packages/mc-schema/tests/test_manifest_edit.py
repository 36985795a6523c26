from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mc_schema.errors import ManifestError
from mc_schema.manifest import parse_manifest
from mc_schema.manifest_edit import (
    add_index_entry,
    add_section_after,
    insert_section,
    set_metadata,
)

if TYPE_CHECKING:
    from collections.abc import Callable

VALUES = {
    "protocol_version": "0.6",
    "entry_schema_version": "1",
    "initialized_with": "memory-custodian 0.9.1",
    "last_migrated_with": "memory-custodian 0.10.0",
    "project_id": "c0ffee00-0000-4000-8000-000000000000",
    "admission_policy": "evidence-required",
}
OLD = (
    "# M\n\n\n\nIntro  \n\n## MemoryCustodian Protocol\n<!-- keep -->\n- protocol_version: 0.5\n"
    "* other: bullet\n- initialized_with: memory-custodian 0.9.1\n- extra_field:  x \n"
    "## Always load\n- brief.md\n\n\n\n## Tail\n"
)
LINES = (
    "# M",
    "## MemoryCustodian Protocol",
    "## memorycustodian protocol",
    "- protocol_version: 0.5",
    "- project_id: x",
    "- extra: y",
    "## Always load",
    "## Optional module index",
    "### Enabled areas",
    "- None enabled.",
    "- `areas/a.md`: x",
    "## Context budget",
    "```",
    "<!--",
    "-->",
    "",
    "prose",
)
manifests = st.builds(
    lambda lines, end, bom, final: bom + end.join(lines) + (end if final else ""),
    st.lists(st.sampled_from(LINES), max_size=12),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from(["", "\ufeff"]),
    st.booleans(),
)
EDITS: dict[str, Callable[[str], str]] = {
    "metadata": lambda text: set_metadata(text, VALUES),
    "section-after": lambda text: add_section_after(
        text, "MemoryCustodian Protocol", "Trust boundary", ["Text."]
    ),
    "section": lambda text: insert_section(text, "New", ["Text."]),
    "index-area": lambda text: add_index_entry(text, "area", "areas/x.md", "when asked"),
    "index-file": lambda text: add_index_entry(text, "", "preferences.md", "always"),
}


def lines_of(text: str) -> list[str]:
    return [line for line in re.split(r"\r\n|\n|\r", text.removeprefix("\ufeff")) if line.strip()]


def replaceable(line: str) -> bool:
    return line == "- None enabled." or line.startswith(("- protocol_version:", "- project_id:"))


@given(manifests, st.sampled_from(sorted(EDITS)))
@example("", "metadata")
@example("\ufeff", "index-area")
def test_edit_keeps_every_other_line_in_order(text: str, edit: str) -> None:
    try:
        after = EDITS[edit](text)
    except ManifestError:
        assert parse_manifest(text).swallowing
        return

    position = 0
    found = lines_of(after)
    for line in lines_of(text):
        if replaceable(line):
            continue
        assert line in found[position:]
        position = found.index(line, position) + 1
    assert text.startswith("\ufeff") == after.startswith("\ufeff")
    ends = set(re.findall(r"\r\n|\n|\r", text))
    assert not ends or ends == set(re.findall(r"\r\n|\n|\r", after))


@given(manifests)
def test_metadata_that_was_set_is_read_back(text: str) -> None:
    try:
        after = set_metadata(text, VALUES)
    except ManifestError:
        return
    found = parse_manifest(after).metadata

    assert {key: found.get(key) for key in VALUES} == VALUES
    assert after == set_metadata(after, VALUES)


@given(manifests)
def test_file_that_was_indexed_is_found_and_indexed_once(text: str) -> None:
    try:
        after = EDITS["index-area"](text)
    except ManifestError:
        return

    assert parse_manifest(after).is_indexed("areas/x.md")
    assert after == EDITS["index-area"](after)


def test_metadata_is_replaced_in_place_and_completed_in_order() -> None:
    assert set_metadata(OLD, VALUES) == OLD.replace(
        "- protocol_version: 0.5\n",
        "- protocol_version: 0.6\n- entry_schema_version: 1\n",
    ).replace(
        "- initialized_with: memory-custodian 0.9.1\n",
        "- initialized_with: memory-custodian 0.9.1\n"
        "- last_migrated_with: memory-custodian 0.10.0\n"
        "- project_id: c0ffee00-0000-4000-8000-000000000000\n"
        "- admission_policy: evidence-required\n",
    )


def test_missing_section_goes_before_the_first_and_collapses_nothing() -> None:
    text = "# M\r\n\r\n\r\n\r\n## Always load\r\n- a.md\r\n\r\n\r\n"

    assert set_metadata(text, {"protocol_version": "0.6"}) == text.replace(
        "## Always", "## MemoryCustodian Protocol\r\n- protocol_version: 0.6\r\n\r\n## Always"
    )


def test_line_feed_is_not_put_behind_a_lone_cr() -> None:
    text = "# M\nx\ny\r## Always load\n"

    assert set_metadata(text, {"protocol_version": "0.6"}) == (
        "# M\nx\ny\r\r## MemoryCustodian Protocol\r- protocol_version: 0.6\r\r## Always load\n"
    )


def test_section_in_a_sample_is_left_alone() -> None:
    sample = "```\n## MemoryCustodian Protocol\n- protocol_version: 0.5\n```\n"
    text = f"# M\n{sample}\n## MemoryCustodian Protocol\n- protocol_version: 0.5\n"

    assert set_metadata(text, {"protocol_version": "0.6"}) == (
        f"# M\n{sample}\n## MemoryCustodian Protocol\n- protocol_version: 0.6\n"
    )


@pytest.mark.parametrize(
    "heading", ["## memorycustodian protocol", "  ## MEMORYCUSTODIAN PROTOCOL ##"]
)
def test_heading_is_found_for_writing_as_it_is_for_reading(heading: str) -> None:
    text = f"# M\n\n{heading}\n- protocol_version: 0.5\n"

    assert set_metadata(text, {"protocol_version": "0.6"}) == text.replace("0.5", "0.6")


def test_section_goes_below_the_one_it_belongs_to() -> None:
    assert add_section_after(OLD, "memorycustodian protocol", "Trust boundary", ["Text."]) == (
        OLD.replace("## Always load", "\n## Trust boundary\n\nText.\n\n## Always load")
    )


def test_section_is_put_at_the_end_when_nothing_follows() -> None:
    text = "## MemoryCustodian Protocol\n- protocol_version: 0.6"

    assert add_section_after(text, "MemoryCustodian Protocol", "T", ["x"]) == (
        text + "\n\n## T\n\nx"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "## Optional Module Index\n\n### Enabled areas\n- None enabled.\n\n## Next\n",
            "## Optional Module Index\n\n### Enabled areas\n"
            "- `areas/x.md`: when asked\n\n## Next\n",
            id="placeholder",
        ),
        pytest.param(
            "## OPTIONAL MODULE INDEX\n### Enabled areas\n- `areas/a.md`: y\n",
            "## OPTIONAL MODULE INDEX\n### Enabled areas\n- `areas/x.md`: when asked\n"
            "- `areas/a.md`: y\n",
            id="newest-first",
        ),
        pytest.param(
            "## Optional module index\n\n### Enabled rules\n- None enabled.\n\n## Next\n",
            "## Optional module index\n\n### Enabled rules\n- None enabled.\n\n"
            "### Enabled areas\n- `areas/x.md`: when asked\n\n## Next\n",
            id="group-missing",
        ),
        pytest.param(
            "# M\n\n## Explicit only\n- archive/\n",
            "# M\n\n## Optional module index\n### Enabled areas\n- `areas/x.md`: when asked\n\n"
            "## Explicit only\n- archive/\n",
            id="index-missing",
        ),
        pytest.param(
            "# M\n",
            "# M\n\n## Optional module index\n### Enabled areas\n- `areas/x.md`: when asked\n",
            id="nothing-there",
        ),
    ],
)
def test_index_entry_goes_under_its_group(text: str, expected: str) -> None:
    assert expected == EDITS["index-area"](text)


def test_file_that_is_indexed_stays_as_it_is() -> None:
    text = "## Optional module index\n- see `areas/x.md` for more\n"

    assert text == EDITS["index-area"](text)


def test_nothing_is_put_behind_an_open_sample() -> None:
    with pytest.raises(ManifestError) as caught:
        set_metadata("# M\n```\nx\n", VALUES)

    assert (caught.value.code, caught.value.where) == ("unclosed_block", "manifest.md:2")


@pytest.mark.parametrize(
    ("below", "expected"),
    [
        pytest.param("Found by name.\n", "- `preferences.md`: x\n\nFound by name.\n", id="text"),
        pytest.param("- `a.md`: y\n", "- `preferences.md`: x\n- `a.md`: y\n", id="bullet"),
        pytest.param("\nText.\n", "- `preferences.md`: x\n\nText.\n", id="blank"),
        pytest.param(
            "### Enabled rules\n", "- `preferences.md`: x\n### Enabled rules\n", id="group"
        ),
    ],
)
def test_index_entry_is_not_continued_by_the_text_below(below: str, expected: str) -> None:
    """Markdown takes a line of text right below a bullet for a part of it."""
    head = "## Optional module index\n"

    assert head + expected == add_index_entry(head + below, "", "preferences.md", "x")
