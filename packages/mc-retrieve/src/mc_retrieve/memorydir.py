"""Safe, read-only access to a memory directory: what cannot be read is a value, not an exception.

One unreadable file never hides the others (design section 6), so every function here returns what
it found and a located `Fault` for what it did not. Nothing is followed, waited for or written: a
link, FIFO or device is judged before it is opened (reliability 4.1).
"""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False  # importing `typing` would cost a command more than its work
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Final, NamedTuple
else:
    from mc_schema.value import NamedTuple

SYMLINK: Final = "symlink"
NOT_A_FILE: Final = "not_a_file"
OUTSIDE: Final = "outside"
UNREADABLE: Final = "unreadable"
NOT_UTF8: Final = "not_utf8"
TOO_LARGE: Final = "too_large"

MAX_FILE_BYTES: Final = 8_388_608
"""The limit of cortex.md 2; a file of exactly this size is read."""
MARKDOWN: Final = ".md"

_READ_FLAGS: Final = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_REPARSE_POINT: Final = 0x400  # stat.FILE_ATTRIBUTE_REPARSE_POINT: a junction or the like
_CHUNK_BYTES: Final = 1 << 20


class Fault(NamedTuple):
    """Why one file or folder of a memory directory is not served."""

    path: str
    """Below the memory directory, POSIX; ``.`` is the directory itself."""
    code: str
    """``symlink``, ``not_a_file``, ``outside``, ``unreadable``, ``not_utf8`` or ``too_large``."""
    message: str
    """What is wrong, without the path and without any text of the file."""
    line: int = 0
    """1-based line of the first byte that is wrong, else 0."""
    offset: int = -1
    """0-based offset of that byte, else -1."""


class Listing(NamedTuple):
    """What lies below a memory directory."""

    paths: tuple[str, ...]
    """Every regular file that ends in ``.md``, POSIX, sorted by code point."""
    faults: tuple[Fault, ...]
    """Links, FIFOs and the like that end in ``.md``, linked folders, and unreadable folders."""
    links: tuple[str, ...]
    """Every link whatever its name, sorted; none was followed."""
    others: tuple[str, ...]
    """Every other regular file, sorted."""


class TextFile(NamedTuple):
    """The content of one file."""

    path: str
    text: str
    """Decoded strictly from UTF-8; a BOM is kept as the first character."""


def list_markdown(memory_dir: Path) -> Listing:
    """Return what lies below *memory_dir*, a real path; links are listed, never followed."""
    walk = _Walk(memory_dir)
    walk.run()
    return Listing(
        tuple(sorted(walk.paths)),
        tuple(sorted(walk.faults)),
        tuple(sorted(walk.links)),
        tuple(sorted(walk.others)),
    )


def read_text(
    memory_dir: Path, path: str, *, max_bytes: int = MAX_FILE_BYTES
) -> TextFile | Fault | None:
    """Return the file *path* below *memory_dir*, a fault, or ``None`` when there is no such file.

    Args:
        memory_dir: A real, absolute path.
        path: POSIX, relative, without ``..``, for example ``areas/sync.md``.
        max_bytes: A larger file is not read.
    """
    data = read_bytes(memory_dir, path, max_bytes=max_bytes)
    if data is None or isinstance(data, Fault):
        return data
    return decode(path, data)


