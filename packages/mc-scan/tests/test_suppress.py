from __future__ import annotations

import pytest
from mc_scan import scan_text
from mc_scan.testing import fake

MAIL = "ana@harrow.dev"
SECRET = "password: k9Xq2Lm7Pz"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"{MAIL} <!-- mc-scan: allow email -->", id="comment"),
        pytest.param(f"{MAIL} <!-- mc-scan: allow email - public contact -->", id="reason"),
        pytest.param(f"{MAIL} # mc-scan: allow email", id="hash"),
        pytest.param(f"{MAIL} // mc-scan: allow email - x", id="slashes"),
        pytest.param(f"{MAIL} -- mc-scan: allow email", id="dashes"),
        pytest.param(f"{MAIL} <!-- mc-scan: allow phone,email -->", id="list"),
        pytest.param(f"{MAIL} <!-- mc-scan: allow phone, email - x -->", id="list-blank"),
        pytest.param(f"<!-- mc-scan: allow-next email -->\n{MAIL}", id="next"),
        pytest.param(f"# mc-scan: allow-next email - x\r\n{MAIL}", id="next-crlf"),
        pytest.param(f"a\n<!-- mc-scan:allow email -->{MAIL}", id="before-it"),
        pytest.param(f"{MAIL} <!-- ours, mc-scan: allow email -->", id="comment-with-words"),
        pytest.param(f"<!-- two\nlines mc-scan: allow-next email -->\n{MAIL}", id="two-lines"),
        pytest.param(f"{MAIL}  # see handbook; mc-scan: allow email", id="hash-with-words"),
    ],
)
def test_mark_with_its_rule_silences_a_warning(text: str) -> None:
    assert scan_text(text) == []
    assert [f.rule for f in scan_text(text, inline=False)] == ["email"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"{MAIL} <!-- mc-scan: allow -->", id="no-rule"),
        pytest.param(f"{MAIL} <!-- mc-scan: allow phone -->", id="other-rule"),
        pytest.param(f"{MAIL} <!-- mc-scan: allow emails -->", id="longer-rule"),
        pytest.param(f"{MAIL} <!-- mc-scan: allow email and more -->", id="no-dash"),
        pytest.param(f"{MAIL} mc-scan: allow email", id="no-comment"),
        pytest.param(f"<!-- x --> {MAIL} mc-scan: allow email", id="comment-closed"),
        pytest.param(f"{MAIL} https://h.dev/x mc-scan: allow email", id="slashes-of-a-url"),
        pytest.param(f"{MAIL} issue#7 mc-scan: allow email", id="hash-in-a-word"),
        pytest.param(f"<!-- mc-scan: allow email -->\n{MAIL}", id="other-line"),
        pytest.param(f"<!-- mc-scan: allow-next email -->\n\n{MAIL}", id="two-lines-on"),
        pytest.param(f"{MAIL} <!-- gitleaks:allow -->", id="gitleaks"),
        pytest.param(f"{MAIL} # pragma: allowlist secret", id="detect-secrets"),
    ],
)
def test_other_mark_silences_nothing(text: str) -> None:
    assert [f.rule for f in scan_text(text)] == ["email"]


def test_mark_silences_no_error() -> None:
    token = fake("github-classic").text

    assert [f.rule for f in scan_text(f"{token} <!-- mc-scan: allow github-token -->")] == [
        "github-token"
    ]
    assert [
        f.rule for f in scan_text("postgres://u:k9Xq2Lm7@h.dev/x  # mc-scan: allow url-credential")
    ] == ["url-credential"]


def test_mark_counts_for_its_rule_alone() -> None:
    text = f"{MAIL} {SECRET} <!-- mc-scan: allow email -->"

    assert [f.rule for f in scan_text(text)] == ["generic-assignment"]


def test_fingerprint_is_of_rule_path_and_line_without_values() -> None:
    first = scan_text("x password: k9Xq2Lm7Pz y", "a.md")[0].fingerprint

    assert first == scan_text("\n\nx  password: Other9Value7 \t y", "a.md")[0].fingerprint
    assert first != scan_text("x password: k9Xq2Lm7Pz y", "b.md")[0].fingerprint
    assert first != scan_text("z password: k9Xq2Lm7Pz y", "a.md")[0].fingerprint
    assert len(first) == 16


def test_fingerprint_is_the_documented_digest() -> None:
    from hashlib import sha256

    (finding,) = scan_text("x \t password: k9Xq2Lm7Pz\n", "docs/a.md")
    head = "1\0generic-assignment\0docs/a.md\0x password: [generic-assignment]\0" + "1"

    assert sha256(head.encode()).hexdigest()[:16] == finding.fingerprint


def test_equal_lines_are_told_apart_by_their_number() -> None:
    found = scan_text("password: k9Xq2Lm7Pz\npassword: Other9Value7\n")

    assert [f.occurrence for f in found] == [1, 2]
    assert len({f.fingerprint for f in found}) == 2
    assert found[0].fingerprint == scan_text("password: Third9Value7")[0].fingerprint


def test_other_findings_of_the_line_are_masked_too() -> None:
    first = scan_text("ana@harrow.dev password: k9Xq2Lm7Pz")
    second = scan_text("leo.moril@gmail.com password: k9Xq2Lm7Pz")

    assert [f.fingerprint for f in first] == [f.fingerprint for f in second]


def test_huge_line_is_fingerprinted_by_its_surroundings() -> None:
    filler = "a=b;" * 5000
    first = scan_text(f"{filler} {MAIL} {filler}")
    second = scan_text(f"{filler}{filler} leo@harrow.dev {filler}")

    assert first[0].fingerprint == second[0].fingerprint
