"""The entry point: which command is meant, and what becomes of an error."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, NoReturn

import pytest
from mc_cli.main import main
from mc_retrieve.testing import write_project

if TYPE_CHECKING:
    from pathlib import Path

HINT = "\n\nhint: `memory-custodian --help` lists the commands\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param([], "error: a command is missing", id="none"),
        pytest.param(["frobnicate"], "error: unknown command `frobnicate`", id="unknown"),
        pytest.param(["--frob"], "error: unknown option `--frob`", id="option"),
        pytest.param(["a\nb\x1b[2J"], r"error: unknown command `a\nb\x1b[2J`", id="control"),
    ],
)
def test_what_is_no_command_is_bad_input(
    capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    code = main(words)

    assert code == 2
    assert capsys.readouterr().err == said + HINT


def test_unknown_command_is_one_json_document_when_asked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["frob", "--json"]) == 2

    answer = json.loads(capsys.readouterr().out)

    assert (answer["ok"], answer["data"], answer["command"]) == (False, None, "frob")


@pytest.mark.parametrize("word", ["-h", "--help", "help"])
def test_help_is_a_result(capsys: pytest.CaptureFixture[str], word: str) -> None:
    assert main([word]) == 0

    said = capsys.readouterr()

    assert (said.err, said.out.splitlines()[0]) == (
        "",
        "usage: memory-custodian <command> [options]",
    )


def test_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == "memory-custodian 0.10.0\n"


def test_programming_error_keeps_its_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guide 14: only expected errors are told in one line."""
    write_project(tmp_path)

    def broken(*_: object) -> NoReturn:
        raise ZeroDivisionError

    monkeypatch.setattr("mc_cli.commands.read.build_pack", broken)

    with pytest.raises(ZeroDivisionError):
        main(["read", "--project-root", os.fspath(tmp_path)])


def test_error_of_the_operating_system_is_told_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_project(tmp_path)

    def broken(*_: object) -> NoReturn:
        raise OSError(5, "Input/output error", "docs/memory/x.md")

    monkeypatch.setattr("mc_cli.commands.read.build_pack", broken)

    assert main(["read", "--project-root", os.fspath(tmp_path)]) == 1
    assert capsys.readouterr().err.startswith(
        "error: input/output error: docs/memory/x.md\n\nhint: "
    )
