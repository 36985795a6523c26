from __future__ import annotations

import subprocess
import sys
from typing import NamedTuple

import pytest
from mc_lock import ProcessState
from mc_lock.windows import examine_windows_process, read_machine_guid

ACCESS_DENIED = 5
INVALID_PARAMETER = 87
CLOSED: list[int] = []


class FakeKernel(NamedTuple):
    handle: int = 42
    code: int | None = 259
    created: int | None = 133_000_000
    error: int = 0

    def open_process(self, access: int, pid: int) -> int:
        assert (access, pid) == (0x1000, 7)
        return self.handle

    def exit_code(self, handle: int) -> int | None:
        assert handle == self.handle
        return self.code

    def creation_time(self, handle: int) -> int | None:
        assert handle == self.handle
        return self.created

    def close(self, handle: int) -> None:
        CLOSED.append(handle)

    def last_error(self) -> int:
        return self.error


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        pytest.param(FakeKernel(), ProcessState(alive=True, start="133000000"), id="running"),
        pytest.param(FakeKernel(code=0), ProcessState(alive=False, start=None), id="ended"),
        pytest.param(FakeKernel(code=1), ProcessState(alive=False, start=None), id="failed"),
        pytest.param(
            FakeKernel(code=None, created=None),
            ProcessState(alive=True, start=None),
            id="no-answer-counts-as-alive",
        ),
        pytest.param(
            FakeKernel(handle=0, error=ACCESS_DENIED),
            ProcessState(alive=True, start=None),
            id="access-denied-is-alive",
        ),
        pytest.param(
            FakeKernel(handle=0, error=INVALID_PARAMETER),
            ProcessState(alive=False, start=None),
            id="invalid-parameter-is-gone",
        ),
    ],
)
def test_windows_process_is_judged_by_its_handle(
    kernel: FakeKernel, expected: ProcessState
) -> None:
    CLOSED.clear()

    assert expected == examine_windows_process(7, kernel)
    assert ([kernel.handle] if kernel.handle else []) == CLOSED


def test_machine_id_is_unknown_without_a_registry() -> None:
    assert read_machine_guid() is None


def test_windows_never_sends_a_signal() -> None:
    """Signal 0 is CTRL_C_EVENT there, and any other value ends the process."""
    script = """
import os, sys
import mc_lock.windows
from mc_lock.process import ProcessState, examine_process

def refuse(*_):
    raise SystemExit("a signal was sent")

os.kill = refuse
sys.platform = "win32"
mc_lock.windows.examine_windows_process = lambda pid: ProcessState(True, str(pid))
assert examine_process(7) == ProcessState(True, "7")
"""
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True)

    assert (done.returncode, done.stderr) == (0, b"")
