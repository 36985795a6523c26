"""What the documents say about themselves: one trust boundary, no claim that no test shows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest
from mc_schema.trust import TRUST_BOUNDARY, is_stated_in

ROOT: Final = Path(__file__).resolve().parent.parent
TRUSTED: Final = (
    "README.md",
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    "docs/memory/manifest.md",
    "docs/protocol-0.6.md",
    "skills/memory-custodian/SKILL.md",
    "skills/memory-custodian/references/memory-file-protocol.md",
    "skills/memory-custodian/references/platform-adapters.md",
    "templates/adapters/claude-code/snippet.md",
    "templates/adapters/codex/snippet.md",
    "templates/adapters/gemini/snippet.md",
    "templates/adapters/gemini/context.md",
    "templates/adapters/generic/snippet.md",
)
TEMPLATES: Final = ("templates/agents/block.md", "templates/memory/manifest.md")
FIRST_WORDS: Final = "Project memory may constrain"

DOCUMENTS: Final = sorted(
    path
    for pattern in ("*.md", "docs/*.md", "docs/examples/**/*.md", "skills/**/*.md")
    for path in ROOT.glob(pattern)
) + sorted((ROOT / "templates").rglob("*.md"))
PACKAGES: Final = sorted(path.name for path in (ROOT / "packages").glob("mc-*"))

# The five claims that guide section 15 forbids, in the words people use for them. A sentence that
# denies one is fine: it has a word such as "no" or "cannot" before the claim.
FORBIDDEN: Final = {
    "semantic truth verification": r"(semantic(ally)?|truth)[\w ]{0,30}(verif|valid|check)"
    r"|(verif|guarantee|prove)\w*[\w ]{0,30}\b(truth|true|correctness)",
    "complete secret detection": r"(all|every|any|complete|full|reliabl[ey])\W+[\w ]{0,20}secrets?"
    r"|(complete|full|perfect)\w* (secret |leak )?(detection|scan)",
    "cryptographic authorization": r"cryptograph\w*[\w ]{0,30}(authori[sz]|permission|sign|proof)"
    r"|signed (plan|approval)s?",
    "transactional database semantics": r"\btransaction\w*|\bACID\b|serializab|isolation level",
    "live cross-agent benchmark": r"(cross|multi)-?agent[\w ]{0,20}(benchmark|evaluation)"
    r"|benchmark\w*[\w ]{0,30}(agents|models)|live agent",
}
DENIALS: Final = re.compile(
    r"\b(no|not|never|nor|neither|without|cannot|can miss|does not|is not|nothing)\b", re.IGNORECASE
)


def claims_in(text: str) -> list[str]:
    """Return the forbidden claims that *text* makes, sentence by sentence."""
    folded = re.sub(r"[`*_>|#]", " ", text)
    sentences = re.split(r"(?<=[.:!?;])\s+|\n\s*\n|\n\s*-\s", folded)
    return [
        f"{name}: {' '.join(sentence.split())}"
        for sentence in sentences
        for name, pattern in FORBIDDEN.items()
        for match in re.finditer(pattern, " ".join(sentence.split()), re.IGNORECASE)
        if not DENIALS.search(" ".join(sentence.split())[: match.start() + 1])
    ]


@pytest.mark.parametrize("name", TRUSTED)
def test_trust_boundary_is_stated_word_for_word(name: str) -> None:
    assert is_stated_in((ROOT / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", TEMPLATES)
def test_template_takes_the_trust_boundary_from_its_one_source(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")

    assert "{{trust_boundary}}" in text
    assert FIRST_WORDS not in text


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_document_has_another_wording_of_the_trust_boundary(path: Path) -> None:
    marks = str.maketrans(">+", "  ")  # of quotations, and of what a plan adds
    text = " ".join(path.read_text(encoding="utf-8").translate(marks).split())

    assert text.count(FIRST_WORDS) == text.count(TRUST_BOUNDARY)


@pytest.mark.parametrize("name", ["RELEASE-NOTES.md", "README.md"])
def test_document_makes_none_of_the_forbidden_claims(name: str) -> None:
    assert claims_in((ROOT / name).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "claim",
    [
        pytest.param("It verifies the truth of entries.", id="truth"),
        pytest.param("Semantic verification of memory.", id="semantic"),
        pytest.param("Finds all secrets.", id="all-secrets"),
        pytest.param("Complete secret detection.", id="complete-detection"),
        pytest.param("Plans carry cryptographic authorization.", id="cryptographic"),
        pytest.param("Writes are transactional.", id="transactional"),
        pytest.param("A live cross-agent benchmark shows it.", id="benchmark"),
    ],
)
def test_forbidden_claim_is_found_and_its_denial_is_not(claim: str) -> None:
    assert len(claims_in(f"Fine words. {claim}")) >= 1
    assert claims_in(f"It is not so that {claim[0].lower()}{claim[1:]}") == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_document_installs_a_package_by_its_bare_name(path: Path) -> None:
    """Some of the names belong to strangers on the public index."""
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    names = "|".join([*PACKAGES, "memory-custodian"])
    bare = re.compile(
        rf"(?:pip3?|pipx|uv|uvx)\s[^\n`]*?(?<![\w./\\-])(?:{names})(?![\w/-])[^\n`]*", re.IGNORECASE
    )
    for command in bare.findall(text):
        is_offline = "--no-index" in command
        is_run = re.match(r"uvx --from \./packages/mc-cli memory-custodian", command)
        assert is_offline or is_run, command


def test_readme_has_a_heading_for_each_of_the_seven_subjects() -> None:
    headings = re.findall(
        r"^### (.+)$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )

    assert headings[:7] == [
        "Evidence-backed memory",
        "Candidate vs active memory",
        "Stable Entry IDs",
        "Safe concurrent mutation",
        "Plan confirmation",
        "Trust boundary",
        "Protocol 0.6 migration",
    ]


def test_readme_names_both_run_time_dependencies_and_what_legacy_entries_are() -> None:
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())

    assert "Two: platformdirs (" in text
    assert "tomli (" in text
    assert "Entries without an id are read for migration only" in text
    assert "--supersedes" in text
