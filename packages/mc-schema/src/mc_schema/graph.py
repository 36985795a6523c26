"""The life-cycle graph: supersession and promotion links (design section 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mc_schema.entry import FORGOTTEN, PROMOTED, SUPERSEDED, Entry
from mc_schema.ids import parse_entry_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mc_schema.memoryfile import JudgedUnit


class LinkFault(NamedTuple):
    """A broken link."""

    unit: JudgedUnit
    message: str


def find_link_faults(units: Iterable[JudgedUnit]) -> list[LinkFault]:
    """Return every link of *units* (archive included) that breaks the graph.

    Every reference exists, is mutual, has no cycle and one successor, and statuses agree. A
    promoted candidate may have lost its ``Promoted-To:`` line: a forget plan deletes the line that
    names a removed entry, and the candidate stays promoted.
    """
    by_id: dict[str, JudgedUnit] = {}
    for unit in units:
        if unit.entry_id:
            by_id.setdefault(unit.entry_id, unit)
    faults: list[LinkFault] = []
    successors: dict[str, list[str]] = {}
    for unit in by_id.values():
        entry = unit.standing.entry
        if entry is None:
            continue
        faults += [LinkFault(unit, message) for message in _faults(unit.entry_id, entry, by_id)]
        if entry.supersedes:
            successors.setdefault(entry.supersedes, []).append(unit.entry_id)
    for old, new in successors.items():
        if len(new) > 1 and old in by_id:
            faults.append(
                LinkFault(by_id[old], f"{old} has {len(new)} successors: {', '.join(new)}")
            )
    faults += _cycles(by_id)
    return faults


def _entry(by_id: Mapping[str, JudgedUnit], key: str) -> Entry | None:
    unit = by_id.get(key)
    return unit.standing.entry if unit else None


def _faults(own: str, entry: Entry, by_id: Mapping[str, JudgedUnit]) -> list[str]:
    faults = []
    if entry.supersedes:
        faults += _mutual(own, entry.supersedes, "Supersedes", "Superseded-By", by_id)
    if entry.superseded_by and entry.superseded_by != FORGOTTEN:
        faults += _mutual(own, entry.superseded_by, "Superseded-By", "Supersedes", by_id)
    if entry.promoted_to:
        faults += _target(entry.promoted_to, "Promoted-To", by_id)
    if (entry.status == SUPERSEDED) != bool(entry.superseded_by):
        faults.append(f"status `{entry.status}` and `Superseded-By:` do not agree")
    if entry.promoted_to and entry.status != PROMOTED:
        faults.append(f"status `{entry.status}` and `Promoted-To:` do not agree")
    return faults


def _target(value: str, field: str, by_id: Mapping[str, JudgedUnit]) -> list[str]:
    if parse_entry_id(value) is None:
        return [f"`{field}:` holds no entry id"]
    return [] if value in by_id else [f"`{field}: {value}` names an entry that does not exist"]


def _mutual(
    own: str, value: str, field: str, back: str, by_id: Mapping[str, JudgedUnit]
) -> list[str]:
    faults = _target(value, field, by_id)
    other = _entry(by_id, value)
    if faults or other is None:
        return faults
    answer = other.superseded_by if back == "Superseded-By" else other.supersedes
    return [] if answer == own else [f"`{field}: {value}` is not answered by `{back}: {own}` there"]


def _cycles(by_id: Mapping[str, JudgedUnit]) -> list[LinkFault]:
    """Follow each chain of predecessors once; a chain that meets itself is a cycle."""
    done: set[str] = set()
    faults = []
    for start in by_id:
        path: dict[str, None] = {}
        current = start
        while current and current not in done and current not in path:
            path[current] = None
            entry = _entry(by_id, current)
            current = entry.supersedes if entry else ""
        if current in path:
            faults.append(LinkFault(by_id[current], f"the supersession of {current} is a cycle"))
        done.update(path)
    return faults