def decode(path: str, data: bytes) -> TextFile | Fault:
    """Return *data* as the text of *path*; a fault names the first byte that is not UTF-8 text."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return _not_utf8(path, data, error.start, "the file is not UTF-8")
    if "\0" in text:
        # UTF-16 without a mark decodes as UTF-8 with NULs: served, it would look empty.
        return _not_utf8(path, data, data.index(0), "the file is not UTF-8 text, it holds a NUL")
    return TextFile(path, text)


def read_bytes(
    memory_dir: Path, path: str, *, max_bytes: int = MAX_FILE_BYTES
) -> bytes | Fault | None:
    """Return the bytes of *path*, as `read_text` does."""
    fault = _path_fault(path)
    if fault is not None:
        return fault
    try:
        facts = os.lstat(memory_dir)
        for parent in _parents(path):
            facts = os.lstat(memory_dir / parent)
            if is_link(facts):
                return Fault(path, SYMLINK, f"its folder `{parent}` is a symlink")
        if not stat.S_ISDIR(facts.st_mode):
            return None
        place = memory_dir / path
        named = _named_fault(path, os.lstat(place), max_bytes)
        return named or _opened(path, place, max_bytes)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return _refused(path, error)


def is_link(facts: os.stat_result) -> bool:
    """Say whether *facts*, of an `lstat`, are those of a symlink or a Windows junction."""
    attributes = getattr(facts, "st_file_attributes", 0)
    return stat.S_ISLNK(facts.st_mode) or bool(attributes & _REPARSE_POINT)


def kind_of(facts: os.stat_result) -> str:
    """Return what *facts* are of in words, for example ``a FIFO``; empty for a regular file."""
    mode = facts.st_mode
    if is_link(facts):
        return "a symlink"
    if stat.S_ISREG(mode):
        return ""
    if stat.S_ISDIR(mode):
        return "a folder"
    if stat.S_ISFIFO(mode):
        return "a FIFO"
    return "a socket" if stat.S_ISSOCK(mode) else "a device"


class _Walk:
    """The state of one listing."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.paths: list[str] = []
        self.others: list[str] = []
        self.links: list[str] = []
        self.faults: list[Fault] = []

    def run(self) -> None:
        pending = [""]
        while pending:
            current = pending.pop()
            try:
                with os.scandir(self.base / current) as entries:
                    found = list(entries)
            except FileNotFoundError:
                continue
            except OSError as error:
                self.faults.append(_refused(current or ".", error))
                continue
            for entry in found:
                path = f"{current}/{entry.name}" if current else entry.name
                if self._take(path, entry):
                    pending.append(path)

    def _take(self, path: str, entry: os.DirEntry[str]) -> bool:
        """Sort one entry in; say whether it is a folder to walk."""
        try:
            facts = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            return False
        except OSError as error:
            self.faults.append(_refused(path, error))
            return False
        if is_link(facts):
            self.links.append(path)
            if path.endswith(MARKDOWN) or entry.is_dir():
                self.faults.append(_not_plain(path, facts))
            return False
        if stat.S_ISDIR(facts.st_mode):
            return True
        if stat.S_ISREG(facts.st_mode):
            (self.paths if path.endswith(MARKDOWN) else self.others).append(path)
        elif path.endswith(MARKDOWN):
            self.faults.append(_not_plain(path, facts))
        return False


def _path_fault(path: str) -> Fault | None:
    parts = path.split("/")
    if not path or "\\" in path or "\0" in path or ":" in parts[0]:
        return Fault(path, OUTSIDE, "no path below the memory directory")
    if any(part in ("", ".", "..") for part in parts):
        return Fault(path, OUTSIDE, "no path below the memory directory")
    return None


def _parents(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def _named_fault(path: str, facts: os.stat_result, max_bytes: int) -> Fault | None:
    if kind_of(facts):
        return _not_plain(path, facts)
    return _too_large(path, max_bytes) if facts.st_size > max_bytes else None


def _opened(path: str, place: Path, max_bytes: int) -> bytes | Fault:
    descriptor = os.open(place, _READ_FLAGS)
    try:
        # The name may have changed hands since the look at it: the descriptor is what counts.
        fault = _named_fault(path, os.fstat(descriptor), max_bytes)
        if fault is not None:
            return fault
        chunks, size = [], 0
        while chunk := os.read(descriptor, _CHUNK_BYTES):
            chunks.append(chunk)
            size += len(chunk)
            if size > max_bytes:
                return _too_large(path, max_bytes)
    finally:
        os.close(descriptor)
    return b"".join(chunks)


def _not_plain(path: str, facts: os.stat_result) -> Fault:
    code = SYMLINK if is_link(facts) else NOT_A_FILE
    wanted = "a plain file" if path.endswith(MARKDOWN) else "a real folder"
    return Fault(path, code, f"expected {wanted}, found {kind_of(facts)}")


def _too_large(path: str, max_bytes: int) -> Fault:
    return Fault(path, TOO_LARGE, f"the file is larger than {max_bytes:,} bytes")


def _not_utf8(path: str, data: bytes, offset: int, message: str) -> Fault:
    head = data[:offset]
    line = head.count(b"\n") + head.count(b"\r") - head.count(b"\r\n") + 1
    return Fault(path, NOT_UTF8, f"{message} (byte {offset})", line, offset)


def _refused(path: str, error: OSError) -> Fault:
    reason = (error.strerror or type(error).__name__).lower()
    return Fault(path, UNREADABLE, f"cannot be read ({reason})")
