"""Applying under failing calls: each file before or after, an exact report, nothing left over."""

from __future__ import annotations

import errno
import os
import signal
import stat
from typing import TYPE_CHECKING, Any

import pytest
from mc_lock import SignalReceivedError
from mc_plan import (
    IMMEDIATE,
    ApplyError,
    ChangedWhileApplyingError,
    Draft,
    LostLockError,
    PlanError,
    execute,
    files_report,
    find_interruption,
)
from mc_plan.files import Filesystem, rename
from mc_plan.operations.recover import execute_recover, preview_recover
from mc_plan.testing import CountingFilesystem, FaultyFilesystem

if TYPE_CHECKING:
    from pathlib import Path

    from mc_plan import Seed, Snapshot

ERRORS = [errno.ENOSPC, errno.EACCES, errno.EIO, errno.EXDEV, errno.EROFS]
DECISIONS = "docs/memory/decisions.md"
SAMPLE_CALLS = 70
"""More than the sample change makes; the tests stop at the last one."""


def silent(line: str) -> None:
    """Take a line for standard error."""


def apply_sample(place: Any, samples: Any, filesystem: Filesystem | None = None) -> Any:
    request = samples.request._replace(confirmation=IMMEDIATE)
    return execute(
        place.project, samples.build, request=request, notify=silent, filesystem=filesystem
    )


def recover(place: Any) -> str:
    """Recover as the message says; return what was done."""
    plan = preview_recover(place.project)
    applied = execute_recover(place.project, confirm=plan.plan_id, notify=silent)
    outcome: str = applied.result.outcome
    return outcome


def check_report(place: Any, error: BaseException, before: Any, after: Any, reason: str) -> None:
    """Every line of the report is true of the disk, and the error gives the reason."""
    assert reason in str(error)
    report = files_report(error)
    tree = place.tree()
    if not report.written and not report.unknown:
        temporaries = [path for path in tree if ".mc-" in path]
        folders = {path for path in tree if stat.S_ISDIR(tree[path][1])}
        kept = {path: tree[path] for path in tree if path not in {*temporaries, *folders}}
        assert kept == {path: before[path] for path in before if not stat.S_ISDIR(before[path][1])}
    for path in report.written:
        assert tree.get(path) == after.get(path)
    for path in report.not_written:
        assert tree.get(path) == before.get(path)
    for path in report.unknown:
        assert tree.get(path) not in (before.get(path), after.get(path))


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "from-then-on"])
@pytest.mark.parametrize("code", ERRORS, ids=lambda code: errno.errorcode[code])
def test_failing_call_leaves_every_file_before_or_after(
    tmp_path: Path, samples: Any, changed_tree: Any, code: int, *, lasting: bool
) -> None:
    reached = 0
    # A lasting error is tried with every second call only: the suite is to stay quick.
    for fail_at in range(1, SAMPLE_CALLS, 2 if lasting else 1):
        place = samples.make_place(tmp_path / str(fail_at))
        place.write(DECISIONS, place.read(DECISIONS), 0o640)
        before = place.tree()
        filesystem = FaultyFilesystem(fail_at, code, lasting=lasting)
        try:
            apply_sample(place, samples, filesystem)
        except PlanError as error:
            check_report(place, error, before, changed_tree, os.strerror(code))
        if not filesystem.has_failed:
            break
        reached += 1
        if find_interruption(place.project) is not None:
            recover(place)
        assert place.tree() in (before, changed_tree)
        assert place.state_files() == []
    else:
        pytest.fail("the sample change makes more calls than were tried")
    assert reached >= 20


def test_failing_read_leaves_every_file_before_or_after(
    tmp_path: Path, samples: Any, changed_tree: Any
) -> None:
    class Unreadable(Filesystem):
        def __init__(self, fail_at: int) -> None:
            self.left = fail_at

        def open_read(self, path: Path) -> int:
            self.left -= 1
            if self.left == 0:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return super().open_read(path)

    failed = 0
    for fail_at in range(1, SAMPLE_CALLS):
        place = samples.make_place(tmp_path / str(fail_at))
        place.write(DECISIONS, place.read(DECISIONS), 0o640)
        before = place.tree()
        filesystem = Unreadable(fail_at)
        try:
            apply_sample(place, samples, filesystem)
        except PlanError as error:
            failed += 1
            check_report(place, error, before, changed_tree, os.strerror(errno.EIO))
        if filesystem.left > 0:
            break
        assert place.tree() == before
        assert place.state_files() == []
    assert failed >= 12


