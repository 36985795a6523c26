"""Made-up secrets for tests, built at run time so that no source file holds one.

Every value is random from a seed and was never issued by anyone; checksums are right where a vendor
uses one, so that scanners take them for real. For other packages' tests too: `fake` a value, write
it somewhere, and show that it is refused and not echoed.
"""

from __future__ import annotations

import base64
import json
import random
import string
import zlib
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple

from mc_scan.checksum import BASE36, BASE62, encode_base
from mc_scan.finding import ERROR, WARNING

if TYPE_CHECKING:
    from collections.abc import Callable

_URL_SAFE: Final = BASE62 + "-_"
_BASE64: Final = BASE62 + "+/"
_BASE32: Final = string.ascii_uppercase + "234567"
_HEX: Final = "0123456789abcdef"
_DIGITS: Final = "123456789"


class Fake(NamedTuple):
    """A made-up secret."""

    text: str  # as it would stand in a file
    body: str  # the part that must never be shown
    rule: str
    severity: str


class _Maker:
    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - made-up values, the same in every run

    def take(self, alphabet: str, length: int) -> str:
        """Return random characters that look like a key: mixed, letter or digit at both ends."""
        while True:
            text = "".join(self._random.choices(alphabet, k=length))
            if alphabet in (_HEX, _DIGITS, _BASE32) or length < 12:  # noqa: PLR2004
                return text
            ends_plain = text[0].isalnum() and text[-1].isalnum()
            if ends_plain and text.lower() != text != text.upper() and any(map(str.isdigit, text)):
                return text


def fake(kind: str, seed: int = 1) -> Fake:
    """Return the made-up secret of *kind* for *seed*; the kinds are the keys of `KINDS`.

    Raises:
        KeyError: There is no such kind.
    """
    return KINDS[kind](_Maker(seed))


def fake_kinds() -> list[str]:
    """Return every kind, sorted."""
    return sorted(KINDS)


def _plain(
    rule: str, prefix: str, alphabet: str, length: int, *, tail: str = "", severity: str = ERROR
) -> Callable[[_Maker], Fake]:
    def build(maker: _Maker) -> Fake:
        body = maker.take(alphabet, length) + tail
        return Fake(prefix + body, body, rule, severity)

    return build


def _checked(
    rule: str, prefix: str, length: int, *, is_valid: bool = True
) -> Callable[[_Maker], Fake]:
    def build(maker: _Maker) -> Fake:
        body = maker.take(BASE62, length)
        check = encode_base(zlib.crc32(body.encode()), BASE62, 6)
        if not is_valid:
            check = ("A" if check[0] != "A" else "B") + check[1:]
        return Fake(prefix + body + check, body + check, rule, ERROR if is_valid else WARNING)

    return build


def _fine_grained(maker: _Maker) -> Fake:
    head = f"github_pat_{maker.take(BASE62, 22)}_{maker.take(BASE62, 43)}"
    check = base64.b32encode(sha256(head.encode()).digest()).decode()[:8]
    text = head + check + maker.take(BASE62, 8)
    return Fake(text, text[len("github_pat_") :], "github-token", ERROR)


def _jwt_text(maker: _Maker, signature: int) -> str:
    def encode(data: dict[str, str]) -> str:
        return base64.urlsafe_b64encode(json.dumps(data).encode()).decode().rstrip("=")

    head = encode({"alg": "ES256", "typ": "JWT"})
    return f"{head}.{encode({'sub': maker.take(_HEX, 16)})}.{maker.take(_URL_SAFE, signature)}"


def _jwt(maker: _Maker) -> Fake:
    text = _jwt_text(maker, 43)
    return Fake(text, text, "jwt", WARNING)


def _installation(maker: _Maker) -> Fake:
    body = f"{maker.take(_DIGITS, 7)}_{_jwt_text(maker, 342)}"
    return Fake("ghs_" + body, body, "github-token", ERROR)


def _openai(kind: str, side: int) -> Callable[[_Maker], Fake]:
    def build(maker: _Maker) -> Fake:
        marker = "T3Blbk" + "FJ"
        body = maker.take(BASE62, side) + marker + maker.take(BASE62, side)
        return Fake(kind + body, body, "openai-key", ERROR)

    return build


def _slack_bot(maker: _Maker) -> Fake:
    body = f"{maker.take(_DIGITS, 12)}-{maker.take(_DIGITS, 13)}-{maker.take(BASE62, 24)}"
    return Fake("xoxb-" + body, body, "slack-token", ERROR)


def _slack_app(maker: _Maker) -> Fake:
    body = f"A{maker.take(_BASE32, 10)}-{maker.take(_DIGITS, 13)}-{maker.take(_HEX, 64)}"
    return Fake("xapp-1-" + body, body, "slack-token", ERROR)


