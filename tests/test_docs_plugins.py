"""The plugin files have the keys their hosts require, and point to files that exist."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
from mc_cli import __version__
from mc_plan.operations.agents import AGENT_FILES, block_of

ROOT: Final = Path(__file__).resolve().parent.parent
NAME: Final = "memory-custodian"
ADAPTERS: Final = ROOT / "templates" / "adapters"
HOOK_TIMES: Final = {"startup", "resume", "clear", "compact"}
MAX_PROMPTS: Final = 3
MAX_PROMPT_CHARS: Final = 128


def _json(name: str) -> dict[str, Any]:
    value = json.loads((ROOT / name).read_text(encoding="utf-8"))
    assert isinstance(value, dict)
    return value


PLUGINS: Final = (
    ".claude-plugin/plugin.json",
    ".codex-plugin/plugin.json",
    "gemini-extension.json",
)


@pytest.mark.parametrize("name", PLUGINS)
def test_plugin_has_a_name_a_description_and_the_version_of_the_packages(name: str) -> None:
    plugin = _json(name)

    assert plugin["name"] == NAME
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", plugin["name"])
    assert plugin["version"] == __version__
    assert plugin["description"]


@pytest.mark.parametrize("name", PLUGINS)
def test_paths_of_a_plugin_exist_and_stay_inside(name: str) -> None:
    plugin = _json(name)
    for key in ("commands", "skills", "hooks", "agents", "contextFileName"):
        if key in plugin:
            path = plugin[key]
            assert ".." not in path
            assert name == "gemini-extension.json" or path.startswith("./")
            assert (ROOT / path).exists()


def test_claude_marketplace_has_the_required_keys() -> None:
    marketplace = _json(".claude-plugin/marketplace.json")

    assert marketplace["name"]
    assert marketplace["owner"]["name"]
    assert [(p["name"], p["source"]) for p in marketplace["plugins"]] == [(NAME, "./")]


def test_claude_commands_have_a_description() -> None:
    folder = ROOT / _json(".claude-plugin/plugin.json")["commands"]
    commands = sorted(folder.glob("*.md"))

    assert [path.stem for path in commands] == [
        "memory-add",
        "memory-check",
        "memory-forget",
        "memory-read",
    ]
    for path in commands:
        assert path.read_text(encoding="utf-8").startswith("---\ndescription: ")


def test_codex_plugin_file_is_alone_and_its_prompts_are_short() -> None:
    prompts = _json(".codex-plugin/plugin.json")["interface"]["defaultPrompt"]

    assert [path.name for path in (ROOT / ".codex-plugin").iterdir()] == ["plugin.json"]
    assert len(prompts) <= MAX_PROMPTS
    assert max(map(len, prompts)) <= MAX_PROMPT_CHARS


def test_codex_marketplace_has_the_required_keys() -> None:
    """A bad entry would be skipped by Codex without a word."""
    marketplace = _json(".agents/plugins/marketplace.json")
    (plugin,) = marketplace["plugins"]

    assert marketplace["name"]
    assert plugin["name"] == NAME
    assert plugin["source"] == {"source": "local", "path": "./"}
    assert set(plugin["policy"]) == {"installation", "authentication"}
    assert plugin["category"]


def test_skill_lies_where_every_host_looks_for_it() -> None:
    assert (ROOT / "skills" / NAME / "SKILL.md").is_file()


def _hook_command() -> str:
    hooks = _json("hooks/hooks.json")["hooks"]
    assert list(hooks) == ["SessionStart"]
    ((group),) = hooks["SessionStart"]
    assert set(group["matcher"].split("|")) == HOOK_TIMES
    (hook,) = group["hooks"]
    assert hook["type"] == "command"
    command = hook["command"]
    assert isinstance(command, str)
    return command


def _run_hook(project: Path) -> str:
    shell = shutil.which("sh")
    if shell is None or os.name == "nt":
        pytest.skip("the hook is a command of a POSIX shell")
    done = subprocess.run(
        [shell, "-c", _hook_command()],
        cwd=project.parent,
        env={**os.environ, "CLAUDE_PROJECT_DIR": str(project)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    assert done.stderr == b""
    return done.stdout.decode()


def test_hook_names_the_manifest_and_never_prints_memory(tmp_path: Path) -> None:
    memory = tmp_path / "a project" / "docs" / "memory"
    memory.mkdir(parents=True)
    for name in ("manifest.md", "brief.md", "decisions.md"):
        (memory / name).write_text("# Canary\n\nMust not come out.\n", encoding="utf-8")

    out = _run_hook(tmp_path / "a project")

    assert "docs/memory/manifest.md" in out
    assert out.count("\n") == 1
    assert "anary" not in out
    assert "Must not" not in out


def test_hook_is_silent_in_a_project_without_memory(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    assert _run_hook(tmp_path / "empty") == ""


@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini", "generic"])
def test_snippet_is_the_block_that_init_writes(host: str) -> None:
    """One source: `templates/agents/block.md`. When this fails, write the block into the file."""
    snippet = (ADAPTERS / host / "snippet.md").read_text(encoding="utf-8")

    assert snippet == block_of("docs/memory") + "\n"


def test_agent_files_of_this_repository_hold_the_block() -> None:
    for name in AGENT_FILES.values():
        assert block_of("docs/memory") in (ROOT / name).read_text(encoding="utf-8")


def test_github_action_has_the_required_keys_and_installs_from_its_own_checkout() -> None:
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    keys = set(re.findall(r"^([a-z]+):", text, re.MULTILINE))

    assert {"name", "description", "runs"} <= keys
    assert "  using: composite\n" in text
    assert re.findall(r"pip install (.*)$", text, re.MULTILINE) == ["--quiet -r requirements.txt"]
    assert "working-directory: ${{ github.action_path }}" in text
    assert re.findall(r"run:.*\$\{\{.*", text) == []  # inputs reach a script as variables only
