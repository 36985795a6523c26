from __future__ import annotations

import json
import os
import sys
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mc_schema.errors import SchemaError
from mc_schema.private import (
    CLOSE_BRACKETS,
    OPEN_BRACKETS,
    WHITE_SPACE,
    CaptureEnvelope,
    ingest,
    is_valid_at,
    strip_private,
    strip_private_spans,
    strip_with_origin,
)

if TYPE_CHECKING:
    from collections.abc import Callable

MEGABYTE = 1_000_000
DEFAULT_IGNORABLE = "\u034f\u115f\u1160\u3164\uffa0\ufe0f\U000e0100\u180b\u17b4"


def conformance_rows(name: str) -> list[dict[str, Any]]:
    default = Path(__file__).resolve().parents[4] / "shared"
    folder = Path(os.environ.get("MC_SHARED", default)) / "conformance"
    if not folder.is_dir():
        pytest.skip(f"shared conformance folder not found: {folder}")
    lines = (folder / name).read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def test_every_recorded_text_is_stripped_as_recorded() -> None:
    rows = conformance_rows("private_spans.jsonl")

    assert [(row["input"], row["output"]) for row in rows] == [
        (row["input"], strip_private(row["input"])) for row in rows
    ]


def test_white_space_is_what_the_contract_lists() -> None:
    ranges = [(0x2000, 0x200A)]
    points = [0x9, 0xA, 0xB, 0xC, 0xD, 0x20, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000]
    points += [0xFEFF] + [point for start, end in ranges for point in range(start, end + 1)]

    assert {chr(point) for point in points} == set(WHITE_SPACE)


def test_brackets_are_all_that_unicode_folds_to_one() -> None:
    folded = {
        bracket: {
            chr(point)
            for point in range(sys.maxunicode + 1)
            if unicodedata.normalize("NFKC", chr(point)) == bracket
        }
        for bracket in "<>"
    }

    assert {"<": set(OPEN_BRACKETS), ">": set(CLOSE_BRACKETS)} == folded


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a <pri<private>x</private>vate>y</private> b", "a ", id="joined-opener"),
        pytest.param("a <pri</private>vate>y", "a ", id="opener-joined-by-an-orphan-closer"),
        pytest.param("a </pri</private>vate> b", "a  b", id="joined-closer"),
        pytest.param("a <pri</private>vate-x> b", "a ", id="joined-malformed-opener"),
        pytest.param("a <<private>x</private>private>y", "a ", id="joined-bracket"),
    ],
)
def test_tags_that_removal_joins_are_removed_too(text: str, expected: str) -> None:
    assert expected == strip_private(text)


