"""The one door: order of refusals, staleness, determinism, exact results."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from mc_plan import (
    ALWAYS,
    BY_PROTOCOL,
    IMMEDIATE,
    BlockedError,
    Blocker,
    Confirmation,
    ConfirmationError,
    Draft,
    InputError,
    StalePlanError,
    UnconfirmedPlanError,
    UnsupportedProtocolError,
    execute,
    files_report,
    preview,
)

if TYPE_CHECKING:
    from pathlib import Path

    from mc_plan import Builder, Seed, Snapshot

INBOX = "docs/memory/inbox.md"
NOON = 1_700_000_000.0


def silent(line: str) -> None:
    """Take a line for standard error."""


def build_inbox(**fields: Any) -> Builder:
    def build(snapshot: Snapshot, seed: Seed) -> Draft:
        old = snapshot.read(INBOX) or b""
        return Draft(changes={INBOX: old + b"one\n"})._replace(**fields)

    return build


def build_generated(snapshot: Snapshot, seed: Seed) -> Draft:
    old = snapshot.read(INBOX) or b""
    text = f"{seed.entry_id('DEC')} {seed.iso_date} {seed.project_id()}\n"
    return Draft(changes={INBOX: old + text.encode()})


def test_apply_writes_exactly_the_previewed_digests(place: Any, samples: Any) -> None:
    plan = preview(place.project, samples.build, request=samples.request)

    applied = execute(
        place.project, samples.build, request=samples.request, confirm=plan.plan_id, notify=silent
    )

    digests = {
        target.path: target.output_sha256
        for target in plan.public().targets
        if target.action in {"create", "replace"}
    }
    assert digests == {path: hashlib.sha256(place.read(path)).hexdigest() for path in digests}
    assert not place.project.path("docs/memory/obsolete.md").exists()
    assert place.read("docs/memory/rows.jsonl") == b'{"row":1}\n{"row":2}\n'
    assert [(file.path.rpartition("/")[2], file.action) for file in applied.written] == [
        ("new.md", "created"),
        ("decisions.md", "updated"),
        ("obsolete.md", "deleted"),
        ("do-not-use.md", "updated"),
        ("changelog.md", "updated"),
        ("rows.jsonl", "appended"),
        ("manifest.md", "updated"),
    ]
    assert place.state_files() == []


def test_plan_cannot_be_applied_twice(place: Any, samples: Any) -> None:
    plan = preview(place.project, samples.build, request=samples.request)
    for_apply = {"request": samples.request, "confirm": plan.plan_id, "notify": silent}
    execute(place.project, samples.build, **for_apply)
    before = place.tree()

    with pytest.raises(StalePlanError):
        execute(place.project, samples.build, **for_apply)

    assert before == place.tree()


def test_stale_plan_writes_nothing_and_carries_the_next_id(place: Any, samples: Any) -> None:
    plan = preview(place.project, samples.build, request=samples.request)
    place.write("docs/memory/decisions.md", b"edited\n")
    before = place.tree()

    with pytest.raises(StalePlanError, match="plan is stale") as caught:
        execute(
            place.project,
            samples.build,
            request=samples.request,
            confirm=plan.plan_id,
            notify=silent,
        )

    assert before == place.tree()
    assert files_report(caught.value).lines() == ["no files were written"]
    assert caught.value.plan.plan_id in caught.value.hint
    execute(
        place.project,
        samples.build,
        request=samples.request,
        confirm=caught.value.plan.plan_id,
        notify=silent,
    )


def test_file_that_was_only_read_makes_the_plan_stale(place: Any) -> None:
    def build(snapshot: Snapshot, seed: Seed) -> Draft:
        snapshot.read("docs/memory/decisions.md")
        snapshot.read("docs/memory/absent.md")
        return Draft(changes={INBOX: b"x\n"})

    request = preview_request()
    first = preview(place.project, build, request=request)
    place.write("docs/memory/absent.md", b"now here\n")
    second = preview(place.project, build, request=request)
    place.write("docs/memory/decisions.md", b"other\n")
    third = preview(place.project, build, request=request)

    assert len({first.plan_id, second.plan_id, third.plan_id}) == 3


def preview_request(**fields: Any) -> Any:
    from mc_plan import Request

    return Request("sample", {"text": "x"})._replace(**fields)


def test_generated_values_survive_from_preview_to_apply(place: Any) -> None:
    request = preview_request()
    plan = preview(place.project, build_generated, request=request)
    shown = plan.mutations[0].after

    execute(place.project, build_generated, request=request, confirm=plan.plan_id, notify=silent)

    assert shown == place.read(INBOX)


def test_apply_after_midnight_uses_the_date_of_the_preview(place: Any) -> None:
    request = preview_request()
    day = 24 * 60 * 60
    plan = preview(place.project, build_generated, request=request, now=lambda: NOON)
    applied = execute(
        place.project,
        build_generated,
        request=request,
        confirm=plan.plan_id,
        notify=silent,
        now=lambda: NOON + day,
    )

    assert len(applied.written) == 1


def test_applied_plan_removes_its_seed(place: Any) -> None:
    request = preview_request()
    plan = preview(place.project, build_generated, request=request)
    plans = place.state / "memory-custodian" / "plans"
    seeds = list(plans.glob("*.seed"))

    execute(place.project, build_generated, request=request, confirm=plan.plan_id, notify=silent)

    assert len(seeds) == 1
    assert list(plans.glob("*.seed")) == []


def test_plan_without_generated_values_needs_no_state(place: Any) -> None:
    preview(place.project, build_inbox(), request=preview_request())

    assert not place.state.exists()


def test_immediate_command_draws_new_ids_each_time(place: Any) -> None:
    request = preview_request(confirmation=IMMEDIATE)
    execute(place.project, build_generated, request=request, notify=silent)
    execute(place.project, build_generated, request=request, notify=silent)

    first, second = place.read(INBOX).splitlines()
    assert first.split()[0] != second.split()[0]
    assert list((place.state / "memory-custodian" / "plans").iterdir()) == []


@pytest.mark.parametrize(
    ("confirmation", "protocol", "is_refused"),
    [
        pytest.param(BY_PROTOCOL, "0.6", True, id="current-protocol"),
        pytest.param(BY_PROTOCOL, "0.5", False, id="older-protocol"),
        pytest.param(ALWAYS, "0.5", True, id="always-on-older"),
        pytest.param(IMMEDIATE, "0.6", False, id="immediate"),
    ],
)
def test_confirmation_is_needed_as_the_protocol_says(
    place: Any, samples: Any, confirmation: str, protocol: str, *, is_refused: bool
) -> None:
    text = samples.manifest.replace("protocol_version: 0.6", f"protocol_version: {protocol}")
    place.write("docs/memory/manifest.md", text.encode())
    request = preview_request(confirmation=confirmation)
    before = place.tree()

    if not is_refused:
        execute(place.project, build_inbox(), request=request, notify=silent)
        assert place.read(INBOX) == b"one\n"
        return
    with pytest.raises(UnconfirmedPlanError) as caught:
        execute(place.project, build_inbox(), request=request, notify=silent)
    assert before == place.tree()
    assert caught.value.plan.plan_id in caught.value.hint


def test_given_id_must_match_also_where_none_is_needed(place: Any, samples: Any) -> None:
    text = samples.manifest.replace("protocol_version: 0.6", "protocol_version: 0.5")
    place.write("docs/memory/manifest.md", text.encode())
    before = place.tree()

    with pytest.raises(StalePlanError):
        execute(
            place.project,
            build_inbox(),
            request=preview_request(),
            confirm="0" * 16,
            notify=silent,
        )

    assert before == place.tree()


@pytest.mark.parametrize(
    "confirm", ["", "abc", "Z" * 16, "0123456789ABCDEF", "0" * 17, "<PLAN_ID>"]
)
def test_malformed_id_is_an_input_error(place: Any, confirm: str) -> None:
    with pytest.raises(InputError) as caught:
        execute(
            place.project,
            build_inbox(),
            request=preview_request(),
            confirm=confirm,
            notify=silent,
        )

    assert caught.value.code == "malformed_plan_id"
    assert not place.state.exists()


def test_refusals_come_in_the_order_id_blockers_confirmations(place: Any) -> None:
    build = build_inbox(
        blockers=[Blocker("prose", "the file has prose", INBOX, "edit it")],
        confirmations=[Confirmation("--allow-broad-match", "more than 5 entries match")],
    )
    only_flag = build_inbox(
        confirmations=[Confirmation("--allow-broad-match", "more than 5 entries match")]
    )
    request = preview_request()
    before = place.tree()
    blocked = preview(place.project, build, request=request)
    flagged = preview(place.project, only_flag, request=request)

    with pytest.raises(StalePlanError):
        execute(place.project, build, request=request, confirm="0" * 16, notify=silent)
    with pytest.raises(UnconfirmedPlanError):
        execute(place.project, build, request=request, notify=silent)
    with pytest.raises(BlockedError) as stop:
        execute(place.project, build, request=request, confirm=blocked.plan_id, notify=silent)
    with pytest.raises(ConfirmationError) as ask:
        execute(place.project, only_flag, request=request, confirm=flagged.plan_id, notify=silent)

    assert (stop.value.code, stop.value.where) == ("prose", INBOX)
    assert "--allow-broad-match" in ask.value.hint
    assert before == place.tree()
    given = request._replace(given_flags=frozenset({"--allow-broad-match"}))
    execute(place.project, only_flag, request=given, confirm=flagged.plan_id, notify=silent)


@pytest.mark.parametrize(
    "version_lines",
    [
        pytest.param("- protocol_version: 9.9", id="newer"),
        pytest.param("- protocol_version: five", id="unreadable"),
        pytest.param("- protocol_version: 0.6\n- protocol_version: 0.6", id="repeated"),
    ],
)
def test_unknown_protocol_is_refused_before_the_builder_runs(
    place: Any, samples: Any, version_lines: str
) -> None:
    text = samples.manifest.replace("- protocol_version: 0.6", version_lines)
    place.write("docs/memory/manifest.md", text.encode())
    before = place.tree()

    def build(snapshot: Snapshot, seed: Seed) -> Draft:
        raise AssertionError

    for request in (preview_request(), preview_request(confirmation=IMMEDIATE)):
        with pytest.raises(UnsupportedProtocolError):
            preview(place.project, build, request=request)
        with pytest.raises(UnsupportedProtocolError):
            execute(place.project, build, request=request, notify=silent)

    assert before == place.tree()
    assert place.state_files() == []


def test_argument_that_is_not_unicode_is_an_input_error(place: Any) -> None:
    with pytest.raises(InputError) as caught:
        preview(place.project, build_inbox(), request=preview_request(arguments={"a": "\udcff"}))

    assert caught.value.code == "not_unicode"


def test_change_to_the_same_bytes_writes_nothing(place: Any) -> None:
    def build(snapshot: Snapshot, seed: Seed) -> Draft:
        return Draft(
            changes={"docs/memory/decisions.md": snapshot.read("docs/memory/decisions.md")}
        )

    request = preview_request(confirmation=IMMEDIATE)
    before = os.lstat(place.project.path("docs/memory/decisions.md"))
    applied = execute(place.project, build, request=request, notify=silent)

    assert applied.written == ()
    assert applied.plan.changes_nothing
    assert before == os.lstat(place.project.path("docs/memory/decisions.md"))


def test_programming_error_releases_the_lock_and_keeps_its_traceback(place: Any) -> None:
    def build(snapshot: Snapshot, seed: Seed) -> Draft:
        raise ZeroDivisionError("a defect")

    with pytest.raises(ZeroDivisionError, match="a defect"):
        execute(place.project, build, request=preview_request(), notify=silent)

    assert place.state_files() == []


SCRIPT = """
import sys
from mc_plan import Draft, Operation, Request, open_project, preview

