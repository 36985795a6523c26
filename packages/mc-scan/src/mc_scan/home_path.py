r"""Paths that name a person: ``/Users/N``, ``/home/N``, ``C:\Users\N`` and what tools make of them.

Source: rules page, section 4 (`home-path`, and the earlier pattern for ``preferences.md``).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mc_scan.candidate import RANK_HOME_PATH, REDACTED, Candidate
from mc_scan.finding import WARNING
from mc_scan.pattern import lazy
from mc_scan.placeholder import has_filler_words
from mc_scan.word_sets import SHARED_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterator

_RULE: Final = "home-path"
# Letters of any script may be a name; everything that ends a path in prose or markup may not.
_NAME: Final = r"(?P<name>[\w.@+-]{1,64})"
_POSIX: Final = lazy(rf"/(?P<root>Users|home|Volumes)/{_NAME}(?P<more>[$%{{<*]?)")
_DRIVE: Final = lazy(
    r"(?<![A-Za-z0-9])[A-Za-z]:(?P<slash>\\{1,2}|/)users(?:\\{1,2}|/)"
    r"(?P<name>[^\s\\/:*?\"'`<>|()\[\]{},;%$]{1,64})(?P<more>[%${<*]?)",
    re.IGNORECASE,
)
_SPACED: Final = lazy(r"(?: [^\s\\/:*?\"'`<>|]{1,32}){1,3}(?=\\)")
_MOUNTED: Final = lazy(
    rf"(?:/mnt|/cygdrive)?/[A-Za-z]/users/{_NAME}(?P<more>[$%{{<*]?)", re.IGNORECASE
)
_ENCODED: Final = lazy(
    r"%2f(?P<root>users|home)%2f(?P<name>[A-Za-z0-9._-]{1,64})(?P<more>[$%{<]?)", re.IGNORECASE
)
_TILDE: Final = lazy(r"~(?P<name>[A-Za-z][A-Za-z0-9._-]{2,63})/")
_AGENT_FOLDER: Final = lazy(
    r"projects/(?P<drive>[A-Za-z]--?|-)(?P<root>Users|home)-(?P<name>[A-Za-z0-9_.]{1,64})(?![A-Za-z0-9_.])"
)
_MACHINE: Final = lazy(r"/Users/|/home/|/Volumes/|(?<![A-Za-z0-9])[A-Za-z]:[\\/](?!/)")

# A path may start after anything but these: letters of a longer path, a closing brace, a dot.
_INSIDE: Final = frozenset("/\\.~$}%@+-)]#&?!")
_SPACED_SHARED: Final = ("All Users", "Default User")
_SEPARATORS: Final = str.maketrans("", "", "-_. ")
_SCHEMES: Final = ("file://", "vscode-remote://", "vscode://file")
_SCHEME_REACH: Final = 120
_VERB: Final = lazy(r"\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) \Z")
_VERB_REACH: Final = 12
_BLANK: Final = lazy(r"[\s\"'`<>()|]")


def find_home_paths(text: str, lower: str) -> Iterator[Candidate]:
    """Yield every path that names a person; *lower* is *text* in lower case, offset for offset."""
    yield from _find_roots(text)
    at = lower.find("users")
    while at >= 0:
        yield from _judge_users(text, at)
        at = lower.find("users", at + 5)
    at = lower.find("%2fhome%2f")
    while at >= 0:
        yield from _judge_encoded(text, at)
        at = lower.find("%2fhome%2f", at + 5)
    at = text.find("-home-")
    while at >= 0:
        yield from _judge_folder(text, at)
        at = text.find("-home-", at + 5)
    at = text.find("~")
    while at >= 0:
        yield from _judge_tilde(text, at)
        at = text.find("~", at + 1)


def find_machine_paths(text: str) -> Iterator[Candidate]:
    """Yield each ``/Users/``, ``/home/``, ``/Volumes/`` or drive path, without exceptions.

    This is the earlier command line's warning for ``preferences.md``, kept as it was.
    """
    for match in _MACHINE.finditer(text):
        found = match.group()
        shown = found if found.startswith("/") else "X:" + found[-1]
        yield _found(match.start(), match.end(), shown)


def _found(start: int, end: int, shown: str) -> Candidate:
    return Candidate(start, end, RANK_HOME_PATH, _RULE, WARNING, shown + REDACTED)


def _find_roots(text: str) -> Iterator[Candidate]:
    for root in ("/Users/", "/home/", "/Volumes/"):
        at = text.find(root)
        while at >= 0:
            match = _POSIX.match(text, at)
            if match is not None and _is_person(match) and _starts_path(text, at):
                yield _found(at, _end(match), root)
            at = text.find(root, at + len(root) - 1)


def _judge_users(text: str, at: int) -> Iterator[Candidate]:
    before = text[at - 1 : at]
    if before in {"\\", "/"}:
        yield from _judge_drive(text, at)
    elif before in "fF" and text[at - 3 : at - 1] == "%2":
        yield from _judge_encoded(text, at - 3)
    elif before == "-":
        yield from _judge_folder(text, at - 1)


def _judge_drive(text: str, at: int) -> Iterator[Candidate]:
    start = at - (4 if text[at - 2 : at] == "\\\\" else 3)
    match = _DRIVE.match(text, start) if start >= 0 else None
    if match is not None:
        spaced = _SPACED.match(text, match.end("name"))
        end = spaced.end() if spaced else _end(match)
        if _is_person(match) and not text.startswith(_SPACED_SHARED, match.start("name")):
            slash = match["slash"][0]
            yield _found(match.start(), end, f"X:{slash}Users{slash}")
        return
    for width in (3, 7, 12):  # `/c`, `/mnt/c`, `/cygdrive/c`
        match = _MOUNTED.match(text, at - width) if at >= width else None
        if match is not None and match.end("name") > at and _starts_path(text, at - width):
            if _is_person(match):
                yield _found(at - width, _end(match), "/c/Users/")
            return


def _judge_encoded(text: str, at: int) -> Iterator[Candidate]:
    match = _ENCODED.match(text, at)
    if match is not None and (match["more"] in ("", "%")) and _is_named(match["name"]):
        yield _found(at, match.end("name"), f"%2F{match['root']}%2F")


def _judge_folder(text: str, at: int) -> Iterator[Candidate]:
    """Read an agent's folder name, ``projects/-Users-N-x``; *at* is the dash before the root."""
    start = text.rfind("projects/", max(0, at - 12), at + 1)
    match = _AGENT_FOLDER.match(text, start) if start >= 0 else None
    if match is not None and _is_named(match["name"]):
        yield _found(start + len("projects/"), match.end("name"), f"-{match['root']}-")


