"""Who runs here, and is a given process still alive.

A pid alone proves nothing, it is used again. Each process therefore has a start identity that is
compared for equality only, never with a clock. Source: reliability rule 2.5.
"""

# The calls of `os` are used by name: their flags, descriptors and errno are the subject here.
# ruff: noqa: PTH116, PTH123

from __future__ import annotations

import errno
import os
import sys
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

MIN_PID: Final = 1
MAX_PID: Final = 2**31 - 1

_GONE_STATES: Final = frozenset({"Z", "X", "x"})
_STATE_FIELD: Final = 0  # counted after the command's closing parenthesis
_START_FIELD: Final = 19  # field 22 of the whole line
_MACHINE_ID_FILES: Final = ("/etc/machine-id", "/var/lib/dbus/machine-id")
_MACHINE_ID_CHARS: Final = 32
_PS_TIMEOUT_SECONDS: Final = 5.0


_hosts: dict[int, Host] = {}


class ProcessState(NamedTuple):
    """Whether a pid runs, and which process it is."""

    alive: bool
    start: str | None
    """Start identity, or ``None`` where it cannot be read."""


class Host(NamedTuple):
    """The process that asks, and the place it runs in."""

    pid: int
    hostname: str
    start: str | None
    machine: str | None
    """SHA-256 of the machine's own id, or ``None``."""
    namespace: int | None
    """Inode of the pid namespace (Linux), or ``None``: the same pid means another process there."""


def this_host() -> Host:
    """Return who and where this process is. It is asked once; a forked child asks anew."""
    pid = os.getpid()
    if pid not in _hosts:
        _hosts.clear()
        _hosts[pid] = Host(
            pid=pid,
            hostname=_hostname(),
            start=examine_process(pid).start,
            machine=_machine(),
            namespace=_namespace(),
        )
    return _hosts[pid]


def is_pid(value: object) -> bool:
    """Say whether *value* may be asked about as a process id.

    0 and negative numbers mean process groups to ``kill``, larger ones overflow, and ``True`` is an
    ``int`` that no process has.
    """
    return type(value) is int and MIN_PID <= value <= MAX_PID


def examine_process(pid: int) -> ProcessState:
    """Return whether *pid* runs and its start identity.

    Args:
        pid: From 1 to 2**31 - 1.

    Raises:
        ValueError: *pid* is outside that range; nothing was asked of the system.
    """
    if not is_pid(pid):
        raise ValueError(f"not a process id: {pid!r}")
    if sys.platform == "win32":
        from mc_lock.windows import examine_windows_process

        return examine_windows_process(pid)
    if not answers_signals(pid):
        return ProcessState(alive=False, start=None)
    if sys.platform == "darwin":
        return examine_with_ps(pid)
    return _examine_in_proc(pid)


def answers_signals(pid: int, kill: Callable[[int, int], None] = os.kill) -> bool:
    """Say whether *pid* exists (POSIX); that we may not signal it says that it does."""
    try:
        kill(pid, 0)
    except OSError as error:
        return error.errno != errno.ESRCH
    return True


def parse_proc_stat(text: str, boot_id: str) -> ProcessState:
    """Return the state written in one ``/proc/<pid>/stat`` line.

    The command between the parentheses may itself hold spaces and parentheses, so fields are
    counted after the last ``)``.
    """
    fields = text.rpartition(")")[2].split()
    if len(fields) <= _START_FIELD:
        return ProcessState(alive=True, start=None)
    if fields[_STATE_FIELD] in _GONE_STATES:
        return ProcessState(alive=False, start=None)
    # The tick count starts again at every boot; alone it would repeat.
    return ProcessState(alive=True, start=f"{boot_id}:{fields[_START_FIELD]}" if boot_id else None)


def examine_with_ps(pid: int, run: Callable[[int], str] | None = None) -> ProcessState:
    """Return the state of *pid* as ``ps`` tells it, where there is no ``/proc`` (macOS)."""
    state, _, started = (run or _ask_ps)(pid).strip().partition(" ")
    if not state:
        return ProcessState(alive=True, start=None)
    if state[0] in _GONE_STATES:
        return ProcessState(alive=False, start=None)
    return ProcessState(alive=True, start=" ".join(started.split()) or None)


def _examine_in_proc(pid: int) -> ProcessState:
    text = _read_text(f"/proc/{pid}/stat")
    if text is None:
        return ProcessState(alive=True, start=None)
    return parse_proc_stat(text, (_read_text("/proc/sys/kernel/random/boot_id") or "").strip())


def _ask_ps(pid: int) -> str:
    import subprocess

    environment = {"LC_ALL": "C", "TZ": "UTC", "PATH": "/bin:/usr/bin"}
    try:
        answer = subprocess.run(
            ["ps", "-o", "stat=", "-o", "lstart=", "-p", str(pid)],
            capture_output=True,
            check=False,
            env=environment,
            timeout=_PS_TIMEOUT_SECONDS,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout.decode("ascii", "replace")


def _hostname() -> str:
    if sys.platform == "win32":
        import socket

        return socket.gethostname()
    return os.uname().nodename


def _machine() -> str | None:
    if sys.platform == "win32":
        from mc_lock.windows import read_machine_guid

        text = read_machine_guid()
    elif sys.platform == "darwin":
        text = _ask_gethostuuid()
    else:
        text = _linux_machine_id()
    if text is None:
        return None
    import hashlib

    return hashlib.sha256(text.encode("ascii", "replace")).hexdigest()


def _linux_machine_id() -> str | None:
    for path in _MACHINE_ID_FILES:
        text = (_read_text(path) or "").strip()
        # An image may ship it empty or as the word "uninitialized", the same on every machine.
        if len(text) == _MACHINE_ID_CHARS:
            return text
    return None


def _ask_gethostuuid() -> str | None:
    import ctypes

    class _TimeSpec(ctypes.Structure):
        _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))

    buffer = (ctypes.c_ubyte * 16)()
    try:
        status = ctypes.CDLL(None).gethostuuid(buffer, ctypes.byref(_TimeSpec(1, 0)))
    except (AttributeError, OSError):
        return None
    return None if status != 0 else bytes(buffer).hex()


def _namespace() -> int | None:
    try:
        return os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return None


def _read_text(path: str) -> str | None:
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8", "replace")
    except OSError:
        return None
