from __future__ import annotations

import pytest
from mc_scan import scan_text
from mc_scan.testing import fake

OPAQUE = "k9Xq2Lm7" + "Pz4T"
LONG = OPAQUE + "b8WdQe5Rt"
GENERIC = "generic-assignment"
ENV = "env-credential"


def found(text: str) -> list[str]:
    return [f.rule for f in scan_text(text)]


ASSIGNMENTS = [
    "password: hunter2",
    "password: Summer2024!",
    "db_pass = 'tr0ub4dor'",
    "dbPass: tr0ub4dor",
    f"passwd={OPAQUE}",
    f"userPwd: {OPAQUE}",
    f"api-key: {OPAQUE}",
    f"API Key: {OPAQUE}",
    f"apikey={OPAQUE}",
    f"X-Api-Key: {OPAQUE}",
    f"access key = {OPAQUE}",
    f"private_key = {OPAQUE}",
    f"encryptionKey: {OPAQUE}",
    f"account-key: {OPAQUE}",
    f"The signing key is `{OPAQUE}`.",
    f'The password was "{OPAQUE}".',
    f"**Password:** {OPAQUE}",
    f"**Password**: {OPAQUE}",
    f"`password`: `{OPAQUE}`",
    f"[password]: {OPAQUE}",
    f"| `API_KEY` | `{OPAQUE}` |",
    f"| password | {OPAQUE} | x |",
    f"密码：{OPAQUE}",
    f"密码为`{OPAQUE}`",
    f"口令是“{OPAQUE}”",
    f"密钥＝{OPAQUE}",
    f"令牌: {OPAQUE}，有效期",
    f"Server=x;User Id=a;Password={OPAQUE};",
    f"https://h.dev/x?api_key={OPAQUE}&z=1",
    f"--password={OPAQUE}",
    f'\\"password\\": \\"{OPAQUE}\\"',
    f'client_secret := "{OPAQUE}"',
    f'"refreshToken" => "{OPAQUE}"',
    f'password: str = "{OPAQUE}"',
    f"api\\_key: {OPAQUE}",
    f"GITHUB_PAT={OPAQUE}",
    f"credentials: {OPAQUE}",
    f"Token: {OPAQUE}",
    "secret: 3f2b8c1e-9d4a-4f6b-8a2c-1e5d7f9b0c3a",
    'passphrase: "correct 7 horses in a battery"',
    "password: 'Correct!Horse'",
    "password=correcthorse",
    f"RUN DB_PASSWORD={OPAQUE} ./x",
    f"see `DB_PASSWORD={OPAQUE}`",
    f"password: {OPAQUE} # rotate soon",
    "passwd: Quartz&willow6640 (old)",
    "passphrase => 'maple60'",
    f"secret: {'a1B2' * 128}",
]


@pytest.mark.parametrize("text", ASSIGNMENTS)
def test_value_next_to_a_secret_name_is_found(text: str) -> None:
    assert found(text) == [GENERIC]


ENV_LINES = [
    f"LEDGER_TOKEN={OPAQUE}",
    f"export FOO_TOKEN={OPAQUE}",
    f"> DB_PASSWORD={OPAQUE}",
    f"    SMTP_PASS={OPAQUE}",
    "PASSWORD=correcthorse",
    "APP_SECRET='correcthorse'",
    f"PGPASSWORD={OPAQUE}\r\nX=1",
    f"DEPLOY_KEY={LONG}",
]


@pytest.mark.parametrize("text", ENV_LINES)
def test_environment_line_is_a_finding_of_its_own(text: str) -> None:
    assert found(text) == [ENV]


@pytest.mark.parametrize("secret", [fake("aws-secret-key", seed).body for seed in range(3)])
@pytest.mark.parametrize(
    "form",
    [
        "AWS_SECRET_ACCESS_KEY={v}",
        "secretAccessKey: '{v}'",
        '"SecretAccessKey": "{v}"',
        "aws secret key is `{v}`",
        "| aws secret access key | {v} |",
        "export AWS_SECRET_KEY={v}",
    ],
)
def test_aws_secret_is_found_by_its_name(form: str, secret: str) -> None:
    (finding,) = scan_text(form.replace("{v}", secret))

    assert (
        finding.rule,
        finding.severity,
        finding.preview,
    ) == ("aws-secret-key", "error", "aws secret [REDACTED]")


def test_aws_secret_is_found_within_three_lines_of_its_id() -> None:
    key, secret = fake("aws-access-key-id").text, fake("aws-secret-key").body

    assert found(f"id {key}\na\nb\n{secret}\n") == ["aws-access-key-id", "aws-secret-key"]
    assert found(f"{secret}\na\nb\nid {key}\n") == ["aws-secret-key", "aws-access-key-id"]
    assert found(f"id {key}\na\nb\nc\n{secret}\n") == ["aws-access-key-id"]
    assert found(f"{key}\n{'0123456789abcdef' * 2}01234567\n") == ["aws-access-key-id"]


