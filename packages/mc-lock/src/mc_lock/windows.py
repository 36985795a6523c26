"""Processes on Windows, asked through the system library.

``os.kill`` must never be used there: signal 0 is ``CTRL_C_EVENT`` and any other value ends the
process. Source: reliability rule 2.5.
"""

from __future__ import annotations

import ctypes
from typing import Any, Final, Protocol

from mc_lock.process import ProcessState

_QUERY_LIMITED_INFORMATION: Final = 0x1000
_STILL_ACTIVE: Final = 259
_ERROR_INVALID_PARAMETER: Final = 87
_MACHINE_GUID_KEY: Final = r"SOFTWARE\Microsoft\Cryptography"


class Kernel(Protocol):
    """The four calls and the error number that are needed of ``kernel32``."""

    def open_process(self, access: int, pid: int) -> int:
        """Return a handle, or 0."""

    def exit_code(self, handle: int) -> int | None:
        """Return the exit code, 259 while it runs, or ``None`` if the call failed."""

    def creation_time(self, handle: int) -> int | None:
        """Return the creation time in 100 ns steps, or ``None`` if the call failed."""

    def close(self, handle: int) -> None:
        """Give the handle back."""

    def last_error(self) -> int:
        """Return the error number of the call that failed last."""


def examine_windows_process(pid: int, kernel: Kernel | None = None) -> ProcessState:
    """Return whether *pid* runs and when it was created.

    Any doubt (access denied, a failing call, an exit code of 259) counts as alive.
    """
    system = kernel or SystemKernel()
    handle = system.open_process(_QUERY_LIMITED_INFORMATION, pid)
    if not handle:
        gone = system.last_error() == _ERROR_INVALID_PARAMETER
        return ProcessState(alive=not gone, start=None)
    try:
        code = system.exit_code(handle)
        if code is not None and code != _STILL_ACTIVE:
            return ProcessState(alive=False, start=None)
        created = system.creation_time(handle)
        return ProcessState(alive=True, start=None if created is None else str(created))
    finally:
        system.close(handle)


def read_machine_guid() -> str | None:
    """Return the installation's own id from the registry, or ``None``."""
    try:
        import winreg
    except ImportError:
        return None
    registry: Any = winreg
    try:
        with registry.OpenKey(registry.HKEY_LOCAL_MACHINE, _MACHINE_GUID_KEY) as key:
            return str(registry.QueryValueEx(key, "MachineGuid")[0])
    except OSError:
        return None


class SystemKernel:
    """`Kernel` as ``kernel32`` answers it."""

    def __init__(self) -> None:
        # `WinDLL` exists on Windows only, also for the type checker.
        library: Any = getattr(ctypes, "WinDLL")("kernel32", use_last_error=True)  # noqa: B009
        library.OpenProcess.restype = ctypes.c_void_p
        library.OpenProcess.argtypes = (ctypes.c_ulong, ctypes.c_int, ctypes.c_ulong)
        library.GetExitCodeProcess.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
        library.GetProcessTimes.argtypes = (ctypes.c_void_p,) * 5
        library.CloseHandle.argtypes = (ctypes.c_void_p,)
        self._library = library

    def open_process(self, access: int, pid: int) -> int:
        """Return a handle, or 0."""
        return int(self._library.OpenProcess(access, 0, pid) or 0)

    def exit_code(self, handle: int) -> int | None:
        """Return the exit code, 259 while it runs, or ``None`` if the call failed."""
        code = ctypes.c_ulong()
        done = self._library.GetExitCodeProcess(handle, ctypes.byref(code))
        return code.value if done else None

    def creation_time(self, handle: int) -> int | None:
        """Return the creation time in 100 ns steps, or ``None`` if the call failed."""
        times = [ctypes.c_ulonglong() for _ in range(4)]  # created, ended, kernel, user
        done = self._library.GetProcessTimes(handle, *(ctypes.byref(time) for time in times))
        return times[0].value if done else None

    def close(self, handle: int) -> None:
        """Give the handle back."""
        self._library.CloseHandle(handle)

    def last_error(self) -> int:
        """Return the error number of the call that failed last."""
        return int(getattr(ctypes, "get_last_error")())  # noqa: B009 - Windows only
