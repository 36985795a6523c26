from __future__ import annotations

import pytest
from mc_scan import Finding, find_secret, scan_text
from mc_scan.testing import fake

HEADER = "-----BEGIN " + "RSA PRIVATE KEY-----"
ENDING = "-----END " + "RSA PRIVATE KEY-----"
ROW = "MIIEpQIBAAKCAQEA7bq1Xw0Zs9Lk2VtYhUoR5nGdJc8mEiKf3aPxQyHzT6vBuWsN"


def scan(text: str) -> list[Finding]:
    return scan_text(text, only="security")


FORMS = [
    pytest.param(f"{HEADER}\n{ROW}\n{ROW}\n{ENDING}", id="plain"),
    pytest.param(f"{HEADER}\r\n{ROW}\r\n{ROW}\r\n{ENDING}\r\n", id="crlf"),
    pytest.param(f"{HEADER}\r{ROW}\r{ENDING}", id="cr"),
    pytest.param(f"> {HEADER}\n> {ROW}\n> {ENDING}", id="quoted"),
    pytest.param(f"# {HEADER}\n# {ROW}\n# {ENDING}", id="commented"),
    pytest.param(f"- {HEADER}\n  {ROW}\n  {ENDING}", id="list"),
    pytest.param(f"    {HEADER}\n    {ROW}\n    {ENDING}", id="indented"),
    pytest.param(f"+{HEADER}\n+{ROW}\n+{ENDING}", id="diff"),
    pytest.param(f"KEY='{HEADER}\\n{ROW}\\n{ENDING}\\n'", id="literal-line-ends"),
    pytest.param(f'"k": "{HEADER}\\r\\n{ROW}\\r\\n{ENDING}"', id="literal-crlf"),
    pytest.param(f'KEY="{HEADER} {ROW} {ROW} {ENDING}"', id="blanks-for-line-ends"),
    pytest.param(f"Found:\n{HEADER}\n{ROW}\n{ROW}", id="no-end"),
    pytest.param(f"{HEADER}\nabcd1234\n", id="eight-characters-are-enough"),
    pytest.param(
        f"{HEADER}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B\n\n{ROW}\n{ENDING}",
        id="encrypted-headers",
    ),
    pytest.param(
        "-----BEGIN "
        f"PGP PRIVATE KEY BLOCK-----\nVersion: x\n\n{ROW}\n=abcd\n-----END "
        "PGP PRIVATE KEY BLOCK-----",
        id="pgp",
    ),
    pytest.param(
        "---- BEGIN "
        f'SSH2 ENCRYPTED PRIVATE KEY ----\nComment: "x"\n{ROW}\n---- END '
        "SSH2 ENCRYPTED PRIVATE KEY ----",
        id="ssh2",
    ),
    pytest.param(
        "-----BEGIN "
        "OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAAB\n",
        id="openssh-runs-of-a",
    ),
]


@pytest.mark.parametrize("text", FORMS)
def test_key_material_below_a_header_is_one_error(text: str) -> None:
    assert [(f.rule, f.severity) for f in scan(text)] == [("private-key", "error")]


def test_key_reaches_from_its_header_to_its_end_line() -> None:
    (found,) = scan(f"a\n> {HEADER}\n> {ROW}\n> {ENDING} x")

    assert (2, 3, 4, 3 + len(ENDING)) == (
        found.line,
        found.column,
        found.end_line,
        found.end_column,
    )