@pytest.mark.parametrize("depth", [1, 5, 15, 16, 17, 200])
def test_joins_nested_beyond_reason_end_in_a_cut(depth: int) -> None:
    text = "a " + "</pri" * depth + "</private>" + "vate>" * depth + "b <private>x</private>"

    assert strip_private(text) in {"a b ", "a " + "</pri" * (depth - 16)}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a \uff1cprivate\uff1ex", id="full-width-brackets"),
        pytest.param("a \ufe64private\ufe65x", id="small-brackets"),
        pytest.param("a <private\uff1ex</private>", id="full-width-end"),
        pytest.param("a \uff1cprivate>x</private>", id="full-width-start"),
        pytest.param("a <private \uff1c>x</private>", id="full-width-bracket-as-attribute"),
        *(
            pytest.param(f"a <pri{character}vate>x", id=f"hidden-by-{ord(character):04x}")
            for character in DEFAULT_IGNORABLE
        ),
        pytest.param("a <private\u200b\u0301>x", id="mark-kept-apart-by-an-invisible"),
        pytest.param("a <private\u20dd>x", id="mark-that-does-not-compose"),
        *(
            pytest.param(f"a <{character}private>x", id=f"led-by-{ord(character):04x}")
            for character in "\x00\x1f\x7f\x85\u00ad\u200b\u202e\ufe0f"
        ),
        pytest.param("a <pr\u2173ate>x", id="one-character-for-two-letters"),
        pytest.param("a <\U0001d429rivate>x", id="mathematical-letter"),
        pytest.param("a <Private equity", id="prose-without-a-closing-bracket"),
    ],
)
def test_opener_in_disguise_cuts_the_text(text: str) -> None:
    assert strip_private_spans(text) == ("a ", 0, 2)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("<pri\u0301vate>x", id="mark-inside"),
        pytest.param("<private\u0301>x", id="mark-that-composes-with-the-last-letter"),
        pytest.param("<private" + "\u0327" * 40 + "\u0323\u0302>x", id="many-marks"),
        pytest.param("<pr\u0131vate>x", id="dotless-i"),
        pytest.param("<pr\u0130vate>x", id="dotted-i"),
        pytest.param("<\u0440rivate>x", id="look-alike-of-another-script"),
        pytest.param("<x-private>", id="other-name"),
        pytest.param("<!private>", id="declaration"),
        pytest.param("<priv>", id="shorter"),
        pytest.param("\u2039private\u203a", id="bracket-that-is-none"),
        pytest.param("</pri\u200bvate>", id="broken-closer"),
        pytest.param("</private", id="closer-without-end"),
        pytest.param("if a < b and private > c", id="comparison"),
    ],
)
def test_text_that_only_resembles_an_opener_is_kept(text: str) -> None:
    assert (text, 0, None) == strip_private_spans(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("plain", ("plain", 0, None), id="no-bracket"),
        pytest.param("a<private>x</private>b", ("ab", 1, None), id="one-span"),
        pytest.param(
            "a<private>x<private>y</private></private>b<private>z</private>",
            ("ab", 2, None),
            id="nested-counts-once",
        ),
        pytest.param("a</private>b", ("ab", 0, None), id="orphan-closer-is-no-span"),
        pytest.param("ab<private>x", ("ab", 0, 2), id="unclosed"),
        pytest.param(
            "a<private>x</private>b<private/>", ("ab", 1, 22), id="malformed-after-a-span"
        ),
        pytest.param("a<private>x<private/></private>", ("a", 0, 1), id="malformed-inside-a-span"),
        pytest.param("a<p<private>x</private>rivate>b", ("a", 1, 1), id="cut-found-after-joining"),
        pytest.param(
            "ab<private>x</private>cd<p</private>rivate>e",
            ("abcd", 1, 24),
            id="place-in-the-given-text",
        ),
    ],
)
def test_what_was_taken_out_is_counted_and_located(
    text: str, expected: tuple[str, int, int | None]
) -> None:
    assert expected == strip_private_spans(text)


TAG_PIECES = ["<", ">", "/", "private", "pri", "vate", "PRIVATE", "<private>", "</private>"]
ODD_PIECES = [
    " ",
    "\n",
    "x",
    "<private ",
    "<private/>",
    "\uff1c",
    "\uff1e",
    "\ufe64",
    "\u200b",
    "\u0301",
]
RARE_PIECES = ["\u034f", "\ufeff", "\u2173", "e", "=", '"', "\x00", "\u0327"]
PIECES = st.sampled_from(TAG_PIECES + ODD_PIECES + RARE_PIECES)


def plain_reading(text: str) -> bool:
    """A second opinion, written for clarity: whether any bracket of *text* reads private."""
    for start, character in enumerate(text):
        if character not in OPEN_BRACKETS:
            continue
        end = next((i for i in range(start, len(text)) if text[i] in CLOSE_BRACKETS), len(text))
        inner = unicodedata.normalize("NFKC", text[start + 1 : end])
        visible = "".join(
            letter
            for letter in inner
            if unicodedata.category(letter) not in {"Cc", "Cf"}
            and letter not in WHITE_SPACE
            and letter not in DEFAULT_IGNORABLE
        )
        if visible.lower().startswith("private"):
            return True
    return False