@pytest.mark.parametrize("owner", [12_345, None], ids=["other-user", "own-user"])
def test_owner_is_kept(place: Any, samples: Any, owner: int | None) -> None:
    path = place.project.path(DECISIONS)
    wanted = (owner, owner) if owner is not None and os.geteuid() == 0 else (-1, -1)
    os.chown(path, *wanted)
    before = path.lstat()

    apply_sample(place, samples)

    after = path.lstat()
    assert (before.st_uid, before.st_gid) == (after.st_uid, after.st_gid)
    assert before.st_ino != after.st_ino


def test_failure_once_is_undone_and_reported_as_nothing_written(place: Any, samples: Any) -> None:
    names = CountingFilesystem()
    other = samples.make_place(place.project.root.parent / "other")
    apply_sample(other, samples, names)
    renames = [index for index, name in enumerate(names.calls, 1) if name == "replace"]
    before = place.tree()

    for fail_at in renames[1:]:
        with pytest.raises(ApplyError) as caught:
            apply_sample(place, samples, FaultyFilesystem(fail_at, errno.EIO))
        assert files_report(caught.value).lines() == ["no files were written"]
        assert before == place.tree()
        assert find_interruption(place.project) is None


def test_journal_that_cannot_be_removed_keeps_the_complete_change(
    place: Any, samples: Any, changed_tree: Any
) -> None:
    place.write(DECISIONS, place.read(DECISIONS), 0o640)

    class KeepsJournal(Filesystem):
        def unlink(self, path: Path) -> None:
            if path.suffix == ".json":
                raise PermissionError(errno.EACCES, "no")
            super().unlink(path)

    with pytest.raises(ApplyError) as caught:
        apply_sample(place, samples, KeepsJournal())

    assert changed_tree == place.tree()
    assert len(caught.value.written) == 7
    assert caught.value.not_written == ()
    assert "memory-custodian recover" in caught.value.hint
    assert recover(place) == "forward"
    assert changed_tree == place.tree()
    assert place.state_files() == []


def test_undo_that_fails_keeps_the_journal_and_lists_every_file(
    place: Any, samples: Any, changed_tree: Any
) -> None:
    place.write(DECISIONS, place.read(DECISIONS), 0o640)
    before = place.tree()

    class FullAfterThreeRenames(Filesystem):
        renames = 0

        def replace(self, source: Path, target: Path) -> None:
            self.renames += 1
            if target.name == "changelog.md":
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            super().replace(source, target)

        def open_create(self, path: Path) -> int:
            if self.renames > 2:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return super().open_create(path)

    with pytest.raises(ApplyError) as caught:
        apply_sample(place, samples, FullAfterThreeRenames())

    check_report(place, caught.value, before, changed_tree, os.strerror(errno.ENOSPC))
    assert caught.value.code == "undo_incomplete"
    assert caught.value.written == (
        DECISIONS,
        "docs/memory/obsolete.md",
        "docs/memory/do-not-use.md",
    )
    assert caught.value.not_written == (
        "docs/memory/areas/deep/new.md",
        "docs/memory/changelog.md",
        "docs/memory/rows.jsonl",
        "docs/memory/manifest.md",
    )
    assert "memory-custodian recover" in caught.value.hint
    assert recover(place) == "forward"
    assert changed_tree == place.tree()


def test_short_writes_are_continued(place: Any, samples: Any, changed_tree: Any) -> None:
    place.write(DECISIONS, place.read(DECISIONS), 0o640)

    class Short(Filesystem):
        def write(self, descriptor: int, data: bytes | memoryview) -> int:
            return super().write(descriptor, bytes(data)[:3])

    apply_sample(place, samples, Short())

    assert changed_tree == place.tree()


