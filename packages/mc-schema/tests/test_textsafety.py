from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from mc_schema.document import Document, format_bullet, normalise_newlines
from mc_schema.entry import LABELS, Entry, format_entry, parse_entry
from mc_schema.errors import InvalidTextError
from mc_schema.ids import EntryId
from mc_schema.memoryfile import parse_memory_file
from mc_schema.textsafety import require_body, require_line, require_title

if TYPE_CHECKING:
    from collections.abc import Callable


def refusal(check: Callable[[str, str], str], text: str) -> InvalidTextError:
    with pytest.raises(InvalidTextError) as caught:
        check(text, "message")
    return caught.value


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        pytest.param("  a b \n", "a b", id="trimmed"),
        pytest.param("a\r\nb\rc", "a\nb\nc", id="line-ends"),
        pytest.param("\ufeff \ufeffa\ufeff", "a", id="byte-order-marks"),
        pytest.param("a\tb", "a\tb", id="tab"),
        pytest.param("决定：用中文。", "决定：用中文。", id="cjk"),
        pytest.param(
            "```\n## x\nStatus: active\n```", "```\n## x\nStatus: active\n```", id="fence"
        ),
        pytest.param("- ```\n  Status: x\n  ```", "- ```\n  Status: x\n  ```", id="item-fence"),
        pytest.param("use `<!--` here", "use `<!--` here", id="comment-in-code"),
        pytest.param("a <!-- b --> c", "a <!-- b --> c", id="closed-comment"),
        pytest.param("a --> b", "a --> b", id="arrow"),
        pytest.param("#hash and ####### seven", "#hash and ####### seven", id="no-heading"),
        pytest.param("Note: x", "Note: x", id="other-label"),
        pytest.param("the Status: active", "the Status: active", id="label-in-the-line"),
        pytest.param("task-isolated-runner-for-long-names", None, id="long-words"),
        pytest.param("a < b and c > d", None, id="brackets"),
    ],
)
def test_harmless_text_is_accepted(text: str, kept: str | None) -> None:
    assert (text if kept is None else kept) == require_body(text, "message")


@pytest.mark.parametrize(
    ("text", "what", "where"),
    [
        pytest.param("", "the message is empty", "", id="empty"),
        pytest.param(" \n\u2003\ufeff", "the message is empty", "", id="blank"),
        pytest.param("\u200b\u2060", "the message is empty", "", id="invisible"),
        pytest.param("a\n## x", "heading", "message, line 2", id="heading"),
        pytest.param("###### x", "heading", "message, line 1", id="deep-heading"),
        pytest.param("a\n  # x", "heading", "message, line 2", id="indented-heading"),
        pytest.param("a\n#", "heading", "message, line 2", id="empty-heading"),
        pytest.param("a\u2028## x", "heading", "message, line 1", id="line-separator"),
        pytest.param("a\u2029Status: x", "field label", "message, line 1", id="paragraph-sep"),
        pytest.param("a\rStatus: x", "field label", "message, line 2", id="lone-cr"),
        pytest.param("- ```\n## x", "heading", "message, line 2", id="fence-left-by-dedent"),
        pytest.param("a\n```\nb", "never closed", "message, line 2", id="open-fence"),
        pytest.param("````\n```", "never closed", "message, line 1", id="short-closer"),
        pytest.param("- a\n  ~~~", "never closed", "message, line 2", id="open-item-fence"),
        pytest.param("a\n<!-- b", "never closed", "message, line 2", id="open-comment"),
        pytest.param("a <!-- b\n\nc", "never closed", "message, line 1", id="open-in-prose"),
        pytest.param("a <!-- b\n\n-->", "never closed", "message, line 1", id="closed-too-late"),
        pytest.param("<!-- a --> <!-- b", "never closed", "message, line 1", id="second-opener"),
        pytest.param("<!-- memory-custodian:start -->", "marker", "message, line 1", id="managed"),
        pytest.param("<!--memory-custodian:end-->", "marker", "message, line 1", id="managed-end"),
        pytest.param("Load:", "marker", "message, line 1", id="route"),
        pytest.param("a\n load if present: ", "marker", "message, line 2", id="optional-route"),
        pytest.param("- protocol_version: 0.9", "marker", "message, line 1", id="metadata"),
        pytest.param("<<<<<<< HEAD", "conflict", "message, line 1", id="conflict"),
        pytest.param("a\n=======\nb", "conflict", "message, line 2", id="conflict-middle"),
        pytest.param("a\x00b", "U+0000", "message, line 1", id="nul"),
        pytest.param("a\n\x1b[31m", "U+001B", "message, line 2", id="escape"),
        pytest.param("a\x85b", "U+0085", "message, line 1", id="next-line"),
        pytest.param("a\x0cb", "U+000C", "message, line 1", id="form-feed"),
        pytest.param("a\u202eb", "U+202E", "message, line 1", id="override"),
        pytest.param("a\u2066b", "U+2066", "message, line 1", id="isolate"),
        pytest.param("a\ud800b", "not UTF-8", "message, line 1", id="surrogate"),
        pytest.param("a <private>x</private>", "private mark", "", id="private-span"),
        pytest.param("a </private>", "private mark", "", id="private-closer"),
        pytest.param("a <private-x", "private mark", "", id="malformed-opener"),
        pytest.param("a" * 65_537, "longer than 65,536", "", id="too-long"),
    ],
)
def test_text_that_could_be_structure_is_refused(text: str, what: str, where: str) -> None:
    error = refusal(require_body, text)

    assert what in error.what
    assert where == error.where
    assert error.hint


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("form", ["{}: x", "{}:", "  {}: x", "\t{}:x"])
def test_every_label_is_refused_at_the_start_of_a_line(label: str, form: str) -> None:
    for word in (label, label.lower(), label.upper()):
        error = refusal(require_body, "a\n" + form.format(word))

        assert "field label" in error.what
        assert error.where == "message, line 2"
        assert "fenced code block" in error.hint


