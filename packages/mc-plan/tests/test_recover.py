"""After a kill at any call: recovery gives exactly the before or the after state."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from mc_lock import LockError
from mc_plan import (
    IMMEDIATE,
    BlockedError,
    Draft,
    InputError,
    PendingRecoveryError,
    Request,
    StalePlanError,
    UnconfirmedPlanError,
    execute,
    files_report,
    find_interruption,
    list_journals,
    open_project,
    preview,
)
from mc_plan.errors import ApplyError
from mc_plan.journal_store import journal_path
from mc_plan.operations.recover import (
    DEFAULT_OPTIONS,
    RecoverOptions,
    execute_recover,
    preview_recover,
)
from mc_plan.testing import FaultyFilesystem, KillingFilesystem

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mc_plan import Seed, Snapshot

DECISIONS = "docs/memory/decisions.md"
MANIFEST = "docs/memory/manifest.md"
DEADLINE = 100
"""More calls than the sample change or its recovery makes."""
FIRST_RENAME = 28
"""A call of the sample change before its first rename, to save time."""


def silent(line: str) -> None:
    """Take a line for standard error."""


def in_child(work: Callable[[], object]) -> bool:
    """Run *work* in a forked process; tell whether it was killed."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def kill_apply(place: Any, samples: Any, kill_at: int) -> bool:
    request = samples.request._replace(confirmation=IMMEDIATE)
    return in_child(
        lambda: execute(
            place.project,
            samples.build,
            request=request,
            notify=silent,
            filesystem=KillingFilesystem(kill_at),
        )
    )


def recover(place: Any, options: RecoverOptions = DEFAULT_OPTIONS, **changes: Any) -> Any:
    """Preview and apply, breaking the lock of the killed command as the messages say."""
    plan = preview_recover(place.project, options)
    return execute_recover(
        place.project, options, confirm=plan.plan_id, notify=silent, break_stale=True, **changes
    )


def check_report(error: ApplyError, tree: Any, before: Any, after: Any) -> None:
    assert all(tree.get(path) == after.get(path) for path in error.written)
    assert all(tree.get(path) == before.get(path) for path in error.not_written)
    assert error.unknown == ()
    assert "recover" in error.hint


def make(base: Path, samples: Any, name: str = "p") -> Any:
    place = samples.make_place(base / name)
    place.write(DECISIONS, place.read(DECISIONS), 0o640)
    return place


def interrupted_at(base: Path, samples: Any, name: str) -> Any:
    """A project killed at its first rename of *name*, lock aged."""
    for kill_at in range(FIRST_RENAME, DEADLINE):
        place = make(base, samples, f"{name}-{kill_at}")
        before = place.tree()
        assert kill_apply(place, samples, kill_at)
        changed = {path for path, held in place.tree().items() if before.get(path) != held}
        if name in {path.rpartition("/")[2] for path in changed}:
            place.age_locks()
            return place
    raise AssertionError(name)


def test_kill_at_any_call_is_recovered_to_before_or_after(
    tmp_path: Path, samples: Any, changed_tree: Any
) -> None:
    ends = []
    for kill_at in range(1, DEADLINE):
        place = make(tmp_path, samples, str(kill_at))
        before = place.tree()
        if not kill_apply(place, samples, kill_at):
            break
        place.age_locks()
        interruption = find_interruption(place.project)
        halfway = place.tree() not in (before, changed_tree)
        assert interruption is not None or not halfway
        with pytest.raises(LockError):
            execute_recover(place.project, confirm=None, notify=silent, timeout_seconds=0)
        applied = recover(place)
        ends.append((applied.result.outcome, place.tree() == changed_tree))
        assert place.tree() in (before, changed_tree)
        assert place.state_files() == []
        assert find_interruption(place.project) is None
    assert len(ends) >= 40
    assert ends == sorted(ends, key=lambda end: end[1])
    assert {end[0] for end in ends} == {"nothing", "back", "forward"}


