"""The rule table: ids, categories, severities and words for people and for code scanning.

How each rule matches is in the module named by its ``source``; vendor rows are in `vendor_rows`.
Source: rules page, sections 2 and 4.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from mc_scan.finding import ERROR, PRIVACY, SECURITY, WARNING


class Rule(NamedTuple):
    """One rule, as `mc-scan --list-rules` and SARIF show it."""

    id: str
    category: str  # "security" or "privacy"
    severity: str  # the highest it reports
    title: str  # one phrase
    description: str  # what it matches
    advice: str  # what to do about a finding
    precision: str  # "very-high", "high" or "medium", as code scanning ranks it


_ROTATE: Final = (
    "Revoke the credential where it was issued, issue a new one, and keep it in a secret store."
    " Removing it from the file is not enough once the file was shared."
)
_MOVE: Final = (
    "Move the value to a secret store and write a reference instead, for example `${NAME}`."
)
_REMOVE: Final = "Remove it, or write it so that no person can be identified."


def _vendor(rule: str, title: str, description: str) -> Rule:
    return Rule(rule, SECURITY, ERROR, title, description, _ROTATE, "very-high")


RULES: Final[tuple[Rule, ...]] = (
    _vendor(
        "private-key",
        "Private key",
        "A PEM, OpenSSH, PGP, SSH2 or PuTTY private key header with key material below it; a"
        " warning when nothing is below.",
    ),
    _vendor(
        "gcp-service-account",
        "Google Cloud service account key",
        "A private key in the `private_key` value of a JSON service account file.",
    ),
    _vendor(
        "github-token",
        "GitHub token",
        "A classic, OAuth, app, refresh or fine-grained GitHub token; a warning when its checksum"
        " is wrong.",
    ),
    _vendor(
        "aws-access-key-id", "AWS access key ID", "A long-term or temporary AWS access key ID."
    ),
    _vendor(
        "aws-secret-key",
        "AWS secret access key",
        "A 40-character secret next to its name, or near an access key ID.",
    ),
    _vendor(
        "openai-key",
        "OpenAI or OpenAI-like key",
        "A key with the OpenAI marker; a warning for `sk-` keys without it.",
    ),
    _vendor(
        "anthropic-key",
        "Anthropic key",
        "An API, admin, OAuth or session key; a warning for `sk-ant-` of another length.",
    ),
    _vendor(
        "google-api-key",
        "Google API key",
        "A Google API key, AI Studio key, OAuth client secret or access token.",
    ),
    _vendor(
        "slack-token",
        "Slack token or webhook",
        "A bot, user, app or refresh token, or an incoming webhook URL.",
    ),
    _vendor(
        "stripe-key",
        "Stripe key",
        "A live secret or restricted key or a webhook secret; a warning for test-mode keys.",
    ),
    _vendor(
        "gitlab-token",
        "GitLab token",
        "A personal, deploy, runner or other GitLab token; a warning when a routable token's"
        " checksum is wrong.",
    ),
    _vendor("npm-token", "npm token", "An npm access token, or a legacy one in an `.npmrc` line."),
    _vendor("pypi-token", "PyPI token", "An upload token for PyPI or TestPyPI."),
    _vendor("huggingface-token", "Hugging Face token", "A user or organisation access token."),
    _vendor(
        "azure-secret",
        "Azure secret",
        "A storage or shared access key, an application secret, a DevOps token; a warning for the"
        " signature of a SAS URL.",
    ),
    Rule(
        "jwt",
        SECURITY,
        WARNING,
        "JSON web token",
        "Three base64url parts, the first a header with `alg`.",
        "Check whether the token is live; expired, anonymous and sample tokens look the same.",
        "high",
    ),
    Rule(
        "auth-header",
        SECURITY,
        WARNING,
        "Authorization header",
        "A value after `Bearer`, `Token` or `Basic`.",
        _MOVE,
        "high",
    ),
    Rule(
        "url-credential",
        SECURITY,
        ERROR,
        "Password in a URL",
        "`scheme://user:password@host`; a warning for a local host.",
        _ROTATE,
        "very-high",
    ),
    Rule(
        "env-credential",
        SECURITY,
        WARNING,
        "Credential in an environment line",
        "A line `NAME=value` whose name ends in PASSWORD, SECRET, TOKEN, KEY or the like.",
        _MOVE,
        "high",
    ),
    Rule(
        "generic-assignment",
        SECURITY,
        WARNING,
        "Value next to a secret name",
        "A name that ends in password, secret, token, api key or the like, an operator, and an"
        " opaque value.",
        _MOVE,
        "medium",
    ),
    Rule(
        "home-path",
        PRIVACY,
        WARNING,
        "Home folder path",
        "A path below a person's home folder, which names them and works on one machine only.",
        "Write the path relative to the repository, or use `~` or `$HOME`.",
        "high",
    ),
    Rule(
        "email",
        PRIVACY,
        WARNING,
        "E-mail address",
        "An address of a person; role accounts and reserved domains are not reported.",
        _REMOVE,
        "high",
    ),
    Rule(
        "phone",
        PRIVACY,
        WARNING,
        "Telephone number",
        "A number in international form, or in national form next to a word such as `phone`.",
        _REMOVE,
        "medium",
    ),
    Rule(
        "street-address",
        PRIVACY,
        WARNING,
        "Street address",
        "A street and number followed by a unit, a city with its code, or a postcode.",
        _REMOVE,
        "medium",
    ),
)
RULES_BY_ID: Final = {rule.id: rule for rule in RULES}
RULE_INDEX: Final = {rule.id: index for index, rule in enumerate(RULES)}
