from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mc_retrieve.analyser import AnalysedCounter, analyse, analyse_query


def is_found(stored: str, query: str) -> bool:
    _, counts = AnalysedCounter(list(dict.fromkeys(analyse_query(query))))(
        "", stored.encode(), None
    )
    return any(counts)


@pytest.mark.parametrize(
    ("stored", "query"),
    [
        pytest.param("人工智能技术发展迅速", "技术", id="word-inside-a-han-run"),
        pytest.param("人工智能技术发展迅速", "技", id="single-character-inside-a-run"),
        pytest.param("猫", "猫", id="single-character"),
        pytest.param("RULE-A002", "a002", id="part-behind-a-hyphen"),
        pytest.param("RULE-A002", "rule a002", id="both-parts"),
        pytest.param("a002", "RULE-A002", id="part-finds-the-whole"),
        pytest.param("ERR_CONN_RESET", "conn reset", id="parts-of-a-constant"),
        pytest.param("ERR_CONN_RESET", "errConnReset", id="constant-and-camel-case"),
        pytest.param("parseHttpHeader", "parseHttpHeader", id="itself"),
        pytest.param("parseHttpHeader", "http header", id="parts-of-camel-case"),
        pytest.param("parseHttpHeader", "PARSEHTTPHEADER", id="camel-case-shouted"),
        pytest.param("PARSEHTTPHEADER", "parseHttpHeader", id="shouted-stored"),
        pytest.param("http header", "parseHttpHeader", id="parts-stored"),
        pytest.param("HTTPServer", "server", id="capitals-before-a-word"),
        pytest.param("config/app.settings:main", "settings", id="every-connector"),
        pytest.param("ＡＢＣ１２", "abc12", id="full-width"),
        pytest.param("Straße", "STRASSE", id="case-folding"),
        pytest.param("Ärger", "A\u0308RGER", id="composition"),
        pytest.param("ｶﾀｶﾅ", "カタカナ", id="half-width-kana"),
        pytest.param("한국어 검색", "검색", id="hangul"),
        pytest.param("हिन्दी भाषा", "हिन्दी", id="marks-belong-to-words"),
        pytest.param("Москва", "москва", id="cyrillic"),
        pytest.param("версия2", "версия", id="letters-and-digits-of-another-script"),
    ],
)
def test_query_finds_what_is_written_in_another_way(stored: str, query: str) -> None:
    assert is_found(stored, query)


@pytest.mark.parametrize(
    ("stored", "query"),
    [
        pytest.param("東京 大阪", "京大", id="across-a-space"),
        pytest.param("東京、大阪", "京大", id="across-punctuation"),
        pytest.param("東京タワー", "京タ", id="across-scripts"),
        pytest.param("食堂", "食べる", id="single-character-beside-another-script"),
        pytest.param("हिन्दी", "हिन्दू", id="other-mark"),
        pytest.param("cafe", "café", id="other-letter"),
    ],
)
def test_query_does_not_find_what_only_looks_adjacent(stored: str, query: str) -> None:
    assert not is_found(stored, query)


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        pytest.param("東京大阪", ["東京", "京大", "大阪"], id="overlapping-pairs"),
        pytest.param("食べる", ["食", "べる"], id="scripts-apart"),
        pytest.param("parseHttpHeader", ["parsehttpheader", "parse", "http", "header"], id="camel"),
        pytest.param("A002", ["a002", "a", "002"], id="letters-and-digits"),
        pytest.param("ERR_CONN", ["err", "conn", "errconn"], id="joined"),
        pytest.param("plain words", ["plain", "words"], id="plain"),
        pytest.param("猫", ["猫", "猫*"], id="character-standing-alone"),
        pytest.param("?! …", [], id="none"),
    ],
)
def test_query_is_cut_as_described(query: str, terms: list[str]) -> None:
    assert terms == analyse_query(query)


@given(st.text())
def test_query_asks_for_every_term_of_its_text(text: str) -> None:
    assert analyse(text) == analyse_query(text)[: len(analyse(text))]


PIECES = st.sampled_from(
    [
        "parseHttp",
        "http",
        "HTTP",
        "ERR_CONN",
        "x1",
        "技术",
        "技",
        "カナ",
        "한국",
        "é",
        " ",
        "-",
        ".",
        "A",
    ]
)


@pytest.mark.parametrize(
    "terms", [["http"], ["parse", "http", "x", "技术", "技", "err"], ["技", "技*"]]
)
@given(title=st.lists(PIECES, max_size=4), content=st.lists(PIECES, max_size=25))
def test_counts_are_those_of_the_terms(
    terms: list[str], title: list[str], content: list[str]
) -> None:
    text = f"{''.join(title)} {''.join(content)}"
    found = analyse(text)
    runs = [piece for piece in re.findall("[技术]+", text) if len(piece) > 1]
    expected = [
        sum(run.count(term[0]) for run in runs) if term.endswith("*") else found.count(term)
        for term in terms
    ]
    counter = AnalysedCounter(terms)
    data = "".join(content).encode()

    assert (len(found), expected) == counter("".join(title), data, None)
    assert (len(found), expected) == counter("".join(title), data, None)
