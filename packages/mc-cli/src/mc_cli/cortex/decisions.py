"""What a person decides about a proposal: approve appends its edit, reject only marks it.

Source: governed writes, "Proposals".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from mc_plan import Draft, Operation, RefusedError

from mc_cli.cortex.governance import PROPOSAL, GovernanceError
from mc_cli.cortex.hot_entries import dominant_newline
from mc_cli.cortex.queue import APPROVED, PENDING, QUEUE, REJECTED, Queue, Row, require_row
from mc_cli.cortex.secret import require_no_secret
from mc_cli.cortex.writer import draft_write, read_target

if TYPE_CHECKING:
    from mc_plan import Builder, Seed, Snapshot

    from mc_cli.cortex.items import ProposalItem
    from mc_cli.cortex.writer import Writer

APPROVE: Final = "approve"
REJECT: Final = "reject"


class Decided(NamedTuple):
    """A decision, for the renderer."""

    id: str
    status: str
    target_file: str
    """As seen from the root; empty for a rejected proposal."""


def build_decision(proposal_id: str, action: str, writer: Writer) -> Builder:
    """Return the builder of *action*, `APPROVE` or `REJECT`, on the proposal with that id.

    It raises `MalformedFileError` for a malformed queue and `RefusedError` for an unknown id or a
    proposal that is decided already. What governance refuses is a blocker of the plan.
    """

    def build(snapshot: Snapshot, seed: Seed) -> Draft:  # noqa: ARG001 - a builder has both
        queue, row = require_row(snapshot, writer.place, proposal_id)
        if row.status != PENDING:
            raise RefusedError(
                f"the proposal is not pending but `{row.status}`",
                where=proposal_id,
                hint="propose the edit again if it is still wanted",
                code="not_pending",
            )
        if action == REJECT:
            return _reject(queue, row, writer)
        try:
            return _approve(snapshot, queue, row, writer)
        except GovernanceError as error:
            return Draft(blockers=[error.as_blocker()])

    return build


def _reject(queue: Queue, row: Row, writer: Writer) -> Draft:
    path = writer.place.file(QUEUE)
    return Draft(
        operations=[Operation(f"Mark proposal {row.id} rejected", path)],
        changes={path: queue.marked(row, REJECTED)},
        result=Decided(row.id, REJECTED, ""),
    )


def _approve(snapshot: Snapshot, queue: Queue, row: Row, writer: Writer) -> Draft:
    item = row.item()
    require_no_secret(item)
    text = read_target(snapshot, writer, PROPOSAL, item.target_file) or ""
    target = writer.place.file(item.target_file)
    drafted = draft_write(
        writer,
        writer.moment(),
        item_type=PROPOSAL,
        path=item.target_file,
        content=item.edit,
        changes={
            item.target_file: _with_edit(text, item),
            QUEUE: queue.marked(row, APPROVED),
        },
        detail={},
        what="Append the proposed edit",
        extra={"proposal": row.id},
    )
    marked = Operation(f"Mark proposal {row.id} approved", writer.place.file(QUEUE))
    return drafted._replace(
        operations=[*drafted.operations, marked],
        result=Decided(row.id, APPROVED, target),
    )


def _with_edit(text: str, item: ProposalItem) -> bytes:
    newline = dominant_newline(text)
    edit = item.edit.rstrip("\n").replace("\n", newline) + newline
    if text and not text.endswith("\n"):
        text += newline
    gap = newline if text.strip("\ufeff\r\n") else ""
    return (text + gap + edit).encode("utf-8")
