"""Which files make up a corpus, found and measured before any of them is opened.

Source: Cortex contract, sections 1.3, 2 and 13 (D5, D6, D17, D19).
"""

from __future__ import annotations

import os
import stat

from mc_retrieve.errors import IntegrityError, reading_error

TYPE_CHECKING = False  # importing `typing` costs a command more than reading a hundred records
if TYPE_CHECKING:
    from typing import Final

KNOWLEDGE: Final = "KNOWLEDGE"
MEMORY: Final = "MEMORY"
HOT_SUFFIX: Final = "_MEMORY.md"
MARKDOWN: Final = ".md"
JSON_LINES: Final = ".jsonl"

MAX_FILES: Final = 10_000
MAX_FILE_BYTES: Final = 8_388_608
MAX_TOTAL_BYTES: Final = 134_217_728

_SKIPPED: Final = ("_", ".")
_SUFFIXES: Final = (MARKDOWN, JSON_LINES)
_HAS_JUNCTIONS: Final = os.name == "nt"
_REPARSE_POINT: Final = 0x400
_CONTROLS: Final = frozenset(map(chr, [*range(0x20), *range(0x7F, 0xA0)]))


class CorpusFile:
    """One file of a corpus that is still closed."""

    __slots__ = ("absolute", "path", "size")

    def __init__(self, absolute: str, path: str, size: int) -> None:
        self.absolute = absolute
        self.path = path
        """Relative to the root, with ``/``."""
        self.size = size
        """In bytes."""


def pin_root(root: str) -> str:
    """Return the real path of the folder *root*, the boundary that nothing read may leave.

    Raises:
        IntegrityError: It does not exist or is no folder.
    """
    # The folding of `..` comes before links are followed, and pathlib is slow to import.
    try:
        pinned = os.path.realpath(os.path.abspath(root))
        exists = os.path.isdir(pinned)
    except ValueError:  # a NUL, which no path can hold
        exists = False
    if not exists:
        raise IntegrityError("the memory root is not an existing folder", where=root)
    return pinned


def find_files(root: str) -> list[CorpusFile]:
    """Return the files of the corpus at *root*, a pinned root, in the order they are read.

    Raises:
        IntegrityError: A link, a pipe with a record's name, a control character in a name, or more
            files or bytes than the contract allows.
        InternalError: A folder cannot be listed.
    """
    tree, with_hot_files = _choose_tree(root)
    files: list[CorpusFile] = []
    _walk(tree, _relative(tree, root), files)
    if with_hot_files:
        _add_hot_files(root, files)
    _check_sizes(files)
    # UTF-16 order is that of the texts themselves as long as they are ASCII.
    is_ascii = all(file.absolute.isascii() for file in files)
    files.sort(key=_absolute if is_ascii else _utf16)
    return files


def is_bare(root: str) -> bool:
    """Return whether *root* has neither `KNOWLEDGE` nor `MEMORY/KNOWLEDGE`."""
    return _choose_tree(root)[0] == root


def _choose_tree(root: str) -> tuple[str, bool]:
    knowledge = f"{root}{os.sep}{KNOWLEDGE}"
    memory = f"{root}{os.sep}{MEMORY}"
    nested = f"{memory}{os.sep}{KNOWLEDGE}"
    has_knowledge = _exists_unlinked(knowledge, root)
    has_nested = _exists_unlinked(memory, root) and _exists_unlinked(nested, root)
    if has_knowledge:
        return knowledge, True
    return (nested, False) if has_nested else (root, False)


def _exists_unlinked(path: str, root: str) -> bool:
    try:
        mode = os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise reading_error(error, _relative(path, root)) from error
    if stat.S_ISLNK(mode) or (_HAS_JUNCTIONS and _is_junction(path)):
        raise IntegrityError("is a symbolic link", where=_relative(path, root))
    return True


def _relative(path: str, root: str) -> str:
    return "" if path == root else path[len(root) :].lstrip(os.sep).replace(os.sep, "/")


def _walk(tree: str, prefix: str, files: list[CorpusFile]) -> None:
    if not os.path.isdir(tree):
        raise IntegrityError("is not a folder", where=prefix)
    waiting = [(tree, f"{prefix}/" if prefix else "")]
    while waiting:
        folder, name = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if not entry.name.startswith(_SKIPPED):
                        _sort_out(entry, name + entry.name, files, waiting)
        except OSError as error:
            raise reading_error(error, name or ".") from error


def _sort_out(
    entry: os.DirEntry[str], path: str, files: list[CorpusFile], waiting: list[tuple[str, str]]
) -> None:
    if entry.is_symlink() or (_HAS_JUNCTIONS and _is_junction(entry.path)):
        raise IntegrityError("is a symbolic link", where=path)
    if entry.is_dir(follow_symlinks=False):
        _check_name(path)
        waiting.append((entry.path, f"{path}/"))
    elif path.endswith(_SUFFIXES):
        _add_file(entry, path, files)
        if len(files) > MAX_FILES:
            raise IntegrityError(f"the corpus has more than {MAX_FILES} files")


def _is_junction(path: str) -> bool:
    # A junction is a folder to everything but this attribute, and leads out like a link.
    attributes = getattr(os.lstat(path), "st_file_attributes", 0)
    return bool(attributes & _REPARSE_POINT)


def _add_hot_files(root: str, files: list[CorpusFile]) -> None:
    try:
        with os.scandir(root) as entries:
            for entry in entries:
                if entry.name.endswith(HOT_SUFFIX):
                    _add_file(entry, entry.name, files)
    except OSError as error:
        raise reading_error(error, ".") from error
    if len(files) > MAX_FILES:
        raise IntegrityError(f"the corpus has more than {MAX_FILES} files")


def _add_file(entry: os.DirEntry[str], path: str, files: list[CorpusFile]) -> None:
    if not entry.is_file(follow_symlinks=False):
        raise IntegrityError("has the name of a record and is not a regular file", where=path)
    _check_name(path)
    try:
        size = entry.stat(follow_symlinks=False).st_size
    except OSError as error:
        raise reading_error(error, path) from error
    files.append(CorpusFile(entry.path, path, size))


def _check_name(path: str) -> None:
    # Text that is neither control nor separator prints as it is, which is the common case.
    if path.isprintable():
        return
    if not _CONTROLS.isdisjoint(path):
        raise IntegrityError("a file name holds a control character", where=ascii(path))
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        raise IntegrityError("a file name is not UTF-8", where=ascii(path)) from None


def _check_sizes(files: list[CorpusFile]) -> None:
    total = 0
    for file in files:
        if file.size > MAX_FILE_BYTES:
            raise IntegrityError(f"is larger than {MAX_FILE_BYTES} bytes", where=file.path)
        total += file.size
    if total > MAX_TOTAL_BYTES:
        raise IntegrityError(f"the corpus is larger than {MAX_TOTAL_BYTES} bytes")


def _absolute(file: CorpusFile) -> str:
    return file.absolute


def _utf16(file: CorpusFile) -> bytes:
    return file.absolute.encode("utf-16-be", "surrogatepass")
