from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from mc_schema.errors import ManifestError
from mc_schema.manifest import Manifest, fold_heading, parse_manifest
from mc_schema.protocol import CURRENT, FOREIGN, INVALID, MISSING, NEWER, OLDER, REPEATED

if TYPE_CHECKING:
    from collections.abc import Callable

PROJECT_ID = "c0ffee00-0000-4000-8000-000000000000"
MANIFEST = f"""# Memory Manifest

What to load.

## MemoryCustodian Protocol
- protocol_version: 0.6
- entry_schema_version: 1
- initialized_with: memory-custodian 0.10.0
- last_migrated_with: memory-custodian 0.10.0
- project_id: {PROJECT_ID}
- admission_policy: evidence-required

## Trust boundary

Text.

## Always load
- brief.md

## Load by task

### Planning / architecture / refactoring
Load:
- decisions.md
- constraints.md

### Preferences
Load if present:
- preferences.md

## Optional module index

### Enabled rules
- `rules/output.md`: when writing

### Enabled areas
- None enabled.

## Explicit only
- archive/

## Context budget
- decisions.md: 800 tokens max
"""


def paths(manifest: Manifest, task: str) -> list[str]:
    return [spec.path for spec in manifest.task_specs(task)]


def fault_of(text: str, task: str = "planning") -> ManifestError:
    with pytest.raises(ManifestError) as caught:
        parse_manifest(text).task_specs(task)
    return caught.value


def test_complete_manifest_is_read() -> None:
    manifest = parse_manifest(MANIFEST)

    assert (
        manifest.metadata.state,
        manifest.metadata.version,
        manifest.metadata.line,
    ) == (CURRENT, "0.6", 5)
    assert manifest.metadata.project_id == PROJECT_ID
    assert manifest.has_trust_boundary()
    assert paths(manifest, "planning") == ["brief.md", "decisions.md", "constraints.md"]
    assert paths(manifest, "default") == ["brief.md"]
    assert manifest.is_indexed("rules/output.md")
    assert not manifest.is_indexed("rules/other.md")
    assert manifest.budgets == {"decisions.md": 800}


@pytest.mark.parametrize(
    "convert",
    [
        pytest.param(lambda text: "\ufeff" + text, id="byte-order-mark"),
        pytest.param(lambda text: text.replace("\n", "\r\n"), id="crlf"),
        pytest.param(lambda text: text.replace("\n", "\r"), id="lone-cr"),
        pytest.param(lambda text: text.replace("\n\n", "\n"), id="no-blank-lines"),
        pytest.param(
            lambda text: text.replace("\n## ", "\n  ## ").replace("\n### ", "\n ### "),
            id="indented-headings",
        ),
        pytest.param(
            lambda text: text.replace("## Always load", "## ALWAYS LOAD ##").replace(
                "## MemoryCustodian Protocol", "## memorycustodian protocol"
            ),
            id="letter-case",
        ),
        pytest.param(
            lambda text: text.replace(
                "## Always load",
                "```\n## Always load\n- x.md\n### Preferences\n```\n"
                "<!--\n## Always load\n-->\n## Always load",
            ),
            id="samples",
        ),
    ],
)
def test_form_of_the_manifest_changes_nothing(convert: Callable[[str], str]) -> None:
    manifest = parse_manifest(convert(MANIFEST))

    assert manifest.metadata.project_id == PROJECT_ID
    assert paths(manifest, "planning") == ["brief.md", "decisions.md", "constraints.md"]
    assert paths(manifest, "preferences") == ["brief.md", "preferences.md"]
    assert manifest.is_indexed("rules/output.md")


def metadata(lines: str, *, before: str = "") -> Manifest:
    return parse_manifest(
        f"# M\n{before}\n## MemoryCustodian Protocol\n{lines}\n\n## Always load\n"
    )


@pytest.mark.parametrize(
    ("lines", "state", "version"),
    [
        pytest.param("- protocol_version: 0.6.0", CURRENT, "0.6.0", id="padded"),
        pytest.param("- protocol_version: 0.5", OLDER, "0.5", id="older"),
        pytest.param("- protocol_version: 0.9", NEWER, "0.9", id="newer"),
        pytest.param("- protocol_version: 0.９", INVALID, "0.９", id="full-width"),
        pytest.param("- protocol_version: 0.²", INVALID, "0.²", id="superscript"),
        pytest.param("- protocol_version:", INVALID, "", id="empty"),
        pytest.param(
            "- protocol_version: 0.9\n- protocol_version: 0.4", REPEATED, "0.9", id="repeated"
        ),
        pytest.param("prose\n* protocol_version: 0.9", MISSING, "", id="other-bullet-is-ignored"),
        pytest.param("### Sub\n- protocol_version: 0.5", OLDER, "0.5", id="h3-does-not-end-it"),
        pytest.param(
            "```\n- protocol_version: 0.9\n```\n- protocol_version: 0.6", CURRENT, "0.6", id="fence"
        ),
        pytest.param(
            "- protocol_version: 0.6\n## memorycustodian PROTOCOL\n- protocol_version: 0.9",
            REPEATED,
            "0.6",
            id="second-section",
        ),
    ],
)
def test_metadata_tells_the_state(lines: str, state: str, version: str) -> None:
    found = metadata(lines).metadata

    assert (state, version) == (found.state, found.version)


def test_fields_are_kept_with_their_lines_unknown_ones_too() -> None:
    found = metadata("- routing_policy: x: y \n<!-- note -->\n- a_b:  c\n- not-a-key: d").metadata

    assert [tuple(f) for f in found.fields] == [("routing_policy", "x: y", 4), ("a_b", "c", 6)]
    assert (found.get("a_b"), found.get("z"), found.count("a_b")) == ("c", "", 1)