def test_fsync_that_fails_is_never_tried_again(place: Any, samples: Any) -> None:
    class Lossy(CountingFilesystem):
        def fsync(self, descriptor: int) -> None:
            super().fsync(descriptor)
            if self.calls.count("fsync") == 3:
                raise OSError(errno.EIO, "lost")

    filesystem = Lossy()
    before = place.tree()
    with pytest.raises(ApplyError):
        apply_sample(place, samples, filesystem)

    assert filesystem.calls.count("fsync") == 3
    assert before == place.tree()


@pytest.mark.parametrize("code", [errno.EINVAL, errno.ENOTSUP])
def test_mount_without_fsync_is_accepted(place: Any, samples: Any, code: int) -> None:
    class NoSync(Filesystem):
        def fsync(self, descriptor: int) -> None:
            raise OSError(code, f"not here: {descriptor}")

        def fsync_directory(self, path: Path) -> None:
            raise OSError(code, f"not here: {path}")

    assert len(apply_sample(place, samples, NoSync()).written) == 7


@pytest.mark.parametrize("mode", [0o640, 0o600, 0o664, 0o755])
def test_mode_is_kept(place: Any, samples: Any, mode: int) -> None:
    place.write(DECISIONS, b"x\n", mode)

    apply_sample(place, samples)

    assert mode == stat.S_IMODE(place.project.path(DECISIONS).lstat().st_mode)


@pytest.mark.parametrize(
    ("umask", "mode"), [(0o000, 0o644), (0o022, 0o644), (0o077, 0o600), (0o027, 0o640)]
)
def test_new_file_has_the_mode_of_the_umask(
    place: Any, samples: Any, umask: int, mode: int
) -> None:
    old = os.umask(umask)
    try:
        apply_sample(place, samples)
    finally:
        os.umask(old)

    found = place.project.path("docs/memory/areas/deep/new.md").lstat().st_mode
    assert mode == stat.S_IMODE(found)


def test_extended_attributes_are_kept_and_their_loss_is_a_warning(place: Any, samples: Any) -> None:
    path = place.project.path(DECISIONS)
    try:
        os.setxattr(path, "user.origin", b"hand")
    except (AttributeError, OSError):
        kept = None
    else:
        kept = b"hand"

    class Bare(Filesystem):
        def copy_attributes(self, source: Path, descriptor: int) -> None:
            if source == path:
                raise OSError(errno.EPERM, "not permitted")
            super().copy_attributes(source, descriptor)

    applied = apply_sample(place, samples)
    if kept is not None:
        assert os.getxattr(path, "user.origin") == kept
    place.write("docs/memory/obsolete.md", b"again\n")
    warned = apply_sample(place, samples, Bare())

    assert applied.warnings == ()
    assert warned.warnings == (
        f"extended attributes of `{DECISIONS}` were not copied (not permitted)",
    )


def test_hard_link_is_announced_and_keeps_the_old_text(place: Any, samples: Any) -> None:
    old = place.read(DECISIONS)
    other = place.project.root / "other-name"
    os.link(place.project.path(DECISIONS), other)

    applied = apply_sample(place, samples)

    assert [line for line in applied.warnings if DECISIONS in line and "hard links" in line]
    assert old == other.read_bytes()


class MeddlingFilesystem(CountingFilesystem):
    """Does something of its own immediately before one rename into place."""

    def __init__(self, rename_number: int, meddle: Any) -> None:
        super().__init__()
        self._left = rename_number
        self._meddle = meddle

    def copy_attributes(self, source: Path, descriptor: int) -> None:
        self._left -= 1
        if self._left == 0:
            self._meddle()
        super().copy_attributes(source, descriptor)


def save_as_editor(path: Path) -> None:
    staged = path.with_name("editor-save")
    staged.write_bytes(b"what the person typed\n")
    staged.replace(path)


def touch_same_bytes(path: Path) -> None:
    path.write_bytes(path.read_bytes())
    os.utime(path, ns=(1, 1))


