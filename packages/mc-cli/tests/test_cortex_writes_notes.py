"""Notes on disk: how one starts, how it is continued, and what nobody continues."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest
from mc_cli.cortex.testing import (
    NOW,
    NOW_TEXT,
    files_of,
    get,
    idea,
    make_root,
    rebuild,
    refusal,
    store,
)

if TYPE_CHECKING:
    from pathlib import Path

NOTE = "KNOWLEDGE/Ideas/cats.md"
HOUR = 3600.0


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_root(tmp_path)


def write_note(root: Path, text: str, path: str = NOTE) -> Path:
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(text.encode())
    return target


def owned_note(body: str = "Old.\n", **fields: str) -> str:
    head = {
        "id": "n1",
        "title": '"Cats"',
        "source_kind": "internal",
        "created": "2026-01-01",
        "updated": "2026-01-02",
        "related": "[]",
    } | fields
    lines = "".join(f"{key}: {value}\n" for key, value in head.items() if value)
    return f"---\n{lines}---\n\n{body}"


def test_new_note_has_the_fields_of_the_convention_in_order(root: Path) -> None:
    item = idea(
        confidence=0.25, source_session="s-1", related=[{"slug": "dogs", "type": "contradicts"}]
    )

    answer = store(root, item)

    note_id = answer["detail"]["id"]
    expected = f"""\
---
id: {note_id}
type: idea
title: "Cats"
tags: [idea]
status: seedling
quality: unrated
quality_inferred: true
confidence: 0.25
source_kind: internal
source_session: s-1
created: {NOW_TEXT}
updated: {NOW_TEXT}
related:
  - slug: dogs
    type: contradicts
convention: kb-v3
---

# Cats

