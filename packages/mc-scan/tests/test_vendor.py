from __future__ import annotations

import pytest
from mc_scan import scan_text
from mc_scan.checksum import (
    encode_base,
    entropy,
    has_entropy,
    is_crc62_valid,
    is_github_pat_valid,
    is_gitlab_routable_valid,
)
from mc_scan.testing import fake, fake_kinds

LINE_KINDS = {"env-credential"}  # only as a line of its own
ANYWHERE = [kind for kind in fake_kinds() if kind not in LINE_KINDS]

CONTEXTS = [
    "{v}",
    "x {v} y",
    "`{v}`",
    "({v})",
    "**{v}**",
    "~~{v}~~",
    "| a | {v} |",
    "<{v}>",
    "旧的{v}。请轮换",
    "It was {v}.",
    '"{v}",',
    "<!-- {v} -->",
    "```\n{v}\n```\n",
    "> - {v}\r\n",
    "a\\n{v}\\nb",
]


@pytest.mark.parametrize("kind", ANYWHERE)
def test_made_up_secret_is_found_once_in_any_context(kind: str) -> None:
    secret = fake(kind)
    wrong = {}
    for context in CONTEXTS:
        found = scan_text(context.replace("{v}", secret.text), only="security")
        if [(f.rule, f.severity) for f in found] != [(secret.rule, secret.severity)]:
            wrong[context] = found

    assert wrong == {}


BOUND = [
    kind
    for kind in ANYWHERE
    if fake(kind).text.startswith(
        ("gh", "github_pat_", "A", "sk", "xo", "rk", "wh", "gl", "npm_", "pypi-", "hf_", "api_org_")
    )
    and fake(kind).rule not in ("auth-header", "azure-secret")
]


@pytest.mark.parametrize("kind", BOUND)
def test_secret_inside_a_longer_word_is_no_secret(kind: str) -> None:
    secret = fake(kind)

    assert [f for f in scan_text(f"x{secret.text}") if f.rule == secret.rule] == []


TOO_SHORT = [
    ("github-classic", "ghp_", 35),
    ("github-fine-grained", "github_pat_", 81),
    ("aws-access-key-id", "AKIA", 15),
    ("google-api", "AIza", 34),
    ("google-studio", "AQ.", 49),
    ("google-client", "GOCSPX-", 27),
    ("stripe-live", "sk_live_", 15),
    ("stripe-hook", "whsec_", 23),
    ("gitlab", "glpat-", 19),
    ("npm", "npm_", 35),
    ("huggingface", "hf_", 33),
    ("slack-refresh", "xoxe-1-", 119),
]


@pytest.mark.parametrize(("kind", "prefix", "length"), TOO_SHORT, ids=[row[0] for row in TOO_SHORT])
def test_body_below_the_exact_length_is_no_secret(kind: str, prefix: str, length: int) -> None:
    text = fake(kind).text[: len(prefix) + length]

    assert scan_text(f"see {text} there") == []


EXACT = [
    ("github-classic", "Ab1"),
    ("aws-access-key-id", "A"),
    ("google-api", "a"),
    ("gitlab-trigger", "0"),
    ("npm", "z"),
    ("huggingface", "z"),
]


@pytest.mark.parametrize(("kind", "more"), EXACT, ids=[row[0] for row in EXACT])
def test_body_above_the_exact_length_is_no_secret(kind: str, more: str) -> None:
    assert scan_text(f"see {fake(kind).text}{more} there") == []


