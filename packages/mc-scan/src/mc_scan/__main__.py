"""`mc-scan`: parse, scan, report, one exit code. Source: rules page, 8."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from mc_scan import __version__
from mc_scan.options import EXIT_CLEAN, EXIT_INTERRUPTED, EXIT_TROUBLE, parse_options

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    _prepare_streams()
    options = parse_options(sys.argv[1:] if arguments is None else arguments, __version__)
    try:
        if options.list_rules:
            return _list_rules()
        from mc_scan.command import run

        code = run(options, sys.stdout, sys.stderr)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except OSError as error:
        # Standard output is gone or full. Python would complain once more while closing it.
        if not isinstance(error, BrokenPipeError):
            reason = os.strerror(error.errno) if error.errno else type(error).__name__
            sys.stderr.write(f"error: the report is not writable ({reason})\n")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_TROUBLE
    return code


def _prepare_streams() -> None:
    """Never fail on a character that the terminal cannot show."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure: Any = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _list_rules() -> int:
    from mc_scan.rules import RULES

    for rule in RULES:
        sys.stdout.write(f"{rule.id:20} {rule.category:8} {rule.severity:7} {rule.title}\n")
    return EXIT_CLEAN


if __name__ == "__main__":
    raise SystemExit(main())
