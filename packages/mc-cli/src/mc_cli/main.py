"""The entry points: find the command, let it answer, print, return an exit code."""

from __future__ import annotations

import os
import sys

from mc_cli import exits

# Start-up is a good part of a `cortex` command, so what only the others need is imported late.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

    from mc_cli.commands import Command


OPERATIONAL: Final = ("benchmark", "health", "index", "init-root")
"""Commands of `cortex` beside the contract's eight."""
_EXAMPLE: Final = (
    'example: memory-custodian add "Support Python 3.10+" --type decision '
    "--evidence repo:pyproject.toml"
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run `memory-custodian` with *argv* (default: the process's own) and return the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] == ["cortex"]:
        return cortex_main(arguments[1:])
    is_silenced = _replace_closed_streams()
    if argv is None:
        import gc

        # A command makes many objects, no cycles worth finding, and ends.
        gc.disable()
    from mc_cli.output import use_utf8_streams

    use_utf8_streams()
    try:
        code = _dispatch(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        # The command is done: its files stand, only the end of its answer is missing.
        sys.stderr.write("stopped by signal 2 while the answer was printed\n")
        return exits.SIGNAL_BASE + 2
    except BrokenPipeError:
        return _output_lost("the reader of standard output is gone")
    except OSError as error:
        if _is_about_stdout(error):
            return _output_lost(f"standard output cannot be written ({error.strerror})")
        raise
    if is_silenced and not code:
        return _output_lost("standard output was closed before the command started")
    return code


def cortex_main(argv: Sequence[str] | None = None) -> int:
    """Run `mc-cortex`, the same as `memory-custodian cortex`, before any parser is built."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    is_silenced = _replace_closed_streams()
    if arguments[:1] and arguments[0] in OPERATIONAL:
        from mc_cli.cortex.operations import main as run_command
    else:
        from mc_cli.cortex import main as run_command
    # An answer that nobody could read is no success.
    return int(run_command(arguments)) or int(is_silenced)


def _dispatch(arguments: list[str]) -> int:
    if not arguments:
        sys.stdout.write(_help())
        sys.stderr.write(
            "error: a command is missing\n\nhint: `memory-custodian --help` lists the commands\n"
        )
        return exits.BAD_INPUT
    if arguments[0] in ("-h", "--help", "help"):
        sys.stdout.write(_help())
        return exits.OK
    if arguments[0] == "--version":
        from mc_cli import __version__

        sys.stdout.write(f"memory-custodian {__version__}\n")
        return exits.OK
    from mc_cli.commands import COMMANDS

    command = COMMANDS.get(arguments[0])
    if command is None:
        return _unknown(arguments)
    return _run(command, arguments[1:])


def _run(command: Command, arguments: list[str]) -> int:
    from importlib import import_module

    from mc_cli.errors import failure_of
    from mc_cli.options import wants_json
    from mc_cli.output import emit, emit_failure

    try:
        module = import_module(command.module)
        args = module.parser(command).parse_args(arguments)
        result = module.run(args)
    except (Exception, KeyboardInterrupt) as error:
        failure = failure_of(error)
        if failure is None:
            raise
        return emit_failure(
            failure,
            command.name,
            as_json=wants_json(arguments),
            is_mutating=command.is_mutating,
            out=sys.stdout,
            err=sys.stderr,
        )
    code = emit(result, command.name, as_json=args.format == "json", out=sys.stdout, err=sys.stderr)
    if code and command.is_mutating and not result.files_written:
        sys.stderr.write("no files were written\n")
    return code


def _unknown(arguments: list[str]) -> int:
    from mc_cli.errors import UsageError, failure_of
    from mc_cli.options import wants_json
    from mc_cli.output import emit_failure, one_line, without_secrets

    word = without_secrets(one_line(arguments[0]))
    kind = "option" if word.startswith("-") else "command"
    failure = failure_of(
        UsageError(f"unknown {kind} `{word}`", hint="`memory-custodian --help` lists the commands")
    )
    if failure is None:
        return exits.BAD_INPUT
    return emit_failure(
        failure,
        word,
        as_json=wants_json(arguments),
        is_mutating=False,
        out=sys.stdout,
        err=sys.stderr,
    )


def _help() -> str:
    from mc_cli.commands import COMMANDS

    width = max(len(name) for name in COMMANDS)
    rows = [f"  {command.name:<{width}}  {command.summary}" for command in COMMANDS.values()]
    rows.append(f"  {'cortex':<{width}}  Query a memory root by the Cortex contract (JSON only).")
    return "\n".join(
        [
            "usage: memory-custodian <command> [options]",
            "",
            "Governed project memory in plain Markdown.",
            "",
            "commands:",
            *rows,
            "",
            "`memory-custodian <command> --help` shows the options of a command.",
            _EXAMPLE,
            "",
        ]
    )


def _replace_closed_streams() -> bool:
    """Give the standard streams that are closed (`>&-`) a place; tell if standard output was."""
    is_silenced = sys.stdout is None
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            # Opened for the whole process: it must outlive this function.
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
    return is_silenced


def _is_about_stdout(error: OSError) -> bool:
    # Errors of project files carry their path and are handled by the commands.
    return error.filename is None


def _output_lost(reason: str) -> int:
    # The interpreter flushes standard output again at exit; give it a place where that works.
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        sys.stdout = None
    sys.stderr.write(f"error: {reason}\n\nhint: what was written to files stands; see `status`\n")
    return exits.NO
