from __future__ import annotations

import re
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mc_scan import scan_text
from mc_scan.engine import to_lower
from mc_scan.testing import fake
from mc_scan.view import _INVISIBLE, fold_view, unescaped_view

TOKEN = fake("github-classic").text


@pytest.mark.parametrize(
    "mark",
    [
        *("\u200b", "\u2060", "\u00ad", "\u200d", "\ufeff", "\u034f", "\u115f", "\u3164"),
        *("\uffa0", "\ufe0f", "\U000e0101", "\U000e0041", "\u202e", "\u180e"),
    ],
    ids=ascii,
)
def test_invisible_character_hides_no_secret(mark: str) -> None:
    (finding,) = scan_text(f"é {TOKEN[:12]}{mark}{TOKEN[12:]} y")

    assert (
        finding.rule,
        finding.severity,
        finding.obfuscated,
    ) == ("github-token", "error", True)
    assert (3, 3 + len(TOKEN) + 1) == (finding.column, finding.end_column)


def test_full_width_letters_hide_no_secret() -> None:
    wide = "".join(chr(ord(c) + 0xFEE0) for c in TOKEN)
    (finding,) = scan_text(f"见{wide}。")

    assert (finding.rule, finding.obfuscated, finding.column) == ("github-token", True, 2)
    assert [f.rule for f in scan_text("ｐａｓｓｗｏｒｄ： k9Xq2Lm7Pz")] == ["generic-assignment"]


def test_name_with_an_invisible_character_is_obfuscated() -> None:
    (finding,) = scan_text("pass\u200bword: k9Xq2Lm7Pz")

    assert (finding.preview, finding.obfuscated) == ("password: [REDACTED]", True)


def test_plain_secret_in_such_a_file_is_not_obfuscated() -> None:
    (finding,) = scan_text(f"a\u200bb ⚠\ufe0f\n{TOKEN}")

    assert (finding.obfuscated, finding.line, finding.column) == (False, 2, 1)


def test_every_format_character_is_dropped() -> None:
    invisible = re.compile(f"[{_INVISIBLE}]")
    missed = [
        hex(code)
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) == "Cf" and not invisible.match(chr(code))
    ]

    assert missed == []


@pytest.mark.parametrize(
    "kind", ["github-classic", "stripe-live", "huggingface", "npm", "github-fine-grained"]
)
def test_markdown_escape_hides_no_secret(kind: str) -> None:
    text = fake(kind).text
    escaped = text.replace("_", "\\_")
    (finding,) = scan_text(f"中 Use {escaped} now\n")

    assert fake(kind).rule == finding.rule
    assert (7, 7 + len(escaped), False) == (
        finding.column,
        finding.end_column,
        finding.obfuscated,
    )


def test_escapes_and_invisible_characters_may_meet() -> None:
    escaped = TOKEN.replace("_", "\u200b\\_")
    (finding,) = scan_text(f"x {escaped} y")

    assert (3, 3 + len(escaped), True) == (
        finding.column,
        finding.end_column,
        finding.obfuscated,
    )


def test_escaped_dash_and_dot_are_read() -> None:
    routable = fake("gitlab-routable").text

    assert [f.severity for f in scan_text(routable.replace("-", "\\-").replace(".", "\\."))] == [
        "error"
    ]


ALPHABET = st.sampled_from("ab_\\-. \n中\u200b\ufe0fＡ：\U0001f600")


@given(st.text(ALPHABET, max_size=60))
def test_folded_text_maps_back_character_by_character(text: str) -> None:
    view = fold_view(text)
    if view is None:
        assert "\u200b" not in text
        assert "\ufe0f" not in text
        return
    for offset, character in enumerate(view.text):
        start, end = view.source_span(offset, offset + 1)
        assert unicodedata.normalize("NFKC", text[start:end]) == unicodedata.normalize(
            "NFKC", character
        )
    assert view.text == "".join(
        {"Ａ": "A", "：": ":"}.get(c, c) for c in text if c not in "\u200b\ufe0f"
    )


@given(st.text(ALPHABET, max_size=60))
def test_unescaped_words_map_back_character_by_character(text: str) -> None:
    view = unescaped_view(text)
    escapes = [match.start() for match in re.finditer(r"\\(?=[_*\-.~])", text)]

    assert (view is not None) == bool(escapes)
    if view is None:
        return
    assert escapes == list(view.touched)
    for offset, character in enumerate(view.text):
        if character != "\n":
            start, end = view.source_span(offset, offset + 1)
            assert character == text[start:end]


def test_lower_case_keeps_every_offset() -> None:
    assert len("a\u0130b") == len(to_lower("a\u0130b"))
    changed = [
        hex(code)
        for code in range(sys.maxunicode + 1)
        if len(chr(code).lower()) != 1 and code != 0x130
    ]
    assert changed == []


def test_letter_with_a_longer_lower_case_moves_no_column() -> None:
    (finding,) = scan_text("\u0130\u0130 password: k9Xq2Lm7Pz")

    assert finding.column == 14
