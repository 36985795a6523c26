"""Which files are scanned, and reading one of them without trusting it.

Files are taken as given; folders are walked for Markdown, text and dotenv files. Folder links are
never followed and file links only to files inside the given folder, so no loop can occur.
Source: rules page, 5.6, 5.8 and 8.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Final, NamedTuple

from mc_scan.engine import examine
from mc_scan.finding import Notice, ScanError, UnreadableFileError
from mc_scan.reading import PIECE_BYTES, decode_pieces
from mc_scan.redact import display_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from mc_scan.finding import Finding

    OnNotice = Callable[[Notice], None] | None

_SUFFIXES: Final = (".md", ".markdown", ".mdx", ".mdc", ".txt")
_SKIPPED: Final = frozenset([".git", "node_modules", ".venv"])
_MIB: Final = 1024 * 1024


class Source(NamedTuple):
    """A file to scan."""

    place: str  # for the operating system
    shown: str  # for reports


class Scanned(NamedTuple):
    """A file that was scanned in full."""

    shown: str
    size: int  # bytes
    findings: list[Finding]  # suppressed ones included


def find_files(
    paths: Iterable[str | os.PathLike[str]], *, on_notice: OnNotice = None
) -> list[Source]:
    """Return the files below *paths* by shown path, each once.

    Raises:
        UnreadableFileError: A folder cannot be listed, and *on_notice* is not given.
    """
    cwd, home = current_folder(), home_folder()
    found: dict[str, Source] = {}
    for path in paths:
        place = os.fspath(path)
        if os.path.isdir(place):  # noqa: PTH112 - a name that pathlib would change stays as given
            places: Iterable[str] = _walk(place, cwd, home, on_notice)
        else:
            places = [place]
        for each in places:
            key = os.path.normpath(os.path.join(cwd, each))  # noqa: PTH118
            if key not in found:
                found[key] = Source(each, display_path(each, cwd=cwd, home=home))
    return sorted(found.values(), key=lambda source: (source.shown, source.place))


def scan_file(
    source: Source,
    *,
    max_file_mb: float = 32,
    on_notice: OnNotice = None,
    on_read: Callable[[int], None] | None = None,
) -> Scanned | None:
    """Scan one regular file piece by piece; ``None`` when that failed, which is a notice.

    Args:
        source: The file.
        max_file_mb: Largest size to scan, in MiB.
        on_notice: Told what went wrong.
        on_read: Told the size of each piece that was read.

    Raises:
        ScanError: As in `find_files`, or a rule failed, when *on_notice* is not given.
    """
    try:
        descriptor = _open(source, max_file_mb)
        with os.fdopen(descriptor, "rb", buffering=0) as stream:
            chunks = _Chunks(stream.read, int(max_file_mb * _MIB), source.shown, on_read)
            findings = examine(decode_pieces(chunks), source.shown)
        return Scanned(source.shown, chunks.size, findings)
    except ScanError as error:
        problem = error
    except OSError as error:
        problem = _unreadable(source.shown, error)
    report(problem, source.shown, on_notice)
    return None


def scan_stream(
    read: Callable[[int], bytes],
    shown: str,
    *,
    max_file_mb: float = 32,
    on_read: Callable[[int], None] | None = None,
) -> Scanned:
    """Scan standard input or another stream; raises `UnreadableFileError` above the size limit."""
    chunks = _Chunks(read, int(max_file_mb * _MIB), shown, on_read)
    findings = examine(decode_pieces(chunks), shown)
    return Scanned(shown, chunks.size, findings)


def current_folder() -> str:
    """Return the working folder, or "" when it was deleted."""
    try:
        return os.getcwd()  # noqa: PTH109 - the text form is compared
    except OSError:
        return ""


def home_folder() -> str:
    """Return the home folder, or "" when it is not known."""
    home = os.path.expanduser("~")  # noqa: PTH111 - the text form is compared
    return "" if home == "~" else home


def report(problem: ScanError, shown: str, on_notice: OnNotice) -> None:
    """Turn *problem* into a notice, or raise it when nobody listens."""
    if on_notice is None:
        raise problem from None
    on_notice(Notice(problem.code, problem.where or shown, problem.what, problem.hint))


class _Chunks:
    """Reads a stream in pieces, and stops above the limit: a file may grow while it is read."""

    def __init__(
        self,
        read: Callable[[int], bytes],
        limit: int,
        shown: str,
        on_read: Callable[[int], None] | None = None,
    ) -> None:
        self._read, self._limit, self._shown, self._on_read = read, limit, shown, on_read
        self.size = 0

    def __iter__(self) -> Iterator[bytes]:
        while chunk := self._read(PIECE_BYTES):
            self.size += len(chunk)
            if self.size > self._limit:
                raise _oversized(self._shown, self._limit / _MIB)
            if self._on_read is not None:
                self._on_read(len(chunk))
            yield chunk


def _open(source: Source, max_file_mb: float) -> int:
    # Not blocking: a pipe with a Markdown name must not hold up the scan.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(source.place, flags | getattr(os, "O_CLOEXEC", 0))
    try:
        _check_file(os.fstat(descriptor), source.shown, max_file_mb)
    except ScanError:
        os.close(descriptor)
        raise
    return descriptor


def _check_file(state: os.stat_result, shown: str, max_file_mb: float) -> None:
    if not stat.S_ISREG(state.st_mode):
        raise UnreadableFileError(
            "not a regular file", where=shown, hint="pipe its text to `mc-scan -`"
        )
    if state.st_size > max_file_mb * _MIB:
        raise _oversized(shown, max_file_mb)


def _oversized(shown: str, max_file_mb: float) -> UnreadableFileError:
    return UnreadableFileError(
        f"larger than {max_file_mb:g} MB and not scanned",
        where=shown,
        hint="raise the limit with `--max-file-mb`",
        code="oversized",
    )


def _unreadable(shown: str, error: OSError) -> UnreadableFileError:
    # Not the error's own text: it repeats the file name as it is on disk.
    reason = os.strerror(error.errno) if error.errno else type(error).__name__
    return UnreadableFileError(
        f"not readable ({reason})", where=shown, hint="check the path and its permissions"
    )


def _walk(folder: str, cwd: str, home: str, on_notice: OnNotice) -> Iterator[str]:
    top = os.path.realpath(folder)
    pending = [folder]
    while pending:
        place = pending.pop()
        try:
            with os.scandir(place) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            shown = display_path(place, cwd=cwd, home=home)
            report(_unreadable(shown, error), shown, on_notice)
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in _SKIPPED:
                    pending.append(entry.path)
            elif entry.is_symlink():
                yield from _follow(
                    entry, top, display_path(entry.path, cwd=cwd, home=home), on_notice
                )
            elif _is_wanted(entry.name):
                yield entry.path


def _follow(entry: os.DirEntry[str], top: str, shown: str, on_notice: OnNotice) -> Iterator[str]:
    """Yield a linked file when its target lies inside *top*; everything else is a notice."""
    if os.path.isdir(entry.path):  # noqa: PTH112
        if entry.name not in _SKIPPED:
            _tell(on_notice, shown, "a link to a folder is not followed")
        return
    if not _is_wanted(entry.name):
        return
    target = os.path.realpath(entry.path)
    if os.path.lexists(target) and not target.startswith(top.rstrip(os.sep) + os.sep):
        _tell(on_notice, shown, "a link out of the folder is not followed")
        return
    yield entry.path  # a broken link or a loop is reported when it is opened


def _tell(on_notice: OnNotice, shown: str, message: str) -> None:
    if on_notice is not None:
        on_notice(Notice("not_followed", shown, message, failed=False))


def _is_wanted(name: str) -> bool:
    low = name.lower()
    return low.endswith(_SUFFIXES) or low == ".env" or low.startswith(".env.")
