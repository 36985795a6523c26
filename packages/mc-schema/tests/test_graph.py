from __future__ import annotations

import pytest
from mc_schema.graph import find_link_faults
from mc_schema.memoryfile import JudgedUnit, parse_memory_file

A, B, C = (f"MC-DEC-20260726-0000000{letter}" for letter in "abc")
INBOX = "MC-INBOX-20260726-0000000d"


def entry(entry_id: str, *, status: str = "active", **links: str) -> str:
    header = [f"Status: {status}"]
    header += [f"{name.replace('_', '-')}: {value}" for name, value in links.items()]
    label = "Statement" if "INBOX" in entry_id else "Decision"
    return "\n".join(
        [
            f"## {entry_id} — T",
            "",
            *header,
            "Scope: project",
            "Evidence:",
            "- user-confirmed",
            "",
            f"{label}:",
            "x",
            "",
        ]
    )


def units(*texts: str, path: str = "decisions.md") -> list[JudgedUnit]:
    return list(parse_memory_file(path, "\n".join(texts)).units)


def messages(found: list[JudgedUnit]) -> list[tuple[str, str]]:
    return [(fault.unit.entry_id, fault.message) for fault in find_link_faults(found)]


def superseded(entry_id: str, successor: str, **links: str) -> str:
    return entry(entry_id, status="superseded", Superseded_By=successor, **links)


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(units(entry(A), "## Legacy\n"), id="no-links"),
        pytest.param(units(superseded(A, B), entry(B, Supersedes=A)), id="mutual"),
        pytest.param(
            units(superseded(A, B), superseded(B, C, Supersedes=A), entry(C, Supersedes=B)),
            id="chain",
        ),
        pytest.param(
            units(superseded(A, B), path="archive/decisions-2026-01-01.md")
            + units(entry(B, Supersedes=A)),
            id="archived-predecessor",
        ),
        pytest.param(
            units(superseded(A, B.lower()), entry(B, Supersedes=A.upper())), id="letter-case"
        ),
        pytest.param(units(superseded(A, "forgotten")), id="forgotten-successor"),
        pytest.param(
            units(entry(INBOX, status="promoted", Promoted_To=A), entry(A)), id="promoted"
        ),
        pytest.param(units(entry(INBOX, status="promoted")), id="promoted-to-a-forgotten-entry"),
    ],
)
def test_consistent_graph_has_no_faults(found: list[JudgedUnit]) -> None:
    assert messages(found) == []


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(
            units(entry(B, Supersedes=A)),
            [(B, f"`Supersedes: {A}` names an entry that does not exist")],
            id="missing-predecessor",
        ),
        pytest.param(
            units(superseded(A, B)),
            [(A, f"`Superseded-By: {B}` names an entry that does not exist")],
            id="missing-successor",
        ),
        pytest.param(
            units(entry(INBOX, status="promoted", Promoted_To=A)),
            [(INBOX, f"`Promoted-To: {A}` names an entry that does not exist")],
            id="missing-promotion",
        ),
        pytest.param(
            units(entry(B, Supersedes="the old one")),
            [(B, "`Supersedes:` holds no entry id")],
            id="no-id",
        ),
        pytest.param(
            units(entry(A), entry(B, Supersedes=A)),
            [(B, f"`Supersedes: {A}` is not answered by `Superseded-By: {B}` there")],
            id="predecessor-does-not-answer",
        ),
        pytest.param(
            units(superseded(A, B), entry(B)),
            [(A, f"`Superseded-By: {B}` is not answered by `Supersedes: {A}` there")],
            id="successor-does-not-answer",
        ),
        pytest.param(
            units(superseded(A, B), entry(B, Supersedes=A), entry(C, Supersedes=A)),
            [
                (C, f"`Supersedes: {A}` is not answered by `Superseded-By: {C}` there"),
                (A, f"{A} has 2 successors: {B}, {C}"),
            ],
            id="two-successors",
        ),
        pytest.param(
            units(superseded(A, B, Supersedes=B), superseded(B, A, Supersedes=A)),
            [(A, f"the supersession of {A} is a cycle")],
            id="cycle-of-two",
        ),
        pytest.param(
            units(superseded(A, A, Supersedes=A)),
            [(A, f"the supersession of {A} is a cycle")],
            id="cycle-of-one",
        ),
        pytest.param(
            units(
                superseded(A, B, Supersedes=C),
                superseded(B, C, Supersedes=A),
                superseded(C, A, Supersedes=B),
            ),
            [(A, f"the supersession of {A} is a cycle")],
            id="cycle-of-three",
        ),
        pytest.param(
            units(entry(A, Superseded_By="forgotten")),
            [(A, "status `active` and `Superseded-By:` do not agree")],
            id="active-with-successor",
        ),
        pytest.param(
            units(entry(A, status="superseded")),
            [(A, "status `superseded` and `Superseded-By:` do not agree")],
            id="superseded-without-successor",
        ),
        pytest.param(
            units(entry(INBOX, status="candidate", Promoted_To=A), entry(A)),
            [(INBOX, "status `candidate` and `Promoted-To:` do not agree")],
            id="candidate-with-promotion",
        ),
    ],
)
def test_broken_link_is_a_fault(found: list[JudgedUnit], expected: list[tuple[str, str]]) -> None:
    assert expected == messages(found)
