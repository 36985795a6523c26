from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mc_scan.placeholder import (
    has_filler_words,
    has_run,
    is_bracketed,
    is_cut_short,
    is_reference,
    is_stop_value,
)


@given(st.text("ab12", max_size=30))
def test_run_is_found_as_defined(body: str) -> None:
    is_most = any(body.count(c) * 2 > len(body) for c in body)
    is_six = any(c * 6 in body for c in body)

    assert (is_most or is_six) == has_run(body)


@given(st.text("abcdefghijklmnopqrstuvwxyz0123456789", max_size=30))
def test_sequence_is_found_as_defined(value: str) -> None:
    rows = ("abcdefghijklmnopqrstuvwxyz", "0123456789")
    parts = {row[at : at + 8] for row in rows for at in range(len(row) - 7)}
    markers = ("example", "placeholder", "changeme", "replace", "redacted", "dummy", "sample")
    expected = any(part in value for part in (*parts, *markers)) or value.startswith("your")

    assert expected == has_filler_words(value)


@pytest.mark.parametrize("at", range(19))
def test_every_sequence_of_letters_is_found(at: int) -> None:
    row = "abcdefghijklmnopqrstuvwxyz"[at : at + 8].upper()

    assert has_filler_words(f"k9{row}q2")
    assert not has_filler_words(f"k9{row[:-1]}_q2")


@pytest.mark.parametrize(
    ("value", "is_marker"),
    [
        *(("my-EXAMPLE-1", True), ("change_me", True), ("change-me", True), ("yourkey", True)),
        *(("x-your-key", True), ("x_your_key", True), ("fouryours", False), ("a password", False)),
        *(("secret-token-key", False), ("test-value", False)),
    ],
)
def test_markers_are_words_for_the_reader(value: str, *, is_marker: bool) -> None:
    assert is_marker == has_filler_words(value)


@pytest.mark.parametrize(
    ("value", "is_stop"),
    [
        *(("changeme", True), ("my-secret-key-here", True), ("YOUR_API_KEY", True)),
        *(("not-a-real-secret", True), ("abc123", True), ("MySecretPassword", True)),
        *(("password1", True), ("yourapikeyhere", True), ("test1234", True), ("", False)),
        *(("hunter2", False), ("password42", False), ("Summer2024", False), ("secret9x", False)),
        *(("pass key", True), ("密码", False), ("test" * 30, False), ("-", False)),
    ],
)
def test_value_of_stop_words_only_is_a_stop_value(value: str, *, is_stop: bool) -> None:
    assert is_stop == is_stop_value(value)


@pytest.mark.parametrize(
    "value",
    [
        *("$VAR", "${X}", "$(x)", "$env:X", "${{ secrets.X }}", "!vault x", "!secret", "!Ref A"),
        *("process.env.X", "import.meta.env.X", "os.environ['X']", "getenv('X')", "ENV['X']"),
        *("op://a/b", "vault:x", "ref+aws://x", "sm://x", "ssm:x", "$ANSIBLE_VAULT;1"),
        *("arn:aws:secretsmanager:eu:1:secret:x", "projects/p/secrets/s", "ENC[x]"),
        *("@Microsoft.KeyVault(x)", "System.getenv('X')", "secrets.X"),
    ],
)
def test_reference_names_a_secret_kept_elsewhere(value: str) -> None:
    assert is_reference(value)


@pytest.mark.parametrize("value", ["$ecret!1", "hunter2", "pass$word", "$2b$12$abc", "opal9", "!x"])
def test_value_with_a_dollar_sign_is_no_reference(value: str) -> None:
    assert not is_reference(value)


@pytest.mark.parametrize(
    "value", ["<x>", "{x}", "{{x}}", "[x]", "%NAME%", "@@x@@", "<%= x %>", "<your key>"]
)
def test_whole_template_is_bracketed(value: str) -> None:
    assert is_bracketed(value)
    assert not is_bracketed(value + "x")


def test_cut_is_seen_inside_and_right_after() -> None:
    assert is_cut_short("ab...c", "", 0)
    assert is_cut_short("abc", "abc…", 3)
    assert is_cut_short("abc", "abc[...]", 3)
    assert is_cut_short("abc", "abc***", 3)
    assert is_cut_short("abc", "***abc...", 6, 3)
    assert not is_cut_short("abc", "***abc***", 6, 3)
    assert not is_cut_short("abc", "abc. And", 3)
