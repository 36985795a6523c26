from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

import pytest
from mc_scan import ScanError, scan_text
from mc_scan import engine as engine_module
from mc_scan.candidate import (
    RANK_ADDRESS,
    RANK_ASSIGNMENT,
    RANK_EMAIL,
    RANK_ENV,
    RANK_JWT,
    RANK_URL,
    RANK_VENDOR,
    Candidate,
)
from mc_scan.engine import examine, settle
from mc_scan.testing import fake

if TYPE_CHECKING:
    from collections.abc import Iterator

OPAQUE = "k9Xq2Lm7" + "Pz4Tb8Wd"


def rules(text: str) -> list[str]:
    return [f.rule for f in scan_text(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(f"API_KEY={fake('github-classic').text}", ["github-token"], id="vendor-env"),
        pytest.param(
            f"https://x:{fake('github-classic').text}@h.dev", ["github-token"], id="vendor-url"
        ),
        pytest.param(f"Bearer {fake('npm').text}", ["npm-token"], id="vendor-header"),
        pytest.param(f"token: {fake('jwt').text}", ["jwt"], id="jwt-assignment"),
        pytest.param(f"DB_SECRET=postgres://u:{OPAQUE}@h.dev", ["url-credential"], id="url-env"),
        pytest.param(
            fake("gcp-service-account").text, ["gcp-service-account"], id="service-account-key"
        ),
        pytest.param("/Users/ana/ana@harrow.dev", ["home-path", "email"], id="side-by-side"),
    ],
)
def test_one_value_is_one_finding(text: str, expected: list[str]) -> None:
    assert expected == rules(text)


def test_same_value_twice_is_two_findings() -> None:
    token = fake("github-classic").text

    assert rules(f"{token} {token}") == ["github-token", "github-token"]


def _candidate(start: int, end: int, rank: int) -> Candidate:
    return Candidate(start, end, rank, str(rank), "warning", "")


def test_overlaps_keep_the_first_rank_and_what_stays_free() -> None:
    found = [
        _candidate(0, 10, RANK_ASSIGNMENT),
        _candidate(5, 12, RANK_VENDOR),
        _candidate(12, 20, RANK_EMAIL),
        _candidate(11, 13, RANK_ADDRESS),
        _candidate(30, 40, RANK_ENV),
        _candidate(30, 40, RANK_JWT),
        _candidate(38, 50, RANK_URL),
    ]

    assert [(kept.start, kept.rank) for kept in settle(found)] == [
        (5, RANK_VENDOR),
        (12, RANK_EMAIL),
        (38, RANK_URL),
    ]


def test_findings_come_by_line_and_column() -> None:
    found = scan_text("ana@harrow.dev /home/ana\npassword: hunter2\n/home/ana")

    assert sorted((f.line, f.column) for f in found) == [(f.line, f.column) for f in found]
    assert len(found) == 4


def test_filters_keep_fingerprints() -> None:
    text = f"ana@harrow.dev password: {OPAQUE}"
    everything = {f.rule: f.fingerprint for f in scan_text(text)}

    assert everything == {
        f.rule: f.fingerprint
        for only in ("security", "privacy")
        for f in scan_text(text, only=only)
    }
    assert [everything["email"]] == [f.fingerprint for f in scan_text(text, rules=["email"])]


@pytest.mark.parametrize(
    "filters", [{"only": "nothing"}, {"rules": ["no-such-rule"]}], ids=["category", "rule"]
)
def test_unknown_filter_is_refused(filters: dict[str, list[str]]) -> None:
    with pytest.raises(ScanError) as caught:
        scan_text("x", **filters)  # type: ignore[arg-type]

    assert caught.value.code in ("unknown_category", "unknown_rule")
    assert caught.value.hint


def test_crash_of_a_rule_carries_path_line_and_rule_only(monkeypatch: pytest.MonkeyPatch) -> None:
    secret = fake("github-classic").text

    def broken(text: str, _lower: str) -> Iterator[Candidate]:
        raise ValueError(text)

    monkeypatch.setattr(engine_module, "_DETECTORS", (("jwt", broken),))
    with pytest.raises(ScanError) as caught:
        examine([f"a\n{secret}"], "docs/a.md")

    error = caught.value
    shown = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    assert str(error) == "scan stopped in rule `jwt` (ValueError): docs/a.md:1"
    assert error.code == "crashed"
    assert secret not in shown
    assert (error.__cause__, error.__context__) == (None, None)