def test_key_without_end_line_reaches_to_its_last_base64_line() -> None:
    (found,) = scan(f"{HEADER}\n{ROW}\n{ROW}\n\n\nProse after it.\n")

    assert (1, 1, 3, len(ROW) + 1) == (
        found.line,
        found.column,
        found.end_line,
        found.end_column,
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(HEADER, id="end-of-text"),
        pytest.param(f"{HEADER}\n", id="nothing-below"),
        pytest.param(f"{HEADER}\n\nThe next paragraph.", id="blank-line-below"),
        pytest.param(f"```\n{HEADER}\n```\n", id="alone-in-a-fence"),
        pytest.param(f"key: {HEADER}", id="assigned"),
    ],
)
def test_header_alone_is_a_warning(text: str) -> None:
    assert [(f.rule, f.severity) for f in scan(text)] == [("private-key", "warning")]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"A file with `{HEADER}` is refused.", id="sentence"),
        pytest.param(f"Files with {HEADER}", id="sentence-end"),
        pytest.param(f"{HEADER} starts the file", id="sentence-start"),
        pytest.param(f"{HEADER}\n...\n{ENDING}", id="dots"),
        pytest.param(f"{HEADER}\n(snip)\n{ENDING}", id="snip"),
        pytest.param(f"{HEADER}\n<your key here>\n{ENDING}", id="placeholder"),
        pytest.param(f"{HEADER}\n[REDACTED]\n{ENDING}", id="redacted"),
        pytest.param(f"{HEADER}\nMIIEpQIB...\n{ENDING}", id="cut-line"),
        pytest.param(f"{HEADER}\n{ROW[:20]}\n...\n{ENDING}", id="cut-after-a-few-characters"),
        pytest.param(f"{HEADER}\nxxxxxxxxxxxxxxxx\n{ENDING}", id="run"),
        pytest.param(f"{HEADER}\n{ENDING}", id="empty-template"),
        pytest.param("-----BEGIN CERTIFICATE-----\n" + ROW, id="certificate"),
        pytest.param("-----BEGIN PUBLIC KEY-----\n" + ROW, id="public-key"),
        pytest.param("-----BEGIN RSA PUBLIC KEY-----\n" + ROW, id="rsa-public-key"),
        pytest.param("-----BEGIN SSH SIGNATURE-----\n" + ROW, id="signature"),
        pytest.param("-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n" + ROW, id="pgp-public"),
        pytest.param(f"{HEADER}\nThe key goes here, in full.\n{ENDING}", id="prose-below"),
    ],
)
def test_header_that_is_only_mentioned_is_nothing(text: str) -> None:
    assert scan(text) == []


def test_two_keys_in_a_row_are_two_findings() -> None:
    key = f"{HEADER}\n{ROW}\n{ENDING}\n"

    assert [f.line for f in scan(key + key)] == [1, 4]


def test_service_account_needs_its_type_near_by() -> None:
    secret = fake("gcp-service-account")

    assert [f.rule for f in scan(secret.text)] == ["gcp-service-account"]
    assert [f.rule for f in scan(secret.text.replace("service_account", "user"))] == ["private-key"]
    assert [f.rule for f in scan(secret.text.replace(": ", ":\n  "))] == ["gcp-service-account"]


def test_putty_key_without_private_lines_is_nothing() -> None:
    text = fake("private-key-putty").text

    assert scan(text.partition("Private-Lines")[0]) == []


def test_key_preview_is_its_label() -> None:
    (found,) = scan(f"{HEADER}\n{ROW}\n{ENDING}")

    assert found.preview == "RSA PRIVATE KEY [REDACTED]"


@pytest.mark.parametrize(
    "text",
    [f"the key is {HEADER} here", f"{HEADER} {ROW}", fake("stripe-live").text, HEADER],
    ids=["sentence", "one-line", "token", "alone"],
)
def test_text_that_must_not_be_stored_is_found(text: str) -> None:
    found = find_secret(text)

    assert found is not None
    assert ROW[:6] not in repr(found)


@pytest.mark.parametrize(
    "text",
    [
        "task-isolated-runner-for-long-names",
        f"Refuse files with `{HEADER}`.",
        "password: hunter2!9",
    ],
    ids=["hyphens", "header-as-code", "warning"],
)
def test_text_without_certain_secret_may_be_stored(text: str) -> None:
    assert find_secret(text) is None
