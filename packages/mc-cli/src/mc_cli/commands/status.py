"""`status`: the health of each memory file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mc_cli import exits
from mc_cli.check.health import examine
from mc_cli.check.inspection import inspect
from mc_cli.location import require_memory
from mc_cli.notices import protocol_notices
from mc_cli.options import Parser, command_parser
from mc_cli.output import Result
from mc_cli.statusview import health_as_data, health_as_text

if TYPE_CHECKING:
    from argparse import Namespace

    from mc_cli.commands import Command


def parser(command: Command) -> Parser:
    """Return the parser of `status`."""
    return command_parser(command, "memory-custodian status")


def run(args: Namespace) -> Result:
    """Return the health of the project that *args* name."""
    location = require_memory(args)
    inspection = inspect(location)
    health = examine(inspection)
    manifest = inspection.manifest
    notices = list(protocol_notices(manifest.metadata) if manifest else ())
    if health.attention:
        notices.append(f"{len(health.attention)} point(s) need attention")
    return Result(
        health_as_data(health, location),
        lambda: health_as_text(health, location),
        exits.NO if health.attention else exits.OK,
        tuple(notices),
    )
