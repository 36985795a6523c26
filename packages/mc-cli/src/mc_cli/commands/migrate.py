"""`migrate`: lead the project to the current protocol; previewed first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mc_cli.location import require_memory
from mc_cli.mutating import (
    PLAN_ID,
    add_apply_options,
    command_line,
    reporting_files,
    run_request,
)
from mc_cli.options import command_parser
from mc_cli.output import one_line
from mc_cli.previewed import previewed_result

if TYPE_CHECKING:
    from argparse import Namespace

    from mc_migrate import MigrationResult

    from mc_cli.commands import Command
    from mc_cli.options import Parser
    from mc_cli.output import Result

_EXAMPLE: Final = "memory-custodian migrate"


def parser(command: Command) -> Parser:
    """Return the parser of `migrate`."""
    made = command_parser(command, _EXAMPLE)
    add_apply_options(made)
    return made


@reporting_files
def run(args: Namespace) -> Result:
    """Preview or apply the migration of the project that *args* name."""
    from mc_migrate import build_migration, migrate_request

    location = require_memory(args)
    words = ["--apply", "--confirm-plan", PLAN_ID]
    request = migrate_request(apply_command=command_line(args, "migrate", words))
    outcome = run_request(args, location, build_migration, request)
    result: MigrationResult = outcome.result
    return previewed_result(outcome, None, result.as_data(), _lines(result))


def _lines(result: MigrationResult) -> list[str]:
    if result.from_version == result.to_version:
        return [f"The project follows Protocol {result.to_version}: nothing to migrate."]
    lines = [
        "MemoryCustodian migrate plan:",
        f"- Protocol {result.from_version or 'without a version'} -> {result.to_version}",
        f"- project_id: {result.project_id}",
        f"Decisions that get an id: {len(result.ids)}",
        *(f"- {new.entry_id} ({one_line(new.path)}:{new.line})" for new in result.ids),
    ]
    lines += [
        f"Manual migration recommended: {one_line(place.path)}:{place.line} ({place.what})"
        for place in result.manual
    ]
    return lines
