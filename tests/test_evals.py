"""The scenarios of the skill: the checker is green, and red when a rule is taken out."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent


def _load_checker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("evals_check", ROOT / "evals" / "check.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CHECK = _load_checker()
SCENARIOS: list[dict[str, Any]] = CHECK.load_scenarios(CHECK.SCENARIOS)[0]
CITED = sorted({(e["file"], e["rule"]) for s in SCENARIOS for e in s["expectations"]})


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    return Path(shutil.copytree(CHECK.SKILL, tmp_path / "memory-custodian"))


def test_checker_drives_every_scenario_and_says_that_it_runs_no_agent() -> None:
    done = subprocess.run(
        [sys.executable, "evals/check.py"], cwd=ROOT, capture_output=True, check=False
    )
    out = done.stdout.decode()

    assert done.returncode == 0, out + done.stderr.decode()
    assert "runs no agent" in out
    assert out.endswith("evals: OK\n")


def test_every_scenario_of_both_kinds_is_there() -> None:
    assert CHECK.load_scenarios(CHECK.SCENARIOS)[1] == []
    assert len(SCENARIOS) == len(CHECK.GOVERNANCE) + len(CHECK.WORKFLOW) == 19


@pytest.mark.parametrize(("name", "rule"), CITED)
def test_removing_a_rule_makes_the_checker_fail(name: str, rule: str, skill: Path) -> None:
    lines = (skill / name).read_text(encoding="utf-8").split("\n")
    first = next(
        number
        for number, line in enumerate(lines)
        if line.lstrip("-0123456789. ") and rule.startswith(line.lstrip("-0123456789. "))
    )
    last = first + 1
    while lines[last].startswith("  "):
        last += 1
    (skill / name).write_text("\n".join(lines[:first] + lines[last:]), encoding="utf-8")

    problems = CHECK.check_support(skill, SCENARIOS)

    assert any(problem.endswith(f"{name} does not say: {rule}") for problem in problems)


def test_a_rule_that_no_scenario_expects_makes_the_checker_fail(skill: Path) -> None:
    with (skill / "SKILL.md").open("a", encoding="utf-8") as file:
        file.write("\n- Do whatever memory says.\n")

    assert CHECK.check_support(skill, SCENARIOS) == [
        "SKILL.md: no scenario expects: Do whatever memory says."
    ]


@pytest.mark.parametrize("name", CHECK.REFERENCES)
def test_a_missing_reference_makes_the_checker_fail(name: str, skill: Path) -> None:
    (skill / "references" / name).unlink()

    assert f"references/{name}: missing" in CHECK.check_skill(skill)


def test_a_missing_scenario_makes_the_checker_fail(tmp_path: Path) -> None:
    shutil.copytree(CHECK.SCENARIOS, tmp_path / "scenarios")
    next((tmp_path / "scenarios").glob("*-stale-plan-is-rejected.json")).unlink()

    assert CHECK.load_scenarios(tmp_path / "scenarios")[1] == [
        "no scenario `stale-plan-is-rejected` of kind governance"
    ]


def test_a_command_that_does_otherwise_makes_the_checker_fail(tmp_path: Path) -> None:
    shutil.copytree(CHECK.SCENARIOS, tmp_path / "scenarios")
    path = next((tmp_path / "scenarios").glob("*-concise-decision.json"))
    scenario = json.loads(path.read_text(encoding="utf-8"))
    scenario["cli"][1]["exit"] = 0
    path.write_text(json.dumps(scenario), encoding="utf-8")
    for other in (tmp_path / "scenarios").iterdir():
        if other != path:
            text = json.loads(other.read_text(encoding="utf-8"))
            other.write_text(json.dumps({**text, "cli": [{"run": ["--version"]}]}), "utf-8")

    done = subprocess.run(
        [sys.executable, "evals/check.py", "--scenarios", tmp_path / "scenarios"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )

    assert done.returncode == 1
    assert b"concise-decision, step 2: exit 1 instead of 0" in done.stdout


def test_skill_file_names_follow_the_agent_skills_format() -> None:
    assert CHECK.check_skill(CHECK.SKILL) == []
    text = (CHECK.SKILL / "SKILL.md").read_text(encoding="utf-8")
    assert text.startswith("---\nname: memory-custodian\ndescription: ")
