from __future__ import annotations

import itertools

import pytest
from mc_schema.admission import entry_problems
from mc_schema.entry import BODY_LABELS, CANDIDATE, PROMOTED, Entry, format_entry, parse_entry
from mc_schema.errors import InvalidNameError, InvalidPlacementError
from mc_schema.ids import ENTRY_TYPES, EntryId
from mc_schema.storage import (
    ADD_TYPES,
    CANDIDATE_ROW,
    CANDIDATE_TYPES,
    MATRIX,
    TOMBSTONE_ROW,
    Placement,
    Row,
    entry_type,
    is_scope,
    place,
    placement_faults,
    require_module_name,
    require_new_module_name,
    row_of,
)

# type, area, name -> path, id code, body label, scope, newest first (design section 4)
TABLE = [
    ("decision", None, None, "decisions.md", "DEC", "Decision", "project", True),
    ("constraint", None, None, "constraints.md", "CON", "Constraint", "project", False),
    ("preference", None, None, "preferences.md", "PREF", "Preference", "project", False),
    ("do-not-use", None, None, "do-not-use.md", "DNU", "Rejected", "project", True),
    ("tombstone", None, None, "do-not-use.md", "DNU", "Rejected", "project", True),
    ("decision", "sync", None, "areas/sync.md", "AREA", "Decision", "area:sync", True),
    ("constraint", "sync", None, "areas/sync.md", "CON", "Constraint", "area:sync", False),
    ("preference", "sync", None, "areas/sync.md", "PREF", "Preference", "area:sync", False),
    ("do-not-use", "sync", None, "areas/sync.md", "DNU", "Rejected", "area:sync", True),
    ("tombstone", "sync", None, "areas/sync.md", "DNU", "Rejected", "area:sync", True),
    ("rule", None, "output", "rules/output.md", "AREA", "Rule", "rule:output", False),
    ("profile", None, "git", "profiles/git.md", "AREA", "Profile", "profile:git", False),
    ("area", None, "sync", "areas/sync.md", "AREA", "Decision", "area:sync", True),
    ("area", "sync", None, "areas/sync.md", "AREA", "Decision", "area:sync", True),
]
IDS = [f"{row[0]}-{row[1] or row[2] or 'project'}-{n}" for n, row in enumerate(TABLE)]
PATHS = (
    "decisions.md",
    "constraints.md",
    "preferences.md",
    "do-not-use.md",
    "inbox.md",
    "brief.md",
    "areas/sync.md",
    "areas/other.md",
    "areas/sub/sync.md",
    "rules/sync.md",
    "rules/sub/sync.md",
    "profiles/sync.md",
)
SCOPES = ("project", "area:sync", "rule:sync", "profile:sync")


def placed(placement: Placement) -> Entry:
    row = placement.row
    is_candidate = bool(placement.candidate_type)
    return Entry(
        id=EntryId(row.code, "20260726", "a1b2c3d4"),
        title="T",
        status=CANDIDATE if is_candidate else "active",
        scope=placement.scope,
        evidence=("agent-observed" if is_candidate else "user-confirmed",),
        body_label=row.label,
        body="x",
        candidate_type=placement.candidate_type,
    )


@pytest.mark.parametrize("row", TABLE, ids=IDS)
def test_type_is_placed_by_the_matrix(
    row: tuple[str, str | None, str | None, str, str, str, str, bool],
) -> None:
    type_, area, name, path, code, label, scope, newest_first = row
    found = place(type_, area=area, name=name)

    assert (path, scope, "") == (found.path, found.scope, found.candidate_type)
    assert (code, label, newest_first) == (found.row.code, found.row.label, found.row.newest_first)


@pytest.mark.parametrize("row", TABLE, ids=IDS)
def test_placed_entry_is_admitted_where_it_was_placed(
    row: tuple[str, str | None, str | None, str, str, str, str, bool],
) -> None:
    type_, area, name = row[:3]
    for candidate in (False, True):
        placement = place(type_, area=area, name=name, candidate=candidate)
        entry = parse_entry(format_entry(placed(placement)))

        assert entry_problems(entry, placement.path) == []
        assert placement.row == row_of(entry)


