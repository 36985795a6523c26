"""Real faults in real processes: `strace` makes one system call fail, or sends a signal at it.

Where `strace` is missing, or may not trace, the seam `mc_plan.files.SYSTEM` does the same one
layer higher: it knows every call that changes a project or the journal, but not those of the lock.
"""

from __future__ import annotations

import errno
import functools
import re
import shutil
import signal
import subprocess
import sys
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from place import Answer, Place

ERRORS: Final = ("ENOSPC", "EACCES", "EIO", "EXDEV", "EROFS")
SIGNALS: Final = ("SIGKILL", "SIGTERM", "SIGINT")
_CHANGING: Final = frozenset(
    {"openat", "write", "fsync", "rename", "unlink", "mkdir", "rmdir", "fchmod", "fchown"}
    | {"ftruncate", "link", "linkat", "renameat", "unlinkat", "mkdirat", "chmod", "close"}
)
_READING: Final = frozenset({"openat", "read", "getdents64", "newfstatat", "lstat", "stat"})
_FLAGS: Final = re.compile(r"O_(?:CREAT|WRONLY|RDWR)")
_FOLDER: Final = re.compile(r"AT_FDCWD<[^>]*>")
_PATH: Final = re.compile(r"[<\"](/[^>\"]*)")
_RANDOM: Final = re.compile(r"[0-9a-f]{32}(?=\.tmp)")
_LINE: Final = re.compile(r"^\d+ +(\w+)\((.*)$")

_SEAM: Final = """
import errno, os, signal, sys
from mc_plan import files
from mc_plan.testing import CountingFilesystem

class Faulty(CountingFilesystem):
    def before(self, name):
        super().before(name)
        if len(self.calls) != {number}:
            return
        if {fault!r} in errno.errorcode.values():
            code = getattr(errno, {fault!r})
            raise OSError(code, os.strerror(code))
        os.kill(os.getpid(), getattr(signal, {fault!r}))

files.SYSTEM = Faulty()
from mc_cli.main import main
code = main(sys.argv[1:])
sys.stdout.flush()
if {number} == 0:
    sys.stderr.write("CALLS " + " ".join(files.SYSTEM.calls) + "\\n")
sys.exit(code)
"""


class Point(NamedTuple):
    """The *number*-th call of *name* (from 1) of a command; at the seam, of any name."""

    name: str
    number: int
    subject: str = ""
    """The file that the call is about, without what is random in its name."""


class Strace:
    """Injects by system call: everything that a command does to its machine."""

    @staticmethod
    def points(place: Place, words: Sequence[str], *, reading: bool = False) -> list[Point]:
        """Run the command once; return its calls that change (or read) something of *place*."""
        names = _READING if reading else _CHANGING
        log = place.base / "strace.log"
        place.run(*words, prefix=_strace(log, names, is_fast=True))
        return _points_in(log.read_text("utf-8", "replace"), place.base, reading=reading)

    @staticmethod
    def run(place: Place, words: Sequence[str], point: Point, fault: str) -> Answer:
        """Run the command with the fault at *point*.

        Raises:
            LookupError: The fault did not happen, or at a call that is not about *place*.
        """
        log = place.base / "strace.log"
        kind = "signal" if fault in SIGNALS else "error"
        inject = f"inject={point.name}:{kind}={fault}:when={point.number}"
        names = _READING if point.name in _READING - _CHANGING else _CHANGING
        prefix = _strace(log, names, is_fast=kind == "error")
        answer = place.run(*words, prefix=[*prefix, "-e", inject])
        lines = log.read_text("utf-8", "replace").splitlines()
        # The line of a signal follows the line of the call that it came with.
        hits = [line for line in lines if "(INJECTED)" in line] or [
            before for before, line in pairwise([*lines, ""]) if f"--- {fault}" in line
        ]
        if fault == "SIGKILL":
            hits = [line for line in lines if "+++" not in line][-1:]
        if point.subject not in map(_subject_of, hits):
            raise LookupError(point, hits)
        return answer


class Seam:
    """Injects by call of the one module that writes a project: wherever Python runs."""

    @staticmethod
    def points(place: Place, words: Sequence[str], *, reading: bool = False) -> list[Point]:
        """Run the command once; return its changing calls. Reading ones are not known here."""
        if reading:
            return []
        answer = place.run(*words, code=_SEAM.format(number=0, fault=""))
        (line,) = re.findall(r"^CALLS (.*)$", answer.err, re.MULTILINE)
        return [Point(name, number) for number, name in enumerate(line.split(), 1)]

    @staticmethod
    def run(place: Place, words: Sequence[str], point: Point, fault: str) -> Answer:
        """Run the command with the fault at *point*."""
        return place.run(*words, code=_SEAM.format(number=point.number, fault=fault))


@functools.cache
def injector() -> type[Strace | Seam]:
    """Return what can inject on this machine."""
    return Strace if _strace_works() else Seam


def message_of(fault: str) -> str:
    """Return the system's words for an error name."""
    import os

    return os.strerror(getattr(errno, fault))


def exit_of(fault: str) -> int:
    """Return the exit code that a process ended by the signal has for its parent."""
    return -int(getattr(signal, fault))


def _strace(log: Path, names: frozenset[str], *, is_fast: bool) -> list[str]:
    # With --seccomp-bpf only the traced calls are slow, but no signal is ever sent.
    fast = ["--seccomp-bpf"] if is_fast else []
    calls = ",".join(sorted(f"?{name}" for name in names))
    return ["strace", "-f", *fast, "-qq", "-y", "-o", str(log), "-e", f"trace={calls}"]


def _points_in(text: str, base: Path, *, reading: bool) -> list[Point]:
    counts: dict[str, int] = {}
    points = []
    for line in text.splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        name, rest = match.groups()
        counts[name] = counts.get(name, 0) + 1
        rest = _FOLDER.sub("", rest)
        if str(base) not in rest or str(base / "bin") in rest:
            continue
        is_change = name != "openat" or _FLAGS.search(rest) is not None
        if name == "close":
            # Closing what was only read cannot lose anything; the log does not tell the two apart
            # but by the name.
            is_change = ".tmp>" in rest or ".lock>" in rest or ".seed>" in rest
        is_wanted = name != "openat" or not is_change if reading else is_change
        if is_wanted:
            points.append(Point(name, counts[name], _subject_of(line)))
    return points


def _subject_of(line: str) -> str:
    paths = _PATH.findall(_FOLDER.sub("", line))
    return _RANDOM.sub("<random>", paths[0]) if paths else ""


def _strace_works() -> bool:
    if shutil.which("strace") is None:
        return False
    done = subprocess.run(
        ["strace", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", sys.executable, "-c", ""],
        check=False,
        capture_output=True,
    )
    return done.returncode == 0