def _judge_tilde(text: str, at: int) -> Iterator[Candidate]:
    match = _TILDE.match(text, at)
    if match is None or not _starts_path(text, at) or not _is_named(match["name"]):
        return
    yield _found(at, match.end("name"), "~")


def _end(match: re.Match[str]) -> int:
    return match.start("name") + len(match["name"].rstrip(".@+-"))


def _is_person(match: re.Match[str]) -> bool:
    return not match["more"] and _is_named(match["name"])


def _is_named(name: str) -> bool:
    """Say whether *name* is a person's: not a placeholder, a shared account, or a number."""
    if name.startswith("..") or not name.strip(".@+-_") or name.isdigit():
        return False
    plain = name.rstrip(".").lower().translate(_SEPARATORS)
    if plain in SHARED_NAMES or plain.startswith("your"):
        return False
    return not has_filler_words(name) and not (len(plain) > 1 and len(set(plain)) == 1)


def _starts_path(text: str, at: int) -> bool:
    """Say whether a path may start at *at*, and that it is no URL path or request line."""
    if not at:
        return True
    before = text[at - 1]
    if (
        before == "/"
        or before in _INSIDE
        or (before.isascii() and before.isalnum())
        or before == "_"
    ):
        return _follows_scheme(text, at)
    return before != " " or _VERB.search(text, max(0, at - _VERB_REACH), at) is None


def _follows_scheme(text: str, at: int) -> bool:
    """Say whether ``file://`` or an editor's scheme leads to *at* without a blank between."""
    head = _BLANK.split(text[max(0, at - _SCHEME_REACH) : at])[-1]
    return any(scheme in head for scheme in _SCHEMES)
