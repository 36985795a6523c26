from __future__ import annotations

import pytest
from mc_schema.document import BULLET, ENTRY, GROUP, PREAMBLE, PROSE, SECTION, Document

ENTRY_HEADING = "## MC-DEC-20260726-a1b2c3d4 — Title"


def shape(text: str) -> list[tuple[str, str]]:
    document = Document.parse(text)
    return [(unit.kind, document.unit_text(unit)) for unit in document.units]


@pytest.mark.parametrize(
    ("text", "units"),
    [
        pytest.param("", [], id="empty"),
        pytest.param("# Title\n", [], id="title-alone"),
        pytest.param(
            "# T\n\nIntro\n\n## A\nx\n\n## B",
            [(PREAMBLE, "Intro"), (SECTION, "## A\nx"), (SECTION, "## B")],
            id="example-of-the-protocol",
        ),
        pytest.param("just prose\n", [(PREAMBLE, "just prose")], id="prose"),
        pytest.param(
            "# T\n- a\n  more\n\n- b\n", [(BULLET, "- a\n  more"), (BULLET, "- b")], id="bullets"
        ),
        pytest.param(
            "- a\n* b\n+ c\n",
            [(BULLET, "- a"), (BULLET, "* b"), (BULLET, "+ c")],
            id="three-markers",
        ),
        pytest.param(
            "- a\n  - nested\n\n  para\n- b\n",
            [(BULLET, "- a\n  - nested\n\n  para"), (BULLET, "- b")],
            id="nested-bullets-belong",
        ),
        pytest.param(
            "Intro\n- a\n\nAfter\nmore\n\n- b\n",
            [(PREAMBLE, "Intro"), (BULLET, "- a"), (PROSE, "After\nmore"), (BULLET, "- b")],
            id="bullet-ends-where-the-list-ends",
        ),
        pytest.param(
            "- a\n```\n## x\n- y\n```\n",
            [(BULLET, "- a"), (PROSE, "```\n## x\n- y\n```")],
            id="fence-below-a-bullet-is-whole",
        ),
        pytest.param(
            "- ```\n  ## x\n  ```\n- b\n",
            [(BULLET, "- ```\n  ## x\n  ```"), (BULLET, "- b")],
            id="fence-in-a-bullet",
        ),
        pytest.param(
            "- ```\n  x\n```\ny\n```\n",
            [(BULLET, "- ```\n  x"), (PROSE, "```\ny\n```")],
            id="fence-right-behind-a-fence",
        ),
        pytest.param(
            "- a\n<!--\n- b\n-->\n- c\n",
            [(BULLET, "- a"), (PROSE, "<!--\n- b\n-->"), (BULLET, "- c")],
            id="comment-between-bullets",
        ),
        pytest.param(
            f"{ENTRY_HEADING}\nEvidence:\n- x\n- y\n\n## B\n- z\n",
            [(ENTRY, f"{ENTRY_HEADING}\nEvidence:\n- x\n- y"), (GROUP, "## B"), (BULLET, "- z")],
            id="bullets-of-an-entry-are-no-units",
        ),
        pytest.param(
            "## mc-dec-2026 — mistyped\n- a\n",
            [(ENTRY, "## mc-dec-2026 — mistyped\n- a")],
            id="mistyped-id-is-an-entry",
        ),
        pytest.param(
            "## 2026-01-02\n- a\n- b\n",
            [(GROUP, "## 2026-01-02"), (BULLET, "- a"), (BULLET, "- b")],
            id="dated-group",
        ),
        pytest.param(
            "## R\nprose\n- a\nloose\n",
            [(GROUP, "## R\nprose"), (BULLET, "- a"), (PROSE, "loose")],
            id="group-with-prose",
        ),
        pytest.param(
            "## D\nDecision:\n- a\n- b\nReason: c\n",
            [(SECTION, "## D\nDecision:\n- a\n- b\nReason: c")],
            id="labelled-section-is-one",
        ),
        pytest.param(
            "## D\nDecision: inline\n- a\n",
            [(SECTION, "## D\nDecision: inline\n- a")],
            id="inline-label-too",
        ),
        pytest.param(
            "## Tombstone: t\n- a\n", [(SECTION, "## Tombstone: t\n- a")], id="tombstone-is-one"
        ),
        pytest.param(
            "## D\n```\nDecision:\n```\n- a\n",
            [(GROUP, "## D\n```\nDecision:\n```"), (BULLET, "- a")],
            id="label-in-a-fence-is-text",
        ),
        pytest.param(
            "## A\n### Sub\ntext\n##B\n ## C\n",
            [(SECTION, "## A\n### Sub\ntext\n##B\n ## C")],
            id="only-h2-at-column-0-splits",
        ),
        pytest.param("1. one\n2. two\n", [(PREAMBLE, "1. one\n2. two")], id="numbers-are-prose"),
        pytest.param(
            "## A\r\nx\r\n\r\n## B\r\n", [(SECTION, "## A\r\nx"), (SECTION, "## B")], id="crlf"
        ),
        pytest.param("## A\rx\r\r## B\r", [(SECTION, "## A\rx"), (SECTION, "## B")], id="lone-cr"),
        pytest.param(
            "## A\nx\u2028## no\x0c\ny\n",
            [(SECTION, "## A\nx\u2028## no\x0c\ny")],
            id="other-separators",
        ),
    ],
)
def test_text_divides_into_units(text: str, units: list[tuple[str, str]]) -> None:
    assert units == shape(text)


@pytest.mark.parametrize(
    ("text", "head", "title"),
    [
        pytest.param("# T\n\n\nx", "# T\n\n\n", "T", id="title-and-blank-lines"),
        pytest.param("\ufeff# T\nx", "\ufeff# T\n", "T", id="byte-order-mark"),
        pytest.param("---\na: b\n---\n\n# T\nx", "---\na: b\n---\n\n# T\n", "T", id="front-matter"),
        pytest.param("---\na: b\n...\nx", "---\na: b\n...\n", "", id="front-matter-with-dots"),
        pytest.param("---\na: b\n## H\n---\nx", "", "", id="heading-ends-no-front-matter"),
        pytest.param("---\nnever closed", "", "", id="unclosed-front-matter"),
        pytest.param("\n\n# T\nx", "\n\n# T\n", "T", id="blank-lines-first"),
        pytest.param("x\n# T\n", "", "", id="late-title-is-none"),
        pytest.param("#T\n", "", "", id="title-needs-a-blank"),
        pytest.param("# T\r\n\r\nx", "# T\r\n\r\n", "T", id="crlf"),
        pytest.param("## A\n", "", "", id="section-is-no-title"),
    ],
)
def test_front_matter_and_title_form_the_head(text: str, head: str, title: str) -> None:
    document = Document.parse(text)

    assert (head, title) == (text[: document.head_end], document.title)


def test_units_name_their_line_heading_ordinal_and_section() -> None:
    document = Document.parse("# T\n\n## G \n- a\n- b\n\n" + ENTRY_HEADING + "\n")
    group, first, second, entry = document.units

    assert [unit.line for unit in document.units] == [3, 4, 5, 7]
    assert ("G", "", ENTRY_HEADING[3:]) == (group.heading, first.heading, entry.heading)
    assert (group.section, first.section, second.section, entry.section) == (-1, 0, 0, -1)
    assert [entry] == document.entries()
