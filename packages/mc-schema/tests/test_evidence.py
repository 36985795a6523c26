from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mc_schema.errors import InvalidEvidenceError
from mc_schema.evidence import (
    ADMISSION_HINT,
    ADMISSION_WHAT,
    Evidence,
    is_admissible_set,
    parse_evidence,
    parse_evidence_or_none,
    path_fault,
)


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("user-confirmed", "user-confirmed", ""),
        ("repo:pyproject.toml", "repo", "pyproject.toml"),
        ("repo:pyproject.toml@293b9e6", "repo", "pyproject.toml@293b9e6"),
        ("repo:src/a b.py@feature/x", "repo", "src/a b.py@feature/x"),
        ("repo:packages/@scope/x.ts", "repo", "packages/@scope/x.ts"),
        ("repo:@scope", "repo", "@scope"),
        ("repo:.github/workflows/ci.yml", "repo", ".github/workflows/ci.yml"),
        ("repo:docs/", "repo", "docs/"),
        ("repo:a..b/c", "repo", "a..b/c"),
        ("repo:文档/说明.md", "repo", "文档/说明.md"),
        ("doc:docs/architecture.md", "doc", "docs/architecture.md"),
        ("doc:docs/a@b.md", "doc", "docs/a@b.md"),
        ("test:tests/test_storage.py", "test", "tests/test_storage.py"),
        ("issue:#42", "issue", "#42"),
        ("pr:#108", "pr", "#108"),
        ("agent-observed", "agent-observed", ""),
        ("conversation-unconfirmed", "conversation-unconfirmed", ""),
        ("legacy-unverified", "legacy-unverified", ""),
        ("  issue:#7\n", "issue", "#7"),
    ],
)
def test_evidence_of_the_guide_is_read_and_written_back(text: str, kind: str, value: str) -> None:
    evidence = parse_evidence(text)

    assert Evidence(kind, value) == evidence
    assert text.strip() == str(evidence)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("", "evidence is empty", id="empty"),
        pytest.param(" \t", "evidence is empty", id="blank"),
        pytest.param("because", "unknown evidence", id="prose"),
        pytest.param("User-Confirmed", "unknown evidence", id="letter-case"),
        pytest.param("file:a.py", "unknown evidence", id="unknown-kind"),
        pytest.param("repo:", "the path is empty or has blanks around it", id="no-path"),
        pytest.param("repo: a.py", "the path is empty or has blanks around it", id="blank-before"),
        pytest.param("repo:/etc/passwd", "absolute path", id="absolute"),
        pytest.param("doc:C:/x.md", "absolute path", id="drive"),
        pytest.param("doc:c:x.md", "absolute path", id="drive-relative"),
        pytest.param("repo:~/x", "absolute path", id="home"),
        pytest.param("repo:~other/x", "absolute path", id="home-of-another"),
        pytest.param("repo:../outside.md", "leaves the project root", id="parent"),
        pytest.param("test:a/../../b", "leaves the project root", id="parent-inside"),
        pytest.param("repo:a/..", "leaves the project root", id="parent-at-end"),
        pytest.param("repo:..@HEAD", "leaves the project root", id="parent-before-revision"),
        pytest.param("repo:a/..@HEAD", "leaves the project root", id="parent-inside-revision"),
        pytest.param("repo:.. /x", "leaves the project root", id="parent-with-blank-on-windows"),
        pytest.param("repo:a\\b", "the path must use `/`", id="backslash"),
        pytest.param("repo:\\\\server\\x", "the path must use `/`", id="share"),
        pytest.param("repo://server/x", "absolute path", id="double-slash"),
        pytest.param("repo:a//b", "the path has an empty or `.` part", id="empty-part"),
        pytest.param("repo:./a", "the path has an empty or `.` part", id="dot-part"),
        pytest.param("repo:.@HEAD", "the path has an empty or `.` part", id="dot-before-revision"),
        pytest.param(
            "repo:a@",
            "the revision after `@` must be one word without a leading `-`",
            id="empty-revision",
        ),
        pytest.param(
            "repo:a@-x",
            "the revision after `@` must be one word without a leading `-`",
            id="option-as-revision",
        ),
        pytest.param(
            "repo:a@b c",
            "the revision after `@` must be one word without a leading `-`",
            id="two-words-as-revision",
        ),
        pytest.param("issue:42", "expected `issue:#<number>`", id="issue-without-sign"),
        pytest.param("issue:#", "expected `issue:#<number>`", id="issue-without-number"),
        pytest.param("issue:#0", "expected `issue:#<number>`", id="issue-zero"),
        pytest.param("pr:#４２", "expected `pr:#<number>`", id="full-width-number"),
        pytest.param("pr:#1 ", None, id="blank-behind-is-trimmed"),
        pytest.param(
            "repo:a\nStatus: active", "evidence holds a control or direction character", id="lines"
        ),
        pytest.param(
            "repo:a\u202eb", "evidence holds a control or direction character", id="override"
        ),
        pytest.param(
            "repo:a\ud800", "evidence holds a control or direction character", id="surrogate"
        ),
        pytest.param(
            "repo:a\u2028b", "evidence holds a control or direction character", id="line-separator"
        ),
        pytest.param(
            "repo:a <!-- b", "evidence holds an HTML comment or private mark", id="comment-opener"
        ),
        pytest.param(
            "repo:a --> b", "evidence holds an HTML comment or private mark", id="comment-closer"
        ),
        pytest.param(
            "repo:<private>x",
            "evidence holds an HTML comment or private mark",
            id="private-opener",
        ),
        pytest.param(
            "repo:" + "a" * 1020, "evidence is longer than 1,024 characters", id="too-long"
        ),
    ],
)
def test_unsafe_evidence_is_refused_with_its_reason(text: str, reason: str | None) -> None:
    if reason is None:
        assert parse_evidence(text)
        return
    with pytest.raises(InvalidEvidenceError) as caught:
        parse_evidence(text)

    assert reason == caught.value.what
    assert "`repo:<path>`" in caught.value.hint
    assert parse_evidence_or_none(text) is None