def test_kill_of_recover_at_any_call_is_recovered_again(
    tmp_path: Path, samples: Any, changed_tree: Any
) -> None:
    seen = 0
    for first_kill in (12, 38):
        for second_kill in range(1, DEADLINE):
            place = make(tmp_path, samples, f"{first_kill}-{second_kill}")
            before = place.tree()
            assert kill_apply(place, samples, first_kill)
            place.age_locks()
            filesystem = KillingFilesystem(second_kill)
            if not in_child(partial(recover, place, filesystem=filesystem)):
                break
            seen += 1
            place.age_locks()
            recover(place)
            assert place.tree() in (before, changed_tree)
            assert place.state_files() == []
    assert seen >= 40


def test_failing_call_of_recover_can_be_run_again(
    tmp_path: Path, samples: Any, changed_tree: Any
) -> None:
    seen = 0
    for fail_at in range(1, DEADLINE):
        place = make(tmp_path, samples, str(fail_at))
        before = place.tree()
        assert kill_apply(place, samples, 38)
        place.age_locks()
        filesystem = FaultyFilesystem(fail_at, 28)
        plan = preview_recover(place.project)
        try:
            execute_recover(
                place.project,
                confirm=plan.plan_id,
                notify=silent,
                break_stale=True,
                filesystem=filesystem,
            )
        except ApplyError as error:
            seen += 1
            check_report(error, place.tree(), before, changed_tree)
        if not filesystem.has_failed:
            break
        recover(place)
        assert place.tree() in (before, changed_tree)
        assert place.state_files() == []
    assert seen >= 10


def test_writer_stops_at_an_interrupted_change_and_names_the_command(
    tmp_path: Path, samples: Any
) -> None:
    place = interrupted_at(tmp_path, samples, "decisions.md")
    tree = place.tree()

    with pytest.raises(PendingRecoveryError, match="an interrupted change was found") as caught:
        execute(
            place.project,
            samples.build,
            request=samples.request._replace(confirmation=IMMEDIATE),
            notify=silent,
            break_stale=True,
        )

    assert tree == place.tree()
    assert caught.value.hint == "run `memory-custodian recover`"
    assert f"{DECISIONS}: after" in caught.value.details
    assert f"{MANIFEST}: before" in caught.value.details
    assert files_report(caught.value).lines() == ["no files were written"]


def test_preview_works_beside_an_interrupted_change(tmp_path: Path, samples: Any) -> None:
    place = interrupted_at(tmp_path, samples, "decisions.md")

    assert preview(place.project, samples.build, request=samples.request).plan_id


def test_recover_needs_the_plan_id_of_its_preview(tmp_path: Path, samples: Any) -> None:
    place = interrupted_at(tmp_path, samples, "decisions.md")
    tree = place.tree()

    with pytest.raises(UnconfirmedPlanError):
        execute_recover(place.project, confirm=None, notify=silent, break_stale=True)
    with pytest.raises(StalePlanError):
        execute_recover(place.project, confirm="0" * 16, notify=silent)

    assert tree == place.tree()


@pytest.mark.parametrize("direction", ["back", "forward"])
def test_direction_is_followed(
    tmp_path: Path, samples: Any, changed_tree: Any, direction: str
) -> None:
    place = interrupted_at(tmp_path, samples, "decisions.md")
    before = make(tmp_path, samples, "untouched").tree()

    recover(place, RecoverOptions(direction))

    assert place.tree() == (before if direction == "back" else changed_tree)
    assert place.state_files() == []


def test_append_cut_short_by_a_kill_is_completed_or_cut_off(
    tmp_path: Path, samples: Any, changed_tree: Any
) -> None:
    for direction in ("back", "forward"):
        place = interrupted_at(tmp_path / direction, samples, "changelog.md")
        before = make(tmp_path, samples, f"untouched-{direction}").tree()
        with place.project.path("docs/memory/rows.jsonl").open("ab") as stream:
            stream.write(b'{"ro')

        recover(place, RecoverOptions(direction))

        assert place.tree() == (before if direction == "back" else changed_tree)


