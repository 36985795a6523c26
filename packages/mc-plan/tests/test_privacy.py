"""A hard or purge plan: nothing that leaves the process tells what is forgotten."""

from __future__ import annotations

import errno
import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mc_plan import (
    IMMEDIATE,
    ApplyError,
    BlockedError,
    Blocker,
    BudgetLine,
    Draft,
    MalformedFileError,
    Operation,
    Request,
    StalePlanError,
    execute,
    preview,
)
from mc_plan.redaction import REDACTED, Redactor, fold
from mc_plan.testing import FaultyFilesystem

if TYPE_CHECKING:
    from mc_plan import Seed, Snapshot

TOPIC = "Ｚebra Café"
SPELLINGS = ["zebra cafe\u0301", "ZEBRA CAFÉ", "Ｚｅｂｒａ Café"]
PATH = "docs/memory/areas/zebra café.md"


def silent(line: str) -> None:
    """Take a line for standard error."""


def request(**fields: Any) -> Request:
    return Request(
        "forget",
        {"topic": TOPIC, "mode": "purge"},
        private=True,
        private_terms=(TOPIC,),
        apply_command="memory-custodian forget <TOPIC> --mode purge --apply"
        " --confirm-plan <PLAN_ID>",
    )._replace(**fields)


def build(snapshot: Snapshot, seed: Seed) -> Draft:
    return Draft(
        operations=[Operation("Remove 1 unit", PATH), Operation(f"about {SPELLINGS[1]}")],
        changes={PATH: None, "docs/memory/decisions.md": b"kept\n"},
        warnings=[f"still in {SPELLINGS[0]}"],
        blockers=[Blocker("prose", f"prose on {SPELLINGS[2]}", PATH, f"edit {PATH}")],
        budget=[BudgetLine("docs/memory/decisions.md", 800, 412, 397)],
    )


def unblocked(snapshot: Snapshot, seed: Seed) -> Draft:
    return build(snapshot, seed)._replace(blockers=[])


def tells(text: str) -> list[str]:
    """Return the words of the topic that *text* holds, in any spelling."""
    redactor = Redactor(("zebra", "café"))
    return [word for word in text.split() if redactor.is_private(word)]


@pytest.fixture
def private_place(place: Any) -> Any:
    place.write(PATH, b"about it\n")
    return place


def test_public_view_has_no_topic_no_digest_no_diff_and_no_length(private_place: Any) -> None:
    plan = preview(private_place.project, build, request=request())
    view = plan.public()
    shown = json.dumps(view.as_dict(), ensure_ascii=False)

    assert tells(shown) == []
    assert tells(repr(plan)) == []
    assert view.diff == ""
    assert {(target.base_sha256, target.output_sha256) for target in view.targets} == {(None, None)}
    digest = hashlib.sha256(private_place.read("docs/memory/decisions.md")).hexdigest()
    assert digest[:12] not in shown
    assert "412" not in shown
    assert "397" not in shown
    assert view.arguments == {"topic": REDACTED, "mode": "purge"}
    assert view.blockers[0] == Blocker("prose", REDACTED, REDACTED, REDACTED)
    assert f"--confirm-plan {plan.plan_id}" in view.apply_command


def test_plan_id_cannot_be_tested_against_a_list_of_topics(tmp_path: Any, samples: Any) -> None:
    ids = set()
    for name in ("one", "two"):
        place = samples.make_place(tmp_path / name)
        place.write(PATH, b"about it\n")
        ids.add(preview(place.project, build, request=request()).plan_id)

    assert len(ids) == 2


def test_nonce_of_a_private_plan_is_the_same_at_apply(private_place: Any) -> None:
    plan = preview(private_place.project, unblocked, request=request())
    applied = execute(
        private_place.project, unblocked, request=request(), confirm=plan.plan_id, notify=silent
    )

    assert not private_place.project.path(PATH).exists()
    assert tells(str(applied)) == []
    assert {file.path for file in applied.written} == {REDACTED, "docs/memory/decisions.md"}


@pytest.mark.parametrize(
    ("confirm", "operation", "expected"),
    [
        pytest.param("0" * 16, unblocked, StalePlanError, id="stale"),
        pytest.param(None, build, BlockedError, id="blocked"),
    ],
)
def test_refusal_of_a_private_plan_tells_nothing(
    private_place: Any, confirm: str | None, operation: Any, expected: type[Exception]
) -> None:
    plan = preview(private_place.project, operation, request=request())
    with pytest.raises(expected) as caught:
        execute(
            private_place.project,
            operation,
            request=request(),
            confirm=confirm or plan.plan_id,
            notify=silent,
        )

    error: Any = caught.value
    told = [error.what, error.where, error.hint, str(error), str(error.plan.as_dict())]
    assert tells(" ".join(told)) == []


def test_file_error_of_a_private_plan_tells_nothing(private_place: Any) -> None:
    def reads_badly(snapshot: Snapshot, seed: Seed) -> Draft:
        snapshot.read_text(PATH)
        return Draft()

    private_place.write(PATH, b"\xff")
    with pytest.raises(MalformedFileError) as caught:
        preview(private_place.project, reads_badly, request=request())

    assert caught.value.where == REDACTED
    assert tells(f"{caught.value} {caught.value.args} {caught.value.hint}") == []


def test_apply_error_of_a_private_plan_tells_nothing(private_place: Any) -> None:
    told = []
    for fail_at in range(1, 60):
        private_place.write(PATH, b"about it\n")
        private_place.write("docs/memory/decisions.md", b"old\n")
        filesystem = FaultyFilesystem(fail_at, errno.EIO, lasting=True)
        try:
            execute(
                private_place.project,
                unblocked,
                request=request(confirmation=IMMEDIATE),
                notify=silent,
                filesystem=filesystem,
            )
        except ApplyError as error:
            told.append(f"{error} {error.args} {error.hint} {error.files}")
        if not filesystem.has_failed:
            break
        for path in (private_place.state / "memory-custodian" / "journal").iterdir():
            path.unlink()

    assert len(told) >= 15
    assert any(REDACTED in line for line in told)
    assert tells(" ".join(told)) == []


@pytest.mark.parametrize("spelling", [TOPIC, *SPELLINGS])
def test_term_is_found_in_every_spelling(spelling: str) -> None:
    assert Redactor((TOPIC,)).text(f"areas/{spelling}.md") == REDACTED


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("\u2121", "tel", id="compatibility-capitals"),
        pytest.param("Ｚ", "z", id="full-width"),
        pytest.param("e\u0301", "é", id="composed"),
        pytest.param("Straße", "strasse", id="sharp-s"),
        pytest.param("\u0345", "\u03b9", id="iota-below"),
    ],
)
def test_folding_settles_form_and_case(text: str, expected: str) -> None:
    assert expected == fold(text)


@given(text=st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(text) == fold(fold(text))


def test_text_without_a_term_is_kept() -> None:
    assert Redactor((TOPIC,)).text("areas/zebra.md") == "areas/zebra.md"
    assert Redactor().text("anything") == "anything"


def test_plan_that_is_not_private_shows_digests_and_diff(place: Any) -> None:
    public = request(private=False)
    view = preview(place.project, unblocked, request=public).public()
    decisions = next(t for t in view.targets if t.path == "docs/memory/decisions.md")

    assert decisions.base_sha256 == hashlib.sha256(place.read(decisions.path)).hexdigest()
    assert decisions.output_sha256 == hashlib.sha256(b"kept\n").hexdigest()
    assert view.diff.startswith("--- a/docs/memory/decisions.md\n+++ b/docs/memory/decisions.md\n")
    assert view.budget[0][2:] == (412, 397, False)
