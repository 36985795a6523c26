from __future__ import annotations

import re
from pathlib import Path

import pytest
from mc_plan.template import (
    FOLDER,
    TRIGGERS,
    TemplateError,
    index_sentence,
    read_template,
    render_template,
)

SOURCE = Path(__file__).parents[3] / "templates"


def files_of(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def test_the_shipped_copy_equals_the_source_byte_for_byte() -> None:
    """When this fails: `nox -s templates`."""
    assert files_of(SOURCE) == files_of(FOLDER)


def test_values_replace_their_placeholders() -> None:
    text = render_template("modules/area.md", {"title": "Sync", "name": "sync"})

    assert text.startswith("# Area: Sync\n")
    assert "{{" not in text


def test_a_placeholder_like_value_stays_text() -> None:
    text = render_template("modules/area.md", {"title": "{{name}}", "name": "sync"})

    assert text.startswith("# Area: {{name}}\n")


@pytest.mark.parametrize(
    "values",
    [
        pytest.param({"title": "Sync"}, id="missing"),
        pytest.param({"title": "Sync", "name": "sync", "other": "x"}, id="unknown"),
    ],
)
def test_a_missing_or_unknown_placeholder_is_an_error(values: dict[str, str]) -> None:
    with pytest.raises(TemplateError):
        render_template("modules/area.md", values)


@pytest.mark.parametrize(
    ("key", "part"),
    [
        pytest.param("rules/output", "users will see", id="well-known"),
        pytest.param("rules/mine", "matches this rule", id="any-rule"),
        pytest.param("profiles/mine", "matches this profile", id="any-profile"),
        pytest.param("areas/mine", "this area", id="any-area"),
        pytest.param("preferences", "preferences", id="preferences"),
        pytest.param("changelog", "changed", id="changelog"),
    ],
)
def test_the_index_has_a_sentence_for_every_optional_file(key: str, part: str) -> None:
    assert part in index_sentence(key)


def test_an_unknown_folder_has_no_sentence() -> None:
    with pytest.raises(TemplateError):
        index_sentence("other/x")


def test_templates_are_utf8_with_lf_and_one_final_newline() -> None:
    for name, data in files_of(FOLDER).items():
        text = data.decode("utf-8")
        assert "\r" not in text, name
        assert text.endswith("\n"), name
        assert not text.endswith("\n\n"), name


def test_no_template_text_repeats_a_trigger() -> None:
    keys = re.findall(r"^- (\S+):", read_template(TRIGGERS), re.MULTILINE)

    assert sorted(keys) == sorted(set(keys))
