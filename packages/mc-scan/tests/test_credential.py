from __future__ import annotations

import base64

import pytest
from mc_scan import scan_text
from mc_scan.testing import fake

OPAQUE = "k9Xq2Lm7" + "Pz4Tb8Wd"


def found(text: str) -> list[tuple[str, str]]:
    return [(f.rule, f.severity) for f in scan_text(text, only="security")]


URLS = [
    pytest.param(f"postgres://svc:{OPAQUE}@db.harrow.dev/x", "error", id="remote"),
    pytest.param(f"redis://:{OPAQUE}@r1.harrow.dev:6379", "error", id="no-user"),
    pytest.param(f"mongodb+srv://u:{OPAQUE}@c.harrow.net/x", "error", id="plus-in-scheme"),
    pytest.param(f"jdbc:mysql://u:{OPAQUE}@h.dev/db", "error", id="nested-scheme"),
    pytest.param("https://u:p%40ss9word@h.dev", "error", id="percent-encoded"),
    pytest.param("amqp://u:pa$$w0rd!@h.dev:5672/v", "error", id="symbols"),
    pytest.param("https://u:ab@cd9ef@h.dev", "error", id="at-sign-in-password"),
    pytest.param("postgres://postgres:postgres@db.harrow.dev/x", "error", id="same-as-user-remote"),
    pytest.param(f"mysql://root:{OPAQUE}@localhost/db", "warning", id="localhost"),
    pytest.param(f"http://a:{OPAQUE}@127.0.0.1:80/", "warning", id="loopback"),
    pytest.param(f"redis://:{OPAQUE}@[::1]:6379", "warning", id="loopback-6"),
    pytest.param(f"http://a:{OPAQUE}@box.local/x", "warning", id="local-domain"),
]


@pytest.mark.parametrize(("text", "severity"), URLS)
def test_password_in_a_url_is_found(text: str, severity: str) -> None:
    assert [("url-credential", severity)] == found(text)
    assert [("url-credential", severity)] == found(f"see <{text}>, now")


@pytest.mark.parametrize(
    "text",
    [
        "https://user:pass@host.dev",
        "https://u:****@h.dev",
        "https://u:********@h.dev",
        "https://u:<pw>@h.dev",
        "https://u:${PW}@h.dev",
        "https://u:$PW@h.dev",
        "https://u:{pw}@h.dev",
        "https://u:[pw]@h.dev",
        "https://u:%PW%@h.dev",
        "https://x:changeme@h.dev",
        "postgres://user:password@db.harrow.dev/x",
        "postgres://postgres:postgres@localhost/x",
        "https://h.dev:8443/a@b",
        "http://h.dev:80?x=a@b",
        "ssh://git@github.com:22/x",
        "https://ana@h.dev/x",
        "https://t:x-oauth-basic@github.com",
        "1://u:k9Xq2Lm7@h.dev",
    ],
)
def test_url_without_a_real_password_is_nothing(text: str) -> None:
    assert found(text) == []


def test_url_finding_spans_scheme_to_at_sign_and_shows_the_scheme() -> None:
    (finding,) = scan_text(f"x postgres://svc:{OPAQUE}@db.harrow.dev/x")

    assert finding.preview == "postgres://[REDACTED]@…"
    assert (3, 3 + len(f"postgres://svc:{OPAQUE}@")) == (finding.column, finding.end_column)


@pytest.mark.parametrize(
    "text",
    [
        f"Authorization: Bearer {OPAQUE}",
        f"authorization: bearer {OPAQUE}",
        f'"Authorization": "Bearer {OPAQUE}"',
        f"-H 'Authorization: Token {OPAQUE}'",
        f"Bearer {OPAQUE}.",
        "Authorization: Basic " + base64.b64encode(b"admin:SuperSecret9").decode(),
        "Basic " + base64.b64encode("ana:Straße1!x".encode()).decode(),
    ],
)
def test_value_of_an_authorization_header_is_a_warning(text: str) -> None:
    assert found(text) == [("auth-header", "warning")]


@pytest.mark.parametrize(
    "text",
    [
        "Bearer token-based authentication scheme",
        "Bearer <token>",
        "Bearer ${TOKEN}",
        "Bearer $TOKEN12345678901234",
        "Bearer xxxxxxxxxxxxxxxxxxxx1",
        "Bearer k9Xq2Lm7Pz4...",
        "Token refresh-after-3600-seconds",
        "Token bucket",
        "bearer " + OPAQUE,
        "Basic authentication",
        "Basic " + base64.b64encode(b"user:pass").decode(),
        "Basic " + base64.b64encode(b"no colon here").decode(),
        "Basic " + base64.b64encode(bytes(range(3)) + b":x").decode(),
    ],
)
def test_prose_after_a_scheme_word_is_nothing(text: str) -> None:
    assert found(text) == []


def test_jwt_needs_an_algorithm_and_an_object() -> None:
    head, claims, signature = fake("jwt").text.split(".")
    no_algorithm = base64.urlsafe_b64encode(b'{"typ":"JWT"}').decode().rstrip("=")
    no_object = base64.urlsafe_b64encode(b'["a", "b"]').decode().rstrip("=")

    assert found(f"x {head}.{claims}.{signature}") == [("jwt", "warning")]
    assert found(f"x {no_algorithm}.{claims}.{signature}") == []
    assert found(f"x {head}.{no_object}.{signature}") == []
    assert found(f"x {head}.{claims}") == []
    assert found(f"x {head}.{claims}.{signature}...") == []
    assert found(f"x {head}.eyJ!!!.{signature}") == []


def test_deeply_nested_claims_are_no_crash() -> None:
    head = fake("jwt").text.split(".", maxsplit=1)[0]
    deep = base64.urlsafe_b64encode(b"[" * 6000).decode().rstrip("=")

    assert found(f"x {head}.{deep}.abcdefgh12") == []


def test_bearer_wins_over_the_jwt_in_it() -> None:
    assert found(f"Bearer {fake('jwt').text}") == [("auth-header", "warning")]


def test_signature_needs_the_rest_of_a_shared_access_query() -> None:
    secret = fake("azure-sas")

    assert found(secret.text) == [("azure-secret", "warning")]
    assert found(f"https://a.net/c?sig={secret.body}&se=2027-01-01&sp=rl") == [
        ("azure-secret", "warning")
    ]
    assert found(secret.text.replace("se=", "st=")) == []
    assert found(secret.text.replace("sp=", "sv=")) == []
    assert found(secret.text.replace("&sp=rl", " &sp=rl")) == []