NEVER = [
    pytest.param("pk_live_" + "a8Xq2Lm7Pz4TbW9c", id="stripe-publishable"),
    pytest.param("cus_" + "a8Xq2Lm7Pz4TbW9c", id="stripe-customer"),
    pytest.param("price_" + "1a8Xq2Lm7Pz4TbW9c", id="stripe-price"),
    pytest.param("pi_" + "3a8Xq2Lm7Pz4TbW9c", id="stripe-intent"),
    pytest.param("AROA" + "QWJ3TRB5KXM2PLZN", id="aws-role"),
    pytest.param("AIDA" + "QWJ3TRB5KXM2PLZN", id="aws-user"),
    pytest.param("AIPA" + "QWJ3TRB5KXM2PLZN", id="aws-profile"),
    pytest.param("ghp_" + "x" * 36, id="run"),
    pytest.param("ghp_" + "aB3dE6gH9kLm" + "..." + "x", id="cut-inside"),
    pytest.param("ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789", id="sequence"),
    pytest.param("ghp_" + "EXAMPLEaB3dE6gH9kLmNpQrStUvWxYz1234", id="marker"),
    pytest.param("sk-ant-api03-...", id="anthropic-cut"),
    pytest.param("AKIA" + "IOSFODNN7EXAMPLE", id="aws-example"),
    pytest.param("AIza" + "ab1" * 11 + "ab", id="low-entropy"),
    pytest.param("`gh[pousr]_[A-Za-z0-9]{36}`", id="pattern"),
    pytest.param("task-isolated-runner-for-long-names", id="task-hyphens"),
    pytest.param("sk-learn-pipeline-with-many-hyphenated-words-2026", id="sk-hyphens"),
    pytest.param("npm_package_config_registry_and_name", id="npm-variable"),
    pytest.param("hf_hub_download_from_the_repo_of_all", id="hf-function"),
    pytest.param("xoxb- is the prefix of a bot", id="slack-prefix"),
    pytest.param(
        "https://hooks.slack.com/services/" + "T00000000/B00000000/" + "X" * 24, id="slack-sample"
    ),
    pytest.param("xoxb-" + "123456789012-123456789012-abcdefghijklmnop", id="slack-sequence"),
]


@pytest.mark.parametrize("text", NEVER)
def test_public_value_or_placeholder_is_no_secret(text: str) -> None:
    assert scan_text(text) == []


def test_ellipsis_right_after_a_token_makes_it_a_placeholder() -> None:
    token = fake("github-classic").text

    assert scan_text(f"{token}...") == []
    assert scan_text(f"{token}…") == []
    assert len(scan_text(f"***{token}***")) == 1


def test_test_in_the_neighbourhood_changes_no_severity() -> None:
    token = fake("stripe-live").text

    assert [f.severity for f in scan_text(f"# Example (test only)\n\ntest: {token}")] == ["error"]


def test_mixed_case_or_hex_is_asked_of_an_unmarked_openai_key() -> None:
    assert scan_text("sk-" + "onlylowercaselettersanddigits1234") == []
    assert len(scan_text("sk-" + "0f" * 3 + "1b2c4d7e9a3f5d8c6b1e2f4a7d")) == 1


def test_installation_token_needs_two_dots() -> None:
    body = fake("github-installation").body

    assert len(scan_text(f"ghs_{body}")) == 1
    assert scan_text("ghs_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9.T0") == []


def test_npm_legacy_token_needs_a_registry_line() -> None:
    secret = fake("npm-legacy")

    assert scan_text(f"x:_authToken={secret.body}", rules=["npm-token"]) == []
    assert len(scan_text(secret.text, rules=["npm-token"])) == 1


def test_checksums_follow_the_vendors() -> None:
    assert is_crc62_valid(fake("github-classic").body)
    assert not is_crc62_valid(fake("github-bad-checksum").body)
    assert is_github_pat_valid(fake("github-fine-grained").text)
    token = fake("gitlab-routable").text
    assert is_gitlab_routable_valid(token, 38)
    assert not is_gitlab_routable_valid(token, 39)
    assert encode_base(38, "0123456789abcdefghijklmnopqrstuvwxyz", 6) == "000012"


@pytest.mark.parametrize(
    ("text", "bits"),
    [("", 0.0), ("aaaa", 0.0), ("abab", 1.0), ("abcd", 2.0), ("a" * 600 + "b" * 600, 1.0)],
    ids=["empty", "one", "two", "four", "long"],
)
def test_entropy_is_measured_in_bits_a_character(text: str, bits: float) -> None:
    assert bits == pytest.approx(entropy(text))
    assert has_entropy(text, bits - 0.001)
    assert not has_entropy(text, bits + 0.001)
