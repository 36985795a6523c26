from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from mc_retrieve.digest import Digest, canonical_text
from mc_retrieve.disclosure import full_record
from mc_retrieve.jsontext import format_json
from mc_retrieve.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from mc_retrieve.envelope import Result

TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\r\t"))


def record_of(values: list[str], related: list[str]) -> Record:
    record_id, kind, title, created, updated, source, session, path = values[:8]
    record = Record(record_id, kind, title, created, updated, source, session or None, path)
    record.related = related
    return record


@given(st.lists(TEXT, min_size=9, max_size=9), st.lists(TEXT, max_size=3))
def test_canonical_text_is_the_json_text_of_the_contract(
    values: list[str], related: list[str]
) -> None:
    value = full_record(record_of(values, related), values[8])

    assert format_json(value) == canonical_text(value)


def test_digest_is_that_of_all_records_sorted_by_id(
    cortex: Callable[..., Result],
    make_root: Callable[[Mapping[str, str | bytes]], Path],
    json_line: Callable[..., str],
) -> None:
    root = make_root(
        {
            "KNOWLEDGE/z.jsonl": json_line("c") + json_line("a", valid_until="2020-01-01"),
            "KNOWLEDGE/b.md": '---\nid: b\ncreated: 2026-01-01\n---\n\tslug: a\n"é"\n',
        }
    )
    items = [
        {
            "id": record_id,
            "type": "memory",
            "title": title,
            "created": "2026-01-01",
            "updated": updated,
            "provenance": {"source": "canonical", "session": None, "path": path},
            "content": content,
            "related": related,
            "valid_from": None,
            "valid_until": until,
        }
        for record_id, title, updated, path, content, related, until in [
            ("a", "Title", "2026-01-02", "KNOWLEDGE/z.jsonl", "words", [], "2020-01-01"),
            (
                "b",
                "KNOWLEDGE/b.md",
                "2026-01-01",
                "KNOWLEDGE/b.md",
                '---\nid: b\ncreated: 2026-01-01\n---\n\tslug: a\n"é"\n',
                ["a"],
                None,
            ),
            ("c", "Title", "2026-01-02", "KNOWLEDGE/z.jsonl", "words", [], None),
        ]
    ]
    text = json.dumps(items, ensure_ascii=False, separators=(",", ":"))
    digest = hashlib.sha256(text.encode()).hexdigest()

    assert cortex("rebuild", "--from-canonical", root=root).envelope["data"] == {
        "format": "lifeos-cortex-canonical-rebuild/v1",
        "canonical_digest": digest,
        "rebuilt_digest": digest,
        "equivalent": True,
        "records": 3,
        "indexes": [],
    }


def test_empty_corpus_has_the_digest_of_an_empty_list(
    cortex: Callable[..., Result], tmp_path: Path
) -> None:
    data = cortex("rebuild", "--from-canonical", root=tmp_path).envelope["data"]

    assert data["canonical_digest"] == hashlib.sha256(b"[]").hexdigest()


def test_changed_text_changes_the_digest() -> None:
    digest = Digest()
    digest.add("b", "2")
    digest.add("a", "1")

    assert digest.hexdigest() == hashlib.sha256(b"[1,2]").hexdigest()
    assert digest.hexdigest({"b": "3"}) == hashlib.sha256(b"[1,3]").hexdigest()