def _slack_hook(maker: _Maker) -> Fake:
    body = maker.take(BASE62, 24)
    place = f"T{maker.take(_BASE32, 10)}/B{maker.take(_BASE32, 10)}"
    return Fake(f"https://hooks.slack.com/services/{place}/{body}", body, "slack-token", ERROR)


def _gitlab_routable(maker: _Maker, *, is_valid: bool = True) -> Fake:
    payload = maker.take(_URL_SAFE, 38)
    head = f"glpat-{payload}.01.{encode_base(len(payload), BASE36, 2)}"
    check = encode_base(zlib.crc32(head.encode()), BASE36, 7)
    if not is_valid:
        check = ("1" if check[0] != "1" else "2") + check[1:]
    severity = ERROR if is_valid else WARNING
    return Fake(head + check, (head + check)[len("glpat-") :], "gitlab-token", severity)


def _private_key(label: str) -> Callable[[_Maker], Fake]:
    def build(maker: _Maker) -> Fake:
        rows = [maker.take(_BASE64, 64) for _ in range(5)]
        text = "\n".join([f"-----BEGIN {label}-----", *rows, f"-----END {label}-----"])
        return Fake(text, rows[2], "private-key", ERROR)

    return build


def _putty(maker: _Maker) -> Fake:
    rows = "\n".join(maker.take(_BASE64, 64) for _ in range(3))
    head = "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: k\nPublic-Lines: 1"
    public, mac = maker.take(_BASE64, 64), maker.take(_HEX, 64)
    text = f"{head}\n{public}\nPrivate-Lines: 3\n{rows}\nPrivate-MAC: {mac}"
    return Fake(text, rows[:64], "private-key", ERROR)


def _service_account(maker: _Maker) -> Fake:
    key = _private_key("PRIVATE KEY")(maker)
    body = key.text.replace("\n", "\\n")
    text = json.dumps({"type": "service_account", "project_id": "p"})[:-1]
    return Fake(f'{text}, "private_key": "{body}\\n"}}', key.body, "gcp-service-account", ERROR)


def _aws_secret(maker: _Maker) -> Fake:
    body = maker.take(_BASE64, 40)
    return Fake(f"aws_secret_access_key = {body}", body, "aws-secret-key", ERROR)


def _url(maker: _Maker) -> Fake:
    body = maker.take(BASE62, 14)
    return Fake(f"postgres://svc:{body}@db.harrow.dev/x", body, "url-credential", ERROR)


def _header(maker: _Maker) -> Fake:
    body = maker.take(BASE62, 40)
    return Fake(f"Authorization: Bearer {body}", body, "auth-header", WARNING)


def _env(maker: _Maker) -> Fake:
    body = maker.take(BASE62, 28)
    return Fake(f"LEDGER_TOKEN={body}", body, "env-credential", WARNING)


def _assignment(maker: _Maker) -> Fake:
    body = maker.take(BASE62, 20)
    return Fake(f'password: "{body}"', body, "generic-assignment", WARNING)


def _azure_key(maker: _Maker) -> Fake:
    body = maker.take(_BASE64, 86) + "=="
    return Fake(f"AccountKey={body}", body, "azure-secret", ERROR)


def _azure_client(maker: _Maker) -> Fake:
    body = f"{maker.take(BASE62, 3)}8Q~{maker.take(_URL_SAFE, 34)}"
    return Fake(body, body, "azure-secret", ERROR)


def _azure_sas(maker: _Maker) -> Fake:
    body = maker.take(BASE62, 43) + "%3D"
    text = f"https://acc.blob.core.windows.net/c?sv=2024-01-01&se=2027-01-01&sp=rl&sig={body}"
    return Fake(text, body, "azure-secret", WARNING)


def _azure_devops(maker: _Maker) -> Fake:
    body = f"{maker.take(BASE62, 76)}AZDO{maker.take(BASE62, 4)}"
    return Fake(body, body, "azure-secret", ERROR)


def _npm_legacy(maker: _Maker) -> Fake:
    parts = "-".join(maker.take(_HEX, length) for length in (8, 4, 4, 4, 12))
    return Fake(f"//registry.npmjs.org/:_authToken={parts}", parts, "npm-token", ERROR)