@pytest.mark.parametrize("target", [DECISIONS, "docs/memory/manifest.md", "docs/memory/rows.jsonl"])
def test_editor_that_saves_while_applying_wins(place: Any, samples: Any, target: str) -> None:
    path = place.project.path(target)
    before = place.tree()
    filesystem = MeddlingFilesystem(1, lambda: save_as_editor(path))

    with pytest.raises(ChangedWhileApplyingError) as caught:
        apply_sample(place, samples, filesystem)

    assert path.read_bytes() == b"what the person typed\n"
    assert caught.value.where == target
    assert files_report(caught.value).lines() == ["no files were written"]
    assert {k: v for k, v in before.items() if k != target} == {
        k: v for k, v in place.tree().items() if k != target
    }
    assert place.state_files() == []


def test_rewrite_of_the_same_bytes_while_applying_is_noticed(place: Any, samples: Any) -> None:
    path = place.project.path(DECISIONS)
    filesystem = MeddlingFilesystem(1, lambda: touch_same_bytes(path))

    with pytest.raises(ChangedWhileApplyingError):
        apply_sample(place, samples, filesystem)


def test_file_that_appears_while_applying_is_not_overwritten(place: Any, samples: Any) -> None:
    path = place.project.path("docs/memory/areas/deep/new.md")
    filesystem = MeddlingFilesystem(1, lambda: path.write_bytes(b"mine\n"))

    with pytest.raises(ChangedWhileApplyingError):
        apply_sample(place, samples, filesystem)

    assert path.read_bytes() == b"mine\n"


def test_file_replaced_by_a_folder_while_applying_is_refused(place: Any, samples: Any) -> None:
    path = place.project.path(DECISIONS)

    def replace_by_folder() -> None:
        path.unlink()
        path.mkdir()

    with pytest.raises(PlanError) as caught:
        apply_sample(place, samples, MeddlingFilesystem(1, replace_by_folder))

    assert path.is_dir()
    assert caught.value.where == DECISIONS
    assert place.state_files() == []


