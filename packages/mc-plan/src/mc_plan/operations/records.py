"""The changelog record of an operation, where a project keeps a changelog."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mc_plan.operations.insertion import NEWEST_FIRST, insert

if TYPE_CHECKING:
    from mc_plan.operations.memory_set import MemorySet
    from mc_plan.pending import Seed

CHANGELOG: Final = "changelog.md"


def add_record(memory: MemorySet, seed: Seed, message: str) -> bool:
    """Put a record on top of the changelog when there is one; say whether there is.

    Args:
        memory: Gets the edit.
        seed: Knows the date.
        message: One sentence that names ids and files, never the text of an entry.
    """
    if memory.text(CHANGELOG) is None:
        return False
    insert(memory, CHANGELOG, f"## {seed.iso_date}\n- {message}", order=NEWEST_FIRST)
    return True
