"""Parsers: options that commands share, and errors in the form of every other error."""

from __future__ import annotations

import argparse
from itertools import pairwise
from typing import TYPE_CHECKING, NoReturn

from mc_cli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mc_cli.commands import Command


class Parser(argparse.ArgumentParser):
    """An argument parser that raises `UsageError` instead of leaving the process."""

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
