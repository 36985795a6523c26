"""The commands: one module each with `configure(parser)` and `run(args) -> Result`.

`COMMANDS` is the one list of them: dispatch, `--help` and the documentation test read it.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing `typing` would cost a command more than its work
if TYPE_CHECKING:
    from typing import Final, NamedTuple
else:
    from mc_schema.value import NamedTuple


class Command(NamedTuple):
    """One command of `memory-custodian`."""

    name: str
    summary: str
    is_mutating: bool

    @property
    def module(self) -> str:
        """The module that implements the command, imported only when it runs."""
        return f"mc_cli.commands.{self.name.replace('-', '_')}"


COMMANDS: Final = {
    command.name: command
    for command in (
        Command("init", "Create the memory set of a project, or repair it.", is_mutating=True),
        Command("status", "Show the health of each memory file.", is_mutating=False),
        Command("read", "Print the context pack of a task.", is_mutating=False),
        Command("search", "Find entries by their words.", is_mutating=False),
        Command("show", "Print entries whole, whatever their status.", is_mutating=False),
        Command("timeline", "List what was recorded around a date or an entry.", is_mutating=False),
        Command("add", "Add one entry or candidate.", is_mutating=True),
        Command("enable", "Create an optional memory file or module.", is_mutating=True),
        Command("compact", "Remove exact duplicates, archive what is over.", is_mutating=True),
        Command("forget", "Remove every entry that holds a topic.", is_mutating=True),
        Command("migrate", "Lead the project to the current protocol.", is_mutating=True),
        Command("recover", "Complete or undo an interrupted change.", is_mutating=True),
        Command("proposals", "Review what adapters proposed on a Cortex root.", is_mutating=True),
        Command("cortex-restore", "Bring a snapshot of hot memory back.", is_mutating=True),
        Command(
            "check", "Check structure, entries, links, evidence and secrets.", is_mutating=False
        ),
    )
}
