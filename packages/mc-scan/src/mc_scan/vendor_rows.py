"""The table of vendor token forms: anchors, pattern, severity, check, preview.

Patterns are linear by construction: one bounded character class after another, no nested repeat,
no back-reference. Vendor prefixes are public constants; nothing here is a secret.

Source: rules page, section 2.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from mc_scan.checksum import is_crc62_valid, is_github_pat_valid, is_gitlab_routable_valid
from mc_scan.finding import ERROR, WARNING
from mc_scan.pattern import lazy
from mc_scan.placeholder import is_dummy

if TYPE_CHECKING:
    from collections.abc import Callable

    Check = Callable[[re.Match[str]], str | None]

_LEAD: Final = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))"
_LEAD_DOTTED: Final = r"(?:(?<![A-Za-z0-9_.-])|(?<=\\[nrt]))"
_LEAD_TILDE: Final = r"(?:(?<![A-Za-z0-9_.~-])|(?<=~~)|(?<=\\[nrt]))"
_END: Final = r"(?![A-Za-z0-9_-])"
_END_BASE64: Final = r"(?![A-Za-z0-9_+/=-])"
# A body that may hold dots or tildes still ends before a full stop or a closing `~~`.
_END_DOTTED: Final = r"(?=[.~]{0,3}(?:[^A-Za-z0-9_.~-]|\Z))"
_WORD: Final = "[A-Za-z0-9_-]"
_HEX: Final = lazy(r"[0-9a-f]+|[0-9A-F]+")
_MIN_SLACK_BODY: Final = 24
_APP_TOKEN_DOTS: Final = 2
_OPENAI_MARKER: Final = "T3Blbk" + "FJ"


class VendorRow(NamedTuple):
    """One token form. Group ``body`` is secret; group ``shown`` or ``label`` is printed."""

    rule: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]
    severity: str
    min_entropy: float  # bits a character of the body; 0.0 asks for none
    check: Check | None  # returns the severity, or None to drop the match
    label: str
    before: int  # characters of the token before its anchor
    is_bound: bool  # needs a boundary right before the anchor


def _row(
    rule: str,
    anchors: str,
    pattern: str,
    *,
    severity: str = ERROR,
    min_entropy: float = 0.0,
    check: Check | None = None,
    label: str = "",
    before: int = 0,
    is_bound: bool = True,
) -> VendorRow:
    compiled = lazy(pattern)
    names = tuple(anchors.split("|"))
    return VendorRow(rule, names, compiled, severity, min_entropy, check, label, before, is_bound)


def _simple(
    rule: str,
    prefixes: str,
    body: str,
    *,
    severity: str = ERROR,
    min_entropy: float = 0.0,
    check: Check | None = None,
) -> VendorRow:
    """Build a row of the usual form: boundary, one of *prefixes*, *body*, boundary."""
    shown = "|".join(map(re.escape, prefixes.split("|")))
    pattern = f"{_LEAD}(?P<shown>{shown})(?P<body>{body}){_END}"
    return _row(rule, prefixes, pattern, severity=severity, min_entropy=min_entropy, check=check)


def _crc62(match: re.Match[str]) -> str:
    return ERROR if is_crc62_valid(match["body"]) else WARNING


def _github_pat(match: re.Match[str]) -> str:
    return ERROR if is_github_pat_valid(match.group()) else WARNING


def _routable(match: re.Match[str]) -> str:
    return ERROR if is_gitlab_routable_valid(match.group(), len(match["payload"])) else WARNING


def _two_dots(match: re.Match[str]) -> str | None:
    dots = match["body"].rstrip(".").count(".")
    return ERROR if dots >= _APP_TOKEN_DOTS else None


def _mixed_or_hex(match: re.Match[str]) -> str | None:
    body = match["body"]
    if body.isalpha() or not any(character.isdigit() for character in body):
        return None
    is_mixed = body.upper() != body != body.lower()
    return WARNING if is_mixed or _HEX.fullmatch(body) else None


def _whole_slack(match: re.Match[str]) -> str | None:
    return ERROR if len(match["body"]) >= _MIN_SLACK_BODY else None


def _slack_hook(match: re.Match[str]) -> str | None:
    return None if is_dummy(match["key"], "", 0) else ERROR


def _registry_line(match: re.Match[str]) -> str | None:
    head = match.string[max(0, match.start() - 256) : match.start()]
    place = head.split()[-1:] or [""]
    return ERROR if "//" in place[0] and place[0].endswith("/:") else None


# The order matters: of the rows with one anchor the first whose pattern matches decides.
VENDOR_ROWS: Final[tuple[VendorRow, ...]] = (
    # Installation tokens since 2026: `ghs_<digits>_<JWT>`, and any other body with two dots.
    _row(
        "github-token",
        "ghs_",
        rf"{_LEAD_DOTTED}(?P<shown>ghs_)(?P<body>[0-9]{{1,20}}_eyJ{_WORD}{{8,4096}}"
        rf"\.{_WORD}{{8,4096}}\.{_WORD}{{8,4096}}){_END}",
    ),
    _simple("github-token", "ghp_|gho_|ghu_|ghs_", "[A-Za-z0-9]{36}", check=_crc62),
    _simple("github-token", "ghr_", "[A-Za-z0-9]{76}|[A-Za-z0-9]{36}", check=_crc62),
    _row(
        "github-token",
        "ghs_",
        rf"{_LEAD_DOTTED}(?P<shown>ghs_)(?P<body>[A-Za-z0-9._-]{{36,8192}}){_END}",
        check=_two_dots,
    ),
    _simple("github-token", "github_pat_", "[A-Za-z0-9]{22}_[A-Za-z0-9]{59}", check=_github_pat),
    _simple("aws-access-key-id", "AKIA|ASIA|ABIA|ACCA", "[A-Z2-7]{16}", min_entropy=2.7),
    _row(
        "anthropic-key",
        "sk-",
        rf"{_LEAD}(?P<shown>sk-ant-(?:api|admin)[0-9]{{2}}-)(?P<body>{_WORD}{{93}}AA){_END}",
    ),
    _row(
        "anthropic-key",
        "sk-",
        rf"{_LEAD}(?P<shown>sk-ant-(?:oat|ort|sid)[0-9]{{2}}-)(?P<body>{_WORD}{{40,160}}){_END}",
    ),
    _row(
        "anthropic-key",
        "sk-",
        rf"{_LEAD}sk-ant-[A-Za-z]{{1,16}}[0-9]{{1,4}}-(?P<body>{_WORD}{{32,1024}}){_END}",
        severity=WARNING,
        min_entropy=3.0,
        label="sk-ant-",
    ),
    # The marker's letters are in the class before it; both are bounded, so is the backtracking.
    _row(
        "openai-key",
        "sk-",
        rf"{_LEAD}(?P<shown>sk-(?:(?:proj|svcacct|admin|None|service)-)?)"
        rf"(?P<body>{_WORD}{{20,100}}{_OPENAI_MARKER}{_WORD}{{20,100}}){_END}",
    ),
    _row(
        "openai-key",
        "sk-",
        rf"{_LEAD}(?P<shown>sk-(?:proj|svcacct|admin|None)-)(?P<body>{_WORD}{{40,1024}}){_END}",
        severity=WARNING,
        min_entropy=3.0,
        check=_mixed_or_hex,
    ),
    _row(
        "openai-key",
        "sk-",
        rf"{_LEAD}(?P<shown>sk-or-v1-)(?P<body>[0-9a-f]{{64}}){_END}",
        severity=WARNING,
        min_entropy=3.0,
        check=_mixed_or_hex,
    ),
    _row(
        "openai-key",
        "sk-",
        rf"{_LEAD}(?P<shown>sk-)(?P<body>[A-Za-z0-9]{{32,64}}){_END}",
        severity=WARNING,
        min_entropy=3.0,
        check=_mixed_or_hex,
    ),
    _simple("google-api-key", "AIza", _WORD + "{35}", min_entropy=3.5),
    _simple("google-api-key", "AQ.", _WORD + "{50}", min_entropy=3.5),
    _simple("google-api-key", "GOCSPX-", _WORD + "{28}", min_entropy=3.5),
    _simple("google-api-key", "ya29.", _WORD + "{20,2048}", min_entropy=3.5),
    _simple(
        "slack-token",
        "xoxb-|xoxp-|xoxa-|xoxr-|xoxs-|xoxo-|xoxc-",
        "[0-9]{8,14}-[A-Za-z0-9-]{1,400}",
        check=_whole_slack,
    ),
    _simple("slack-token", "xoxe.xoxp-1-|xoxe.xoxb-1-|xoxe-1-", _WORD + "{120,1024}"),
    _simple("slack-token", "xapp-1-", "A[A-Za-z0-9]{5,20}-[0-9]{6,20}-[0-9a-f]{64}"),
    _row(
        "slack-token",
        "xoxd-",
        rf"{_LEAD}(?P<shown>xoxd-)(?P<body>[A-Za-z0-9%/+=_-]{{80,1024}})(?![A-Za-z0-9%/+=_-])",
    ),
    _row(
        "slack-token",
        "https://hooks.slack.com/",
        r"https://hooks\.slack\.com/(?:services|workflows|triggers)/"
        r"(?P<body>T[A-Za-z0-9]{4,20}/[A-Za-z0-9]{4,24}/(?:[0-9]{6,30}/)?(?P<key>[A-Za-z0-9]{20,48}))"
        rf"{_END}",
        check=_slack_hook,
        label="https://hooks.slack.com/…",
        is_bound=False,
    ),
    _simple("stripe-key", "sk_live_|rk_live_", "[A-Za-z0-9]{16,247}", min_entropy=3.0),
    _row(
        "stripe-key",
        "whsec_",
        rf"{_LEAD}(?P<shown>whsec_)(?P<body>[A-Za-z0-9+/]{{24,247}}={{0,2}}){_END_BASE64}",
        min_entropy=3.0,
    ),
    _simple(
        "stripe-key",
        "sk_test_|rk_test_",
        "[A-Za-z0-9]{16,247}",
        severity=WARNING,
        min_entropy=3.0,
    ),
    # Routable tokens first: their payload may be as long as an older body.
    _row(
        "gitlab-token",
        "glpat-|gldt-|glrt-|glft-|glsoat-|glffct-|glimt-|glagent-|gloas-|glptt-|glcbt-",
        rf"{_LEAD}(?P<shown>gl[a-z]{{2,5}}-)"
        rf"(?P<body>(?P<payload>{_WORD}{{27,300}})\.01\.[0-9a-z]{{9}}){_END}",
        check=_routable,
    ),
    _simple("gitlab-token", "glpat-|gldt-|glrt-|glft-|glsoat-|glffct-", _WORD + "{20}"),
    _simple("gitlab-token", "glimt-", _WORD + "{25}"),
    _simple("gitlab-token", "glagent-", _WORD + "{50}"),
    _simple("gitlab-token", "gloas-", _WORD + "{64}"),
    _simple("gitlab-token", "glptt-", "[0-9a-f]{40}"),
    _simple("gitlab-token", "glcbt-", "[0-9a-zA-Z]{1,5}_" + _WORD + "{20}"),
    _simple("gitlab-token", "GR1348941", _WORD + "{20}"),
    _simple("npm-token", "npm_", "[A-Za-z0-9]{36}", check=_crc62),
    _row(
        "npm-token",
        "_authToken=",
        r'(?P<shown>_authToken=)"?(?P<body>[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}'
        rf"-[0-9a-fA-F]{{4}}-[0-9a-fA-F]{{12}}){_END}",
        check=_registry_line,
        is_bound=False,
    ),
    _row(
        "pypi-token",
        "pypi-Ag",
        rf"{_LEAD}(?P<shown>pypi-)"
        rf"(?P<body>(?:AgEIcHlwaS5vcmc|AgENdGVzdC5weXBpLm9yZw){_WORD}{{50,2048}}){_END}",
    ),
    _simple("huggingface-token", "hf_|api_org_", "[A-Za-z0-9]{34}", min_entropy=3.4),
    _row(
        "azure-secret",
        "AccountKey=|SharedAccessKey=",
        r"(?P<shown>(?:AccountKey|SharedAccessKey)=)(?P<body>[A-Za-z0-9+/]{42,88}={1,2})"
        rf"{_END_BASE64}",
        min_entropy=3.5,
        is_bound=False,
    ),
    _row(
        "azure-secret",
        "Q~",
        rf"{_LEAD_TILDE}(?P<body>[A-Za-z0-9_~.-]{{3}}[0-9]Q~[A-Za-z0-9_~.-]{{31,34}}){_END_DOTTED}",
        min_entropy=3.5,
        label="Q~ secret ",
        before=4,
        is_bound=False,
    ),
    _row(
        "azure-secret",
        "AZDO",
        rf"{_LEAD}(?P<body>[A-Za-z0-9]{{76}}AZDO[A-Za-z0-9]{{4}}){_END}",
        min_entropy=3.5,
        label="DevOps token ",
        before=76,
        is_bound=False,
    ),
)
