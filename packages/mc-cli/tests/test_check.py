"""`check`: each severity of the design has a project that shows it, and a healthy one is clean."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import jsonschema
import pytest
from mc_cli.check.inspection import inspect
from mc_cli.check.structure import structure_findings
from mc_cli.config import NO_CONFIG
from mc_cli.location import Location
from mc_cli.main import main
from mc_cli.notices import place_key
from mc_lock import resolve_state_directory
from mc_retrieve.memorydir import Fault, Listing
from mc_retrieve.memoryset import MemorySet
from mc_retrieve.testing import MANIFEST_TEXT, METADATA, entry_text, numbered_id, write_project
from mc_scan.testing import fake
from mc_schema.trust import TRUST_BOUNDARY

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from conftest import RunCommand

MARKER: Final = "zebra-marker"
# Made up, and put together here so that no scanner of this repository takes it for a real one.
TOKEN: Final = "ghp_" + "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"
Files = dict[str, "str | bytes | None"]


class Answer(NamedTuple):
    """What one command said."""

    returncode: int
    stdout: str
    stderr: str


class Check(Protocol):
    """Run `check` on a project in this process: files are real, only the start-up is spared."""

    def __call__(self, root: Path, *arguments: str) -> Answer: ...


@pytest.fixture
def check(capsys: pytest.CaptureFixture[str]) -> Check:
    def run(root: Path, *arguments: str) -> Answer:
        capsys.readouterr()
        code = main(["check", "--project-root", os.fspath(root), *arguments])
        return Answer(code, *capsys.readouterr())

    return run


def _validated(text: str, root: Path) -> dict[str, Any]:
    schemas = root / "docs" / "schemas"
    answer: dict[str, Any] = json.loads(text)
    envelope = json.loads((schemas / "memory-custodian-v1.schema.json").read_text("utf-8"))
    jsonschema.validate(answer, envelope)
    jsonschema.validate(answer["data"], json.loads((schemas / "check.schema.json").read_text()))
    return answer


def _findings(data: str) -> list[dict[str, Any]]:
    findings: list[dict[str, Any]] = json.loads(data)["data"]["findings"]
    return findings


def _manifest(old: str, new: str) -> Files:
    assert old in MANIFEST_TEXT
    return {"manifest.md": MANIFEST_TEXT.replace(old, new)}


def _decisions(*entries: str) -> Files:
    return {"decisions.md": "# D\n\n" + "".join(entries)}


def _entry(number: int, **fields: Any) -> str:
    return entry_text(numbered_id(number), **fields)


def _words(count: int) -> str:
    return " ".join(f"w{number}" for number in range(count))


ERRORS: Final = (
    pytest.param({"brief.md": None}, "missing_core_file", "brief.md", None, id="core-file"),
    pytest.param({"manifest.md": None}, "missing_core_file", "manifest.md", None, id="manifest"),
    pytest.param(
        _manifest("## Always load", "## Sometimes load"),
        "invalid_route",
        "manifest.md",
        None,
        id="no-general-section",
    ),
    pytest.param(
        _manifest("### Preferences", "### Tastes"),
        "invalid_route",
        "manifest.md",
        None,
        id="no-task-section",
    ),
    pytest.param(
        _manifest("### Preferences", "### Preferences\n\n### Preferences"),
        "invalid_route",
        "manifest.md",
        41,
        id="doubled-section",
    ),
    pytest.param({"decisions.md": b"# D\n\n\xff"}, "not_utf8", "decisions.md", 3, id="not-utf8"),
    pytest.param(
        {"constraints.md": "# C\n".encode("utf-16-le")},
        "not_utf8",
        "constraints.md",
        1,
        id="utf-16",
    ),
    pytest.param({"manifest.md": b"\xff"}, "not_utf8", "manifest.md", 1, id="manifest-not-utf8"),
    pytest.param(
        {"brief.md": "# B\n\n<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n"},
        "conflict_markers",
        "brief.md",
        3,
        id="conflict",
    ),
    pytest.param(
        _manifest("protocol_version: 0.6", "protocol_version: 0.\u00b2"),
        "invalid_protocol",
        "manifest.md",
        3,
        id="unreadable-version",
    ),
    pytest.param(
        _manifest("protocol_version: 0.6", "protocol_version: 0.9"),
        "newer_protocol",
        "manifest.md",
        3,
        id="newer-version",
    ),
    pytest.param(
        _manifest("- entry_schema", "- protocol_version: 0.6\n- entry_schema"),
        "repeated_protocol",
        "manifest.md",
        3,
        id="repeated-version",
    ),
    pytest.param(
        _manifest("- admission", "- project_id: 3f2b8c1e-7a45-4d19-9c02-5e6f7a8b9c0e\n- admission"),
        "repeated_metadata",
        "manifest.md",
        9,
        id="repeated-project-id",
    ),
    pytest.param(
        _manifest("- project_id: 3f2b8c1e-7a45-4d19-9c02-5e6f7a8b9c0d\n", ""),
        "missing_project_id",
        "manifest.md",
        3,
        id="no-project-id",
    ),
    pytest.param(
        _manifest("4d19-9c02", "1d19-9c02"),
        "invalid_project_id",
        "manifest.md",
        3,
        id="project-id-of-another-kind",
    ),
    pytest.param(
        _manifest("- entry_schema_version: 1\n", ""),
        "entry_schema_version",
        "manifest.md",
        3,
        id="no-schema-version",
    ),
    pytest.param(
        _manifest("entry_schema_version: 1", "entry_schema_version: 7"),
        "entry_schema_version",
        "manifest.md",
        3,
        id="unknown-schema-version",
    ),
    pytest.param(
        _manifest("- admission_policy: evidence-required\n", ""),
        "admission_policy",
        "manifest.md",
        3,
        id="no-policy",
    ),
    pytest.param(
        _manifest("evidence-required", "anything-goes"),
        "admission_policy",
        "manifest.md",
        3,
        id="unknown-policy",
    ),
    pytest.param(
        _manifest("## Trust boundary", "## Other"),
        "missing_trust_boundary",
        "manifest.md",
        None,
        id="no-trust-boundary",
    ),
    pytest.param(
        _decisions(_entry(1).replace("00000001", "xyz")),
        "invalid_id",
        "decisions.md",
        3,
        id="invalid-id",
    ),
    pytest.param(
        _decisions(_entry(1, evidence=())), "no_evidence", "decisions.md", 3, id="no-evidence"
    ),
    pytest.param(
        _decisions(_entry(1, evidence=("agent-observed", "conversation-unconfirmed"))),
        "weak_evidence",
        "decisions.md",
        3,
        id="weak-evidence",
    ),
    pytest.param(
        _decisions(_entry(1, evidence=("repo:../x",))),
        "invalid_evidence",
        "decisions.md",
        3,
        id="evidence-outside",
    ),
    pytest.param(
        _decisions(_entry(1, status="done")), "invalid_status", "decisions.md", 3, id="status"
    ),
    pytest.param(
        _decisions(_entry(1, status="candidate")),
        "invalid_status",
        "decisions.md",
        3,
        id="candidate-outside-inbox",
    ),
    pytest.param(
        _decisions(_entry(1).replace("Status: active\n", "Status: active\nStatus: active\n")),
        "repeated_field",
        "decisions.md",
        6,
        id="repeated-field",
    ),
    pytest.param(_decisions(_entry(1, scope="galaxy")), "matrix", "decisions.md", 3, id="scope"),
    pytest.param(
        _decisions(_entry(1, label="Constraint")), "matrix", "decisions.md", 3, id="body-label"
    ),
    pytest.param({"constraints.md": _entry(1)}, "matrix", "constraints.md", 1, id="wrong-file"),
    pytest.param(
        _decisions(_entry(1, supersedes=numbered_id(9))),
        "broken_link",
        "decisions.md",
        3,
        id="link-to-nothing",
    ),
    pytest.param(
        _decisions(_entry(1, status="superseded")),
        "broken_link",
        "decisions.md",
        3,
        id="superseded-without-successor",
    ),
    pytest.param(
        _decisions(
            _entry(1, status="superseded", supersedes=numbered_id(2), superseded_by=numbered_id(2)),
            _entry(2, status="superseded", supersedes=numbered_id(1), superseded_by=numbered_id(1)),
        ),
        "broken_link",
        "decisions.md",
        3,
        id="cycle",
    ),
    pytest.param(
        _manifest("- decisions.md\n- constraints.md", "- ../decisions.md\n- constraints.md"),
        "invalid_route",
        "manifest.md",
        23,
        id="unsafe-route",
    ),
    pytest.param(
        _manifest("- brief.md\n\n## Load", "- .\n- brief.md\n\n## Load"),
        "invalid_route",
        "manifest.md",
        17,
        id="route-of-a-dot",
    ),
    pytest.param(
        _manifest("- constraints.md\n- do-not-use.md\nLoad if", "- brief.md\nLoad if"),
        "doubled_route",
        "manifest.md",
        30,
        id="doubled-route",
    ),
    pytest.param(
        _manifest("- inbox.md\n", "- inbox.md\n- glossary.md\n"),
        "missing_required_file",
        "manifest.md",
        54,
        id="required-file",
    ),
    pytest.param(
        {"constraints.md": f"# C\n\n- token {TOKEN}\n"},
        "github-token",
        "constraints.md",
        3,
        id="secret",
    ),
    pytest.param(
        {"brief.md": f"# B\n\nfine\n<private>\n{MARKER}\n"},
        "unclosed_private",
        "brief.md",
        4,
        id="unclosed-private",
    ),
)
WARNINGS: Final = (
    pytest.param(
        _manifest("protocol_version: 0.6", "protocol_version: 0.5"),
        "older_protocol",
        "manifest.md",
        3,
        id="older-protocol",
    ),
    pytest.param(
        _manifest(METADATA, ""), "older_protocol", "manifest.md", None, id="without-metadata"
    ),
    pytest.param(
        {"constraints.md": "# C\n\n" + "".join(f"- {_words(50)}\n" for _ in range(9))},
        "over_budget",
        "constraints.md",
        None,
        id="over-budget",
    ),
    pytest.param(
        _decisions(_entry(1, body=_words(130))), "long_decision", "decisions.md", 3, id="long"
    ),
    pytest.param(
        _decisions(f"## Old\nDecision: {_words(130)}\n"),
        "long_decision",
        "decisions.md",
        3,
        id="long-legacy-decision",
    ),
    pytest.param(
        {"brief.md": "# Project Brief\n\nPurpose:\n\n- TODO: say it.\n"},
        "brief_scaffold",
        "brief.md",
        None,
        id="scaffold",
    ),
    pytest.param(
        {"areas/other.md": "# A\n"}, "unindexed_module", "areas/other.md", None, id="unindexed"
    ),
    pytest.param(
        _decisions(_entry(1, evidence=("doc:gone.md",))),
        "missing_evidence",
        "decisions.md",
        8,
        id="missing-evidence",
    ),
    pytest.param(
        _decisions(_entry(1, evidence=("legacy-unverified",))),
        "legacy_unverified",
        "decisions.md",
        None,
        id="legacy-unverified",
    ),
    pytest.param(
        {"inbox.md": "# I\n\n" + "- perhaps\n" * 31}, "inbox_full", "inbox.md", None, id="inbox"
    ),
    pytest.param(
        {"brief.md": "# B\n\n- see /Users/somebody/notes\n"},
        "home-path",
        "brief.md",
        3,
        id="privacy",
    ),
    pytest.param(
        {"preferences.md": "# P\n\n- /home/\n"}, "home-path", "preferences.md", 3, id="old-pattern"
    ),
    pytest.param(
        {"brief.md": "# B\n\npassword = Summer2024x!\n"},
        "generic-assignment",
        "brief.md",
        3,
        id="ambiguous-secret",
    ),
    pytest.param(
        _manifest("- brief.md\n\n## Load", "- brief.md\n* x.md\n\n## Load"),
        "ignored_route_line",
        "manifest.md",
        18,
        id="ignored-route-line",
    ),
    pytest.param(
        {"areas/.mc-0123456789abcdef0123456789abcdef.tmp": "x"},
        "leftover_temporary",
        "areas/.mc-0123456789abcdef0123456789abcdef.tmp",
        None,
        id="leftover",
    ),
)


def test_a_healthy_project_ends_with_ok(
    tmp_path: Path, memory_custodian: RunCommand, repository_root: Path
) -> None:
    write_project(tmp_path, _decisions(_entry(1)))

    text = memory_custodian(["check", "--strict"], cwd=tmp_path)
    data = memory_custodian(["check", "--strict", "--json"], cwd=tmp_path)

    answer = _validated(data.stdout, repository_root)
    assert (text.returncode, text.stderr, data.returncode) == (0, "", 0)
    assert text.stdout.endswith("\ncheck: OK\n")
    assert "evidence coverage: 1 of 1 entry source-backed, 0 legacy" in text.stdout
    assert not re.search("ERROR|FAILED", text.stdout)
    assert answer["data"]["findings"] == []


@pytest.mark.parametrize(("files", "code", "path", "line"), ERRORS)
def test_an_error_is_located_and_exits_one(
    tmp_path: Path,
    check: Check,
    repository_root: Path,
    *,
    files: Files,
    code: str,
    path: str,
    line: int | None,
) -> None:
    write_project(tmp_path, files)

    data = check(tmp_path, "--format", "json")

    answer = _validated(data.stdout, repository_root)
    found = [f for f in answer["data"]["findings"] if f["severity"] == "error"]
    assert (code, f"docs/memory/{path}", line) in [(f["code"], f["path"], f["line"]) for f in found]
    assert {f["code"] for f in found} == {code}
    assert (data.returncode, answer["ok"], answer["data"]["passed"]) == (1, True, False)
    assert data.stderr.strip()


@pytest.mark.parametrize(("files", "code", "path", "line"), WARNINGS)
def test_a_warning_is_located_and_fails_the_strict_check_alone(
    tmp_path: Path,
    check: Check,
    *,
    files: Files,
    code: str,
    path: str,
    line: int | None,
) -> None:
    write_project(tmp_path, files)

    plain = check(tmp_path, "--json")
    strict = check(tmp_path, "--strict")

    found = [f for f in _findings(plain.stdout) if f["severity"] == "warning"]
    assert (code, f"docs/memory/{path}", line) in [(f["code"], f["path"], f["line"]) for f in found]
    assert (plain.returncode, strict.returncode) == (0, 1)
    assert strict.stdout.endswith("\ncheck: FAILED\n")


def test_legacy_entries_are_one_line_a_file_and_never_fail(tmp_path: Path, check: Check) -> None:
    write_project(
        tmp_path,
        {
            "constraints.md": "# C\n\nIntro.\n\n- one\n- two\n",
            "decisions.md": "# D\n\n## Old\nDecision:\nx\n",
            "changelog.md": "# Memory Changelog\n\n- no entry\n",
        },
    )

    done = check(tmp_path, "--strict")

    assert done.returncode == 0
    assert [line.partition(";")[0] for line in done.stdout.split("\n") if "legacy_" in line] == [
        f"docs/memory/{place} without id and evidence"
        for place in (
            "constraints.md: WARNING legacy_entries: 2 legacy entries",
            "decisions.md: WARNING legacy_entries: 1 legacy entry",
        )
    ]
    assert "evidence coverage: 0 of 3 entries source-backed, 3 legacy" in done.stdout


@pytest.mark.parametrize("other", ["inbox.md", "archive/old.md", "glossary.md"])
def test_both_places_of_a_repeated_id_are_named(tmp_path: Path, check: Check, other: str) -> None:
    write_project(tmp_path, {**_decisions(_entry(1)), other: f"# O\n\n\n{_entry(1).lower()}"})

    done = check(tmp_path)

    lines = [line for line in done.stdout.split("\n") if "duplicate_id" in line]
    assert done.returncode == 1
    assert len(lines) == 2
    for line in lines:
        assert "docs/memory/decisions.md:3" in line
        assert f"docs/memory/{other}:4" in line


def test_unknown_fields_are_information(tmp_path: Path, check: Check) -> None:
    entry = _entry(1).replace("Evidence:", "Confidence: high\nEvidence:")
    write_project(
        tmp_path, {**_decisions(entry), **_manifest("- admission", "- owner: x\n- admission")}
    )

    done = check(tmp_path, "--strict", "--json")

    assert done.returncode == 0
    assert [(f["severity"], f["code"]) for f in _findings(done.stdout)] == [
        ("info", "unknown_field"),
        ("info", "unknown_metadata"),
    ]


def test_one_unreadable_file_never_hides_the_others(tmp_path: Path, check: Check) -> None:
    write_project(tmp_path, {"decisions.md": b"\xff", "constraints.md": _entry(1)})

    done = check(tmp_path, "--json")

    assert {"not_utf8", "matrix"} <= {f["code"] for f in _findings(done.stdout)}


@pytest.mark.skipif(os.name == "nt", reason="POSIX links and special files")
@pytest.mark.parametrize("kind", ["link", "fifo", "linked-folder", "dangling"])
def test_what_is_no_plain_file_is_an_error(
    tmp_path: Path, memory_custodian: RunCommand, kind: str
) -> None:
    memory = write_project(tmp_path)
    outside = tmp_path / "outside"
    outside.mkdir()
    place = memory / "areas" if kind == "linked-folder" else memory / "x.md"
    if kind == "fifo":
        os.mkfifo(place)
    else:
        place.symlink_to(tmp_path / "gone" if kind == "dangling" else outside)

    done = memory_custodian(["check", "--json"], cwd=tmp_path, timeout_seconds=20)

    found = [f for f in _findings(done.stdout) if f["severity"] == "error"]
    assert [(f["code"], f["path"]) for f in found] == [("unsafe_file", f"docs/memory/{place.name}")]
    wanted = "real folder" if kind == "linked-folder" else "plain file"
    assert found[0]["message"].startswith(f"expected a {wanted}, found a ")
    assert found[0]["hint"] == f"replace it by a {wanted}"


def test_a_line_below_a_private_span_is_the_line_of_the_file(tmp_path: Path, check: Check) -> None:
    text = f"# D\n\n<private>\n{MARKER}\n{MARKER}\n</private>\n\n{_entry(1, evidence=())}"
    write_project(tmp_path, {"decisions.md": text})

    done = check(tmp_path)

    assert "docs/memory/decisions.md:8: ERROR no_evidence" in done.stdout
    assert MARKER not in done.stdout


@pytest.mark.parametrize(
    "arguments", [[], ["--json"], ["--security"], ["--privacy"], ["--format=sarif"]]
)
def test_neither_private_text_nor_a_secret_ever_appears(
    tmp_path: Path, check: Check, arguments: list[str]
) -> None:
    hidden = f"<private>{MARKER} {TOKEN}</private>"
    write_project(
        tmp_path,
        {
            "decisions.md": f"# {hidden}\n\n{_entry(1, title=hidden, status=hidden)}",
            "constraints.md": f"# C\n\n- {TOKEN}\n- password: {MARKER}-42\n- /Users/{MARKER}/x\n",
            "inbox.md": f"# I\n\n- <private/>{MARKER}\n",
            "manifest.md": f"{MANIFEST_TEXT}\n{hidden}\n",
        },
    )

    done = check(tmp_path, *arguments)

    assert MARKER not in done.stdout + done.stderr
    assert TOKEN[8:] not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "arguments", [(), ("--json",), ("--format", "sarif"), ("--privacy",)], ids=" ".join
)
def test_finding_never_quotes_a_secret(
    tmp_path: Path, check: Check, arguments: tuple[str, ...]
) -> None:
    """Each finding about a hand-typed value names it, unless it is a secret, whole or in part."""
    for token in (fake("github-classic").text, fake("github-fine-grained").text):
        entries = [
            _entry(1, status=token),
            _entry(2, scope=token),
            _entry(3, scope=f"area:{token}"),
            _entry(4, evidence=(token,)),
            _entry(5, evidence=(f"repo:{token}",)),
            _entry(6).replace("Status:", f"{token}\nStatus:"),
        ]
        routes = f"- {token}.md\n- ../{token}.md\n* {token}.md\n"
        write_project(
            tmp_path,
            {
                **_decisions(*entries),
                **_manifest("- decisions.md\n", f"- decisions.md\n{routes}"),
            },
        )

        done = check(tmp_path, *arguments)

        assert done.returncode == 1
        assert token[20:36] not in done.stdout + done.stderr


def test_line_that_is_no_field_is_not_quoted(tmp_path: Path, check: Check) -> None:
    text = _entry(1).replace("Status:", f"Note: {MARKER}\n{MARKER} alone\nStatus:")
    write_project(tmp_path, _decisions(text))

    done = check(tmp_path)

    assert "has the unknown field `Note`, which is kept" in done.stdout
    assert "has a line that is no field, which is kept" in done.stdout
    assert MARKER not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "rules"),
    [
        pytest.param([], ["github-token", "home-path"], id="base"),
        pytest.param(["--security"], ["github-token"], id="security"),
        pytest.param(["--privacy"], ["home-path"], id="privacy"),
        pytest.param(["--security", "--privacy"], ["github-token", "home-path"], id="both"),
    ],
)
def test_the_base_scan_runs_always_and_the_options_add_positions(
    tmp_path: Path, check: Check, arguments: list[str], rules: list[str]
) -> None:
    write_project(tmp_path, {"constraints.md": f"# C\n\n- {TOKEN}\n- /Users/somebody/x\n"})

    text = check(tmp_path, *arguments).stdout
    data = _findings(check(tmp_path, "--json", *arguments).stdout)

    scanned = [finding for finding in data if finding["subject"] != "general"]
    assert [finding["code"] for finding in scanned] == rules
    assert all(finding["column"] == 3 for finding in scanned)
    assert ("constraints.md:3:3: " in text or "constraints.md:4:3: " in text) is bool(arguments)
    assert "REDACTED" in text


@pytest.mark.parametrize("name", ["AGENTS.md", "CLAUDE.md", "GEMINI.md"])
@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param("see /Users/somebody/x\n", "home-path", id="scanned"),
        pytest.param(
            "<!-- memory-custodian:start -->\nx\n<!-- memory-custodian:end -->\n",
            "agent_block_without_trust",
            id="no-trust-boundary",
        ),
        pytest.param(
            "<!-- memory-custodian:end -->\nx\n<!-- memory-custodian:start -->\n",
            "agent_block_malformed",
            id="markers-in-the-wrong-order",
        ),
        pytest.param("word " * 501, "agent_file_long", id="long"),
        pytest.param("# Decisions\n", "copied_memory", id="copied"),
        pytest.param(b"\xff", "agent_file", id="not-utf8"),
    ],
)
def test_agent_files_are_looked_at(
    tmp_path: Path, check: Check, *, name: str, text: str | bytes, code: str
) -> None:
    write_project(tmp_path)
    (tmp_path / name).write_bytes(text.encode() if isinstance(text, str) else text)

    found = _findings(check(tmp_path, "--json").stdout)

    assert [(f["severity"], f["code"], f["path"]) for f in found] == [("warning", code, name)]
    if code == "agent_block_without_trust":
        assert "init --repair" in found[0]["hint"]


def test_a_block_with_the_trust_boundary_is_fine(tmp_path: Path, check: Check) -> None:
    write_project(tmp_path)
    block = f"<!-- memory-custodian:start -->\n{TRUST_BOUNDARY}\n<!-- memory-custodian:end -->\n"
    (tmp_path / "AGENTS.md").write_text(block, encoding="utf-8")
    (tmp_path / "GEMINI.md").write_text("@./docs/memory/brief.md\n", encoding="utf-8")

    found = _findings(check(tmp_path, "--json").stdout)

    assert [(f["code"], f["path"]) for f in found] == [("memory_import", "GEMINI.md")]


def test_evidence_at_a_revision_is_asked_of_git_read_only(
    tmp_path: Path, memory_custodian: RunCommand
) -> None:
    (tmp_path / "old.txt").write_text("x", encoding="utf-8")
    for arguments in (
        ["init", "-q"],
        ["add", "."],
        ["commit", "-qm", "x"],
        ["rm", "-q", "old.txt"],
    ):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True, capture_output=True)
    evidence = ("repo:old.txt@HEAD", "repo:gone.txt@HEAD", "repo:old.txt@nowhere", "repo:old.txt")
    write_project(tmp_path, _decisions(_entry(1, evidence=evidence)))

    with_git = _findings(memory_custodian(["check", "--json"], cwd=tmp_path).stdout)
    without = memory_custodian(["check"], cwd=tmp_path, env={"PATH": os.fspath(tmp_path / "docs")})

    assert [(f["code"], f["line"]) for f in with_git] == [
        ("missing_evidence", n) for n in (9, 10, 11)
    ]
    assert without.returncode == 0
    assert without.stdout.count("not verified") == 3
    assert without.stdout.count("missing_evidence") == 1


@pytest.mark.parametrize(
    ("content", "severity"),
    [pytest.param(b"{}", "error", id="damaged"), pytest.param(None, None, id="none")],
)
def test_a_lingering_journal_is_an_error(
    tmp_path: Path, check: Check, content: bytes | None, severity: str | None
) -> None:
    memory = write_project(tmp_path)
    if content is not None:
        journal = resolve_state_directory(tmp_path).ensure().journal
        path = journal / f"{place_key(memory)}.json"
        path.write_bytes(content)
        path.chmod(0o600)

    done = check(tmp_path, "--json")

    found = [(f["severity"], f["code"]) for f in _findings(done.stdout)]
    assert found == ([] if severity is None else [(severity, "interrupted_change")])
    assert done.returncode == (0 if severity is None else 1)


@pytest.mark.parametrize(
    ("setting", "code"),
    [("error", 1), ("never", 0), ("warning", 1)],
)
def test_the_configuration_says_what_a_scan_finding_does(
    tmp_path: Path, check: Check, setting: str, code: int
) -> None:
    write_project(tmp_path, {"constraints.md": f"# C\n\n- {TOKEN}\n"})
    (tmp_path / "memory-custodian.toml").write_text(
        f'scan.fail-on = "{setting}"\n', encoding="utf-8"
    )

    assert check(tmp_path).returncode == code


def test_sarif_holds_what_code_scanning_needs_and_no_content(tmp_path: Path, check: Check) -> None:
    files: Files = {
        "constraints.md": f"# C\n\n- {TOKEN}\n- /Users/somebody/x\n",
        "areas/a b.md": f"# A\n\n{_entry(1, evidence=())}",
        "archive/ok.md": "# A\n",
    }
    write_project(tmp_path, files)

    first, second = (check(tmp_path, "--format", "sarif") for _ in range(2))

    document = json.loads(first.stdout)
    assert (first.returncode, document["version"]) == (1, "2.1.0")
    assert first.stdout == second.stdout
    names = [run["tool"]["driver"]["name"] for run in document["runs"]]
    assert names == ["mc-scan", "memory-custodian"]
    found = {r["ruleId"]: r for run in document["runs"] for r in run["results"]}
    assert {"github-token", "home-path", "no_evidence"} <= set(found)
    for run in document["runs"]:
        rules = run["tool"]["driver"]["rules"]
        assert run["columnKind"] == "unicodeCodePoints"
        for result in run["results"]:
            assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
            (location,) = result["locations"]
            assert " " not in location["physicalLocation"]["artifactLocation"]["uri"]
            assert location["physicalLocation"]["region"]["startLine"] >= 1
            mark = result["partialFingerprints"]["primaryLocationLineHash"]
            assert re.fullmatch("[0-9a-f]{16}:[0-9]+", mark)
        for rule in rules:
            assert rule["help"]["text"]
            assert rule["defaultConfiguration"]["level"] in ("error", "warning", "note")
    assert found["github-token"]["locations"][0]["physicalLocation"]["region"] == {
        "startLine": 3,
        "startColumn": 3,
        "endLine": 3,
        "endColumn": 43,
    }
    assert not re.search("snippet|contextRegion|contents", first.stdout)


def test_sarif_of_a_clean_project_has_an_empty_list(tmp_path: Path, check: Check) -> None:
    write_project(tmp_path)

    done = check(tmp_path, "--format=sarif")

    results = [run["results"] for run in json.loads(done.stdout)["runs"]]
    assert (done.returncode, results) == (0, [[], []])


def test_the_configured_baseline_accepts_what_people_accepted(tmp_path: Path, check: Check) -> None:
    write_project(tmp_path, {"constraints.md": f"# C\n\n- {TOKEN}\n- /Users/somebody/x\n"})
    (found,) = [f for f in _findings(check(tmp_path, "--json").stdout) if f["code"] == "home-path"]
    entry = {name: found[name] for name in ("fingerprint", "severity", "path")}
    (tmp_path / "accepted.json").write_text(
        json.dumps({"version": 1, "entries": [{**entry, "rule": "home-path"}]}), encoding="utf-8"
    )
    config = tmp_path / "memory-custodian.toml"

    config.write_text('scan.baseline = "accepted.json"\n', encoding="utf-8")
    accepted = _findings(check(tmp_path, "--json").stdout)
    config.write_text('scan.baseline = "gone.json"\n', encoding="utf-8")
    unread = _findings(check(tmp_path, "--json").stdout)

    assert {"github-token"} == {f["code"] for f in accepted if f["subject"] != "general"}
    assert {"github-token", "home-path", "scan_failed"} <= {f["code"] for f in unread}


def test_an_inline_mark_silences_a_warning_and_never_an_error(tmp_path: Path, check: Check) -> None:
    marks = "<!-- mc-scan: allow home-path,github-token -->"
    text = f"# P\n\n- /Users/somebody/x {marks}\n- {TOKEN} {marks}\n"
    write_project(tmp_path, {"preferences.md": text})

    found = _findings(check(tmp_path, "--json").stdout)

    assert [f["code"] for f in found if f["subject"] != "general"] == ["github-token"]


def test_fixtures_of_the_earlier_protocol_have_no_error_but_their_own(
    tmp_path: Path, check: Check, shared_folder: Path
) -> None:
    for project in sorted((shared_folder / "fixtures" / "protocol-0.5").iterdir()):
        if not project.is_dir():
            continue
        expected = json.loads((project / "expected.json").read_text("utf-8"))
        copy = shutil.copytree(project, tmp_path / project.name)

        done = check(copy, "--json")

        found = _findings(done.stdout)
        errors = [f["code"] for f in found if f["severity"] == "error"]
        legacy = [
            f["path"].removeprefix("docs/memory/") for f in found if f["code"] == "legacy_entries"
        ]
        assert bool(errors) is (expected["outcome"] == "refuse"), (project.name, errors)
        assert set(expected.get("legacy", ())) <= set(legacy), project.name
        assert done.returncode == bool(errors)


def test_the_words_of_failure_stand_on_lines_of_failure_alone(tmp_path: Path, check: Check) -> None:
    write_project(tmp_path, {"decisions.md": _entry(1, status="ERROR"), "areas/x.md": "# ERROR\n"})

    done = check(tmp_path)

    lines = [line for line in done.stdout.split("\n") if re.search("ERROR|FAILED", line)]
    assert all(re.match(r"\S+: ERROR |check: FAILED", line) for line in lines)
    assert done.stdout.endswith("\ncheck: FAILED\n")


@pytest.mark.parametrize(
    "env",
    [
        pytest.param({"PATH": "/nonexistent"}, id="no-git"),
        pytest.param({"HOME": None, "XDG_STATE_HOME": None}, id="no-home"),
        pytest.param({"XDG_STATE_HOME": "docs"}, id="relative-state"),
    ],
)
def test_checking_works_in_a_bare_environment_and_writes_nothing(
    tmp_path: Path, memory_custodian: RunCommand, env: dict[str, str | None]
) -> None:
    write_project(tmp_path, _decisions(_entry(1)))
    before = _tree(tmp_path)

    done = memory_custodian(["check"], cwd=tmp_path, env=env)
    inside = {"XDG_STATE_HOME": os.fspath(tmp_path / "docs")}
    again = memory_custodian(["check"], cwd=tmp_path, env=inside)

    assert (done.returncode, again.returncode) == (0, 0)
    assert (done.stderr, again.stderr) == ("", "")
    assert _tree(tmp_path) == before


def test_no_memory_directory_is_an_error_of_the_question(
    tmp_path: Path, memory_custodian: RunCommand
) -> None:
    done = memory_custodian(["check", "--json"], cwd=tmp_path)

    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["code"] == "no_memory"


def _tree(root: Path) -> Iterable[tuple[str, int]]:
    return sorted((os.fspath(path), path.stat().st_mtime_ns) for path in root.rglob("*"))


def test_folder_in_the_place_of_a_core_file_is_not_called_missing(
    tmp_path: Path, check: Check
) -> None:
    """`init --repair` could not write the file."""
    (write_project(tmp_path, {"brief.md": None}) / "brief.md").mkdir()

    (found,) = _findings(check(tmp_path, "--json").stdout)

    assert (found["code"], found["message"]) == (
        "unsafe_file",
        "expected a plain file, found a folder",
    )


def test_memory_directory_that_cannot_be_listed_lacks_no_file(tmp_path: Path) -> None:
    write_project(tmp_path)
    inspection = inspect(Location(tmp_path.resolve(), "docs/memory", NO_CONFIG))
    refused = Fault(".", "unreadable", "cannot be read (permission denied)")
    blind = inspection._replace(
        listing=Listing((), (refused,), (), ()),
        manifest_file=None,
        memory=MemorySet((), (refused,), {}),
    )

    assert [(f.code, f.path) for f in structure_findings(blind)] == [
        ("unreadable_file", "docs/memory")
    ]


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        pytest.param("- entry_schema_version: 2", "correct the line", id="unknown-schema"),
        pytest.param("- other: 1", "init --repair", id="missing-schema"),
    ],
)
def test_hint_about_metadata_names_what_helps(
    tmp_path: Path, check: Check, line: str, hint: str
) -> None:
    """A repair adds what is missing and never changes what is there."""
    write_project(tmp_path, _manifest("- entry_schema_version: 1", line))

    done = check(tmp_path, "--json")

    (found,) = (f for f in _findings(done.stdout) if f["code"] == "entry_schema_version")
    assert hint in found["hint"]