def test_row_file_replaced_after_the_kill_is_never_cut(tmp_path: Path, samples: Any) -> None:
    place = interrupted_at(tmp_path, samples, "rows.jsonl")
    rows = place.project.path("docs/memory/rows.jsonl")
    rows.write_bytes(rows.read_bytes().replace(b'"row":1', b'"row":9'))
    kept = rows.read_bytes()

    assert preview_recover(place.project).blockers
    recover(place, RecoverOptions("back"))

    assert kept == rows.read_bytes()


def test_file_edited_after_the_kill_blocks_and_is_never_overwritten(
    tmp_path: Path, samples: Any
) -> None:
    place = interrupted_at(tmp_path, samples, "decisions.md")
    place.write("docs/memory/changelog.md", b"what the person typed since\n")
    tree = place.tree()
    plan = preview_recover(place.project)

    with pytest.raises(BlockedError) as caught:
        execute_recover(place.project, confirm=plan.plan_id, notify=silent, break_stale=True)

    assert tree == place.tree()
    assert "memory-custodian recover --accept-current" in caught.value.hint
    for direction in ("back", "forward"):
        other = interrupted_at(tmp_path / direction, samples, "decisions.md")
        other.write("docs/memory/changelog.md", b"what the person typed since\n")
        recover(other, RecoverOptions(direction))
        assert other.read("docs/memory/changelog.md") == b"what the person typed since\n"
        assert (b"new" in other.read(DECISIONS)) == (direction == "forward")
        assert find_interruption(other.project) is None


@pytest.mark.parametrize(
    "make_odd",
    [
        pytest.param(lambda path: path.mkdir(), id="folder"),
        pytest.param(lambda path: path.symlink_to("/etc/passwd"), id="symlink"),
        pytest.param(os.mkfifo, id="fifo"),
    ],
)
def test_odd_file_found_after_the_kill_does_not_brick_the_project(
    tmp_path: Path, samples: Any, make_odd: Any
) -> None:
    place = interrupted_at(tmp_path, samples, "decisions.md")
    path = place.project.path("docs/memory/changelog.md")
    path.unlink()
    make_odd(path)

    assert preview_recover(place.project).blockers
    recover(place, RecoverOptions(accept_current=True))

    assert os.path.lexists(path)
    assert find_interruption(place.project) is None


def test_accept_current_keeps_every_file_and_retires_the_journal(
    tmp_path: Path, samples: Any
) -> None:
    place = interrupted_at(tmp_path, samples, "decisions.md")
    kept = {path: held for path, held in place.tree().items() if ".mc-" not in path}

    recover(place, RecoverOptions(accept_current=True))

    assert kept == place.tree()
    assert [name.split("/")[1] for name in place.state_files()] == ["retired"]
    retired = place.state / "memory-custodian" / place.state_files()[0]
    for age_days, is_kept in ((6, True), (8, False)):
        stamp = time.time() - age_days * 24 * 60 * 60
        os.utime(retired, (stamp, stamp))
        request = Request("nothing", {}, IMMEDIATE)
        execute(place.project, lambda *_: Draft(), request=request, notify=silent)
        assert is_kept == retired.exists()


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: data[: len(data) // 2], id="torn"),
        pytest.param(lambda data: data.replace(b'"schema":1', b'"schema":2'), id="altered"),
        pytest.param(lambda data: b"", id="empty"),
        pytest.param(lambda data: b"\xff\x00" * 50, id="not-text"),
    ],
)
def test_damaged_journal_refuses_and_accept_current_leads_out(
    tmp_path: Path, samples: Any, damage: Any
) -> None:
    place = interrupted_at(tmp_path, samples, "decisions.md")
    path = journal_path(place.project)
    path.write_bytes(damage(path.read_bytes()))
    tree = place.tree()
    request = samples.request._replace(confirmation=IMMEDIATE)

    with pytest.raises(PendingRecoveryError) as caught:
        execute(place.project, samples.build, request=request, notify=silent, break_stale=True)
    assert caught.value.where == str(path)
    assert "recover --accept-current" in caught.value.hint
    assert preview_recover(place.project).blockers
    assert tree == place.tree()
    recover(place, RecoverOptions(accept_current=True))
    assert find_interruption(place.project) is None