@pytest.mark.parametrize(
    ("text", "state", "version"),
    [
        ("# M\nprotocol_version: 1\n## Default Loading\n", FOREIGN, "1"),
        ("---\nprotocol_version: 0.8\n---\n# M\n", FOREIGN, "0.8"),
        ("# M\n- protocol_version: 2\n", FOREIGN, "2"),
        ("# M\n```\nprotocol_version: 1\n```\n", MISSING, ""),
        ("", MISSING, ""),
    ],
)
def test_metadata_of_another_tool_is_told_from_none(text: str, state: str, version: str) -> None:
    found = parse_manifest(text).metadata

    assert (state, version, 0) == (found.state, found.version, found.line)


@pytest.mark.parametrize(
    ("text", "what", "where"),
    [
        pytest.param(
            MANIFEST.replace("## Always load\n- brief.md\n", ""),
            "expected one section `## Always load`, found 0",
            "manifest.md",
            id="no-general",
        ),
        pytest.param(
            MANIFEST + "\n## always load\n- x.md\n",
            "expected one section `## Always load`, found 2 (lines 17, 45)",
            "manifest.md:17",
            id="two-generals",
        ),
        pytest.param(
            MANIFEST.replace("### Planning / architecture / refactoring", "### Plans"),
            "expected one section `### Planning / architecture / refactoring`, found 0",
            "manifest.md",
            id="no-category",
        ),
        pytest.param(
            MANIFEST.replace("- decisions.md\n", "- ../decisions.md\n"),
            "`../decisions.md`: the path leaves the memory directory",
            "manifest.md:24",
            id="unsafe-path",
        ),
    ],
)
def test_route_that_cannot_be_used_is_located(text: str, what: str, where: str) -> None:
    error = fault_of(text)

    assert ("invalid_route", what, where) == (error.code, error.what, error.where)
    assert "check" in error.hint


def test_fault_of_another_category_stops_nothing() -> None:
    manifest = parse_manifest(MANIFEST.replace("- preferences.md", "- /preferences.md"))

    assert paths(manifest, "planning") == ["brief.md", "decisions.md", "constraints.md"]


def test_unknown_task_names_the_known_ones() -> None:
    error = fault_of(MANIFEST, "cooking")

    assert error.code == "unknown_task"
    assert "planning" in error.hint


@pytest.mark.parametrize(
    ("alias", "task"),
    [
        ("Implementation / execution", "debugging"),
        ("User-facing artifact generation", "output"),
        ("User or project preferences", "preferences"),
        ("Change history / project recap", "recap"),
    ],
)
def test_headings_of_older_protocols_are_aliases(alias: str, task: str) -> None:
    manifest = parse_manifest(
        f"## Always load\n- brief.md\n### {alias}\nUse when asked.\nAlso load:\n- x.md\n"
    )

    assert paths(manifest, task) == ["brief.md", "x.md"]


def test_alias_does_not_double_the_current_heading() -> None:
    manifest = parse_manifest(
        MANIFEST.replace(
            "### Preferences", "### User or project preferences\n- x.md\n### Preferences"
        )
    )

    assert paths(manifest, "preferences") == ["brief.md", "preferences.md"]


@pytest.mark.parametrize(
    ("line", "budgets"),
    [
        ("- decisions.md: 800 tokens max", {"decisions.md": 800}),
        ("- `rules/*.md`: 400 tokens per file", {"rules/*.md": 400}),
        ("* areas/sync.md: 50 tokens…", {"areas/sync.md": 50}),
        ("-   x.md:1 tokens", {"x.md": 1}),
        ("- x.md: 5 tokens\n- x.md: 6 tokens", {"x.md": 5}),
        ("- x.md: many tokens", {}),
        ("- x.md: ５ tokens", {}),
        ("- inbox.md: 30 items", {}),
        ("- x.md: 5 tokensmore", {}),
        ("```\n- x.md: 5 tokens\n```", {}),
        ("x.md: 5 tokens", {}),
    ],
)
def test_budget_lines_are_read(line: str, budgets: dict[str, int]) -> None:
    assert budgets == parse_manifest(f"## CONTEXT BUDGET\n{line}\n").budgets


@pytest.mark.parametrize(
    "line",
    [
        "- PATH `areas/x.md`: when to load",
        "- load it,\n  see `areas/x.md` — wrapped",
        "`a.md` and `areas/x.md`",
    ],
)
def test_words_around_an_indexed_path_are_free(line: str) -> None:
    text = f"# M\n`areas/y.md`\n## Optional Module Index\n{line}\n## Next\n`areas/z.md`\n"

    found = parse_manifest(text)

    assert found.is_indexed("areas/x.md")
    assert not {"areas/y.md", "areas/z.md"} & found.indexed


@pytest.mark.parametrize("opaque", ["```\n{}\n```", "<!--\n{}\n-->"], ids=["fence", "comment"])
def test_path_in_a_sample_is_not_indexed(opaque: str) -> None:
    text = "## Optional module index\n" + opaque.format("- `areas/x.md`: sample") + "\n"

    assert not parse_manifest(text).is_indexed("areas/x.md")


def test_sections_end_at_the_next_of_their_level_or_above() -> None:
    manifest = parse_manifest("## A\n### B\nx\n### C\ny\n## D\n### E\n")

    assert [(section.title, section.heading, section.end) for section in manifest.sections] == [
        ("a", 0, 5),
        ("b", 1, 3),
        ("c", 3, 5),
        ("d", 5, 7),
        ("e", 6, 7),
    ]


@pytest.mark.parametrize("text", ["## Always load", "##  ALWAYS LOAD  ##", " ### always load #"])
def test_headings_are_compared_without_case_and_signs(text: str) -> None:
    assert fold_heading(text) == "always load"