KINDS: Final[dict[str, Callable[[_Maker], Fake]]] = {
    "private-key": _private_key("PRIVATE KEY"),
    "private-key-rsa": _private_key("RSA PRIVATE KEY"),
    "private-key-ec": _private_key("EC PRIVATE KEY"),
    "private-key-dsa": _private_key("DSA PRIVATE KEY"),
    "private-key-openssh": _private_key("OPENSSH PRIVATE KEY"),
    "private-key-encrypted": _private_key("ENCRYPTED PRIVATE KEY"),
    "private-key-any": _private_key("ANY PRIVATE KEY"),
    "private-key-pgp": _private_key("PGP PRIVATE KEY BLOCK"),
    "private-key-putty": _putty,
    "gcp-service-account": _service_account,
    "github-classic": _checked("github-token", "ghp_", 30),
    "github-oauth": _checked("github-token", "gho_", 30),
    "github-user": _checked("github-token", "ghu_", 30),
    "github-server": _checked("github-token", "ghs_", 30),
    "github-refresh": _checked("github-token", "ghr_", 70),
    "github-bad-checksum": _checked("github-token", "ghp_", 30, is_valid=False),
    "github-fine-grained": _fine_grained,
    "github-installation": _installation,
    "aws-access-key-id": _plain("aws-access-key-id", "AKIA", _BASE32, 16),
    "aws-temporary-key-id": _plain("aws-access-key-id", "ASIA", _BASE32, 16),
    "aws-secret-key": _aws_secret,
    "openai": _openai("sk-", 20),
    "openai-project": _openai("sk-proj-", 74),
    "openai-service": _openai("sk-svcacct-", 58),
    "openai-like": _plain("openai-key", "sk-proj-", _URL_SAFE, 100, severity=WARNING),
    "openai-router": _plain("openai-key", "sk-or-v1-", _HEX, 64, severity=WARNING),
    "openai-short": _plain("openai-key", "sk-", _HEX, 32, severity=WARNING),
    "anthropic": _plain("anthropic-key", "sk-ant-api03-", _URL_SAFE, 93, tail="AA"),
    "anthropic-admin": _plain("anthropic-key", "sk-ant-admin01-", _URL_SAFE, 93, tail="AA"),
    "anthropic-oauth": _plain("anthropic-key", "sk-ant-oat01-", _URL_SAFE, 95),
    "anthropic-odd": _plain("anthropic-key", "sk-ant-api03-", _URL_SAFE, 60, severity=WARNING),
    "google-api": _plain("google-api-key", "AIza", _URL_SAFE, 35),
    "google-studio": _plain("google-api-key", "AQ.", _URL_SAFE, 50),
    "google-client": _plain("google-api-key", "GOCSPX-", _URL_SAFE, 28),
    "google-access": _plain("google-api-key", "ya29.", _URL_SAFE, 120),
    "slack-bot": _slack_bot,
    "slack-app": _slack_app,
    "slack-hook": _slack_hook,
    "slack-refresh": _plain("slack-token", "xoxe-1-", BASE62, 146),
    "slack-rotated": _plain("slack-token", "xoxe.xoxp-1-", BASE62, 160),
    "slack-cookie": _plain("slack-token", "xoxd-", _URL_SAFE, 120),
    "stripe-live": _plain("stripe-key", "sk_live_", BASE62, 24),
    "stripe-restricted": _plain("stripe-key", "rk_live_", BASE62, 99),
    "stripe-hook": _plain("stripe-key", "whsec_", BASE62, 32),
    "stripe-test": _plain("stripe-key", "sk_test_", BASE62, 24, severity=WARNING),
    "gitlab": _plain("gitlab-token", "glpat-", _URL_SAFE, 20),
    "gitlab-trigger": _plain("gitlab-token", "glptt-", _HEX, 40),
    "gitlab-runner": _plain("gitlab-token", "GR1348941", _URL_SAFE, 20),
    "gitlab-mail": _plain("gitlab-token", "glimt-", _URL_SAFE, 25),
    "gitlab-agent": _plain("gitlab-token", "glagent-", _URL_SAFE, 50),
    "gitlab-oauth": _plain("gitlab-token", "gloas-", _URL_SAFE, 64),
    "gitlab-job": _plain("gitlab-token", "glcbt-64_", _URL_SAFE, 20),
    "gitlab-routable": _gitlab_routable,
    "gitlab-routable-bad-checksum": lambda maker: _gitlab_routable(maker, is_valid=False),
    "npm": _checked("npm-token", "npm_", 30),
    "npm-bad-checksum": _checked("npm-token", "npm_", 30, is_valid=False),
    "npm-legacy": _npm_legacy,
    "pypi": _plain("pypi-token", "pypi-AgEIcHlwaS5vcmc", _URL_SAFE, 140),
    "pypi-test": _plain("pypi-token", "pypi-AgENdGVzdC5weXBpLm9yZw", _URL_SAFE, 150),
    "huggingface": _plain("huggingface-token", "hf_", BASE62, 34),
    "huggingface-organisation": _plain("huggingface-token", "api_org_", BASE62, 34),
    "azure-account": _azure_key,
    "azure-client": _azure_client,
    "azure-devops": _azure_devops,
    "azure-sas": _azure_sas,
    "jwt": _jwt,
    "auth-header": _header,
    "url-credential": _url,
    "env-credential": _env,
    "generic-assignment": _assignment,
}
