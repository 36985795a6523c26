"""forget, compact, migrate and recover as processes: previews, applies, refusals and JSON."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import jsonschema
import pytest
from referencing import Registry, Resource

if TYPE_CHECKING:
    from conftest import RunCommand

SCHEMAS: Final = Path(__file__).parents[3] / "docs" / "schemas"
PLAN_LINE: Final = re.compile(r"^Plan ID: ([0-9a-f]{16})$", re.MULTILINE)
OLDER: Final = """# Memory Manifest

## MemoryCustodian Protocol
- protocol_version: 0.5
- initialized_with: memory-custodian 0.9.1

## Always load
- brief.md
"""
KILL: Final = """
import sys
from mc_plan import files
from mc_plan.testing import KillingFilesystem
files.SYSTEM = KillingFilesystem(int(sys.argv[1]))
from mc_cli.main import main
sys.exit(main(sys.argv[2:]))
"""


def validate(command: str, data: Any) -> None:
    documents = [json.loads(path.read_text("utf-8")) for path in SCHEMAS.glob("*.schema.json")]
    pairs = [(doc["$id"], Resource.from_contents(doc)) for doc in documents if "$id" in doc]
    schema = json.loads((SCHEMAS / f"{command}.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema, registry=Registry().with_resources(pairs)).validate(
        data
    )


@pytest.fixture(scope="module")
def new_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project with one decision and two equal legacy candidates; tests copy it."""
    base = tmp_path_factory.mktemp("previewed").resolve()
    root = base / "project"
    root.mkdir()
    environment = {**os.environ, "XDG_STATE_HOME": str(base / "state")}
    for words in (
        ["init"],
        ["add", "Use the zebra format.", "--type", "decision", "--evidence", "user-confirmed"],
    ):
        subprocess.run(
            [sys.executable, "-m", "mc_cli", *words],
            cwd=root,
            env=environment,
            check=True,
            capture_output=True,
        )
    inbox = root / "docs" / "memory" / "inbox.md"
    inbox.write_text(inbox.read_text("utf-8") + "\n- twice\n- twice\n", "utf-8")
    return root


@pytest.fixture
def project(new_project: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(new_project, tmp_path / "project"))


@pytest.fixture
def older(tmp_path: Path) -> Path:
    memory = tmp_path / "older" / "docs" / "memory"
    memory.mkdir(parents=True)
    decision = "# Decisions\n\n## 2026-03-04 - Keep CSV\nDecision:\nKeep exports in CSV.\n"
    texts = {"manifest.md": OLDER, "brief.md": "# B\n", "decisions.md": decision}
    texts |= dict.fromkeys(("constraints.md", "do-not-use.md", "inbox.md"), "# X\n")
    for name, text in texts.items():
        (memory / name).write_text(text, "utf-8")
    return memory.parents[1]