def test_longest_evidence_has_1024_characters() -> None:
    assert parse_evidence("repo:" + "a" * 1019)


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        pytest.param("repo:a.py", (("a.py", ""),), id="no-at"),
        pytest.param("repo:a.py@v1", (("a.py@v1", ""), ("a.py", "v1")), id="path-first"),
        pytest.param("repo:a@b@c", (("a@b@c", ""), ("a@b", "c")), id="last-at-splits"),
        pytest.param("repo:@scope", (("@scope", ""),), id="leading-at"),
        pytest.param("repo:notes @home.md", (("notes @home.md", ""),), id="blank-before-at"),
        pytest.param("doc:a@b", (("a@b", ""),), id="only-repo-has-revisions"),
    ],
)
def test_path_as_written_is_read_before_the_revision(
    text: str, readings: tuple[tuple[str, str], ...]
) -> None:
    assert readings == parse_evidence(text).path_readings()


@given(st.text(alphabet="ab./\\:@~ -", min_size=1, max_size=12))
def test_no_reading_of_accepted_evidence_leaves_the_project(value: str) -> None:
    evidence = parse_evidence_or_none(f"repo:{value}")
    if evidence is None:
        return
    for path, revision in evidence.path_readings():
        assert path_fault(path) == ""
        assert ".." not in path.split("/")
        assert not revision.startswith("-")
        assert " " not in revision


@pytest.mark.parametrize(
    ("text", "admissible", "backed", "has_path"),
    [
        ("user-confirmed", True, True, False),
        ("repo:a", True, True, True),
        ("doc:a", True, True, True),
        ("test:a", True, True, True),
        ("issue:#1", True, True, False),
        ("legacy-unverified", True, False, False),
        ("agent-observed", False, False, False),
        ("conversation-unconfirmed", False, False, False),
    ],
)
def test_each_kind_of_evidence_carries_what_the_guide_lets_it(
    text: str,
    admissible: bool,  # noqa: FBT001
    backed: bool,  # noqa: FBT001
    has_path: bool,  # noqa: FBT001
) -> None:
    evidence = parse_evidence(text)

    assert (admissible, backed, has_path) == (
        evidence.is_admissible,
        evidence.is_source_backed,
        evidence.has_path,
    )


def test_weak_evidence_does_not_add_up() -> None:
    weak = (parse_evidence("agent-observed"), parse_evidence("conversation-unconfirmed"))

    assert not is_admissible_set(())
    assert not is_admissible_set(weak)
    assert is_admissible_set((*weak, parse_evidence("user-confirmed")))


def test_the_two_sentences_of_the_guide_stand_word_for_word() -> None:
    assert ADMISSION_WHAT == "agent-observed evidence cannot create active memory."
    assert ADMISSION_HINT == "Use --candidate or provide user-confirmed/source-backed evidence."