@pytest.mark.parametrize("row", TABLE, ids=IDS)
def test_candidate_keeps_its_scope_and_goes_to_the_inbox(
    row: tuple[str, str | None, str | None, str, str, str, str, bool],
) -> None:
    type_, area, name, _, _, _, scope, _ = row
    found = place(type_, area=area, name=name, candidate=True)
    kind = {"tombstone": "do-not-use", "area": "decision"}.get(type_, type_)

    assert Placement(CANDIDATE_ROW, "inbox.md", scope, kind) == found
    assert (
        found.row.code,
        found.row.label,
        found.row.newest_first,
    ) == ("INBOX", "Statement", True)
    assert found.module is None


def test_inbox_entry_is_a_candidate_of_no_type() -> None:
    assert place("inbox") == Placement(CANDIDATE_ROW, "inbox.md", "project", "unspecified")


@pytest.mark.parametrize(
    ("placement", "module"),
    [
        (place("decision"), None),
        (place("decision", area="sync"), ("area", "sync")),
        (place("rule", name="x"), ("rule", "x")),
        (place("profile", name="x"), ("profile", "x")),
    ],
)
def test_module_is_named_when_the_file_is_one(
    placement: Placement, module: tuple[str, str] | None
) -> None:
    assert module == placement.module


def allowed() -> set[tuple[str, str, str, str]]:
    """Every ``(code, label, scope, path)`` that the table of the design has."""
    found = {
        (
            row[4],
            row[5],
            row[6].replace("output", "sync").replace("git", "sync"),
            row[3].replace("output", "sync").replace("git", "sync"),
        )
        for row in TABLE
    }
    found.add(("TOMB", "Rejected", "project", "do-not-use.md"))
    found.add(("AREA", "Rule", "project", "rules/sync.md"))
    found.add(("AREA", "Profile", "project", "profiles/sync.md"))
    found |= {("INBOX", "Statement", scope, "inbox.md") for scope in SCOPES}
    return found


def test_every_other_combination_of_code_label_scope_and_path_is_a_fault() -> None:
    """The validator judges in both directions: 7 codes x 7 labels x 4 scopes x 12 paths."""
    admitted = set()
    for code, label, scope, path in itertools.product(ENTRY_TYPES, BODY_LABELS, SCOPES, PATHS):
        entry = Entry(
            id=EntryId(code, "20260726", "a1b2c3d4"),
            title="T",
            status="active",
            scope=scope,
            evidence=("user-confirmed",),
            body_label=label,
            body="x",
            candidate_type="unspecified" if code == "INBOX" else "",
        )
        if not placement_faults(entry, path):
            admitted.add((code, label, scope, path))

    assert allowed() == admitted


@pytest.mark.parametrize("path", ["archive/decisions-2026-01-01.md", "archive/raw/x.md"])
def test_archive_holds_any_type_but_no_contradiction(path: str) -> None:
    entry = placed(place("decision"))

    assert placement_faults(entry, path) == []
    assert placement_faults(entry._replace(body_label="Constraint"), path)


@pytest.mark.parametrize(
    ("candidate_type", "faults"),
    [
        *((word, []) for word in CANDIDATE_TYPES),
        ("", ["`Candidate-Type:` is missing"]),
        ("tomb", ["`Candidate-Type:` is `tomb`, which is unknown"]),
    ],
)
def test_candidate_names_a_known_type(candidate_type: str, faults: list[str]) -> None:
    entry = placed(place("inbox"))._replace(candidate_type=candidate_type)

    assert faults == placement_faults(entry, "inbox.md")


@pytest.mark.parametrize("status", [CANDIDATE, PROMOTED])
def test_candidate_outside_the_inbox_is_a_fault(status: str) -> None:
    entry = placed(place("constraint", candidate=True))._replace(status=status)

    assert placement_faults(entry, "constraints.md") == ["belongs into `inbox.md`"]


