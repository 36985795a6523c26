"""Walking the links between records, breadth first and within a budget.

Source: Cortex contract, sections 6 ("Expansion") and 13 (D7, D9).
"""

from __future__ import annotations

from mc_retrieve.disclosure import card
from mc_retrieve.errors import InvalidInputError, NotFoundError
from mc_retrieve.markdown import find_links
from mc_retrieve.paging import read_bounded

TYPE_CHECKING = False  # importing `typing` costs a command more than reading a hundred records
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, Final

    from mc_retrieve.record import Record

MAX_NODES: Final = 100
MAX_TOKENS: Final = 50_000
DEFAULT_NODES: Final = 10
DEFAULT_TOKENS: Final = 2_000
_LINK: Final = b"slug:"


class Budget:
    """How far an expansion may go."""

    __slots__ = ("nodes", "tokens")

    def __init__(self, options: Mapping[str, str]) -> None:
        """Read the budget from *options*.

        Raises:
            InvalidInputError: A bound is out of range, or given without ``--expand``.
        """
        for name in ("--max-nodes", "--max-tokens"):
            if name in options and "--expand" not in options:
                raise InvalidInputError(f"`{name}` bounds an expansion and needs `--expand`")
        self.nodes = read_bounded(
            options, "--max-nodes", default=DEFAULT_NODES, low=1, high=MAX_NODES
        )
        self.tokens = read_bounded(
            options, "--max-tokens", default=DEFAULT_TOKENS, low=1, high=MAX_TOKENS
        )


class Graph:
    """The active records by id, with their links."""

    def __init__(self) -> None:
        self._records: dict[str, Record] = {}

    def add(self, record: Record, content: bytes) -> None:
        """Take in an active record and read its links."""
        read_links(record, content)
        self._records[record.id] = record

    def expand(self, root: str, budget: Budget) -> dict[str, Any]:
        """Return what lies around the record *root* within *budget*.

        Raises:
            NotFoundError: *root* is no active record.
        """
        if root not in self._records:
            raise NotFoundError("the record to expand is not active or does not exist")
        items: list[Record] = []
        tokens = 0
        for record in self._breadth_first(root):
            if len(items) == budget.nodes or tokens + record.est_tokens > budget.tokens:
                break
            items.append(record)
            tokens += record.est_tokens
        # The walk goes on exactly when something reachable was left out.
        taken = {record.id for record in items}
        is_truncated = any(record.id not in taken for record in self._breadth_first(root))
        return {
            "items": [card(record) for record in items],
            "est_tokens": tokens,
            "truncated": is_truncated,
        }

    def _breadth_first(self, root: str) -> Iterator[Record]:
        queue = [root]
        seen = {root}
        for record_id in queue:
            record = self._records[record_id]
            yield record
            for link in record.related or []:
                if link in self._records and link not in seen:
                    seen.add(link)
                    queue.append(link)


def read_links(record: Record, content: bytes) -> None:
    """Fill in the links of *record* from its *content*, unless its file lists them."""
    if record.related is None:
        record.related = find_links(content.decode("utf-8")) if _LINK in content else []
