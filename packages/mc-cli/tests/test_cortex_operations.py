"""The operational commands of `cortex`, each as a real process."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import RunCommand


def answer(
    memory_custodian: RunCommand, cwd: Path, *words: str, env: Any = None
) -> tuple[int, Any]:
    done = memory_custodian(["cortex", *words], cwd=cwd, env=env)
    return done.returncode, json.loads(done.stdout)


def test_new_root_is_valid_empty_and_has_no_index(
    memory_custodian: RunCommand, tmp_path: Path
) -> None:
    root = tmp_path / "root"
    code, made = answer(memory_custodian, tmp_path, "init-root", str(root))

    assert (code, made["ok"]) == (0, True)
    code, status = answer(memory_custodian, tmp_path, "status", "--memory-root", str(root))
    assert (code, status["data"]["canonical"]["records"]) == (0, 0)
    code, index = answer(memory_custodian, tmp_path, "index", "status", "--memory-root", str(root))
    assert (code, index["status"]) == (0, "no-index-v1")


def test_root_inside_an_installation_has_its_marker_beside_the_memory(
    memory_custodian: RunCommand, tmp_path: Path
) -> None:
    root = tmp_path / "home" / "LIFEOS" / "MEMORY"
    answer(memory_custodian, tmp_path, "init-root", str(root))

    environment = {"CORTEX_HEALTH_ROOT": str(tmp_path / "home"), "CORTEX_HEALTH_NO_WRITE": "1"}
    code, report = answer(memory_custodian, tmp_path, "health", "--json", env=environment)

    assert (root.parent / "CORTEX_INDEX_POLICY.json").is_file()
    assert (code, report["evidence"]["index"]["status"]) == (1, "no-index-v1")


def test_second_init_root_changes_nothing(memory_custodian: RunCommand, tmp_path: Path) -> None:
    root = tmp_path / "root"
    answer(memory_custodian, tmp_path, "init-root", str(root))
    (root / "CORTEX_INDEX_POLICY.json").write_text("{}")
    (root / "KNOWLEDGE" / "a.md").write_text("mine")

    code, _ = answer(memory_custodian, tmp_path, "init-root", str(root))

    assert code == 0
    assert (root / "CORTEX_INDEX_POLICY.json").read_text() == "{}"
    assert (root / "KNOWLEDGE" / "a.md").read_text() == "mine"


@pytest.mark.parametrize("kind", ["foreign", "file", "link"])
def test_foreign_folder_file_or_link_is_refused(
    memory_custodian: RunCommand, tmp_path: Path, kind: str
) -> None:
    root = tmp_path / "root"
    if kind == "foreign":
        root.mkdir()
        (root / "thesis.txt").write_text("x")
    elif kind == "file":
        root.write_text("x")
    else:
        (tmp_path / "other").mkdir()
        root.symlink_to(tmp_path / "other")

    code, refused = answer(memory_custodian, tmp_path, "init-root", str(root))

    assert (code, refused["ok"]) == (4, False)


@pytest.mark.parametrize(
    "words",
    [["init-root"], ["init-root", "a", "b"], ["index"], ["index", "rebuild"], ["health", "--all"]],
)
def test_wrong_command_line_is_refused_in_json(
    memory_custodian: RunCommand, tmp_path: Path, words: list[str]
) -> None:
    code, refused = answer(memory_custodian, tmp_path, *words)

    assert (code, refused["ok"]) == (4, False)


def test_health_without_json_is_a_table_that_says_what_to_do(
    memory_custodian: RunCommand, tmp_path: Path
) -> None:
    done = memory_custodian(["cortex", "health", "--memory-root", str(tmp_path)], cwd=tmp_path)

    assert done.returncode == 1
    assert done.stdout.startswith("Cortex health: WARN")
    assert "cortex init-root DIR" in done.stdout


@pytest.mark.parametrize("value", ["0", "-1", "x", "inf", "nan"])
def test_invalid_threshold_variable_is_critical_and_the_default_holds(
    memory_custodian: RunCommand, tmp_path: Path, value: str
) -> None:
    env = {"CORTEX_PROPOSAL_BACKLOG": value, "CORTEX_HEALTH_ROOT": str(tmp_path)}

    code, report = answer(memory_custodian, tmp_path, "health", "--json", env=env)

    assert (
        code,
        report["overall"],
        report["thresholds"]["proposalBacklog"],
    ) == (2, "critical", 10)
    assert report["findings"][0]["id"] == "cortex-threshold-invalid"


def test_valid_threshold_variable_and_clock_are_used(
    memory_custodian: RunCommand, tmp_path: Path
) -> None:
    env = {
        "CORTEX_PROPOSAL_BACKLOG": "3",
        "CORTEX_HEALTH_ROOT": str(tmp_path),
        "CORTEX_HEALTH_NOW": "2024-01-01T00:00:00Z",
    }

    _, report = answer(memory_custodian, tmp_path, "health", "--json", env=env)

    assert (
        report["thresholds"]["proposalBacklog"],
        report["ts"],
    ) == (3, "2024-01-01T00:00:00.000Z")


def test_report_is_appended_unless_forbidden_and_kept_where_asked(
    memory_custodian: RunCommand, tmp_path: Path
) -> None:
    root, kept = tmp_path / "root", tmp_path / "report.json"
    answer(memory_custodian, tmp_path, "init-root", str(root))
    words = ("health", "--json", "--memory-root", str(root))

    answer(memory_custodian, tmp_path, *words, env={"CORTEX_HEALTH_NO_WRITE": "1"})
    assert not (root / "OBSERVABILITY" / "memory-health.jsonl").exists()
    _, report = answer(
        memory_custodian, tmp_path, *words, env={"CORTEX_HEALTH_REPORT_PATH": str(kept)}
    )

    assert report == json.loads(kept.read_text("utf-8"))
    rows = (root / "OBSERVABILITY" / "memory-health.jsonl").read_text("utf-8").splitlines()
    assert [report] == [json.loads(row) for row in rows]


def test_failed_benchmark_has_its_own_envelope(
    memory_custodian: RunCommand, tmp_path: Path
) -> None:
    code, report = answer(memory_custodian, tmp_path, "benchmark")

    assert (code, report["schema"], report["ok"]) == (4, "lifeos-cortex-benchmark/v1", False)
