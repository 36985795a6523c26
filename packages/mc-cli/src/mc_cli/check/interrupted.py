"""Interrupted changes: a lingering journal, and temporaries that no journal names."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Final

from mc_cli.check.finding import ERROR, WARNING, Finding
from mc_cli.notices import journal_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mc_plan import Interruption

    from mc_cli.check.inspection import Inspection

_RECOVER: Final = "`memory-custodian recover` shows what to do"


def interruption_findings(inspection: Inspection) -> Iterator[Finding]:
    """Yield what an interrupted change left; a change that is going on now is no fault."""
    from mc_lock import StateError

    try:
        found = find_interruption(inspection)
    except StateError as error:
        message = f"the state directory is not safe to read: {error.what}"
        yield Finding("", 0, WARNING, "state_directory", message, error.hint)
        return
    if found is not None:
        message = "; ".join((found.what, *found.details))
        yield Finding("", 0, ERROR, "interrupted_change", message, found.hint or _RECOVER)
    yield from _leftover_findings(inspection, has_journal=bool(journal_files(inspection.location)))


def find_interruption(inspection: Inspection) -> Interruption | None:
    """Return the interrupted change of this place, if there is one.

    Raises:
        StateError: The state directory is not safe to read.
    """
    from mc_plan import find_interruption as find
    from mc_plan import open_project

    location = inspection.location
    return find(open_project(location.root, os.fspath(location.memory_path)))


def _leftover_findings(inspection: Inspection, *, has_journal: bool) -> Iterator[Finding]:
    """Yield stray temporaries; beside a journal they are its own and told by `recover`."""
    if has_journal:
        return
    from mc_plan import open_project
    from mc_plan.leftover import find_leftovers

    location = inspection.location
    project = open_project(location.root, os.fspath(location.memory_path))
    for leftover in find_leftovers(project, None, time.time()):
        message = "a temporary file that no journal names"
        yield Finding(leftover.path, 0, WARNING, "leftover_temporary", message, _RECOVER)