def test_longest_body_has_65536_characters() -> None:
    assert require_body("a" * 65_536, "message")


def test_longest_metadata_has_1024_characters() -> None:
    assert require_line("a" * 1_024, "title")
    assert "longer than 1,024" in refusal(require_line, "a" * 1_025).what


@pytest.mark.parametrize(
    "text",
    ["a\nb", "a\rb", "a\r\n## b", "a\u2028b", "a\u2029b", "a\x85b", "a\x0bb", "a\x0cb"],
)
def test_metadata_has_one_line(text: str) -> None:
    assert "more than one line" in refusal(require_line, text).what


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "is empty"),
        (" \u200d ", "is empty"),
        ("a <!-- b", "comment mark"),
        ("a --> b", "comment mark"),
        ("a\x07", "U+0007"),
        ("a\u202d", "U+202D"),
        ("a\udfff", "not UTF-8"),
        ("<private>a", "private mark"),
    ],
)
def test_metadata_that_could_be_structure_is_refused(text: str, what: str) -> None:
    assert what in refusal(require_line, text).what


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("## x", "the title would read as a heading"),
        ("Status: active", "the title would read as a field label"),
        (" decision: x", "the title would read as a field label"),
        ("Load:", "marker"),
        ("- project_id: x", "marker"),
        ("<<<<<<< HEAD", "conflict"),
        ("a\nb", "more than one line"),
        ("", "is empty"),
    ],
)
def test_title_that_would_read_as_structure_is_refused(text: str, what: str) -> None:
    with pytest.raises(InvalidTextError) as caught:
        require_title(text)

    assert what in caught.value.what
    assert caught.value.hint


def test_title_may_name_a_label_later() -> None:
    assert require_title(" The Status: field ") == "The Status: field"


def test_metadata_is_trimmed() -> None:
    assert require_line(" \ufeffa  b\n", "title") == "a  b"


def test_trimmed_characters_are_those_of_python_and_the_mark() -> None:
    edge = "".join(chr(p) for p in range(sys.maxunicode + 1) if chr(p).isspace()) + "\ufeff"

    assert require_line(edge + "a" + edge, "title") == "a"


