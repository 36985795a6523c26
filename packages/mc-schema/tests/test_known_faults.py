"""The faults of the earlier command line that concern parsing and insertion, one test each.

Source: Protocol 0.5, part C; the numbers are those of its tables.
"""

from __future__ import annotations

import pytest
from mc_schema.admission import duplicate_key
from mc_schema.document import BULLET, ENTRY, GROUP, SECTION, Document, Unit, format_bullet
from mc_schema.entry import parse_entry
from mc_schema.errors import InvalidTextError, ManifestError
from mc_schema.manifest import parse_manifest
from mc_schema.manifest_edit import add_index_entry, set_metadata
from mc_schema.protocol import parse_version, version_state
from mc_schema.textsafety import require_body, require_line

NEW = (
    "## MC-DEC-20260801-00000001 — New\n\nStatus: active\nScope: project\nEvidence:\n- issue:#1\n\n"
)
NEW += "Decision:\nx"


def unit_with(document: Document, word: str) -> Unit:
    (found,) = [unit for unit in document.units if word in document.unit_text(unit)]
    return found


def test_fault_1_lines_of_a_crlf_file_keep_their_ends() -> None:
    text = "# Decisions\r\n\r\n## 2026-01-01 - A\r\nDecision:\r\na\r\n"
    after = Document.parse(text).insert_newest_first(NEW)

    assert after == text.replace("## 2026", NEW.replace("\n", "\r\n") + "\r\n\r\n## 2026")


def test_fault_3_byte_order_mark_stays_first_and_the_title_is_seen() -> None:
    document = Document.parse("\ufeff# Decisions\n\nNewest first.\n")

    assert document.title == "Decisions"
    assert document.insert_newest_first(NEW) == f"\ufeff# Decisions\n\nNewest first.\n\n{NEW}\n"


def test_fault_4_byte_order_mark_hides_no_heading_of_the_manifest() -> None:
    manifest = parse_manifest("\ufeff## Always load\n- brief.md\n")

    assert [spec.path for spec in manifest.task_specs("default")] == ["brief.md"]


@pytest.mark.parametrize("character", ["\u2028", "\x0c", "\x85"])
def test_fault_5_other_separators_stay_as_they_are(character: str) -> None:
    text = f"# D\n\nintro{character}## no\n\n## A\nb{character}c\n"
    after = Document.parse(text).insert_newest_first(NEW)

    assert after == text.replace("\n## A", f"\n{NEW}\n\n## A")


def test_fault_6_blanks_and_blank_lines_stay() -> None:
    text = "# D\n\n\n\n## A  \nx  \n\n\n\n## B\ny  \n\n\n"
    document = Document.parse(text)

    assert document.insert_newest_first(NEW) == text.replace("## A", f"{NEW}\n\n## A")
    assert document.append(NEW) == f"{text}{NEW}\n"
    assert document.remove_units([document.units[0]]) == "# D\n\n\n\n## B\ny  \n\n\n"


def test_fault_9_decision_and_bullets_of_an_area_do_not_swallow_each_other() -> None:
    text = "# Area: Sync\n\n- old rule\n"
    text = Document.parse(text).insert_newest_first(NEW)
    text = Document.parse(text).insert_bullet(format_bullet("new rule"))
    document = Document.parse(text)

    assert [unit.kind for unit in document.units] == [BULLET, BULLET, ENTRY]
    assert document.remove_units(document.entries()).rstrip() == (
        "# Area: Sync\n\n- old rule\n- new rule"
    )


def test_fault_10_entry_goes_before_the_first_heading_and_takes_no_bullets() -> None:
    text = "# Decisions\n\nIntro\n\n- one\n- two\n\nmore\n\n## A\nx\n"

    assert Document.parse(text).insert_newest_first(NEW) == text.replace("## A", f"{NEW}\n\n## A")


@pytest.mark.parametrize(
    "title", ["# Do Not Use / Tombstones", "# Memory Changelog", "# Changelog"]
)
def test_faults_11_and_12_introduction_stays_above_the_first_entry(title: str) -> None:
    text = f"{title}\n\nNewest first.\n"

    assert Document.parse(text).insert_newest_first(NEW) == f"{text}\n{NEW}\n"


def test_fault_13_bullet_ends_where_the_list_ends() -> None:
    document = Document.parse("# C\n\n- alpha\n- beta\n\n# Third\n\ntext\n")

    assert document.remove_units([unit_with(document, "beta")]) == (
        "# C\n\n- alpha\n\n# Third\n\ntext\n"
    )


def test_fault_14_prose_and_fences_between_bullets_stay() -> None:
    text = "- first\n\nprose\n\n```\ncode\n```\n\n- second\n"
    document = Document.parse(text)

    assert document.remove_units([unit_with(document, "first")]) == text.removeprefix("- first\n\n")


def test_fault_15_one_bullet_of_a_section_goes_alone() -> None:
    text = "## Runtime\n\n- one\n- two\n- three\n"
    document = Document.parse(text)

    assert [unit.kind for unit in document.units] == [GROUP, BULLET, BULLET, BULLET]
    assert document.remove_units([unit_with(document, "two")]) == text.replace("- two\n", "")


def test_fault_16_decision_with_a_fenced_heading_is_one_unit() -> None:
    text = "# D\n\n## A\nDecision:\n```\n## Not a heading\nword\n```\nReason:\ny\n\n## B\nz\n"
    document = Document.parse(text)

    assert [unit.kind for unit in document.units] == [SECTION, SECTION]
    assert document.remove_units([unit_with(document, "word")]) == "# D\n\n## B\nz\n"


