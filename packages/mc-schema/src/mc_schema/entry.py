"""Entries: the grammar of one `##` unit with an id (design section 4)."""

from __future__ import annotations

import re

from mc_schema.document import normalise_newlines
from mc_schema.errors import quoted
from mc_schema.ids import EntryId, claimed_entry_id, parse_entry_id
from mc_schema.lines import Line, scan_lines

TYPE_CHECKING = False  # importing `typing` would cost a command more than its work
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final, NamedTuple
else:
    from mc_schema.value import NamedTuple

ACTIVE: Final = "active"
SUPERSEDED: Final = "superseded"
CANDIDATE: Final = "candidate"
PROMOTED: Final = "promoted"
STATUSES: Final = (ACTIVE, SUPERSEDED, CANDIDATE, PROMOTED)

FORGOTTEN: Final = "forgotten"
"""Value of ``Superseded-By:`` after the successor was forgotten (design section 5)."""

BODY_LABELS: Final = (
    "Decision",
    "Constraint",
    "Preference",
    "Rejected",
    "Rule",
    "Profile",
    "Statement",
)
LINE_FIELDS: Final = (
    "Status",
    "Superseded-By",
    "Promoted-To",
    "Candidate-Type",
    "Scope",
    "Supersedes",
)
"""Fields whose value stands on the label's line, in canonical order."""
EVIDENCE: Final = "Evidence"
REASON: Final = "Reason"
REQUIREMENT: Final = "Promotion-Requirement"
LABELS: Final = (*LINE_FIELDS, EVIDENCE, *BODY_LABELS, REASON, REQUIREMENT)
"""Every label of the grammar; `mc_schema.textsafety` refuses them at the start of a line."""

_FIELD: Final = re.compile(r"([A-Z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*):[ \t]*(.*)", re.ASCII)
_SEPARATOR: Final = re.compile(r"\s*[\u2014\u2013-]\s*")
_ONCE: Final = ("Status", "Scope", EVIDENCE)


class Problem(NamedTuple):
    """Something wrong with one entry."""

    code: str
    message: str
    line: int
    """Lines below the heading; 0 is the heading itself."""


class Entry(NamedTuple):
    """One entry as written. Empty text means that a field is absent."""

    id: EntryId | None
    """``None`` when the heading claims an id that is malformed."""
    title: str
    status: str
    scope: str
    evidence: tuple[str, ...]
    body_label: str
    body: str
    reason: str = ""
    supersedes: str = ""
    superseded_by: str = ""
    promoted_to: str = ""
    candidate_type: str = ""
    requirement: str = ""
    """``Promotion-Requirement:`` of a candidate."""
    unknown: tuple[str, ...] = ()
    """Lines of the header that the grammar does not know; kept, reported as information."""
    claimed: str = ""
    """The id as the heading writes it."""
    problems: tuple[Problem, ...] = ()
    """Violations of the grammar itself; admission is judged elsewhere."""


def parse_entry(text: str) -> Entry:
    """Return the entry written in *text*, one `##` unit as a document cuts it.

    Never raises: what is wrong is listed in ``problems``. Accepted leniently: an en dash or hyphen
    in the heading, ids in any case, fields in any order, text on a label's own line, missing blank
    lines; all that follows ``Reason:`` is reason. Source: design section 4.
    """
    lines = scan_lines(normalise_newlines(text)).lines
    parser = _Parser()
    for number, line in enumerate(lines[1:], 1):
        parser.take(number, line)
    heading = lines[0].content[3:].strip() if lines else ""
    return parser.result(heading)


def format_entry(entry: Entry) -> str:
    """Return the canonical text of *entry*: LF line ends, no final newline."""
    heading = f"## {entry.id or entry.claimed} — {entry.title}".rstrip()
    fields = [f"Status: {entry.status}"]
    for name, value in (
        ("Superseded-By", entry.superseded_by),
        ("Promoted-To", entry.promoted_to),
        ("Candidate-Type", entry.candidate_type),
        ("Scope", entry.scope),
        ("Supersedes", entry.supersedes),
    ):
        if value:
            fields.append(f"{name}: {value}")
    # Above the evidence, where a line without a label can be no part of its list.
    fields += [*entry.unknown, f"{EVIDENCE}:", *(f"- {value}" for value in entry.evidence)]
    parts = [heading, "\n".join(fields), f"{entry.body_label}:\n{entry.body}"]
    if entry.requirement:
        parts.append(f"{REQUIREMENT}:\n{entry.requirement}")
    if entry.reason:
        # Last, because all that follows it is reason.
        parts.append(f"{REASON}:\n{entry.reason}")
    return "\n\n".join(parts)


