from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest
from mc_lock import (
    FileCalls,
    LockTimeoutError,
    SignalGuard,
    SignalReceivedError,
    StateDirectory,
    acquire_mutation_lock,
)
from mc_lock.testing import FakeClock, fake_effects, holder_process, lock_path

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]

# A command as the command line runs one: it stops where that is safe, and says so by its exit code.
COMMAND = """
import signal, sys
from pathlib import Path
from mc_lock import *

root, mode = Path(sys.argv[1]), sys.argv[2]
if mode == "ignored":
    signal.signal(signal.SIGHUP, signal.SIG_IGN)

def say(line):
    sys.stdout.write(line + "\\n")
    sys.stdout.flush()

try:
    with SignalGuard() as guard:
        say("ready")
        with acquire_mutation_lock(
            resolve_state_directory(root),
            read_identity=lambda: None,
            memory_dir=root / "docs" / "memory",
            project_root=root,
            command="add",
            notify=say,
            guard=guard,
            timeout_seconds=600,
        ):
            say("held")
            sys.stdin.readline()
            if mode == "hold":
                with guard.hold():
                    guard.check()
                    (root / "first").write_text("new")
                    (root / "second").write_text("new")
            guard.check()
            say("done")
except SignalReceivedError as error:
    sys.stderr.write(f"{error}\\n")
    sys.exit(128 + error.signum)
"""


@contextlib.contextmanager
def command(project: Path, home: Path, mode: str = "plain") -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", COMMAND, str(project), mode],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "XDG_STATE_HOME": str(home)},
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def read_until(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == line + "\n"


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate("\n", timeout=60)
    return process.returncode, out, err


@pytest.mark.parametrize("number", SIGNALS)
def test_signal_while_holding_releases_and_exits_128_plus_n(
    project: Path, tmp_path: Path, number: signal.Signals
) -> None:
    with command(project, tmp_path) as process:
        read_until(process, "ready")
        read_until(process, "held")
        process.send_signal(number)
        code, out, err = finish(process)

    assert (128 + number, "", f"stopped by {number.name}\n") == (code, out, err)
    assert list((tmp_path / "memory-custodian" / "locks").iterdir()) == []


@pytest.mark.parametrize("number", SIGNALS)
def test_signal_while_waiting_ends_the_wait(
    project: Path, tmp_path: Path, number: signal.Signals
) -> None:
    with holder_process(project, state_home=tmp_path), command(project, tmp_path) as process:
        read_until(process, "ready")
        process.send_signal(number)
        code, out, err = finish(process)

        assert (128 + number, "", f"stopped by {number.name}\n") == (code, out, err)
        assert len(list((tmp_path / "memory-custodian" / "locks").iterdir())) == 1


def test_change_that_has_begun_completes_before_stopping(project: Path, tmp_path: Path) -> None:
    with command(project, tmp_path, "hold") as process:
        read_until(process, "ready")
        read_until(process, "held")
        process.send_signal(signal.SIGTERM)
        code, _, _ = finish(process)

    assert code == 128 + signal.SIGTERM
    assert [(project / name).read_text() for name in ("first", "second")] == ["new", "new"]
    assert list((tmp_path / "memory-custodian" / "locks").iterdir()) == []


def test_signal_that_was_ignored_stays_ignored(project: Path, tmp_path: Path) -> None:
    """`nohup` starts commands with SIGHUP ignored; they are meant to outlive the terminal."""
    with command(project, tmp_path, "ignored") as process:
        read_until(process, "ready")
        read_until(process, "held")
        process.send_signal(signal.SIGHUP)
        code, out, _ = finish(process)

    assert (code, out) == (0, "done\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("call", ["open", "write", "fsync", "unlink"])
def test_signal_at_any_call_loses_no_lock(
    state: StateDirectory, project: Path, call: str, number: signal.Signals
) -> None:
    """A handler that raised would strike between the creation of a lock and its `try`."""
    real = getattr(FileCalls(), call)

    def interrupted(*arguments: Any) -> Any:
        result = real(*arguments)
        signal.raise_signal(number)
        return result

    effects = fake_effects(FakeClock(), files=FileCalls()._replace(**{call: interrupted}))
    with SignalGuard() as guard:
        with acquire_mutation_lock(
            state,
            read_identity=lambda: None,
            memory_dir=project,
            project_root=project,
            command="add",
            notify=pytest.fail,
            guard=guard,
            effects=effects,
        ) as lock:
            assert lock.still_ours()
        assert guard.pending == number

    assert list(state.locks.iterdir()) == []


def test_first_signal_is_the_one_that_counts() -> None:
    with SignalGuard() as guard:
        assert guard.pending is None
        guard.check()
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)

        with pytest.raises(SignalReceivedError) as caught:
            guard.check()

    assert caught.value.signum == signal.SIGTERM
    assert guard.pending == signal.SIGTERM


def test_held_guard_lets_nothing_stop_until_the_last_hold_ends() -> None:
    with SignalGuard() as guard:
        with guard.hold():
            with guard.hold():
                signal.raise_signal(signal.SIGTERM)
                guard.check()
            guard.check()
            assert guard.pending == signal.SIGTERM
        with pytest.raises(SignalReceivedError):
            guard.check()


def test_handlers_are_put_back() -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    with SignalGuard():
        inside = [signal.getsignal(number) for number in SIGNALS]

    assert before == [signal.getsignal(number) for number in SIGNALS]
    assert before != inside


def test_handlers_are_put_back_after_an_error() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyError), SignalGuard():
        raise KeyError

    assert before == signal.getsignal(signal.SIGTERM)


def test_guard_in_another_thread_changes_no_handler() -> None:
    seen: list[object] = []

    def enter() -> None:
        with SignalGuard() as guard:
            guard.check()
            seen.append(signal.getsignal(signal.SIGTERM))

    before = signal.getsignal(signal.SIGTERM)
    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()

    assert [before] == seen


def test_killed_holder_leaves_a_lock_that_names_the_way_out(project: Path, tmp_path: Path) -> None:
    """After `kill -9` the refusal says what to do, and following it literally leads out."""
    from mc_lock import Effects, LockError, StaleLockError, resolve_state_directory

    state = resolve_state_directory(project, environ={"XDG_STATE_HOME": str(tmp_path)})
    memory = project / "docs" / "memory"
    notes: list[str] = []

    def attempt(*, later: float, break_stale: bool) -> LockError | None:
        clock = FakeClock(lock_path(state, None, memory).stat().st_mtime + later)
        effects = Effects(now=clock.now, monotonic=clock.monotonic, sleep=clock.sleep)
        try:
            acquire_mutation_lock(
                state,
                read_identity=lambda: None,
                memory_dir=memory,
                project_root=project,
                command="add",
                notify=notes.append,
                break_stale=break_stale,
                effects=effects,
            ).release()
        except LockError as error:
            return error
        return None

    with holder_process(project, state_home=tmp_path) as holder:
        assert isinstance(attempt(later=100, break_stale=True), LockTimeoutError)
        holder.kill()

    young = attempt(later=20, break_stale=False)
    assert isinstance(young, StaleLockError)
    assert "--break-stale-lock" in young.hint
    assert isinstance(attempt(later=20, break_stale=True), StaleLockError)
    assert isinstance(attempt(later=62, break_stale=False), StaleLockError)
    assert attempt(later=62, break_stale=True) is None
    assert list(state.locks.iterdir()) == []
    assert str(holder.pid) in notes[-1]