def test_fault_20_fenced_sample_is_no_second_route() -> None:
    manifest = parse_manifest(
        "## Always load\n- brief.md\n```\n### Preferences\n- x.md\n```\n### Preferences\n- p.md\n"
    )

    assert [spec.path for spec in manifest.task_specs("preferences")] == ["brief.md", "p.md"]


def test_fault_21_metadata_is_written_into_the_real_section_only() -> None:
    sample = "~~~\n## MemoryCustodian Protocol\n- protocol_version: 0.4\n~~~\n"

    assert set_metadata(f"# M\n\n{sample}", {"protocol_version": "0.6"}) == (
        f"# M\n\n{sample}\n## MemoryCustodian Protocol\n- protocol_version: 0.6\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "- a\n  ```\n- b\n  ```\n"[:9] + "  - b\n  ```\n",
        "````\n```\n- b\n```\n````\n",
        "   ```\n- b\n   ```\n",
    ],
    ids=["in-an-item", "longer", "indented"],
)
def test_fault_22_bullet_inside_a_fence_is_no_item(text: str) -> None:
    units = Document.parse(text).units

    assert len([unit for unit in units if unit.kind == BULLET]) == text.startswith("- a")


def test_fault_23_numbered_introduction_is_no_place_for_an_entry() -> None:
    text = "# D\n\n1. read\n   - nested note\n2. write\n\n```\n- code\n```\n\n## A\nx\n"

    assert Document.parse(text).insert_newest_first(NEW) == text.replace("## A", f"{NEW}\n\n## A")


@pytest.mark.parametrize("versions", [["0.9", "0.4"], ["0.4", "0.9"], ["0.6", "0.6"]])
def test_fault_26_repeated_version_is_writable_for_nobody(versions: list[str]) -> None:
    lines = "".join(f"- protocol_version: {version}\n" for version in versions)
    metadata = parse_manifest(f"## MemoryCustodian Protocol\n{lines}").metadata

    assert not metadata.is_writable
    assert metadata.count("protocol_version") == 2


@pytest.mark.parametrize("text", ["0.²", "0.５"])
def test_fault_27_version_has_ascii_digits_only(text: str) -> None:
    assert parse_version(text) is None
    assert version_state([text]) == "invalid"


def test_fault_28_dot_in_a_route_is_a_finding_and_no_crash() -> None:
    manifest = parse_manifest("## Always load\n- .\n- brief.md\n")

    assert [fault.line for fault in manifest.route("general").faults] == [2]
    with pytest.raises(ManifestError):
        manifest.task_specs("default")


def test_fault_30_heading_in_prose_is_none() -> None:
    assert parse_manifest("See ## MemoryCustodian Protocol\n").sections == ()


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: x\n---\n# Decisions\n\nNewest first.\n",
        "Some text first\n\n# Decisions\n",
        "<!-- generated -->\n# Changelog\n",
    ],
    ids=["front-matter", "text", "comment"],
)
def test_fault_31_nothing_goes_above_front_matter_or_title(text: str) -> None:
    assert Document.parse(text).insert_newest_first(NEW) == f"{text}\n{NEW}\n"


def test_fault_32_heading_in_another_case_gets_no_second_section() -> None:
    text = "## memorycustodian protocol\n- protocol_version: 0.5\n"
    after = set_metadata(text, {"protocol_version": "0.6"})

    assert after == text.replace("0.5", "0.6")


def test_fault_33_index_in_another_case_gets_no_second_section() -> None:
    text = "## Optional Module Index\n\n### Enabled Areas\n- None enabled.\n"
    after = add_index_entry(text, "area", "areas/x.md", "when asked")

    assert after == text.replace("- None enabled.", "- `areas/x.md`: when asked")
    assert parse_manifest(after).is_indexed("areas/x.md")


@pytest.mark.parametrize("text", ["a\n## forged", "a\r## forged"])
def test_fault_38_forged_headings_are_refused(text: str) -> None:
    for check in (require_body, require_line):
        with pytest.raises(InvalidTextError):
            check(text, "topic")


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_fault_39_empty_text_is_refused(text: str) -> None:
    for check in (require_body, require_line):
        with pytest.raises(InvalidTextError):
            check(text, "message")


def test_fault_41_dated_heading_goes_with_its_last_bullet() -> None:
    document = Document.parse("# I\n\n## 2026-01-02\n- new\n\n## 2026-01-01\n- old\n")

    assert (
        document.remove_units([unit_with(document, "- old")]) == "# I\n\n## 2026-01-02\n- new\n\n"
    )


def test_fault_42_placeholder_is_a_paragraph_of_its_own() -> None:
    placeholder = "No unprocessed memory candidates."
    text = f"# Memory Inbox\n\n- they wrote:\n  {placeholder}\n\n> {placeholder}\n"
    document = Document.parse(text)

    assert placeholder not in [document.unit_text(unit) for unit in document.units]


def test_fault_48_versions_have_one_notion_of_equality() -> None:
    assert parse_version("0.6.0") == parse_version("0.6")
    assert version_state(["0.6.0"]) == "current"
    assert version_state(["0.5.0"]) == version_state(["0.5"]) == "older"


def test_entry_that_is_inserted_is_read_back_and_found_as_a_duplicate() -> None:
    document = Document.parse(Document.parse("# D\n").insert_newest_first(NEW))
    entry = parse_entry(document.unit_text(document.units[0]))

    assert entry.problems == ()
    assert duplicate_key("decision", entry.scope, entry.body) == duplicate_key(
        "decision", "project", " X "
    )
