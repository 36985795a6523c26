from __future__ import annotations

import ast
import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

import mc_scan
import pytest

ROOT = Path(__file__).resolve().parents[3]
SOURCES = sorted(Path(mc_scan.__file__).parent.glob("*.py"))
EXAMPLES = ROOT / "docs" / "examples" / "github-action-mc-scan.yml"
HOOKS = ROOT / ".pre-commit-hooks.yaml"


def test_scanner_needs_nothing_but_the_standard_library() -> None:
    names = {
        alias.name.partition(".")[0]
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for alias in (node.names if isinstance(node, ast.Import) else [])
    } | {
        (node.module or "").partition(".")[0]
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
    }

    assert set() == names - set(sys.stdlib_module_names) - {"mc_scan"}
    assert not importlib.metadata.requires("mc-scan")


def test_import_is_light() -> None:
    heavy = "dataclasses argparse difflib tempfile uuid pathlib inspect unicodedata json"
    code = f"import sys, mc_scan; print([m for m in '{heavy}'.split() if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {code}"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.strip() == "[]"


def test_public_names_exist() -> None:
    assert [name for name in mc_scan.__all__ if not hasattr(mc_scan, name)] == []
    assert importlib.metadata.version("mc-scan") == mc_scan.__version__


def test_modules_stay_small() -> None:
    lines = {path.name: path.read_text(encoding="utf-8").count("\n") for path in SOURCES}

    assert {name: count for name, count in lines.items() if count > 400} == {}


def test_no_pattern_reaches_back_or_repeats_everything() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in SOURCES)

    assert re.findall(r"\(\?P=|\\\\[1-9]\b|\.\*", text.replace('"*.md', "")) == []


@pytest.mark.parametrize("path", [EXAMPLES, HOOKS], ids=lambda path: path.name)
def test_example_files_use_options_that_exist(path: Path) -> None:
    help_text = subprocess.run(
        [sys.executable, "-m", "mc_scan", "--help"], capture_output=True, text=True, check=True
    ).stdout
    options = set(re.findall(r"--[a-z-]+(?=[= \]])", path.read_text(encoding="utf-8")))

    assert [option for option in options if option not in help_text] == []


def test_hooks_have_both_ids() -> None:
    text = HOOKS.read_text(encoding="utf-8")

    assert re.findall(r"^- id: (\S+)", text, re.MULTILINE) == ["mc-scan", "mc-scan-strict"]
    assert 2 == text.count("types: [markdown]") == text.count("language: python")
    assert "args: [--fail-on=warning]" in text
