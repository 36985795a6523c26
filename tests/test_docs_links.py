"""Every link in every Markdown file leads to a file, and its anchor to a heading."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final
from urllib.parse import unquote

import pytest

ROOT: Final = Path(__file__).resolve().parent.parent
SKIPPED: Final = (
    "packages/mc-plan/src/mc_plan/templates/",  # a copy: its links belong to `templates/`
    "docs/examples/",  # but for their README: records are data
)
_FENCED: Final = re.compile(r"^(```+|~~~+).*?^\1", re.MULTILINE | re.DOTALL)
_CODE: Final = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_LINK: Final = re.compile(r"\[[^\]\n]*(?:\n[^\]\n]+)?\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
_HEADING: Final = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
_OUTSIDE: Final = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def _files() -> list[str]:
    names = (
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.md")
        if not any(
            part in {"node_modules", "dist"} or (part.startswith(".") and part != ".github")
            for part in path.relative_to(ROOT).parts[:-1]
        )
    )
    return sorted(
        name
        for name in names
        if not name.startswith(SKIPPED) or (name.endswith("README.md") and "/mc_plan/" not in name)
        if "/tests/" not in name
    )


FILES: Final = _files()


def links_in(text: str) -> list[str]:
    """Return the targets of the links of a Markdown text, code left out."""
    return _LINK.findall(_CODE.sub("", _FENCED.sub("", text)))


def anchors_in(text: str) -> set[str]:
    """Return the anchors of the headings of a Markdown text, as GitHub makes them."""
    anchors: set[str] = set()
    for heading in _HEADING.findall(_FENCED.sub("", text)):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        anchor = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        number = 0
        while (name := f"{anchor}-{number}" if number else anchor) in anchors:
            number += 1
        anchors.add(name)
    return anchors


def faults_in(path: Path) -> list[str]:
    """Return the links of the file *path* that lead nowhere."""
    faults = []
    for link in links_in(path.read_text(encoding="utf-8")):
        if _OUTSIDE.match(link):
            continue
        name, _, anchor = unquote(link).partition("#")
        target = (path.parent / name) if name else path
        if not target.exists():
            faults.append(f"{link}: no such file")
        elif anchor and anchor not in anchors_in(target.read_text(encoding="utf-8")):
            faults.append(f"{link}: no such heading")
    return faults


@pytest.mark.parametrize("name", FILES)
def test_links_lead_somewhere(name: str) -> None:
    assert faults_in(ROOT / name) == []


def test_the_documents_are_among_the_files() -> None:
    assert {"README.md", "skills/memory-custodian/SKILL.md", "docs/architecture.md"} <= set(FILES)


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        pytest.param("[x](other.md)", 0, id="file"),
        pytest.param("[x](other.md#a-heading-1)", 0, id="second-of-two-headings"),
        pytest.param("# Here `it` is!\n[x](#here-it-is)", 0, id="own-heading"),
        pytest.param("`[x](absent.md)`", 0, id="code"),
        pytest.param("```\n[x](absent.md)\n```", 0, id="fence"),
        pytest.param("[x](https://example.com/absent)", 0, id="outside"),
        pytest.param("[x](absent.md)", 1, id="no-file"),
        pytest.param("[x](other.md#absent)", 1, id="no-heading"),
        pytest.param("[x\ny](absent.md)", 1, id="two-lines"),
        pytest.param("![x](absent.svg)", 1, id="picture"),
    ],
)
def test_link_that_leads_nowhere_is_found(text: str, faults: int, tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# A heading\n\n# A heading\n", encoding="utf-8")
    (tmp_path / "page.md").write_text(text, encoding="utf-8")

    assert len(faults_in(tmp_path / "page.md")) == faults
