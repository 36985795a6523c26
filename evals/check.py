"""Check the skill against its scenarios: `python evals/check.py [--static]`.

This checker runs no agent. It shows two things: that the text of the skill supports each
expectation of each scenario, and that the command does what the scenario says it does, in
temporary projects with real processes. How an agent reads the skill it cannot show.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROOT: Final = Path(__file__).resolve().parent.parent
SKILL: Final = ROOT / "skills" / "memory-custodian"
SCENARIOS: Final = ROOT / "evals" / "memory-custodian" / "scenarios"
SCHEMA: Final = "memory-custodian-evals/v1"
NO_AGENT: Final = (
    "This checker runs no agent: it compares texts, and drives the command in temporary projects."
)

GOVERNANCE: Final = (
    "agent-inference-remains-candidate",
    "user-confirmed-decision-becomes-active",
    "source-backed-decision-becomes-active",
    "active-memory-without-evidence-is-rejected",
    "concurrent-writes-lose-nothing",
    "stale-plan-is-rejected",
    "memory-cannot-elevate-authority",
    "secret-like-content-is-flagged",
    "legacy-memory-remains-readable",
    "superseded-decision-is-no-invariant",
)
WORKFLOW: Final = (
    "initialisation",
    "bootstrap",
    "loading",
    "update",
    "scoped-update",
    "concise-decision",
    "compaction",
    "forgetting",
    "optional-modules",
)
REFERENCES: Final = (
    "memory-file-protocol.md",
    "manifest-policy.md",
    "quality-audit.md",
    "compaction-policy.md",
    "forgetting-policy.md",
    "platform-adapters.md",
    "examples.md",
    "cortex-contract.md",
)

MAX_BODY_LINES: Final = 500
MAX_DESCRIPTION_CHARS: Final = 1024

_NAME: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_ITEM: Final = re.compile(r"(?:- |[0-9]+\. )(.*)")
_KEYS: Final = {"schema", "id", "kind", "title", "situation", "expectations", "cli"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what was checked and every problem; return 1 when there is one."""
    options = _options(arguments)
    print(NO_AGENT)
    scenarios, problems = load_scenarios(options.scenarios)
    problems += check_skill(options.skill)
    problems += check_support(options.skill, scenarios)
    driven = 0
    if not options.static and not problems:
        from drive import drive_all

        driven, failures = drive_all(scenarios)
        problems += failures
    for problem in problems:
        print(f"problem: {problem}")
    expectations = sum(len(scenario["expectations"]) for scenario in scenarios)
    print(f"{len(scenarios)} scenarios, {expectations} expectations, {driven} commands driven")
    print("evals: FAILED" if problems else "evals: OK")
    return 1 if problems else 0


def load_scenarios(folder: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the well-formed scenarios below *folder*, by file name, and what is wrong."""
    scenarios: list[dict[str, Any]] = []
    problems: list[str] = []
    for path in sorted(folder.glob("*.json")):
        try:
            scenario = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            problems.append(f"{path.name}: not JSON ({error})")
            continue
        faults = list(_shape_faults(scenario, path.stem))
        problems += [f"{path.name}: {fault}" for fault in faults]
        if not faults:
            scenarios.append(scenario)
    found = [(scenario["kind"], scenario["id"]) for scenario in scenarios]
    wanted = [("governance", name) for name in GOVERNANCE] + [("workflow", n) for n in WORKFLOW]
    problems += [f"no scenario `{name}` of kind {kind}" for kind, name in set(wanted) - set(found)]
    return scenarios, sorted(problems)


def check_skill(folder: Path) -> list[str]:
    """Return what breaks the Agent Skills format, and references that are missing or unlinked."""
    text = (folder / "SKILL.md").read_text(encoding="utf-8")
    head = re.match(r"---\n(.*?)\n---\n", text, re.DOTALL)
    if head is None:
        return ["SKILL.md: no frontmatter"]
    pairs = (line.partition(": ") for line in head[1].split("\n"))
    fields = {key: value for key, _, value in pairs}
    problems = []
    if fields.get("name") != folder.name or not _NAME.fullmatch(fields.get("name", "")):
        problems.append("SKILL.md: `name` is not the name of the folder")
    if not 0 < len(fields.get("description", "")) <= MAX_DESCRIPTION_CHARS:
        problems.append("SKILL.md: `description` is empty or too long")
    if text[head.end() :].count("\n") >= MAX_BODY_LINES:
        problems.append("SKILL.md: the body is too long")
    for name in REFERENCES:
        if not (folder / "references" / name).is_file():
            problems.append(f"references/{name}: missing")
        if f"(references/{name})" not in text:
            problems.append(f"SKILL.md: no link to references/{name}")
    return problems


def check_support(folder: Path, scenarios: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return expectations that no rule supports, and rules that no expectation needs.

    Texts are compared after white space is folded. A rule is a list item of SKILL.md.
    """
    texts: dict[str, set[str]] = {}
    problems = []
    used: set[str] = set()
    for scenario in scenarios:
        for expectation in scenario["expectations"]:
            name, rule = expectation["file"], _folded(expectation["rule"])
            rules = texts.setdefault(name, rules_of(folder / name))
            if rule not in rules:
                problems.append(f"{scenario['id']}: {name} does not say: {rule}")
            if name == "SKILL.md":
                used.add(rule)
    unused = rules_of(folder / "SKILL.md") - used
    problems += [f"SKILL.md: no scenario expects: {rule}" for rule in sorted(unused)]
    return problems


def rules_of(path: Path) -> set[str]:
    """Return the list items of a Markdown file, folded to one line each; link lists left out."""
    rules: set[str] = set()
    if not path.is_file():
        return rules
    item = ""
    for line in [*path.read_text(encoding="utf-8").split("\n"), ""]:
        match = _ITEM.match(line)
        if item and (match or not line.startswith("  ")):
            rules.add(_folded(item))
            item = ""
        if match and not match[1].startswith("["):
            item = match[1]
        elif item:
            item = f"{item} {line}"
    return rules


def _shape_faults(scenario: object, stem: str) -> Iterator[str]:
    if not isinstance(scenario, dict) or set(scenario) != _KEYS:
        yield f"needs exactly the keys {', '.join(sorted(_KEYS))}"
        return
    if scenario["schema"] != SCHEMA:
        yield f"`schema` is not {SCHEMA}"
    if not stem.endswith(f"-{scenario['id']}"):
        yield "`id` is not in the file name"
    if not scenario["expectations"] or not scenario["cli"]:
        yield "needs an expectation and a step for the command"
    for expectation in scenario["expectations"]:
        if set(expectation) != {"agent", "file", "rule"}:
            yield "an expectation needs exactly the keys agent, file, rule"
            return


def _folded(text: str) -> str:
    return " ".join(text.split())


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--static", action="store_true", help="Compare texts, drive no command.")
    parser.add_argument("--skill", type=Path, default=SKILL, help="Folder of the skill.")
    parser.add_argument("--scenarios", type=Path, default=SCENARIOS, help="Folder of scenarios.")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
