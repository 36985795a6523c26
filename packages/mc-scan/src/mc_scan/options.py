"""The command line of `mc-scan`; its errors never repeat a secret typed by mistake."""

from __future__ import annotations

import argparse
import math
import sys
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn

from mc_scan.redact import escape_controls, redact_text
from mc_scan.rules import RULES_BY_ID

if TYPE_CHECKING:
    from collections.abc import Sequence

EXIT_CLEAN: Final = 0
EXIT_FOUND: Final = 1
EXIT_TROUBLE: Final = 2
EXIT_INTERRUPTED: Final = 130

DEFAULT_MAX_FILE_MB: Final = 32.0
_EPILOG: Final = """\
exit codes: 0 nothing at or above --fail-on; 1 something; 2 usage error, unreadable or oversized
file, bad baseline (2 only if not 1).

example: mc-scan docs --fail-on warning --format sarif --output mc-scan.sarif
"""


class Options(NamedTuple):
    """A checked command line."""

    paths: list[str]
    format: str
    output: str | None
    fail_on: str
    only: str | None
    rules: frozenset[str] | None
    baseline: str | None
    write_baseline: str | None
    inline: bool
    max_file_mb: float
    stdin_name: str
    list_rules: bool
    quiet: bool
    verbose: bool


def parse_options(arguments: Sequence[str], version: str) -> Options:
    """Read *arguments*; a usage error ends the process with exit code 2."""
    parsed = _parser(version).parse_args(list(arguments))
    return Options(
        paths=parsed.paths or ["."],
        format=parsed.format,
        output=parsed.output,
        fail_on=parsed.fail_on,
        only=parsed.only,
        rules=parsed.rules,
        baseline=parsed.baseline,
        write_baseline=parsed.write_baseline,
        inline=not parsed.no_inline,
        max_file_mb=parsed.max_file_mb,
        stdin_name=parsed.stdin_name,
        list_rules=parsed.list_rules,
        quiet=parsed.quiet,
        verbose=parsed.verbose,
    )


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        # The message may quote an argument, and an argument may be a secret pasted by mistake.
        shown = escape_controls(redact_text(message))
        sys.stderr.write(f"error: {shown}\n\nhint: see `mc-scan --help`\n")
        raise SystemExit(EXIT_TROUBLE)


def _parser(version: str) -> argparse.ArgumentParser:
    parser = _Parser(
        prog="mc-scan",
        description="Find secrets and private data in Markdown and text. Nothing is ever changed.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="File, folder (Markdown, text and dotenv files in it), or - for standard input.",
    )
    parser.add_argument(
        "--format", choices=["text", "json", "sarif"], default="text", help="Form of the report."
    )
    parser.add_argument(
        "--output", metavar="FILE", help="Write the report there, readable by you only."
    )
    parser.add_argument(
        "--fail-on",
        choices=["error", "warning", "never"],
        default="error",
        help="Lowest severity that makes the exit code 1.",
    )
    parser.add_argument("--only", choices=["security", "privacy"], help="Report one category only.")
    parser.add_argument("--rules", type=_rule_ids, metavar="A,B", help="Report these rules only.")
    parser.add_argument("--baseline", metavar="FILE", help="Leave out findings accepted in FILE.")
    parser.add_argument(
        "--write-baseline",
        metavar="FILE",
        help="Accept the current findings in FILE, reasons kept.",
    )
    parser.add_argument("--no-inline", action="store_true", help="Ignore inline marks.")
    parser.add_argument(
        "--max-file-mb",
        type=_size,
        default=DEFAULT_MAX_FILE_MB,
        metavar="N",
        help="Largest file to scan; a larger one makes the exit code 2.",
    )
    parser.add_argument(
        "--stdin-name", default="stdin", metavar="NAME", help="What reports call standard input."
    )
    parser.add_argument("--list-rules", action="store_true", help="List the rules and end.")
    parser.add_argument("--quiet", action="store_true", help="No summary, hints or progress.")
    parser.add_argument("--verbose", action="store_true", help="Name each file that was scanned.")
    parser.add_argument("--version", action="version", version=f"mc-scan {version}")
    return parser


def _rule_ids(text: str) -> frozenset[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names or any(name not in RULES_BY_ID for name in names):
        raise argparse.ArgumentTypeError("unknown rule id; list them with `mc-scan --list-rules`")
    return frozenset(names)


def _size(text: str) -> float:
    try:
        size = float(text)
    except ValueError:
        size = math.nan
    if not 0 < size < math.inf:
        raise argparse.ArgumentTypeError("expected a number of megabytes above 0")
    return size
