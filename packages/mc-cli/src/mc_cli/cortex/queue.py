"""The queue of proposals: one JSON row each, appended by adapters and decided by people.

Source: governed writes, "Proposals"; Cortex contract, section 12 (what counts as pending).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mc_plan import MalformedFileError, RefusedError
from mc_schema.private import WHITE_SPACE

from mc_cli.cortex.audit import OBSERVABILITY, format_row
from mc_cli.cortex.governance import PROPOSAL, GovernanceError, require_tier
from mc_cli.cortex.items import ProposalItem, check_item
from mc_cli.cortex.writer import draft_write

if TYPE_CHECKING:
    from mc_plan import Builder, Draft, Seed, Snapshot

    from mc_cli.cortex.place import Place
    from mc_cli.cortex.writer import Writer

QUEUE: Final = f"{OBSERVABILITY}/pending-proposals.jsonl"
PENDING: Final = "pending"
APPROVED: Final = "approved"
REJECTED: Final = "rejected"

_ID_DIGITS: Final = 8
_HEAD: Final = ("id", "ts", "status")
_DERIVED: Final = "row-"


class Row(NamedTuple):
    """One row of the queue."""

    id: str
    line: int
    """1-based."""
    fields: dict[str, Any]
    """The whole row."""

    @property
    def status(self) -> str:
        """``pending``, ``approved``, ``rejected``, or what another program wrote."""
        status = self.fields.get("status")
        return status if isinstance(status, str) else ""

    def item(self) -> ProposalItem:
        """Return the proposed edit, checked again: a queue can be edited by hand.

        Raises:
            GovernanceError: It is none that may be written.
        """
        fields = {key: value for key, value in self.fields.items() if key not in _HEAD}
        checked = check_item({**fields, "type": PROPOSAL})
        if not isinstance(checked, ProposalItem):
            raise TypeError(type(checked).__name__)
        return checked


class Queue(NamedTuple):
    """The queue as it was read."""

    lines: tuple[bytes, ...]
    """Every line with its end."""
    rows: tuple[Row, ...]
    malformed: tuple[int, ...]
    """1-based numbers of the lines that are no rows."""

    def marked(self, row: Row, status: str) -> bytes:
        """Return the bytes of the queue with *row* marked; every other line stays as it is."""
        lines = list(self.lines)
        at = row.line - 1
        end = b"\r\n" if lines[at].endswith(b"\r\n") else b"\n"
        lines[at] = format_row({**row.fields, "status": status}).rstrip(b"\n") + end
        return b"".join(lines)


def parse_queue(data: bytes) -> Queue:
    """Return *data*, the content of the queue file, as rows. A blank line is no row and no fault.

    An id that occurs twice makes the later row malformed, since it could not be named.
    """
    lines = tuple(data.split(b"\n"))
    lines = tuple([line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else []))
    rows: dict[str, Row] = {}
    malformed = []
    for number, line in enumerate(lines, 1):
        text = line.decode("utf-8", "replace").strip(WHITE_SPACE)
        if not text:
            continue
        row = _parse_row(line, number)
        if row is None or row.id in rows:
            malformed.append(number)
        else:
            rows[row.id] = row
    return Queue(lines, tuple(rows.values()), tuple(malformed))


def read_queue(snapshot: Snapshot, place: Place) -> Queue:
    """Return the queue at *place*; an absent file is an empty queue."""
    return parse_queue(snapshot.read(place.file(QUEUE)) or b"")


def require_row(snapshot: Snapshot, place: Place, proposal_id: str) -> tuple[Queue, Row]:
    """Return the queue and its row with that id.

    Raises:
        MalformedFileError: The queue has lines that are no rows.
        RefusedError: There is no such row.
    """
    queue = read_queue(snapshot, place)
    if queue.malformed:
        raise MalformedFileError(
            f"the queue has malformed lines: {_numbers(queue.malformed)}",
            where=place.file(QUEUE),
            hint="correct or remove those lines by hand",
            code="malformed_queue",
        )
    row = next((row for row in queue.rows if row.id == proposal_id), None)
    if row is None:
        raise RefusedError(
            "there is no proposal with this id",
            where=proposal_id,
            hint=f"`{people_command(place, 'proposals', 'list')}` shows the ids",
            code="unknown_proposal",
        )
    return queue, row


def build_proposal(item: ProposalItem, writer: Writer) -> Builder:
    """Return the builder that appends *item* to the queue as pending."""

    def build(snapshot: Snapshot, seed: Seed) -> Draft:
        moment = writer.moment()
        require_tier(item.type, item.target_file, writer.place)
        known = snapshot.peek(writer.place.file(QUEUE)).data or b""
        proposal_id = _new_id(seed, moment.date, known)
        row = {"id": proposal_id, "ts": moment.text, "status": PENDING, **item.as_fields()}
        detail: dict[str, Any] = {
            "id": proposal_id,
            "created": moment.text,
            "status": PENDING,
            "target_file": item.target_file,
            "target_kind": item.target_kind,
        }
        if item.removed:
            detail["private_spans_removed"] = item.removed
        return draft_write(
            writer,
            moment,
            item_type=item.type,
            path=QUEUE,
            content=item.edit,
            changes={},
            rows={QUEUE: format_row(row)},
            detail=detail,
            what="Queue a proposal",
        )

    return build


def people_command(place: Place, *words: str) -> str:
    """Return a whole command line for people that works on *place*."""
    import shlex

    root = shlex.quote(str(place.project.root))
    return " ".join(["memory-custodian", *words, "--memory-root", root])


def _parse_row(line: bytes, number: int) -> Row | None:
    try:
        fields = json.loads(line.decode("utf-8"), parse_constant=_refuse_constant)
        if not isinstance(fields, dict):
            return None
        # A row that could not be written back, such as one with 1e999, could not be marked.
        format_row(fields)
    except (ValueError, RecursionError):
        return None
    proposal_id = fields.get("id")
    if isinstance(proposal_id, str) and proposal_id:
        return Row(proposal_id, number, fields)
    from hashlib import sha256

    # Another program's rows may have no id. Theirs is made of what they say.
    return Row(_DERIVED + sha256(line.strip()).hexdigest()[:_ID_DIGITS], number, fields)


def _refuse_constant(name: str) -> object:
    raise ValueError(name)


def _new_id(seed: Seed, date: str, known: bytes) -> str:
    nonce = seed.nonce
    for start in range(0, len(nonce), _ID_DIGITS):
        proposal_id = f"prop-{date.replace('-', '')}-{nonce[start : start + _ID_DIGITS]}"
        if proposal_id.encode() not in known:
            return proposal_id
    raise GovernanceError("no id is free for a proposal", hint="try again")


def _numbers(lines: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, lines[:10]))
    return shown if len(lines) <= 10 else f"{shown} and {len(lines) - 10} more"  # noqa: PLR2004
