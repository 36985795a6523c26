"""What whole processes cost: CPU by the operating system's own account, and the clock."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Used(NamedTuple):
    """What one process used."""

    cpu_seconds: float
    """User and system."""
    wall_seconds: float
    peak_mib: float
    """Largest resident size."""
    output: str
    exit_code: int


def run(command: Sequence[str], *, cwd: Path, env: Mapping[str, str] | None = None) -> Used:
    """Run *command* to its end and return what it used; POSIX only, because of `wait4`."""
    begin = time.perf_counter()
    with subprocess.Popen(
        command,
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        output = process.stdout.read() if process.stdout else b""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return Used(
        usage.ru_utime + usage.ru_stime,
        time.perf_counter() - begin,
        usage.ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024),
        output.decode("utf-8", "replace"),
        process.returncode,
    )


def least(runs: Sequence[Used]) -> Used:
    """Return the run that used the least CPU: what disturbs a measurement only adds to it."""
    return min(runs, key=lambda used: used.cpu_seconds)


def installed_command(name: str) -> str:
    """Return the path of the script *name* beside the interpreter, else of the search path."""
    import shutil

    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        raise FileNotFoundError(f"{name} is not installed")
    return found