They purr.
"""
    assert expected == (root / NOTE).read_text()
    assert {"ok": True, "type": "idea", "path": NOTE, "detail": answer["detail"]} == answer
    assert answer["detail"]["created"] == NOW_TEXT


def test_reader_gives_back_what_was_sent(root: Path) -> None:
    item = idea(source_session="s-1", related=[{"slug": "dogs", "type": "supports"}])

    answer = store(root, item)

    (record,) = get(root, answer["detail"]["id"])
    assert (record["type"], record["title"], record["created"]) == ("idea", "Cats", NOW_TEXT)
    assert record["provenance"] == {"source": "internal", "session": "s-1", "path": NOTE}
    assert record["related"] == ["dogs"]
    assert "They purr." in record["content"]


@pytest.mark.parametrize(
    ("entity", "folder"),
    [("person", "People"), ("company", "Companies"), ("research", "Research")],
)
def test_knowledge_goes_to_the_folder_of_its_entity(root: Path, entity: str, folder: str) -> None:
    item = {"type": "knowledge", "entity_type": entity, "name": "Ada L.", "content": "Wrote."}

    assert f"KNOWLEDGE/{folder}/ada-l.md" == store(root, item)["path"]


@pytest.mark.parametrize(
    "title",
    [
        '"quoted"',
        "it's",
        "both ' and \"",
        "'",
        "a: b # c",
        "[x]",
        "\\",
        "slug: x",
        "猫",
        "- a",
        "# h",
    ],
)
def test_any_title_is_read_back_exactly(root: Path, title: str) -> None:
    answer = store(root, idea(title))

    assert title == get(root, answer["detail"]["id"])[0]["title"]


def test_same_title_continues_the_note_and_touches_nothing_else(root: Path) -> None:
    before = owned_note("Old.\n\n\tTabbed  \n", tags="[a, b]", extra="kept")
    write_note(root, before)

    answer = store(root, idea(content="New.", confidence=0.5, source_session="s2"))

    expected = before.replace("updated: 2026-01-02", f"updated: {NOW_TEXT}")
    expected += "\n## 2026-07-26\n\nSession: s2\nConfidence: 0.5\n\nNew.\n"
    assert expected == (root / NOTE).read_text()
    detail = {"id": "n1", "created": "2026-01-01", "updated": NOW_TEXT, "appended": True}
    assert detail == answer["detail"]


def test_line_ends_mark_and_missing_last_line_end_of_a_note_are_kept(root: Path) -> None:
    text = "\ufeff" + owned_note("Old.").replace("\n", "\r\n")
    write_note(root, text)

    store(root, idea(content="a\nb"))

    data = (root / NOTE).read_bytes().decode()
    assert data.startswith("\ufeff---\r\nid: n1\r\n")
    assert data.endswith("Old.\r\n\r\n## 2026-07-26\r\n\r\na\r\nb\r\n")
    assert "\n" not in data.replace("\r\n", "")


def test_new_links_are_merged_by_slug(root: Path) -> None:
    related = "\n  - slug: dogs\n    type: supports"
    write_note(root, owned_note(related=related))
    links = [{"slug": "dogs", "type": "contradicts"}, {"slug": "mice", "type": "extends"}]

    store(root, idea(related=links))

    text = (root / NOTE).read_text()
    assert get(root, "n1")[0]["related"] == ["dogs", "mice"]
    assert "  - slug: dogs\n    type: supports\n  - slug: mice\n    type: extends\n" in text


def test_slug_anywhere_in_the_frontmatter_is_known(root: Path) -> None:
    related = "\n  - slug: dogs\n\n  - slug: mice"
    write_note(root, owned_note(related=related))

    store(root, idea(related=[{"slug": "mice", "type": "extends"}]))

    assert get(root, "n1")[0]["related"] == ["dogs", "mice"]


def test_note_without_related_gets_it(root: Path) -> None:
    write_note(root, owned_note(related=""))

    store(root, idea(related=[{"slug": "mice", "type": "extends"}]))

    assert get(root, "n1")[0]["related"] == ["mice"]


def test_note_never_grows_beyond_64_links(root: Path) -> None:
    first = [{"slug": f"s{number}", "type": "related"} for number in range(64)]
    store(root, idea(related=first))

    assert refusal(root, idea(related=first[:1])) == "ok"
    assert refusal(root, idea(related=[{"slug": "new", "type": "related"}])) == "EAT_CAP"


def test_updated_never_goes_back(root: Path) -> None:
    answer = store(root, idea(), now=NOW + HOUR)
    assert store(root, idea(content="later"), now=NOW)["ok"]

    record = get(root, answer["detail"]["id"])[0]
    assert record["updated"] == "2026-07-26T11:00:00.000Z"


@pytest.mark.parametrize("title", ["cats", "Cats!", "CATS"])
def test_slug_of_another_title_is_refused_and_nothing_is_written(root: Path, title: str) -> None:
    store(root, idea())
    before = files_of(root)

    assert refusal(root, idea(title)) == "ETITLE_CONFLICT"
    assert before == files_of(root)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(owned_note(source_kind="imported"), id="imported"),
        pytest.param(owned_note(source_kind=""), id="no-source-kind"),
        pytest.param(owned_note(source_kind="", source="internal"), id="source-is-not-enough"),
        pytest.param(owned_note(source_kind="internal\nsource_kind: x"), id="last-one-wins"),
        pytest.param("# Cats\n\nBy hand.\n", id="no-frontmatter"),
    ],
)
def test_note_of_another_owner_is_not_continued(root: Path, text: str) -> None:
    write_note(root, text)
    before = files_of(root)

    assert refusal(root, idea()) == "ESOURCE_OWNED"
    assert before == files_of(root)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(owned_note("Old <private>\n"), id="open-span-would-hide-it"),
        pytest.param(owned_note(created="yesterday"), id="created-is-no-time"),
        pytest.param(owned_note("a\x01b\n"), id="control-character"),
    ],
)
def test_note_that_no_reader_would_show_is_left_alone(root: Path, text: str) -> None:
    write_note(root, text)
    before = files_of(root)

    assert refusal(root, idea()) == "EINVAL_TARGET"
    assert before == files_of(root)


def test_note_with_other_links_is_left_alone(root: Path) -> None:
    write_note(root, owned_note(related="[a, b]"))

    assert refusal(root, idea(related=[{"slug": "c", "type": "related"}])) == "EINVAL_TARGET"
    assert refusal(root, idea()) == "ok"


def test_note_that_is_not_utf8_is_left_alone(root: Path) -> None:
    (root / "KNOWLEDGE/Ideas").mkdir()
    (root / NOTE).write_bytes(b"\xff\xfe")

    assert refusal(root, idea()) == "EINVAL_TARGET"


@pytest.mark.parametrize(
    ("title", "content"),
    [
        pytest.param("a <", "private> hidden", id="title-and-content-join"),
        pytest.param("a <", "  PRIVATE x> hidden </private>", id="with-blanks-and-attributes"),
    ],
)
def test_parts_that_would_join_into_a_private_tag_are_refused(
    root: Path, title: str, content: str
) -> None:
    assert refusal(root, idea(title, content)) == "EINVAL_TARGET"
    assert files_of(root) == {}


def test_note_never_grows_beyond_what_a_reader_takes(root: Path) -> None:
    body = "x" * (8_388_608 - len(owned_note("")) - 20)
    write_note(root, owned_note(body))

    assert refusal(root, idea()) == "EAT_CAP"
    assert rebuild(root)["equivalent"] is True


def test_no_note_beyond_ten_thousand_files(root: Path) -> None:
    rows = root / "KNOWLEDGE/n"
    rows.mkdir()
    for number in range(9_999):
        (rows / f"{number}.md").touch()

    assert refusal(root, idea()) == "ok"
    assert refusal(root, idea("Dogs")) == "EAT_CAP"
    assert refusal(root, idea(content="an existing note still grows")) == "ok"
    shutil.rmtree(rows)  # or every later test run would clear it away


def test_no_note_beyond_fifty_thousand_records(root: Path) -> None:
    day = "2026-01-01"
    row = f'{{"id":"%d","type":"t","title":"t","created":"{day}","updated":"{day}","content":"c"}}'
    rows = "\n\n".join(row % number for number in range(49_999))
    (root / "KNOWLEDGE/rows.jsonl").write_text(rows)

    assert refusal(root, idea()) == "ok"
    assert refusal(root, idea("Dogs")) == "EAT_CAP"
    assert rebuild(root)["records"] == 50_000


def test_ids_of_two_notes_with_one_slug_in_two_folders_differ(root: Path) -> None:
    person: dict[str, Any] = {"type": "knowledge", "content": "x", "name": "Cats"}
    answers = [
        store(root, item)
        for item in (
            idea(),
            {**person, "entity_type": "person"},
            {**person, "entity_type": "research"},
        )
    ]

    assert len({answer["detail"]["id"] for answer in answers}) == 3
    assert rebuild(root)["records"] == 3