def build(snapshot, seed):
    names = snapshot.list_memory()
    text = b"".join(snapshot.read(name) for name in names)
    path = snapshot.project.memory_file("areas/東京.md")
    return Draft([Operation("é", path)], {path: text + seed.entry_id("DEC").encode()})

project = open_project(sys.argv[1])
print(preview(project, build, request=Request("x", {"a": "é"})).plan_id)
"""


def test_plan_id_is_the_same_in_other_folders_zones_and_languages(
    tmp_path: Path, samples: Any
) -> None:
    found = set()
    for index, (zone, language) in enumerate(
        [("Pacific/Kiritimati", "C"), ("Etc/GMT+12", "en_US.UTF-8"), ("UTC", "tr_TR.UTF-8")]
    ):
        other = samples.make_place(tmp_path / f"base{index}", name=f"checkout-{index}")
        other.write("docs/memory/areas/É.md", b"x\n")
        other.write("docs/memory/areas/z.md", b"y\n")
        elsewhere = tmp_path / f"cwd{index}"
        elsewhere.mkdir()
        environ = {
            "PATH": os.environ["PATH"],
            "TZ": zone,
            "LANG": language,
            "LC_ALL": language,
            # One state directory, so one pending seed.
            "XDG_STATE_HOME": str(tmp_path / "state"),
        }
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(other.project.root)],
            cwd=elsewhere,
            env=environ,
            capture_output=True,
            check=True,
        )
        found.add(done.stdout)

    assert len(found) == 1