NO_VALUES = [
    # Placeholders and references, section 3.
    *("password: changeme", "password: <your password>", "password: your_password1"),
    *("api_key: YOUR_API_KEY", "secret: my-secret-key-here", "token: not-a-real-secret"),
    *("password: abc123", "password: ${DB_PASS}", "password: $DB_PASS", "token: $(cat t0ken)"),
    *("password: {{ vault_pw1 }}", "password: %DB_PASS1%", "password: @@PW1@@"),
    *("password: <%= ENV['X1'] %>", "password: !secret db_pw1", "password: !Ref Pw2"),
    *("password: !vault x1", "token: ${{ secrets.TOKEN_2 }}", "secret: process.env.SECRET2"),
    *("api_key: import.meta.env.KEY2", "token: os.environ['TOKEN2']", "token=os.getenv('T2')"),
    *("secret: ENV['X2']", "password: op://vault/item2/password", "token: $env:TOKEN2"),
    *("secret: vault:secret/data/app2#pw", "password: ref+awssecrets://app2/pw"),
    *("secret: sm://proj2/sec", "secret: ssm:/app2/pw", "secret: $ANSIBLE_VAULT;1.1;AES256"),
    "secret: arn:aws:secretsmanager:us-east-1:123456789012:secret:x-AbC123",
    "secret: projects/p2/secrets/s2/versions/1",
    "password: @Microsoft.KeyVault(SecretUri=https://x2.vault.azure.net/)",
    "secret: ENC[AES256_GCM,data:abc123,iv:xyz]",
    *("password: xxxxxx1", "token: ********", "secret: 00000000a1", "password: ••••••••1"),
    *("api_key: sk-abc123...", "api_key: sk-abc123…", "api_key: k9Xq[...]2Lm7", "token: k9X***2Lm"),
    *("token: abcdefgh12", "password: 12345678", "token: ABCDEFGH12"),
    *("token: example-token-1", "secret: PLACEHOLDER_1", "token: REPLACE_ME_1"),
    *("token: redacted-1a", "password: dummyPass1", "api_key: sample-key-9", "token: change-me-9"),
    *("password: password", "secret: secret123", "password: test1234", "password: admin123"),
    # Names that only look like secret names.
    *("password_hash: a1b2c3d4e5f6", "token_url: https://x.dev/t1", "secret_name: app-secret-2"),
    *("max_tokens: 4096", "max_token=40960000a", "csrf_token: a1b2c3d4e5f6", "eos_token: a1b2c3d4"),
    *("primary_key: a1b2c3d4e5", "client_id: a1b2c3d4e5f6", "api_key_env: OPENAI_KEY2"),
    *("arn:aws:secret: a1b2c3d4e5", "secrets/db-token: a1b2c3d4e5", "bypass: a1b2c3d4"),
    *("compass: a1b2c3d4", "compat: a1b2c3d4e5", "dispatch: a1b2c3d4", "keys: a1b2c3d4"),
    *("passed=12345abc", "tokenizer: gpt2token", "Pass: 12 of 14", "passwords: hunter22"),
    # Values that are no values.
    *("password: SecretStr", "password: Optional[str]", "token: get_token(1)"),
    *("secret = config['s2']", "token = self.cfg.token", "secret: ./secrets/app2.yml"),
    *("secret: /run/secrets/db2", "private_key: ~/.ssh/id_ed25519", "password: C:\\keys\\k2.txt"),
    *("password: https://vault.dev/x1", "secret: app-secrets2.yaml", "secret: kv/data/app2"),
    *("password: 1Password", "password: argon2id", "token: oauth2", "token: oauth2-bearer"),
    *("secret: sha256-hash", "password: base64", "password: UTF-8", "secret: x509 bundle"),
    *("token: 2026-05-01", "token: v1.2.3", "token: 3600s", "token: 10.0.0.1"),
    *("| `api_key` | `k_[A-Za-z0-9/+]{40}` |", "token: `ghp_[a-z0-9]+`"),
    "secret: sha256:9f86d081884c7d659a2feaa0c55ad015",
    # Prose.
    *("password: minimum 12 characters", "password: 12 characters", "token rotation is monthly"),
    *("The password is at least 12 characters.", "Password reset: see page 42"),
    'The password is "at least 12 characters long".',
    *("token == 'abc12345'", "if password != 'abc12345'", "the password hunter2!9"),
    *("secret: us-east-1 only", "password: 84710293", "password:", "password", "password: x1"),
    # Environment lines.
    *(
        "DEPLOY_KEY=k9Xq2Lm7Pz4T",
        "PUBLIC_KEY=k9Xq2Lm7Pz4Tb8WdQe5Rt",
        "OLDPWD=/srv/x",
        "PWD=/srv/app1",
    ),
    *("APP_SECRET=${X}", "APP_SECRET=changeme", "APP_SECRET=", "PASSWORD=password"),
    f"secret: {'a1B2' * 129}",
]


@pytest.mark.parametrize("text", NO_VALUES)
def test_word_template_reference_or_path_is_no_secret(text: str) -> None:
    assert [rule for rule in found(text) if rule in (GENERIC, ENV)] == []


def test_finding_spans_the_value_only() -> None:
    (finding,) = scan_text(f'  "password": "{OPAQUE}",')

    assert (16, 16 + len(OPAQUE)) == (finding.column, finding.end_column)


@pytest.mark.parametrize(
    ("text", "preview"),
    [
        (f"password: {OPAQUE}", "password: [REDACTED]"),
        (f"LEDGER_TOKEN={OPAQUE}", "LEDGER_TOKEN=[REDACTED]"),
        (f"the X-Api-Key: {OPAQUE}", "X-Api-Key: [REDACTED]"),
        (f"数据库密码：{OPAQUE}", "密码: [REDACTED]"),
        (f"{'a' * 50}_token: {OPAQUE}", f"{'a' * 34}_token: [REDACTED]"),
    ],
    ids=["generic", "env", "header", "chinese", "long"],
)
def test_preview_is_the_name(text: str, preview: str) -> None:
    assert [preview] == [f.preview for f in scan_text(text)]


def test_name_that_is_a_secret_itself_is_not_shown() -> None:
    token = fake("github-classic").text
    findings = scan_text(f"{token}.password: {OPAQUE}")

    assert all(token[4:10] not in f.preview for f in findings)
    assert "[REDACTED]" in {f.preview for f in findings}
