"""`init`: the memory set of a project, its repair or replacement, and the agent blocks."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, Final

from mc_cli.errors import CommandError, UsageError
from mc_cli.location import locate, nearest
from mc_cli.mutating import (
    PLAN_ID,
    add_apply_options,
    command_line,
    files_written_text,
    reporting_files,
    run_request,
)
from mc_cli.notices import protocol_notices
from mc_cli.options import command_parser
from mc_cli.output import Result, one_line
from mc_cli.planview import plan_as_data, plan_as_text

if TYPE_CHECKING:
    from argparse import Namespace
    from pathlib import Path

    from mc_plan.operations.initialize import Initialized, InitOptions

    from mc_cli.commands import Command
    from mc_cli.location import Location
    from mc_cli.mutating import Outcome
    from mc_cli.options import Parser

_EXAMPLE: Final = "memory-custodian init --agent all"
_AGENTS: Final = ("codex", "claude", "gemini")
_WORDS: Final = ("none", *_AGENTS, "all")


def parser(command: Command) -> Parser:
    """Return the parser of `init`."""
    made = command_parser(command, _EXAMPLE)
    made.add_argument("--path", metavar="DIR", help="Another name for --memory-dir.")
    made.add_argument(
        "--extended", action="store_true", help="Write the optional files and folders too."
    )
    made.add_argument(
        "--agent",
        action="append",
        default=[],
        metavar="AGENT",
        help=f"Agent files that get the block: {', '.join(_WORDS)}; repeatable, or with commas.",
    )
    for agent in _AGENTS:
        made.add_argument(
            f"--with-{agent}", action="store_true", help=f"The same as --agent {agent}."
        )
    made.add_argument(
        "--force-agent", action="store_true", help="Replace an agent block that is there."
    )
    made.add_argument(
        "--repair", action="store_true", help="Complete what is there; nothing is replaced."
    )
    made.add_argument(
        "--replace-existing",
        action="store_true",
        help="Overwrite memory files by their templates; previewed first.",
    )
    add_apply_options(made)
    return made


@reporting_files
def run(args: Namespace) -> Result:
    """Create, repair or replace the memory set, as *args* ask."""
    from mc_plan.operations.initialize import InitOptions, build_initialize, init_request

    _require_combination(args)
    if args.path is not None:
        args.memory_dir = args.path
    options = InitOptions(
        extended=args.extended,
        agents=_agents(args),
        repair=args.repair,
        replace_existing=args.replace_existing,
        force_agent=args.force_agent,
    )
    location = locate(args, here_only=True)
    _require_top(args, location)
    request = init_request(options, apply_command=_apply_command(args, options))
    outcome = run_request(args, location, build_initialize(options), request)
    return _result(options, outcome)


def _require_combination(args: Namespace) -> None:
    if args.repair and args.replace_existing:
        raise UsageError(
            "`--repair` and `--replace-existing` exclude each other", hint="give one of them"
        )
    if args.apply and not args.replace_existing:
        raise UsageError(
            "`--apply` goes with `--replace-existing`",
            hint="leave it out: a plain `init` is applied at once",
        )


def _agents(args: Namespace) -> tuple[str, ...]:
    """Return the agents asked for, in their fixed order, each once."""
    words = [word.strip() for text in args.agent for word in text.split(",")]
    for word in words:
        if word not in _WORDS:
            raise UsageError(
                f"unknown agent `{one_line(word[:40])}`", hint=f"use one of {', '.join(_WORDS)}"
            )
    asked = set(_AGENTS if "all" in words else words)
    asked |= {agent for agent in _AGENTS if getattr(args, f"with_{agent}")}
    return tuple(agent for agent in _AGENTS if agent in asked)


def _require_top(args: Namespace, location: Location) -> None:
    """Refuse a second memory set below an existing one.

    Raises:
        CommandError: A folder above has one; it is named.
    """
    for folder in location.root.parents:
        found = _set_at(folder, args.memory_dir)
        if found is not None:
            raise CommandError(
                "this folder lies below an existing memory set",
                where=str(found.memory_path),
                hint="work with that one: "
                f"`memory-custodian init --repair --project-root {shlex.quote(str(found.root))}`",
                code="below_memory_set",
            )


def _set_at(folder: Path, memory_dir: str | None) -> Location | None:
    try:
        found = nearest(folder, memory_dir)
    except CommandError:
        # The configuration of a folder above is not what the user is working on.
        return None
    if found is None or found.root != folder:
        return None
    return found if any(found.memory_path.glob("*.md")) else None


def _apply_command(args: Namespace, options: InitOptions) -> str:
    words = ["--replace-existing"]
    words += ["--extended"] if options.extended else []
    words += ["--force-agent"] if options.force_agent else []
    for agent in options.agents:
        words += ["--agent", agent]
    return command_line(args, "init", [*words, "--apply", "--confirm-plan", PLAN_ID])


def _result(options: InitOptions, outcome: Outcome) -> Result:
    done: Initialized = outcome.result
    is_preview = options.replace_existing and not outcome.is_applied
    notices = [*outcome.notices, *(f"warning: {text}" for text in outcome.plan.warnings)]
    notices += protocol_notices(done.metadata)
    data: dict[str, Any] = {
        "applied": outcome.is_applied,
        "memory_dir": done.memory_dir,
        "project_id": done.metadata.project_id,
        "protocol": done.metadata.version or None,
        "files": [file._asdict() for file in done.files],
        "warnings": list(outcome.plan.warnings),
        "files_written": list(outcome.written),
    }
    if is_preview:
        data |= {"plan_id": outcome.plan.plan_id, "plan": plan_as_data(outcome.plan)}
    return Result(
        data,
        lambda: plan_as_text(outcome.plan) if is_preview else _text(options, outcome, done),
        exit_code=outcome.exit_code,
        notices=tuple(notices),
        files_written=bool(outcome.written),
    )


def _text(options: InitOptions, outcome: Outcome, done: Initialized) -> str:
    verb = "Repaired" if options.repair else "Initialized"
    lines = [f"{verb} MemoryCustodian at {one_line(done.memory_dir)}"]
    lines += [f"- {one_line(file.path)}: {one_line(file.result)}" for file in done.files]
    if done.needs_brief:
        lines.append(f"Next: fill in {one_line(done.memory_dir)}/brief.md")
    return "\n".join(lines) + "\n" + files_written_text(outcome.written)