@given(st.lists(PIECES, max_size=40).map("".join))
@example("<pri<pri<private></private>vate></private>vate>x")
def test_stripping_again_changes_nothing_and_no_opener_is_left(text: str) -> None:
    stripped = strip_private(text)

    assert stripped == strip_private(stripped)
    assert not plain_reading(stripped)


@given(st.lists(PIECES, max_size=30).map("".join))
def test_text_without_a_tag_is_kept_as_it_is(text: str) -> None:
    if not plain_reading(text.replace("/", "")):
        assert (text, 0, None) == strip_private_spans(text)


@given(st.lists(PIECES, max_size=40).map("".join))
@example("ab<private>x</private>cd<p</private>rivate>e")
def test_every_kept_character_is_found_in_the_given_text(text: str) -> None:
    stripped, origin = strip_with_origin(text)
    places = [origin.locate(offset) for offset in range(len(stripped.text))]

    assert stripped == strip_private_spans(text)
    assert stripped.text == "".join(text[place] for place in places)
    assert places == sorted(set(places))


def steps_of(work: Callable[[str], object], text: str) -> int:
    """Count calls, those into C included: the measure of work that no busy machine changes."""
    steps = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal steps
        steps += 1

    sys.setprofile(count)
    try:
        work(text)
    finally:
        sys.setprofile(None)
    return steps