@pytest.mark.parametrize(
    ("type_", "area", "name"),
    [
        pytest.param("memory", None, None, id="unknown-type"),
        pytest.param("DECISION", None, None, id="letter-case"),
        pytest.param("decision", None, "x", id="decision-with-name"),
        pytest.param("inbox", None, "x", id="inbox-with-name"),
        pytest.param("rule", None, None, id="rule-without-name"),
        pytest.param("profile", None, None, id="profile-without-name"),
        pytest.param("area", None, None, id="area-without-name"),
        pytest.param("rule", "sync", "x", id="area-and-name"),
        pytest.param("area", "sync", "sync", id="area-twice"),
        pytest.param("rule", "sync", None, id="rule-with-area"),
        pytest.param("inbox", "sync", None, id="inbox-with-area"),
    ],
)
def test_combination_that_the_matrix_lacks_is_refused(
    type_: str, area: str | None, name: str | None
) -> None:
    for candidate in (False, True):
        with pytest.raises(InvalidPlacementError) as caught:
            place(type_, area=area, name=name, candidate=candidate)

        assert caught.value.hint


GOOD_NAMES = ["a", "sync", "UPPER", "a..b", "a.b", "0-x_y", "x" * 100]
BAD_NAMES = [
    "",
    ".hid",
    "-x",
    "_x",
    "a b",
    "a/b",
    "..",
    "/etc/x",
    "..\\x",
    "C:x",
    "a/../../x",
    "a\n",
    "é",
    "ａ",
    "x" * 101,
]


@pytest.mark.parametrize("name", GOOD_NAMES)
def test_well_formed_name_is_accepted(name: str) -> None:
    assert name == require_module_name(name)


@pytest.mark.parametrize("name", BAD_NAMES)
def test_malformed_name_is_refused_everywhere(name: str) -> None:
    for check in (
        lambda: require_module_name(name),
        lambda: require_new_module_name(name, []),
        lambda: place("rule", name=name),
        lambda: place("decision", area=name),
    ):
        with pytest.raises(InvalidNameError):
            check()


@pytest.mark.parametrize(
    "name",
    [
        "README",
        "readme",
        "CON",
        "con",
        "nul.md",
        "COM1",
        "lpt9.x",
        "aux",
        "prn",
        "com0",
        "a.",
        "a..",
    ],
)
def test_reserved_name_is_refused_for_a_new_module(name: str) -> None:
    with pytest.raises(InvalidNameError) as caught:
        require_new_module_name(name, [])

    assert caught.value.what == "the name is reserved"


@pytest.mark.parametrize("name", ["README", "ReadMe"])
def test_entry_never_goes_into_the_file_that_explains_a_folder(name: str) -> None:
    with pytest.raises(InvalidNameError):
        place("rule", name=name)
    with pytest.raises(InvalidNameError):
        place("decision", area=name)


def test_name_that_differs_by_letter_case_only_is_refused() -> None:
    with pytest.raises(InvalidNameError) as caught:
        require_new_module_name("sync", ["other", "Sync"])

    assert "`Sync`" in caught.value.hint
    assert require_new_module_name("Sync", ["other", "Sync"]) == "Sync"


@pytest.mark.parametrize("text", ["project", "area:sync", "rule:a.b", "profile:X", "area:CON"])
def test_scope_is_the_project_or_a_named_module(text: str) -> None:
    assert is_scope(text)


@pytest.mark.parametrize(
    "text", ["", "Project", "area", "area:", "area:a/b", "area: x", "team:x", "area:..", "project:"]
)
def test_other_scopes_are_invalid(text: str) -> None:
    assert not is_scope(text)
    if text:
        entry = placed(place("decision"))._replace(scope=text)

        assert placement_faults(entry, "decisions.md") == [f"invalid scope `{text}`"]


def test_every_row_has_a_word_for_its_type() -> None:
    rows: tuple[Row, ...] = (*MATRIX, CANDIDATE_ROW, TOMBSTONE_ROW)
    words = {row.type for row in rows}

    assert words - {"candidate"} <= set(ADD_TYPES)
    assert {"decision", "constraint", "preference", "do-not-use", "rule", "profile"} <= words
    assert entry_type(placed(place("rule", name="x"))) == "rule"
    assert entry_type(placed(place("rule", name="x"))._replace(scope="area:x")) == "unknown"
