"""Typed items: every bound at and one past it, and what no text may hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from mc_cli.cortex.governance import GovernanceError
from mc_cli.cortex.items import MemoryItem, NoteItem, ProposalItem, check_item, slug_of
from mc_cli.cortex.testing import idea, memory, memory_set, proposal

if TYPE_CHECKING:
    from collections.abc import Mapping

ASTRAL = "\U0001f600"


def code_of(item: Mapping[str, Any]) -> str:
    try:
        check_item(item)
    except GovernanceError as error:
        return error.code
    return "ok"


def knowledge(**fields: Any) -> dict[str, Any]:
    return {"type": "knowledge", "entity_type": "person", "name": "Ada", "content": "x", **fields}


def links(count: int) -> list[dict[str, str]]:
    return [{"slug": f"s{number}", "type": "supports"} for number in range(count)]


@pytest.mark.parametrize(
    ("at", "past"),
    [
        pytest.param(idea(content="x" * 65_536), idea(content="x" * 65_537), id="content"),
        pytest.param(
            idea(content=ASTRAL * 32_768), idea(content=ASTRAL * 32_768 + "x"), id="astral-is-two"
        ),
        pytest.param(idea(title="x" * 1_024), idea(title="x" * 1_025), id="title"),
        pytest.param(knowledge(name="x" * 1_024), knowledge(name="x" * 1_025), id="name"),
        pytest.param(
            idea(source_session="x" * 1_024), idea(source_session="x" * 1_025), id="session"
        ),
        pytest.param(
            idea(related=[{"slug": "x" * 1_024, "type": "related"}]),
            idea(related=[{"slug": "x" * 1_025, "type": "related"}]),
            id="slug",
        ),
        pytest.param(idea(related=links(64)), idea(related=links(65)), id="links"),
        pytest.param(proposal("x" * 65_536), proposal("x" * 65_537), id="edit"),
        pytest.param(
            proposal(rationale="x" * 65_536), proposal(rationale="x" * 65_537), id="rationale"
        ),
        pytest.param(
            proposal(target_file="x" * 4_096, target_kind="style"),
            proposal(target_file="x" * 4_097, target_kind="style"),
            id="target-file",
        ),
        pytest.param(
            memory("RULE: " + "x" * 256), memory("RULE: " + "x" * 257), id="entry-after-prefix"
        ),
        pytest.param(
            memory_set("PREFERENCE: " + "x" * 256),
            memory_set("PREFERENCE: " + "x" * 257),
            id="set-entry-after-prefix",
        ),
        pytest.param(idea(confidence=0), idea(confidence=-0.001), id="confidence-low"),
        pytest.param(idea(confidence=1), idea(confidence=1.001), id="confidence-high"),
        pytest.param(
            proposal(observed_across_sessions=1),
            proposal(observed_across_sessions=0),
            id="observed",
        ),
    ],
)
def test_bound_is_allowed_and_one_past_it_is_refused(
    at: dict[str, Any], past: dict[str, Any]
) -> None:
    assert (code_of(at), code_of(past)) == ("ok", "EINVAL_ITEM")


def test_more_than_48_entries_are_refused_with_the_count_over() -> None:
    entries = [f"RULE: {number}" for number in range(50)]

    with pytest.raises(GovernanceError) as caught:
        check_item(memory_set(*entries))

    assert code_of(memory_set(*entries[:48])) == "ok"
    assert caught.value.code == "EAT_CAP"
    assert "2 over" in caught.value.what


@pytest.mark.parametrize(
    "item",
    [
        pytest.param(idea(extra=1), id="unknown-field"),
        pytest.param(memory(title="x"), id="field-of-another-type"),
        pytest.param({"type": "idea", "content": "x"}, id="title-missing"),
        pytest.param({"type": "idea", "title": "x"}, id="content-missing"),
        pytest.param(idea(title=" \t "), id="title-blank"),
        pytest.param(idea(title="a\nb"), id="title-two-lines"),
        pytest.param(idea(title="a\u2028b"), id="title-line-separator"),
        pytest.param(idea(title=7), id="title-number"),
        pytest.param(idea(content=" \n\u3000"), id="content-blank"),
        pytest.param(idea(content=None), id="content-null"),
        pytest.param(idea(content="a\x00b"), id="nul"),
        pytest.param(idea(content="a\rb"), id="carriage-return"),
        pytest.param(idea(content="a\x7fb"), id="delete"),
        pytest.param(idea(content="a\x85b"), id="c1-control"),
        pytest.param(idea(title="a\tb"), id="tab-in-metadata"),
        pytest.param(idea(content="a\ud800b"), id="lone-surrogate"),
        pytest.param(idea(content="a\n---\nb"), id="fence-line"),
        pytest.param(idea(content="--- \t"), id="fence-with-blanks"),
        pytest.param(idea(content="a\u2028---"), id="fence-after-separator"),
        pytest.param(idea(title="---"), id="fence-as-title"),
        pytest.param(idea(content="a <!-- b"), id="comment-open"),
        pytest.param(idea(content="a --> b"), id="comment-close"),
        pytest.param(idea(confidence=True), id="confidence-boolean"),
        pytest.param(idea(confidence="0.5"), id="confidence-text"),
        pytest.param(idea(confidence=float("inf")), id="confidence-infinite"),
        pytest.param(idea(confidence=float("nan")), id="confidence-nan"),
        pytest.param(idea(source_session="a b"), id="session-blank-inside"),
        pytest.param(idea(source_session="a#b"), id="session-hash"),
        pytest.param(idea(source_session="a:b"), id="session-colon"),
        pytest.param(idea(source_session='a"b'), id="session-quote"),
        pytest.param(idea(source_session="a'b"), id="session-apostrophe"),
        pytest.param(idea(source_session="a\ufeffb"), id="session-byte-order-mark"),
        pytest.param(idea(related={}), id="related-object"),
        pytest.param(idea(related=["a"]), id="related-text"),
        pytest.param(idea(related=[{"slug": "a"}]), id="related-without-type"),
        pytest.param(idea(related=[{"slug": "a", "type": "likes"}]), id="related-unknown-type"),
        pytest.param(
            idea(related=[{"slug": "a", "type": "related", "x": 1}]), id="related-unknown-field"
        ),
        pytest.param(idea(related=[*links(1), *links(1)]), id="related-repeated"),
        pytest.param(idea(related=[{"slug": "a b", "type": "related"}]), id="related-two-words"),
        pytest.param(idea(related=[{"slug": "a#b", "type": "related"}]), id="related-hash"),
        pytest.param(knowledge(entity_type="place"), id="unknown-entity"),
        pytest.param(knowledge(title="x"), id="knowledge-has-a-name-not-a-title"),
        pytest.param(memory(actor="agent"), id="unknown-actor"),
        pytest.param(memory(op="delete"), id="unknown-op"),
        pytest.param(memory(provenance="guessed"), id="unknown-provenance"),
        pytest.param(memory(entries=["RULE: x"]), id="add-with-entries"),
        pytest.param({**memory_set("RULE: x"), "content": "RULE: x"}, id="set-with-content"),
        pytest.param(memory_set(), id="set-of-nothing"),
        pytest.param(memory_set("RULE: x", "RULE: x"), id="set-repeats"),
        pytest.param(memory_set("RULE: x", "rule: y"), id="set-malformed"),
        pytest.param(memory("x"), id="entry-without-prefix"),
        pytest.param(memory("RULE:x"), id="entry-without-blank"),
        pytest.param(memory("RULE:  "), id="entry-without-text"),
        pytest.param(memory("RULE: x\nRULE: y"), id="two-entries"),
        pytest.param(proposal(target_kind="poem"), id="unknown-kind"),
        pytest.param(proposal(target_file="a\nb"), id="target-two-lines"),
        pytest.param(
            proposal(target_file="USER/<private>x</private>STYLE.md"), id="target-private"
        ),
        pytest.param(proposal(observed_across_sessions=1.5), id="observed-half"),
        pytest.param(proposal(observed_across_sessions=True), id="observed-boolean"),
        pytest.param(
            {key: value for key, value in proposal().items() if key != "confidence"},
            id="proposal-without-confidence",
        ),
    ],
)
def test_item_that_breaks_a_rule_is_refused(item: dict[str, Any]) -> None:
    assert code_of(item) == "EINVAL_ITEM"


@pytest.mark.parametrize("kind", ["note", "", None, 7, ["idea"]])
def test_unknown_type_is_refused_by_name(kind: object) -> None:
    assert code_of({"type": kind}) == "EUNKNOWN_TYPE"


@pytest.mark.parametrize(
    "item",
    [
        pytest.param(idea(content="a\tb\nc"), id="tab-and-line-feed"),
        pytest.param(idea(content="a --- b\n----"), id="dashes-that-fence-nothing"),
        pytest.param(idea(source_session=" "), id="blank-session-is-none"),
        pytest.param(idea(related=[]), id="no-links"),
        pytest.param(proposal(observed_across_sessions=2.0), id="whole-number"),
        pytest.param(memory(" RULE: x \n"), id="entry-with-blanks-around"),
    ],
)
def test_item_that_breaks_no_rule_is_taken(item: dict[str, Any]) -> None:
    assert code_of(item) == "ok"


PRIVATE = "<private>hush</private>"


def test_every_string_loses_its_private_spans() -> None:
    note = check_item(
        idea(
            f"T{PRIVATE}",
            f"C{PRIVATE}",
            source_session=f"s{PRIVATE}",
            related=[{"slug": f"l{PRIVATE}", "type": f"supports{PRIVATE}"}],
        )
    )
    person = check_item(knowledge(name=f"N{PRIVATE}", entity_type=f"person{PRIVATE}"))
    hot = check_item(memory_set(f"RULE: a{PRIVATE}"))
    proposed = check_item(proposal(f"E{PRIVATE}", rationale=f"R{PRIVATE}"))

    assert isinstance(note, NoteItem)
    assert (note.title, note.content, note.session, note.removed) == ("T", "C", "s", 5)
    assert note.related[0].slug == "l"
    assert isinstance(person, NoteItem)
    assert (person.title, person.kind) == ("N", "person")
    assert isinstance(hot, MemoryItem)
    assert hot.entries == ("RULE: a",)
    assert isinstance(proposed, ProposalItem)
    assert (proposed.edit, proposed.rationale) == ("E", "R")


@pytest.mark.parametrize(
    "item",
    [
        pytest.param(idea(title=PRIVATE), id="title"),
        pytest.param(idea(content=PRIVATE), id="content"),
        pytest.param(knowledge(name=PRIVATE), id="name"),
        pytest.param(memory(f"RULE: {PRIVATE}"), id="entry"),
        pytest.param(proposal(PRIVATE), id="edit"),
        pytest.param(proposal(rationale=PRIVATE), id="rationale"),
        pytest.param(idea(related=[{"slug": PRIVATE, "type": "related"}]), id="slug"),
    ],
)
def test_required_text_that_was_all_private_is_refused(item: dict[str, Any]) -> None:
    assert code_of(item) == "EINVAL_ITEM"


@pytest.mark.parametrize("opener", ["<private>", "<private/>", "<p r i v a t e>", "<private"])
def test_text_that_an_opener_would_cut_is_refused(opener: str) -> None:
    with pytest.raises(GovernanceError) as caught:
        check_item(idea(content=f"seen {opener} hidden words"))

    assert "hidden" not in caught.value.message()


def test_refusal_repeats_neither_keys_nor_values() -> None:
    secret = "hunter2hunter2"
    items = [{**idea(), secret: 1}, idea(confidence=secret), memory(secret), memory(actor=secret)]

    for item in items:
        with pytest.raises(GovernanceError) as caught:
            check_item(item)
        assert secret not in caught.value.message()


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        pytest.param("Cats & Dogs", "cats-dogs", id="runs-become-one-dash"),
        pytest.param("  --A-- ", "a", id="trimmed"),
        pytest.param("x" * 70, "x" * 64, id="cut-at-64"),
        pytest.param("x" * 63 + " y", "x" * 63, id="no-dash-at-the-cut"),
        pytest.param("K\u212a", "kk", id="lower-case-first"),
        pytest.param("猫", "untitled-b2a1d7a4", id="nothing-to-use"),
    ],
)
def test_slug_follows_the_rules(title: str, slug: str) -> None:
    if slug.startswith("untitled-"):
        from hashlib import sha256

        slug = "untitled-" + sha256(title.encode()).hexdigest()[:8]

    assert slug == slug_of(title)


def test_two_titles_without_letters_never_share_a_slug() -> None:
    assert slug_of("猫") != slug_of("犬")
