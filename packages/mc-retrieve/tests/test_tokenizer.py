from __future__ import annotations

import re
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mc_retrieve.characters import fold
from mc_retrieve.tokenizer import CONTRACT, contract_terms, count_terms, make_counter

TERM = re.compile("[a-z0-9]+")
WORDS = st.sampled_from(
    ["ab", "abc", "b", "x1", "AB", "aB", "é", "中", "\u212a", "\u0130", "-", " ", "\n"]
)
TEXTS = st.lists(st.tuples(WORDS, st.sampled_from(["", " ", "  ", "."])), max_size=40).map(
    lambda pairs: "".join(word + gap for word, gap in pairs)
)


def plain_terms(text: str) -> list[str]:
    """The contract's words: lower-case, then runs of ``[a-z0-9]``."""
    return TERM.findall(text.lower())


def test_only_two_characters_have_an_ascii_letter_in_their_lower_case() -> None:
    odd = {
        chr(code)
        for code in range(0x80, sys.maxunicode + 1)
        if TERM.search(chr(code).lower()) is not None
    }

    assert odd == {"\u212a", "\u0130"}


@given(TEXTS | st.text())
def test_terms_are_those_of_the_plain_rule(text: str) -> None:
    assert plain_terms(text) == contract_terms(text)


@given(TEXTS)
@example("")
@example("a")
@example(" a ")
def test_length_is_counted_without_a_list(text: str) -> None:
    assert len(plain_terms(text)) == count_terms(fold(text.encode()))


@pytest.mark.parametrize("terms", [["ab"], ["ab", "b", "x1", "zz"], ["ab", *"bcdefghijk"]])
@given(title=TEXTS, content=TEXTS, repeats=st.integers(min_value=0, max_value=9))
def test_counts_are_those_of_a_token_list(
    terms: list[str], title: str, content: str, repeats: int
) -> None:
    content += " ab" * repeats
    found = plain_terms(f"{title} {content}")
    data = content.encode()

    length, counts = make_counter(terms, CONTRACT)(title, data, None)

    assert (len(found), [found.count(term) for term in terms]) == (length, list(counts))
    if data.isascii():
        again = make_counter(terms, CONTRACT)(title, data, fold(data))
        assert (length, list(counts)) == (again[0], list(again[1]))