def test_journal_of_a_newer_schema_is_left_alone(tmp_path: Path, samples: Any) -> None:
    from mc_plan.canonical import sha256_hex

    place = interrupted_at(tmp_path, samples, "decisions.md")
    path = journal_path(place.project)
    body = path.read_bytes().rpartition(b',"sha256":')[0].replace(b'"schema":1', b'"schema":2')
    path.write_bytes(body + b',"sha256":"' + sha256_hex(body + b"}").encode() + b'"}')
    data = path.read_bytes()

    blockers = preview_recover(place.project).blockers

    assert [blocker.code for blocker in blockers] == ["damaged_journal"]
    assert data == path.read_bytes()


def test_journal_open_to_others_is_not_trusted(tmp_path: Path, samples: Any) -> None:
    place = interrupted_at(tmp_path, samples, "decisions.md")
    journal_path(place.project).chmod(0o644)

    assert [blocker.code for blocker in preview_recover(place.project).blockers] == [
        "damaged_journal"
    ]


def test_temporary_that_no_journal_names_is_removed_when_it_is_old(
    place: Any, samples: Any
) -> None:
    old = place.write(f"docs/memory/.mc-{'a' * 32}.tmp", b"old")
    place.write(f"docs/.mc-{'b' * 32}.tmp", b"old")
    young = place.write(f"docs/memory/.mc-{'c' * 32}.tmp", b"young")
    now = time.time()
    for path in old, old.parent.parent / f".mc-{'b' * 32}.tmp":
        os.utime(path, (now - 301, now - 301))
    os.utime(young, (now - 200, now - 200))

    plan = preview_recover(place.project, now=lambda: now)
    execute_recover(place.project, confirm=plan.plan_id, notify=silent, now=lambda: now)

    assert [path for path in place.tree() if ".mc-" in path] == [f"docs/memory/.mc-{'c' * 32}.tmp"]


def test_nothing_to_recover_needs_no_plan_id(place: Any) -> None:
    plan = preview_recover(place.project)
    applied = execute_recover(place.project, confirm=None, notify=silent)

    assert plan.result.outcome == applied.result.outcome == "nothing"
    assert applied.written == ()


def test_moved_project_finds_its_journal(tmp_path: Path, samples: Any, changed_tree: Any) -> None:
    place = interrupted_at(tmp_path, samples, "decisions.md")
    elsewhere = tmp_path / "elsewhere"
    place.project.root.rename(elsewhere)
    environ = {"XDG_STATE_HOME": str(place.state)}
    moved = place._replace(project=open_project(elsewhere, environ=environ))

    assert find_interruption(moved.project) is not None
    recover(moved)

    assert changed_tree == moved.tree()
    assert moved.state_files() == []


def test_clone_with_the_same_project_id_is_not_held_up(tmp_path: Path, samples: Any) -> None:
    place = interrupted_at(tmp_path, samples, "decisions.md")
    clone_root = tmp_path / "clone"
    clone_root.mkdir()
    clone = place._replace(
        project=open_project(clone_root, environ={"XDG_STATE_HOME": str(place.state)})
    )
    clone.write(MANIFEST, samples.manifest.encode())

    assert find_interruption(clone.project) is None
    assert len(list_journals(clone.project.state)) == 1


def test_clone_is_not_held_up_by_a_deleted_sibling(tmp_path: Path, samples: Any) -> None:
    place = interrupted_at(tmp_path, samples, "decisions.md")
    clone = make(tmp_path, samples, "clone").project._replace(state=place.project.state)
    shutil.rmtree(place.project.root)

    assert find_interruption(clone) is None
    assert len(list_journals(clone.state)) == 1


def test_change_in_progress_is_no_interruption(place: Any, samples: Any) -> None:
    from mc_plan.files import Filesystem

    seen = []

    class Asking(Filesystem):
        def replace(self, source: Path, target: Path) -> None:
            super().replace(source, target)
            seen.append(find_interruption(place.project))

    execute(
        place.project,
        samples.build,
        request=samples.request._replace(confirmation=IMMEDIATE),
        notify=silent,
        filesystem=Asking(),
    )

    assert seen == [None] * 6