HOSTILE = [
    pytest.param("<", id="brackets"),
    pytest.param("\n", id="newlines"),
    pytest.param("<private ", id="openers-without-end"),
    pytest.param("<private>", id="openers"),
    pytest.param("<private></private>", id="spans"),
    pytest.param("</private>", id="closers"),
    pytest.param("</pri</private>vate>", id="joining-closers"),
    pytest.param("<p ", id="almost-openers"),
    pytest.param("\uff1c", id="full-width-brackets"),
    pytest.param("<b>", id="markup"),
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_steps_grow_no_faster_than_the_text(unit: str) -> None:
    small = steps_of(strip_private, unit * 1_000)
    large = steps_of(strip_private, unit * 4_000)

    assert large <= 4 * small + 100


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_megabyte_of_hostile_text_is_answered(unit: str) -> None:
    """A scan that is not linear would not come back from this within the test run."""
    text = unit * (MEGABYTE // len(unit))

    assert len(strip_private(text)) <= len(text)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        pytest.param("<private" + " " * MEGABYTE + "<", 0, id="blanks-after-the-name"),
        pytest.param("<" + " " * MEGABYTE + "private", 0, id="blanks-before-the-name"),
        pytest.param("<" + " " * MEGABYTE + "x>", MEGABYTE + 3, id="blanks-before-another-name"),
        pytest.param("<p" + "\u200b" * MEGABYTE, MEGABYTE + 2, id="invisible-characters"),
        pytest.param("<private" + "\u0327\u0301" * (MEGABYTE // 2), MEGABYTE + 8, id="marks"),
        pytest.param("<pri" * 50_000 + "</private>" + "vate>" * 50_000, None, id="nested-joins"),
    ],
)
def test_a_megabyte_inside_one_tag_is_answered(text: str, kept: int | None) -> None:
    stripped = strip_private(text)

    assert kept is None or kept == len(stripped)
    assert stripped == strip_private(stripped)


def envelope(**changes: Any) -> dict[str, Any]:
    mapping: dict[str, Any] = {
        "source": "claude",
        "channel": "cli",
        "timestamps": {"captured_at": "2026-07-26T10:00:00.000Z"},
        "session_id": None,
        "content": "keep <private>hide</private> this",
    }
    return {**mapping, **changes}


@pytest.mark.parametrize(
    ("source", "channel"),
    [
        ("claude", "cli"),
        ("hermes", "cli"),
        ("codex", "cli"),
        ("subagent", "task"),
        ("telegram", "direct-message"),
    ],
)
def test_consumer_sees_only_the_clean_copy_of_any_source(source: str, channel: str) -> None:
    seen: list[CaptureEnvelope] = []
    given = envelope(source=source, channel=channel, session_id="s<private>7</private>1")

    ingest(given, seen.append)

    assert [(source, channel, "keep  this", "s1")] == [
        (clean.source, clean.channel, clean.content, clean.session_id) for clean in seen
    ]


def test_ingest_returns_what_the_consumer_returns() -> None:
    assert (
        ingest(CaptureEnvelope.from_mapping(envelope()), lambda clean: clean.content)
        == "keep  this"
    )


@pytest.mark.parametrize("field", ["source", "channel"])
def test_consumer_is_not_called_when_a_required_text_was_private(field: str) -> None:
    seen: list[CaptureEnvelope] = []

    with pytest.raises(SchemaError):
        ingest(envelope(**{field: "<private>x</private>"}), seen.append)

    assert seen == []


@pytest.mark.parametrize(
    "mapping",
    [
        pytest.param(envelope(), id="least"),
        pytest.param(
            envelope(
                timestamps={"captured_at": "2026-07-26", "source_at": "2026-07-25"},
                valid_from="2026-01-01",
                valid_until="2027-01-01",
                session_id="s-1",
            ),
            id="everything",
        ),
    ],
)
def test_mapping_form_round_trips(mapping: dict[str, Any]) -> None:
    assert mapping == CaptureEnvelope.from_mapping(mapping).to_mapping()


@pytest.mark.parametrize(
    "mapping",
    [
        pytest.param([], id="not-an-object"),
        pytest.param(envelope(extra=1), id="unknown-key"),
        pytest.param(envelope(timestamps={"captured_at": "x", "extra": 1}), id="unknown-timestamp"),
        pytest.param(envelope(timestamps="now"), id="timestamps-not-an-object"),
        pytest.param(envelope(timestamps={}), id="no-capture-time"),
        pytest.param({k: v for k, v in envelope().items() if k != "session_id"}, id="missing-key"),
        pytest.param(envelope(content=None), id="content-null"),
        pytest.param(envelope(session_id=7), id="session-not-a-text"),
        pytest.param(envelope(valid_from=0), id="bound-not-a-text"),
        pytest.param(envelope(source=" "), id="blank-source"),
        pytest.param(envelope(channel=1), id="channel-not-a-text"),
    ],
)
def test_malformed_envelope_is_refused(mapping: Any) -> None:
    with pytest.raises(SchemaError) as caught:
        CaptureEnvelope.from_mapping(mapping)

    assert caught.value.code == "invalid_envelope"


@pytest.mark.parametrize(
    ("bounds", "at", "valid"),
    [
        pytest.param({}, "2026-07-26", True, id="open"),
        pytest.param({"valid_from": "2026-07-26"}, "2026-07-26", True, id="start-inclusive"),
        pytest.param({"valid_until": "2026-07-26"}, "2026-07-26", False, id="end-exclusive"),
        pytest.param({"valid_until": "2026-07-26"}, "2026-07-25T23:59:59.999Z", True, id="before"),
        pytest.param({"valid_from": "soon"}, "2026-07-26", False, id="unreadable-start"),
        pytest.param({"valid_until": "later"}, "2026-07-26", False, id="unreadable-end"),
        pytest.param({"valid_from": ""}, "2026-07-26", False, id="empty-start"),
        pytest.param({}, "some day", False, id="unreadable-instant"),
        pytest.param({"valid_from": "1970-01-01"}, 0, True, id="instant-in-milliseconds"),
    ],
)
def test_validity_of_an_envelope_fails_closed(
    bounds: dict[str, str], at: str | int, *, valid: bool
) -> None:
    assert valid is is_valid_at(envelope(**bounds), at)