def test_lost_lock_stops_before_the_first_rename(place: Any, samples: Any) -> None:
    locks = place.state / "memory-custodian" / "locks"
    before = place.tree()

    def steal() -> None:
        for path in locks.iterdir():
            path.unlink()

    with pytest.raises(LostLockError) as caught:
        apply_sample(place, samples, MeddlingFilesystem(1, steal))

    assert before == place.tree()
    assert files_report(caught.value).lines() == ["no files were written"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_at_any_call_gives_exactly_before_or_after(
    tmp_path: Path, samples: Any, changed_tree: Any, number: signal.Signals
) -> None:
    class Signalling(CountingFilesystem):
        def __init__(self, at: int) -> None:
            super().__init__()
            self.at = at

        def before(self, name: str) -> None:
            super().before(name)
            if len(self.calls) == self.at:
                os.kill(os.getpid(), number)

    outcomes = set()
    for at in range(1, SAMPLE_CALLS):
        place = samples.make_place(tmp_path / str(at))
        place.write(DECISIONS, place.read(DECISIONS), 0o640)
        before = place.tree()
        filesystem = Signalling(at)
        try:
            applied = apply_sample(place, samples, filesystem)
        except SignalReceivedError as error:
            reported = files_report(error).lines()
            outcomes.add("before")
            assert before == place.tree()
            assert reported == ["no files were written"]
        else:
            assert changed_tree == place.tree()
            if len(filesystem.calls) < at:
                break
            assert applied.signal == number
            outcomes.add("after")
        assert place.state_files() == []
    assert outcomes == {"before", "after"}


def test_append_is_undone_by_cutting_it_off(place: Any, samples: Any) -> None:
    path = place.project.path("docs/memory/rows.jsonl")
    inode = path.lstat().st_ino

    class NoManifest(Filesystem):
        def replace(self, source: Path, target: Path) -> None:
            if target.name == "manifest.md":
                assert path.read_bytes() == b'{"row":1}\n{"row":2}\n'
                raise OSError(errno.EIO, "bad")
            super().replace(source, target)

    with pytest.raises(ApplyError):
        apply_sample(place, samples, NoManifest())

    assert path.read_bytes() == b'{"row":1}\n'
    assert inode == path.lstat().st_ino


def test_append_to_an_unfinished_line_is_refused(place: Any, samples: Any) -> None:
    place.write("docs/memory/rows.jsonl", b'{"row":1}\n{"ro')
    before = place.tree()

    with pytest.raises(PlanError, match="last line"):
        apply_sample(place, samples)

    assert before == place.tree()


def test_append_does_not_read_the_row_file_into_the_plan_id(place: Any, samples: Any) -> None:
    from mc_plan import preview

    first = preview(place.project, samples.build, request=samples.request)
    place.write("docs/memory/rows.jsonl", b'{"row":1}\n{"row":"of another command"}\n')
    second = preview(place.project, samples.build, request=samples.request)

    assert first.plan_id == second.plan_id


def test_sharing_violation_is_waited_for_and_posix_errors_are_not(tmp_path: Path) -> None:
    class Shared(CountingFilesystem):
        def __init__(self, errors: list[PermissionError]) -> None:
            super().__init__()
            self.errors = errors
            self.slept: list[float] = []

        def replace(self, source: Path, target: Path) -> None:
            if self.errors:
                raise self.errors.pop(0)
            super().replace(source, target)

        def sleep(self, seconds: float) -> None:
            self.slept.append(seconds)

    def violation() -> PermissionError:
        error = PermissionError(errno.EACCES, "sharing")
        vars(error)["winerror"] = 32
        return error

    source, target = tmp_path / "a", tmp_path / "b"
    source.write_bytes(b"new")
    twice = Shared([violation(), violation()])
    rename(twice, source, target)
    assert target.read_bytes() == b"new"
    assert len(twice.slept) == 2

    source.write_bytes(b"newer")
    for_ever = Shared([violation() for _ in range(100)])
    with pytest.raises(PermissionError):
        rename(for_ever, source, target)
    assert 1.5 <= sum(for_ever.slept) <= 2.0

    posix = Shared([PermissionError(errno.EACCES, "no")])
    with pytest.raises(PermissionError):
        rename(posix, source, target)
    assert posix.slept == []
    assert target.read_bytes() == b"new"


def test_draft_that_changes_and_appends_one_file_is_refused(place: Any, samples: Any) -> None:
    def build(snapshot: Snapshot, seed: Seed) -> Draft:
        return Draft(changes={DECISIONS: b"x\n"}, appends={DECISIONS: b"y\n"})

    with pytest.raises(PlanError, match="both changes and appends"):
        execute(
            place.project,
            build,
            request=samples.request._replace(confirmation=IMMEDIATE),
            notify=silent,
        )


def test_read_only_file_system_leaves_no_journal(place: Any, samples: Any) -> None:
    """There EROFS is also the answer to the removal of what was never made."""

    class ReadOnly(Filesystem):
        def open_create(self, path: Path) -> int:
            self._refuse(path)
            return super().open_create(path)

        def mkdir(self, path: Path) -> None:
            self._refuse(path)
            super().mkdir(path)

        def rmdir(self, path: Path) -> None:
            self._refuse(path)
            super().rmdir(path)

        def unlink(self, path: Path) -> None:
            self._refuse(path)
            super().unlink(path)

        def _refuse(self, path: Path) -> None:
            if path.is_relative_to(place.project.root):
                raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    before = place.tree()

    with pytest.raises(ApplyError) as caught:
        apply_sample(place, samples, ReadOnly())

    assert before == place.tree()
    assert files_report(caught.value).lines() == ["no files were written"]
    assert place.state_files() == []


def test_temporary_that_cannot_be_removed_keeps_the_journal(place: Any, samples: Any) -> None:
    """What is left in the project must be known to somebody."""

    class KeepsTemporaries(Filesystem):
        def replace(self, source: Path, target: Path) -> None:
            if target.is_relative_to(place.project.root):
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            super().replace(source, target)

        def unlink(self, path: Path) -> None:
            if path.is_relative_to(place.project.root):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            super().unlink(path)

    before = place.tree()

    with pytest.raises(ApplyError) as caught:
        apply_sample(place, samples, KeepsTemporaries())

    assert "memory-custodian recover" in caught.value.hint
    assert [path for path in place.tree() if ".mc-" in path]
    assert recover(place) == "back"
    assert before == place.tree()
    assert place.state_files() == []
