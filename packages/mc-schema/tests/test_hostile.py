"""Work on hostile text grows with its length, not with its square.

Calls are counted, because a time would depend on the machine; what a count cannot see (copies of
long texts, a regular expression that tries every split) shows as a megabyte that never ends.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from mc_schema.document import Document, format_bullet
from mc_schema.entry import parse_entry
from mc_schema.errors import SchemaError
from mc_schema.evidence import parse_evidence_or_none
from mc_schema.fields import set_field
from mc_schema.graph import find_link_faults
from mc_schema.manifest import parse_manifest
from mc_schema.manifest_edit import add_index_entry, set_metadata
from mc_schema.memoryfile import parse_memory_file, with_unique_ids
from mc_schema.textsafety import require_body, require_line

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

MEGABYTE = 1_000_000
SMALL = 2_500
ENTRY = (
    "## MC-DEC-20260726-00000001 — T\nStatus: active\nScope: project\nEvidence:\n- issue:#1\n"
    "Decision:\nx\n"
)
UNITS = {
    "comment-openers": "<!-- ",
    "comment-openers-in-prose": "a <!-- b\n",
    "comment-openers-in-paragraphs": "a <!-- b\n\n",
    "closed-comments": "<!-- --> ",
    "comment-closers": "-->\n",
    "back-ticks-and-openers": "` <!-- ",
    "fences": "```\n",
    "tilde-fences": "~~~ x\n\n",
    "fences-in-items": "- ```\n",
    "headings": "## \n",
    "headings-of-two-levels": "## a\n### b\n",
    "groups": "## g\n- b\n",
    "bullets": "- b\n",
    "list-markers": "- ",
    "blank-lines": "\n",
    "carriage-returns": "\r",
    "crlf": "a\r\n",
    "blanks": " ",
    "tabs": "\t",
    "byte-order-marks": "\ufeff ",
    "entries": ENTRY,
    "fields": "Status: active\n",
    "unknown-fields": "A: b\n",
    "conflict-markers": "<<<<<<< x\n",
    "brackets": "<",
    "back-ticks": "`",
    "indexed": "`a.md` ",
    "routes": "- a.md\n",
    "letters": "a",
}


def edits(text: str) -> None:
    document = Document.parse(text)
    for insert in (document.append, document.insert_newest_first, document.insert_bullet):
        try:
            insert("- x")
        except SchemaError:
            continue
    document.remove_units(document.units)
    document.replace_units([(unit, "x") for unit in document.units])
    format_bullet(text)


def checks(text: str) -> None:
    for check in (require_body, require_line):
        try:
            check(text, "message")
        except SchemaError:
            continue
    parse_evidence_or_none(f"repo:{text}")


def manifest(text: str) -> None:
    for heading in ("MemoryCustodian Protocol", "Context budget", "Always load"):
        found = parse_manifest(f"## {heading}\n{text}")
        assert found.sections
    found.route("general")
    with suppress(SchemaError):
        set_metadata(text, {"protocol_version": "0.6"})
    with suppress(SchemaError):
        add_index_entry(text, "area", "areas/x.md", "x")


def memory(text: str) -> None:
    files = with_unique_ids([parse_memory_file("decisions.md", text)])
    find_link_faults(unit for file in files for unit in file.units)


def entry(text: str) -> None:
    parse_entry("## MC-DEC-20260726-00000001 — T\n" + text)
    set_field("## X\n" + text, "Status", "x")


WORK: dict[str, Callable[[str], None]] = {
    "edits": edits,
    "checks": checks,
    "manifest": manifest,
    "memory": memory,
    "entry": entry,
}


def repeated(unit: str, length: int) -> str:
    """Return *length* characters of *unit* as one paragraph where it can be, and a second one."""
    return unit * (length // len(unit)) + "\n\nend\n"


def calls(work: Callable[[str], None], text: str) -> int:
    """Return how many functions, built-in ones included, *work* calls."""
    count = 0

    def profile(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        work(text)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
@pytest.mark.parametrize("work", WORK.values(), ids=WORK)
def test_twice_the_text_is_at_most_twice_the_work(work: Callable[[str], None], unit: str) -> None:
    once = calls(work, repeated(unit, SMALL))
    twice = calls(work, repeated(unit, 2 * SMALL))

    assert twice <= 2.2 * once + 50


def chain(length: int) -> str:
    """Return a decision and the *length* later ones that supersede each other."""
    return "\n".join(
        f"## MC-DEC-20260726-{number:08x} — T\nStatus: superseded\n"
        f"Superseded-By: MC-DEC-20260726-{number + 1:08x}\n"
        f"Supersedes: MC-DEC-20260726-{number - 1:08x}\n"
        for number in range(1, length)
    )


def test_long_chain_of_supersessions_is_followed_once() -> None:
    found = parse_memory_file("decisions.md", chain(200)).units

    def follow(text: str) -> None:
        find_link_faults(found[: len(text)])

    assert calls(follow, "x" * 198) <= 2.2 * calls(follow, "x" * 99) + 50


@pytest.mark.parametrize(
    "unit",
    [
        "comment-openers",
        "comment-openers-in-prose",
        "back-ticks-and-openers",
        "fences",
        "headings-of-two-levels",
        "groups",
        "list-markers",
        "blanks",
    ],
)
def test_a_megabyte_is_answered(unit: str) -> None:
    text = repeated(UNITS[unit], MEGABYTE)
    document = Document.parse(text)

    assert text == document.render()
    assert document.remove_units(document.units) == text[: document.head_end]
    assert parse_manifest(text).text == text


@pytest.mark.parametrize("unit", ["entries", "unknown-fields", "fields"])
def test_a_megabyte_of_entries_is_answered(unit: str) -> None:
    text = repeated(UNITS[unit], MEGABYTE)
    (memory if unit == "entries" else entry)(text)


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("- " + " " * MEGABYTE + "x", id="blanks"),
        pytest.param("- a:" + " " * MEGABYTE + "x", id="blanks-behind-the-colon"),
        pytest.param("- " + "a" * MEGABYTE, id="letters"),
        pytest.param("- " + "`" * MEGABYTE, id="back-ticks"),
        pytest.param("#" * MEGABYTE, id="signs"),
    ],
)
def test_one_line_of_a_megabyte_is_answered(line: str) -> None:
    text = f"## Context budget\n{line}"

    assert parse_manifest(text).budgets == {}
    assert text == Document.parse(text).render()
    checks(line)
