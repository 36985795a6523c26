"""The configuration file: where it is looked for, what it may hold, and what is wrong with it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import mc_plan
import pytest
from mc_cli.config import NO_CONFIG, read_config
from mc_cli.errors import CommandError
from mc_cli.main import main
from mc_retrieve.testing import write_project

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import RunCommand

OWN = "memory-custodian.toml"
SHARED = "pyproject.toml"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param(OWN, 'memory-dir = "docs/notes"', id="own-file"),
        pytest.param(SHARED, '[tool.memory-custodian]\nmemory-dir = "docs/notes"', id="pyproject"),
    ],
)
def test_value_is_read_from_either_file(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(f"{text}\n", encoding="utf-8")

    found = read_config(tmp_path)

    assert ("docs/notes", name) == (found.get("memory-dir"), found.path)


def test_own_file_goes_before_pyproject(tmp_path: Path) -> None:
    (tmp_path / OWN).write_text("lock-timeout = 1\n")
    (tmp_path / SHARED).write_text("[tool.memory-custodian]\nlock-timeout = 2\n")

    assert read_config(tmp_path).get("lock-timeout") == 1


def test_tables_and_dotted_keys_name_the_same(tmp_path: Path) -> None:
    (tmp_path / OWN).write_text("scan.inline = false\n[search]\npage-size = 7\n")

    assert read_config(tmp_path).values == {"scan.inline": False, "search.page-size": 7}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(None, id="no-file"),
        pytest.param("not toml [[\n", id="not-ours-and-never-parsed"),
        pytest.param('[project]\nname = "memory-custodian"\n', id="named-elsewhere"),
        pytest.param("[tool.other]\nx = 1\n# memory-custodian\n", id="no-table"),
    ],
)
def test_pyproject_without_our_table_is_no_configuration(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / SHARED).write_text(text)

    assert read_config(tmp_path) == NO_CONFIG


@pytest.mark.parametrize(
    ("text", "what", "hint"),
    [
        pytest.param("memory-dri = 1", "unknown configuration key `memory-dri`", "`memory-dir`"),
        pytest.param("[scan]\nfail-no = 1", "configuration key `scan.fail-no`", "`scan.fail-on`"),
        pytest.param("[serach]\nx = 1", "unknown configuration key `serach`", "`search."),
        pytest.param("memory-dir = 1", "`memory-dir` has a wrong value", "must be a path"),
        pytest.param('lock-timeout = "1"', "`lock-timeout` has a wrong value", "0 or more"),
        pytest.param("lock-timeout = true", "`lock-timeout` has a wrong value", "0 or more"),
        pytest.param("lock-timeout = -1", "`lock-timeout` has a wrong value", "0 or more"),
        pytest.param("lock-timeout = nan", "`lock-timeout` has a wrong value", "0 or more"),
        pytest.param("scan.inline = 1", "`scan.inline` has a wrong value", "`true` or `false`"),
        pytest.param('scan.fail-on = "x"', "`scan.fail-on` has a wrong value", "`warning`"),
        pytest.param("search.page-size = 101", "`search.page-size` has a wrong", "1 to 100"),
        pytest.param("search.page-size = 0", "`search.page-size` has a wrong", "1 to 100"),
        pytest.param('search.tokenizer = "x"', "`search.tokenizer` has a wrong", "`unicode`"),
        pytest.param("memory-dir", "not valid TOML", "correct it"),
    ],
)
def test_wrong_configuration_names_the_key_or_the_nearest_one(
    tmp_path: Path, text: str, what: str, hint: str
) -> None:
    (tmp_path / OWN).write_text(f"{text}\n")

    with pytest.raises(CommandError) as caught:
        read_config(tmp_path)

    assert what in caught.value.what
    assert hint in caught.value.hint
    assert (caught.value.where, caught.value.exit_code) == (OWN, 2)


def test_configuration_that_is_not_utf8_is_named_with_its_byte(tmp_path: Path) -> None:
    (tmp_path / OWN).write_bytes(b"# ok\n\xff")

    with pytest.raises(CommandError) as caught:
        read_config(tmp_path)

    assert caught.value.where == f"{OWN}, byte 5"


@pytest.mark.parametrize("name", [OWN, SHARED])
def test_configuration_that_is_a_folder_is_an_error(tmp_path: Path, name: str) -> None:
    """Going on without it could mean another memory directory."""
    (tmp_path / name).mkdir()

    with pytest.raises(CommandError) as caught:
        read_config(tmp_path)

    assert "the configuration cannot be read" in caught.value.what
    assert (name, 1) == (caught.value.where, caught.value.exit_code)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
@pytest.mark.parametrize("name", [OWN, SHARED])
def test_configuration_that_is_a_fifo_stops_no_command(
    tmp_path: Path, memory_custodian: RunCommand, name: str
) -> None:
    write_project(tmp_path)
    os.mkfifo(tmp_path / name)

    done = memory_custodian(["read"], cwd=tmp_path, timeout_seconds=60)

    assert done.returncode == 1
    assert done.stderr.startswith(
        f"error: the configuration cannot be read (no plain file): {name}"
    )


def test_configuration_above_the_project_stops_nothing(
    tmp_path: Path, memory_custodian: RunCommand
) -> None:
    root = tmp_path / "above" / "project"
    write_project(root)
    (tmp_path / "above" / "docs").mkdir()
    (tmp_path / "above" / OWN).write_text("not toml\n")
    (root / "src").mkdir()

    done = memory_custodian(["read"], cwd=root / "src")

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("text", "seconds"),
    [pytest.param("lock-timeout = 0.25", 0.25, id="set"), pytest.param("", 10.0, id="default")],
)
def test_lock_is_waited_for_as_long_as_configured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, seconds: float
) -> None:
    """Guide 7.3: ten seconds unless the project says otherwise."""
    write_project(tmp_path)
    (tmp_path / OWN).write_text(f"{text}\n")
    execute, waits = mc_plan.execute, []

    def noting(*args: Any, timeout_seconds: float, **settings: Any) -> Any:
        waits.append(timeout_seconds)
        return execute(*args, timeout_seconds=timeout_seconds, **settings)

    monkeypatch.setattr(mc_plan, "execute", noting)

    assert main(["add", "x", "--candidate", "--project-root", os.fspath(tmp_path)]) == 0
    assert waits == [seconds]
