"""Parsers: options that commands share, and errors in the form of every other error."""

from __future__ import annotations

import argparse
import os
import sys
from itertools import pairwise

from mc_cli.errors import UsageError

TYPE_CHECKING = False  # importing `typing` would cost a command more than its work
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Final, NoReturn

    from mc_cli.commands import Command


DEFAULT_COLUMNS: Final = 80
_MARGIN: Final = 2


class Parser(argparse.ArgumentParser):
    """An argument parser that raises `UsageError` instead of leaving the process."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(formatter_class=_help_formatter, **settings)

    def error(self, message: str) -> NoReturn:
        """Raise *message* as a usage error."""
        raise UsageError(message, hint=f"`{self.prog} --help` shows the options and an example")


def command_parser(
    command: Command, example: str, *, formats: Sequence[str] = ("text", "json")
) -> Parser:
    """Return the parser of *command* with the options that every command has.

    Args:
        command: The command.
        example: One complete command line; it ends the help.
        formats: What `--format` takes; the first is the default.
    """
    parser = Parser(
        prog=f"memory-custodian {command.name}",
        description=command.summary,
        epilog=f"example: {example}",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--project-root",
        metavar="DIR",
        help="Project root; by default the nearest folder above that has a memory directory.",
    )
    parser.add_argument(
        "--memory-dir",
        metavar="DIR",
        help="Memory directory below `docs/` of the project root (default: docs/memory).",
    )
    parser.add_argument("--format", choices=formats, default=formats[0], help="Form of the answer.")
    parser.add_argument(
        "--json", action="store_const", const="json", dest="format", help="Short for --format json."
    )
    if command.is_mutating:
        parser.add_argument(
            "--break-stale-lock",
            action="store_true",
            help="Break a mutation lock whose holder is provably gone.",
        )
    return parser


def wants_json(argv: Sequence[str]) -> bool:
    """Say whether *argv* asks for JSON, even when it cannot be parsed."""
    words = list(argv[: argv.index("--")] if "--" in argv else argv)
    return "--json" in words or "--format=json" in words or ("--format", "json") in pairwise(words)


def _help_formatter(prog: str, **settings: Any) -> argparse.HelpFormatter:
    # Without a width the formatter imports `shutil`, and with it three compression modules, each
    # time that an option is added: more than parsing costs.
    return argparse.HelpFormatter(prog, width=_columns() - _MARGIN, **settings)


def _columns() -> int:
    """Return the width of the terminal, as `shutil.get_terminal_size` tells it."""
    stated = os.environ.get("COLUMNS", "")
    if stated.isdecimal() and int(stated) > 0:
        return int(stated)
    if sys.__stdout__ is None:
        return DEFAULT_COLUMNS
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or DEFAULT_COLUMNS
    except (OSError, ValueError):
        return DEFAULT_COLUMNS