def tree(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


COMMANDS: Final = [
    pytest.param(["forget", "zebra"], id="forget-soft"),
    pytest.param(["forget", "zebra", "--mode", "hard"], id="forget-hard"),
    pytest.param(["forget", "zebra", "--mode", "purge"], id="forget-purge"),
    pytest.param(["compact"], id="compact"),
]


@pytest.mark.parametrize("words", COMMANDS)
def test_preview_writes_nothing_and_its_id_applies(
    memory_custodian: RunCommand, project: Path, words: list[str]
) -> None:
    before = tree(project)

    preview = memory_custodian(words, cwd=project)

    assert before == tree(project)
    (plan_id,) = PLAN_LINE.findall(preview.stdout)
    applied = memory_custodian([*words, "--apply", "--confirm-plan", plan_id], cwd=project)
    assert (preview.returncode, applied.returncode) == (0, 0)
    assert "Files written:\n- docs/memory/" in applied.stdout
    assert before != tree(project)


@pytest.mark.parametrize("words", COMMANDS)
def test_apply_without_an_id_is_refused_with_the_plan(
    memory_custodian: RunCommand, project: Path, words: list[str]
) -> None:
    before = tree(project)

    refused = memory_custodian([*words, "--apply"], cwd=project)

    assert (refused.returncode, len(PLAN_LINE.findall(refused.stdout))) == (3, 1)
    assert "no files were written" in refused.stderr
    assert before == tree(project)


@pytest.mark.parametrize("words", COMMANDS)
def test_stale_id_is_refused_with_the_new_plan(
    memory_custodian: RunCommand, project: Path, words: list[str]
) -> None:
    (old,) = PLAN_LINE.findall(memory_custodian(words, cwd=project).stdout)
    inbox = project / "docs" / "memory" / "inbox.md"
    inbox.write_text(inbox.read_text("utf-8") + "- new\n", "utf-8")
    before = tree(project)

    refused = memory_custodian([*words, "--apply", "--confirm-plan", old], cwd=project)

    (new,) = PLAN_LINE.findall(refused.stdout)
    assert (refused.returncode, new != old) == (3, True)
    assert "plan is stale" in refused.stderr
    assert before == tree(project)


@pytest.mark.parametrize("words", COMMANDS)
def test_answers_in_json_follow_their_schema(
    memory_custodian: RunCommand, project: Path, words: list[str]
) -> None:
    preview = json.loads(memory_custodian([*words, "--json"], cwd=project).stdout)
    confirm = ["--apply", "--confirm-plan", preview["data"]["plan_id"], "--json"]
    applied = json.loads(memory_custodian([*words, *confirm], cwd=project).stdout)

    validate(words[0], preview["data"])
    validate(words[0], applied["data"])
    assert (preview["data"]["applied"], applied["data"]["applied"]) == (False, True)


def test_exact_apply_command_of_the_preview_works_as_shown(
    memory_custodian: RunCommand, project: Path
) -> None:
    shown = memory_custodian(["forget", "zebra"], cwd=project).stdout
    line = shown.rpartition("Apply it with:\n")[2].strip()

    import shlex

    applied = memory_custodian(shlex.split(line)[1:], cwd=project)

    assert applied.returncode == 0, applied.stderr


def test_private_mode_shows_a_place_for_the_topic_only(
    memory_custodian: RunCommand, project: Path
) -> None:
    shown = memory_custodian(["forget", "zebra", "--mode", "purge"], cwd=project)

    assert "zebra" not in shown.stdout + shown.stderr
    assert "<TOPIC>" in shown.stdout


def test_needed_flag_is_part_of_the_shown_command(
    memory_custodian: RunCommand, project: Path
) -> None:
    memory_custodian(
        ["add", "Also zebra.", "--type", "constraint", "--evidence", "user-confirmed"], cwd=project
    )

    shown = memory_custodian(["forget", "zebra"], cwd=project).stdout

    assert "Broad-match confirmation required: yes" in shown
    assert "--allow-broad-match --apply --confirm-plan" in shown


def test_migration_previews_ids_and_writes_them(memory_custodian: RunCommand, older: Path) -> None:
    preview = json.loads(memory_custodian(["migrate", "--json"], cwd=older).stdout)
    validate("migrate", preview["data"])
    (new,) = preview["data"]["ids"]
    confirm = ["--apply", "--confirm-plan", preview["data"]["plan_id"]]

    applied = memory_custodian(["migrate", *confirm], cwd=older)

    assert applied.returncode == 0
    assert new["id"] in (older / "docs" / "memory" / "decisions.md").read_text("utf-8")
    again = memory_custodian(["migrate"], cwd=older)
    assert "nothing to migrate" in again.stdout


def test_migration_always_needs_its_id(memory_custodian: RunCommand, older: Path) -> None:
    before = tree(older)

    refused = memory_custodian(["migrate", "--apply"], cwd=older)

    assert refused.returncode == 3
    assert before == tree(older)


def test_older_project_is_told_how_to_migrate(memory_custodian: RunCommand, older: Path) -> None:
    done = memory_custodian(["compact"], cwd=older)

    assert "memory-custodian migrate" in done.stderr


def test_confirmation_of_the_right_form_goes_with_apply(
    memory_custodian: RunCommand, project: Path
) -> None:
    alone = memory_custodian(["compact", "--confirm-plan", "0" * 16], cwd=project)
    malformed = memory_custodian(["compact", "--apply", "--confirm-plan", "xyz"], cwd=project)

    assert (alone.returncode, malformed.returncode) == (2, 2)


def test_nothing_to_recover_is_said_and_offers_no_plan(
    memory_custodian: RunCommand, project: Path
) -> None:
    done = memory_custodian(["recover"], cwd=project)

    assert (done.returncode, PLAN_LINE.findall(done.stdout)) == (0, [])
    assert "nothing to recover" in done.stdout


def test_interrupted_change_is_recovered_by_following_the_messages(
    memory_custodian: RunCommand, project: Path
) -> None:
    before = tree(project)
    words = ["add", "A rule.", "--type", "rule", "--name", "output", "--evidence", "user-confirmed"]
    killed = subprocess.run(
        [sys.executable, "-c", KILL, "24", *words], cwd=project, capture_output=True, check=False
    )
    assert killed.returncode != 0
    age_locks()

    stopped = memory_custodian([*words, "--break-stale-lock"], cwd=project)
    assert (stopped.returncode, "memory-custodian recover" in stopped.stderr) == (5, True)
    shown = json.loads(memory_custodian(["recover", "--json"], cwd=project).stdout)
    validate("recover", shown["data"])
    confirm = ["--apply", "--confirm-plan", shown["data"]["plan_id"]]
    applied = memory_custodian(["recover", *confirm], cwd=project)

    assert applied.returncode == 0, applied.stderr
    after = tree(project)
    assert after == before or any("rules/output.md" in name for name in after)
    assert not [name for name in after if name.endswith(".tmp")]
    assert memory_custodian(words, cwd=project).returncode == 0 or after != before


def age_locks() -> None:
    """Let every lock look two minutes old: nobody waits for that in a test."""
    locks = Path(os.environ["XDG_STATE_HOME"]) / "memory-custodian" / "locks"
    for path in locks.glob("*.lock"):
        record = json.loads(path.read_text("utf-8"))
        record["created_at"] = "2020-01-01T00:00:00+00:00"
        path.write_text(json.dumps(record), "utf-8")
        os.utime(path, (1_577_836_800, 1_577_836_800))


def test_recover_takes_a_memory_root_in_place_of_a_project(
    memory_custodian: RunCommand, tmp_path: Path
) -> None:
    done = memory_custodian(["recover", "--memory-root", str(tmp_path)], cwd=tmp_path)
    both = ["recover", "--memory-root", str(tmp_path), "--project-root", str(tmp_path)]

    assert done.returncode == 0
    assert memory_custodian(both, cwd=tmp_path).returncode == 2