def split_heading(heading: str) -> tuple[str, str]:
    """Return the id word and the title of *heading*, the text after `## `."""
    claimed = claimed_entry_id(heading) or ""
    rest = heading[len(claimed) :]
    separator = _SEPARATOR.match(rest)
    return claimed, rest[separator.end() :].strip() if separator else rest.strip()


class _Parser:
    """Collects fields line by line; the current block takes the lines that follow its label."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.blocks: dict[str, list[str]] = {}
        self.evidence: list[str] = []
        self.unknown: list[str] = []
        self.problems: list[Problem] = []
        self.seen: set[str] = set()
        self.block = ""
        self.body_label = ""

    def take(self, number: int, line: Line) -> None:
        match = None if line.is_opaque else _FIELD.fullmatch(line.content.rstrip())
        if match and self.block != REASON and self._take_field(number, match[1], match[2] or ""):
            return
        if self.block == EVIDENCE:
            self._take_evidence(number, line)
        elif self.block:
            self.blocks[self.block].append(line.content)
        elif not line.is_blank:
            self.unknown.append(line.content)

    def _take_field(self, number: int, name: str, value: str) -> bool:
        if name in BODY_LABELS:
            self._open_body(number, name, value)
        elif name == EVIDENCE:
            self._once(number, name)
            self.block = EVIDENCE
            if value.strip():
                self.evidence.append(value.strip())
        elif name in (REASON, REQUIREMENT):
            self._once(number, name)
            self.block = name
            self.blocks.setdefault(name, []).append(value)
        elif name in LINE_FIELDS:
            self._once(number, name)
            self.values.setdefault(name, value.strip())
            self.block = "" if not self.body_label else self.block
        else:
            return self._take_unknown(name, value)
        return True

    def _open_body(self, number: int, name: str, value: str) -> None:
        if self.body_label:
            self.problems.append(
                Problem("repeated_field", f"a second body label `{name}:`", number)
            )
        self.body_label = self.body_label or name
        self.block = name
        self.blocks.setdefault(name, []).append(value)

    def _take_unknown(self, name: str, value: str) -> bool:
        # Below the body label a word with a colon is text, not a field.
        if self.body_label:
            return False
        self.block = ""
        self.unknown.append(f"{name}: {value}".rstrip())
        return True

    def _take_evidence(self, number: int, line: Line) -> None:
        content = line.content.strip()
        if content[:2] in ("- ", "* ", "+ ") and not line.is_opaque:
            self.evidence.append(content[2:].strip())
        elif line.is_opaque or (content.startswith("<!--") and content.endswith("-->")):
            self.unknown.append(line.content)
        elif content:
            self.problems.append(
                Problem("stray_text", "text between the evidence and the body label", number)
            )

    def _once(self, number: int, name: str) -> None:
        if name in self.seen:
            self.problems.append(Problem("repeated_field", f"`{name}:` occurs twice", number))
        self.seen.add(name)

    def result(self, heading: str) -> Entry:
        claimed, title = split_heading(heading)
        entry_id = parse_entry_id(claimed)
        problems = list(self.problems)
        if entry_id is None:
            problems.append(Problem("invalid_id", f"{quoted(claimed)} is not a valid entry id", 0))
        problems += [
            Problem("missing_field", f"`{name}:` is missing", 0)
            for name in _ONCE
            if name not in self.seen
        ]
        if not self.body_label:
            problems.append(Problem("missing_body", "the body label is missing", 0))
        elif not self._text(self.body_label):
            problems.append(Problem("missing_body", f"`{self.body_label}:` has no text", 0))
        return Entry(
            id=entry_id,
            title=title,
            status=self.values.get("Status", ""),
            scope=self.values.get("Scope", ""),
            evidence=tuple(self.evidence),
            body_label=self.body_label,
            body=self._text(self.body_label),
            reason=self._text(REASON),
            supersedes=_canonical(self.values.get("Supersedes", "")),
            superseded_by=_canonical(self.values.get("Superseded-By", "")),
            promoted_to=_canonical(self.values.get("Promoted-To", "")),
            candidate_type=self.values.get("Candidate-Type", ""),
            requirement=self._text(REQUIREMENT),
            unknown=tuple(self.unknown),
            claimed=claimed,
            problems=tuple(problems),
        )

    def _text(self, block: str) -> str:
        return _trimmed(self.blocks.get(block, ()))


def _canonical(value: str) -> str:
    """Return an id in canonical case, anything else as written."""
    found = parse_entry_id(value)
    return str(found) if found else value


def _trimmed(lines: Sequence[str]) -> str:
    first, last = 0, len(lines)
    while first < last and not lines[first].strip():
        first += 1
    while last > first and not lines[last - 1].strip():
        last -= 1
    return "\n".join(lines[first:last]).rstrip()
