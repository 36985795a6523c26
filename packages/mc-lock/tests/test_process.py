from __future__ import annotations

import errno
import os
import subprocess
import sys
from typing import Any

import pytest
from mc_lock import ProcessState, examine_process, this_host
from mc_lock.process import answers_signals, examine_with_ps, is_pid, parse_proc_stat
from mc_lock.testing import ended_pid

STAT = "7 (name) S 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 1000 200 999"


def test_this_process_is_alive_and_always_the_same() -> None:
    state = examine_process(os.getpid())

    assert state.alive
    assert state == examine_process(os.getpid())
    assert this_host().start == state.start


def test_ended_process_is_gone() -> None:
    assert not examine_process(ended_pid()).alive


def test_two_processes_differ_in_their_start() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        state = examine_process(child.pid)
        child.communicate(b"\n")

    assert state.alive
    assert state.start is None or state.start != this_host().start


def test_zombie_counts_as_gone() -> None:
    """A process that has ended and was not waited for yet still answers signals."""
    child = os.fork()
    if child == 0:
        os._exit(0)
    try:
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)

        assert not examine_process(child).alive
    finally:
        os.waitpid(child, 0)


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        pytest.param(errno.ESRCH, False, id="no-such-process"),
        pytest.param(errno.EPERM, True, id="there-is-somebody-to-be-protected"),
    ],
)
def test_refused_signal_means_a_living_process(number: int, *, expected: bool) -> None:
    def kill(pid: int, sent: int) -> None:
        assert (pid, sent) == (7, 0)
        raise OSError(number, os.strerror(number))

    assert expected is answers_signals(7, kill)


def test_process_of_another_user_is_alive() -> None:
    assert examine_process(1).alive


@pytest.mark.parametrize("pid", [0, -1, 2**31, 10**30, True, False, None, "1", 1.0])
def test_what_is_no_pid_is_never_asked_about(pid: Any) -> None:
    assert not is_pid(pid)
    with pytest.raises(ValueError, match="not a process id"):
        examine_process(pid)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(STAT, ProcessState(alive=True, start="boot:4711"), id="plain"),
        pytest.param(
            STAT.replace("(name)", "(a) S 1 (b) Z)"),
            ProcessState(alive=True, start="boot:4711"),
            id="command-with-parentheses",
        ),
        pytest.param(
            STAT.replace(") S", ") Z"), ProcessState(alive=False, start=None), id="zombie"
        ),
        pytest.param(STAT.replace(") S", ") X"), ProcessState(alive=False, start=None), id="dead"),
        pytest.param("7 (name", ProcessState(alive=True, start=None), id="cut"),
        pytest.param("", ProcessState(alive=True, start=None), id="empty"),
    ],
)
def test_start_is_field_22_after_the_last_parenthesis(text: str, expected: ProcessState) -> None:
    assert expected == parse_proc_stat(text, "boot")


def test_start_without_a_boot_id_is_unknown() -> None:
    """The tick count starts again at every boot, so alone it proves nothing."""
    assert ProcessState(alive=True, start=None) == parse_proc_stat(STAT, "")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(
            "Ss   Sun Jul 26 09:30:00 2026\n",
            ProcessState(alive=True, start="Sun Jul 26 09:30:00 2026"),
            id="running",
        ),
        pytest.param(
            "Z+   Sun Jul 26 09:30:00 2026\n", ProcessState(alive=False, start=None), id="zombie"
        ),
        pytest.param("", ProcessState(alive=True, start=None), id="no-answer"),
    ],
)
def test_ps_tells_state_and_start(answer: str, expected: ProcessState) -> None:
    assert expected == examine_with_ps(7, run=lambda _pid: answer)


def test_ps_of_this_system_knows_this_process() -> None:
    state = examine_with_ps(os.getpid())

    assert state.alive
    assert state == examine_with_ps(os.getpid())


def test_host_names_this_process_and_this_system() -> None:
    host = this_host()

    assert os.getpid() == host.pid
    assert os.uname().nodename == host.hostname
    assert host.machine is None or len(host.machine) == 64


def test_forked_child_is_another_process() -> None:
    before = this_host()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        host = this_host()
        differs = host.pid != before.pid and (host.start is None or host.start != before.start)
        os.write(writer, b"yes" if differs else b"no")
        os._exit(0)
    os.waitpid(child, 0)

    assert os.read(reader, 10) == b"yes"
    os.close(reader)
    os.close(writer)
