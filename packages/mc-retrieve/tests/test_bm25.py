from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mc_retrieve.bm25 import Scored, top
from mc_retrieve.record import Record
from mc_retrieve.search import Search

if TYPE_CHECKING:
    from collections.abc import Sequence

TERM = re.compile("[a-z0-9]+")
WORDS = ["alpha", "beta", "gamma", "al", "alphabet", "b2", "Beta", "ALPHA"]
TEXTS = st.lists(
    st.tuples(st.sampled_from(WORDS), st.sampled_from([" ", "  ", ", ", "\n", "-", "é", "中 "])),
    max_size=25,
).map(lambda pairs: "".join(word + gap for word, gap in pairs))
DOCUMENTS = st.lists(
    st.tuples(TEXTS, TEXTS, st.integers(min_value=-(10**13), max_value=10**13)), max_size=12
)


def record_of(record_id: str, title: str = "", updated_ms: int = 0) -> Record:
    record = Record(record_id, "memory", title, "1970-01-01", "1970-01-01", "s", None, "p")
    record.updated_ms = updated_ms
    return record


def plain_ranking(
    query: str, documents: Sequence[tuple[str, str, int]], recency: float
) -> list[tuple[str, float]]:
    """The contract's formula, written down as it stands in section 6."""
    tokens = [TERM.findall(f"{title} {content}".lower()) for title, content, _ in documents]
    count = len(tokens)
    average = max(1.0, sum(map(len, tokens)) / count) if count else 1.0
    ranked = []
    for number, (words, (_, _, updated)) in enumerate(zip(tokens, documents, strict=True)):
        score = 0.0
        for term in dict.fromkeys(TERM.findall(query.lower())):
            tf = words.count(term)
            df = sum(term in other for other in tokens)
            if tf > 0:
                idf = math.log(1 + (count - df + 0.5) / (df + 0.5))
                score += idf * tf * 2.5 / (tf + 1.5 * (0.25 + 0.75 * len(words) / average))
        if score > 0:
            ranked.append((f"r{number:02d}", score + recency * updated / 1e13))
    return sorted(ranked, key=lambda pair: (-pair[1], pair[0]))


@pytest.mark.parametrize(
    "query",
    ["alpha", "beta alpha zeta", "al alphabet b2 c d e f g h alpha beta gamma", "beta beta"],
)
@given(documents=DOCUMENTS, recency=st.sampled_from([0.0, 0.5, 1.0, 1000.0]))
def test_ranking_is_that_of_the_plain_formula(
    query: str, documents: list[tuple[str, str, int]], recency: float
) -> None:
    search = Search(query, {"--recency": repr(recency), "--page-size": "100"})
    for number, (title, content, updated) in enumerate(documents):
        search.take(record_of(f"r{number:02d}", title, updated), content.encode(), None)
    hits = search._ranking.hits(recency)
    found = [(hit.record.id, hit.key) for hit in top(hits, 0, len(hits))]
    expected = plain_ranking(query, documents, recency)

    assert [record_id for record_id, _ in expected] == [record_id for record_id, _ in found]
    assert [key for _, key in expected] == pytest.approx([key for _, key in found], abs=1e-9)
    shown: list[dict[str, Any]] = search.answer()["items"]
    assert [item["score"] for item in shown] == pytest.approx([key for _, key in found], abs=6e-7)


def test_record_without_a_query_term_is_no_hit() -> None:
    search = Search("alpha", {"--recency": "1000"})
    for name, text in (("a", b"alpha"), ("b", b"alphabet beta"), ("c", b"")):
        search.take(record_of(name, updated_ms=10**13), text, None)

    assert [item["id"] for item in search.answer()["items"]] == ["a"]


@given(
    st.lists(st.sampled_from([0.5, 1.0, 1.5, 2.0]), max_size=30),
    st.integers(min_value=0, max_value=35),
    st.integers(min_value=1, max_value=10),
)
def test_page_is_that_of_a_full_sort(keys: list[float], start: int, size: int) -> None:
    hits = [Scored(record_of(f"r{number:02d}"), key) for number, key in enumerate(keys)]
    everything = sorted(hits, key=lambda hit: (-hit.key, hit.record.id))

    assert everything[start : start + size] == top(hits[::-1], start, start + size)