def test_direction_and_accept_current_exclude_each_other(place: Any) -> None:
    with pytest.raises(InputError):
        preview_recover(place.project, RecoverOptions("back", accept_current=True))
    with pytest.raises(InputError):
        preview_recover(place.project, RecoverOptions("sideways"))


PURGE_TOPIC = "Zebra-Topic"


def build_purge(snapshot: Snapshot, seed: Seed) -> Draft:
    path = f"docs/memory/areas/{PURGE_TOPIC}.md"
    return Draft(
        changes={path: None, DECISIONS: b"# Decisions\n", MANIFEST: b"changed\n"},
    )


def purge_request() -> Request:
    return Request(
        "forget",
        {"topic": PURGE_TOPIC, "mode": "purge"},
        confirmation=IMMEDIATE,
        private=True,
        private_terms=(PURGE_TOPIC,),
    )


def held_in_state(place: Any, text: str) -> list[Path]:
    import base64

    wanted = [text.encode(), base64.b64encode(text.encode())[:-4]]
    return [
        path
        for path in place.state.rglob("*")
        if path.is_file()
        and any(piece in path.read_bytes() or text in str(path) for piece in wanted)
    ]


@pytest.mark.parametrize("options", [RecoverOptions(), RecoverOptions(accept_current=True)])
def test_journal_of_a_purge_is_deleted_and_never_shows_its_topic(
    place: Any, samples: Any, options: RecoverOptions
) -> None:
    place.write(f"docs/memory/areas/{PURGE_TOPIC}.md", b"about the zebra\n")
    for kill_at in range(8, DEADLINE):
        killed = in_child(
            partial(
                execute,
                place.project,
                build_purge,
                request=purge_request(),
                notify=silent,
                filesystem=KillingFilesystem(kill_at),
            )
        )
        assert killed
        if not place.project.path(f"docs/memory/areas/{PURGE_TOPIC}.md").exists():
            break
        place.age_locks()
        recover(place)
    place.age_locks()
    interruption = find_interruption(place.project)
    assert interruption is not None
    assert interruption.is_private
    assert PURGE_TOPIC not in str(interruption)
    view = preview_recover(place.project, options).public()
    assert PURGE_TOPIC.casefold() not in str(view.as_dict()).casefold()
    assert {target.base_sha256 for target in view.targets} == {None}

    applied = recover(place, options)

    assert PURGE_TOPIC.casefold() not in str(applied.plan.as_dict()).casefold()
    assert place.state_files() == []
    assert held_in_state(place, PURGE_TOPIC) == []


def test_purge_removes_retired_journals_that_may_hold_its_text(
    tmp_path: Path, samples: Any
) -> None:
    place = interrupted_at(tmp_path, samples, "decisions.md")
    recover(place, RecoverOptions(accept_current=True))
    assert len(place.state_files()) == 1
    place.write(f"docs/memory/areas/{PURGE_TOPIC}.md", b"about the zebra\n")

    execute(place.project, build_purge, request=purge_request(), notify=silent)

    assert place.state_files() == []


CHILD = """
import sys
import mc_plan.files
from mc_plan import Draft, IMMEDIATE, Request, execute, open_project
from mc_plan.testing import KillingFilesystem

mc_plan.files.SYSTEM = KillingFilesystem(int(sys.argv[2]))

def build(snapshot, seed):
    path = "docs/memory/decisions.md"
    return Draft(changes={path: snapshot.read(path) + b"new\\n"})

execute(open_project(sys.argv[1]), build, request=Request("add", {}, IMMEDIATE), notify=print)
"""


def test_separate_process_killed_by_the_default_file_system_is_recovered(
    tmp_path: Path, samples: Any
) -> None:
    place = make(tmp_path, samples)
    before = place.tree()
    environ = {**os.environ, "XDG_STATE_HOME": str(place.state)}
    command = [sys.executable, "-c", CHILD, str(place.project.root), "14"]
    done = subprocess.run(command, env=environ, check=False)

    assert done.returncode == -9
    place.age_locks()
    recover(place)
    assert before == place.tree()
