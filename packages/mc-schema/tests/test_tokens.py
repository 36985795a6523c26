from __future__ import annotations

import pytest
from mc_schema.tokens import estimate_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        pytest.param("", 0, id="empty"),
        pytest.param(" \t\r\n\u00a0\u2003\u3000\x1c\x85", 0, id="white-space-of-python"),
        pytest.param("- a", 2, id="bullet"),
        pytest.param("foo_bar v2.0", 4, id="word-with-underscore-and-version"),
        pytest.param("café", 2, id="accent-is-its-own-token"),
        pytest.param("你好。", 3, id="one-token-a-character"),
        pytest.param("\ufeff", 1, id="byte-order-mark-is-not-white-space"),
        pytest.param("１２", 2, id="only-ascii-digits-join"),
        pytest.param("a" * 1000, 1, id="long-word"),
    ],
)
def test_estimate_counts_ascii_words_and_other_characters(text: str, tokens: int) -> None:
    assert tokens == estimate_tokens(text)