def test_refusal_does_not_repeat_the_text() -> None:
    error = refusal(require_body, "## hunter2-secret")

    assert "hunter2" not in f"{error} {error.hint} {error.where}"


FRAGMENTS = (
    "text",
    "a --> b",
    "-->",
    "<!-- c -->",
    "<!--",
    "x <!-- y",
    "`<!--`",
    "` <!-- `",
    "```",
    "~~~",
    "````",
    "  ```",
    "- ```",
    "- a",
    "* b",
    "1. c",
    "   d",
    "    e",
    "## MC-DEC-20260101-00000000 — F",
    "Status: active",
    " Scope: project",
    "Reason: x",
    "<private>",
    "</private>",
    "<",
    "private>",
    "---",
    "\u2028",
    "",
)
safe_bodies = st.one_of(
    st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=6).map("\n".join),
    st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=6).map(" ".join),
    st.text(alphabet="<!-->`~#- \n\tprivate:SR", min_size=1, max_size=40),
)
EXISTING = (
    "",
    "# T\n\nopen <!-- prose\n",
    "# T\n\nopen <!-- prose\n## MC-CON-20260101-00000001 — X\n\nStatus: active\n",
    "- open <!-- in a bullet\n",
    "- open ` back-tick\n- a <\n",
    "\ufeff# T\r\n\r\n- a\r\n\r\n## MC-CON-20260101-00000001 — X\r\n\r\nStatus: active\r\n",
    "intro\n<!-- closed -->\n- ```\n  open in an item\n",
    "---\nno front matter\n\n## Old\nDecision:\nx <!-- y\n",
    "1. a\n   ```\n   open in an item",
    "# T\n\n## Old\n- a\n- b <!--\n\nloose",
)


def accepted(text: str) -> str:
    try:
        return require_body(text, "message")
    except InvalidTextError:
        assume(False)
        raise


def entry_text(body: str, reason: str) -> str:
    return format_entry(
        Entry(
            id=EntryId("CON", "20260801", "0000000a"),
            title="New",
            status="active",
            scope="project",
            evidence=("user-confirmed",),
            body_label="Constraint",
            body=body,
            reason=reason,
        )
    )


@settings(max_examples=400)
@given(safe_bodies, safe_bodies, st.sampled_from(EXISTING), st.sampled_from([0, 1]))
@example("a --> b", "-->", EXISTING[1], 1)
@example("x <!-- y -->", "```\n## z\n```", EXISTING[2], 0)
def test_accepted_text_forges_no_unit_entry_or_field(
    body: str, reason: str, existing: str, where: int
) -> None:
    body, reason = accepted(body), accepted(reason)
    document = Document.parse(existing)
    insert = (document.append, document.insert_newest_first)[where]
    plain = parse_memory_file("constraints.md", insert(entry_text("b", "r")))

    found = parse_memory_file("constraints.md", insert(entry_text(body, reason)))

    assert (found.removed_spans, found.hidden_line) == (0, 0)
    assert [u.unit.kind for u in plain.units] == [u.unit.kind for u in found.units]
    changed = [
        after.text
        for before, after in zip(plain.units, found.units, strict=True)
        if before.text != after.text
    ]
    for text in changed:
        entry = parse_entry(text)
        assert (body, reason) == (entry.body, entry.reason)
        assert (
            entry.status,
            entry.scope,
            entry.evidence,
        ) == ("active", "project", ("user-confirmed",))
        assert entry.problems == ()
    assert len(changed) <= 1


@settings(max_examples=300)
@given(safe_bodies, st.sampled_from(EXISTING))
@example("a --> b", EXISTING[3])
@example("```\n## x\n- y\n```", "- a\n")
def test_accepted_text_in_a_bullet_is_one_bullet(body: str, existing: str) -> None:
    document = Document.parse(existing)
    block = format_bullet(accepted(body))

    after = Document.parse(document.insert_bullet(block))

    units = [after.unit_text(unit) for unit in after.units]
    assert len(document.units) + 1 == len(units)
    assert normalise_newlines(block) in [normalise_newlines(text) for text in units]
