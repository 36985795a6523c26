"""`cortex-restore`: bring a snapshot of a hot memory file back; previewed first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mc_cli.cortex.people import (
    LIST,
    open_place,
    person_at,
    request_of,
    require_no_apply,
    root_parser,
    run_people_request,
)
from mc_cli.errors import UsageError
from mc_cli.mutating import reporting_files
from mc_cli.output import Result, one_line
from mc_cli.previewed import previewed_result

if TYPE_CHECKING:
    from argparse import Namespace

    from mc_cli.commands import Command
    from mc_cli.cortex.place import Place
    from mc_cli.options import Parser

RESTORE: Final = "restore"
_EXAMPLE: Final = "memory-custodian cortex-restore list --memory-root ~/memory"


def parser(command: Command) -> Parser:
    """Return the parser of `cortex-restore`."""
    made = root_parser(command, _EXAMPLE)
    made.add_argument("action", choices=(LIST, RESTORE), help="What to do.")
    made.add_argument("snapshot", nargs="?", help="The name of a snapshot, as list prints it.")
    return made


@reporting_files
def run(args: Namespace) -> Result:
    """List snapshots, or preview or apply a restore."""
    from mc_cli.cortex.restore import Restored, build_restore

    if (args.action == LIST) != (args.snapshot is None):
        needs = "takes no name" if args.action == LIST else "needs the name of a snapshot"
        raise UsageError(
            f"`{args.action}` {needs}", hint="`memory-custodian cortex-restore list` shows them"
        )
    place = open_place(args)
    if args.action == LIST:
        require_no_apply(args)
        return _list(place)
    build = build_restore(args.snapshot, person_at(place))
    request = request_of(place, "cortex-restore", [RESTORE, args.snapshot])
    outcome = run_people_request(args, place, build, request)
    restored = outcome.result if isinstance(outcome.result, Restored) else None
    data = {
        "action": RESTORE,
        "snapshot": args.snapshot,
        "file": None if restored is None else restored.file,
    }
    lines = [f"Restore {one_line(args.snapshot)}"]
    return previewed_result(outcome, None, data, lines)


def _list(place: Place) -> Result:
    from mc_cli.cortex.snapshots import list_snapshots

    snapshots = [
        {
            "name": snapshot.name,
            "file": place.file(snapshot.file),
            "taken": snapshot.stamp,
            "bytes": snapshot.size,
        }
        for snapshot in list_snapshots(place)
    ]
    data = {"action": LIST, "snapshots": snapshots}
    return Result(data, lambda: _list_text(snapshots), files_written=False)


def _list_text(snapshots: list[dict[str, Any]]) -> str:
    if not snapshots:
        return "No snapshot.\n"
    rows = [f"{each['name']}  {each['file']}  {each['bytes']} bytes" for each in snapshots]
    return "\n".join([*rows, ""])
