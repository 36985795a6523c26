"""The one redactor: what may be shown of a match, of a name, of a path, and of any other text.

A preview is made of rule constants and, for assignments, the name. No character of a value, no
length, no digest of it is ever shown. Source: rules page, 6.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from mc_scan.candidate import REDACTED
from mc_scan.pattern import lazy

if TYPE_CHECKING:
    from mc_scan.candidate import Candidate

_MAX_NAME: Final = 40
_NOT_SHOWN: Final = lazy(r"[^A-Za-z0-9_. -]")
_CJK_NAME: Final = lazy(r"密码|口令|密钥|令牌")
_LONGEST_PLAIN_NAME: Final = 12
# C0, C1, line separators, and everything that turns the direction of text.
_CONTROL: Final = lazy(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def preview_of(candidate: Candidate, covered: int) -> str:
    """Return the preview of *candidate*.

    Args:
        candidate: An assignment carries a name, which is checked here before it is shown.
        covered: Where the finding before it ends; a name that starts earlier is part of that one.
    """
    if not candidate.name:
        return candidate.preview
    name = "" if candidate.context < covered else shown_name(candidate.name)
    return f"{name}{candidate.preview}{REDACTED}" if name else REDACTED


def shown_name(name: str) -> str:
    """Return an assignment's *name* as it may be shown: at most 40 harmless characters.

    ``[REDACTED]`` when the name itself trips a rule: it may be another secret.
    """
    keyword = _CJK_NAME.search(name)
    if keyword is not None:
        return keyword.group()
    shown = _NOT_SHOWN.sub("", name)[-_MAX_NAME:].strip(" .-")
    if len(name) > _LONGEST_PLAIN_NAME and not _is_clean(name):
        return REDACTED
    return shown


def redact_text(text: str) -> str:
    """Return *text* with every finding replaced, for messages that quote what a user typed."""
    from mc_scan.engine import detect

    parts, at = [], 0
    for candidate in detect(text):
        parts += [text[at : candidate.start], REDACTED]
        at = candidate.end
    return "".join([*parts, text[at:]])


def display_path(path: str | os.PathLike[str], *, cwd: str, home: str) -> str:
    """Return *path* as reports show it: relative to *cwd*, ``/`` between, the home folder as ``~``.

    A component that trips a rule is shown as ``[REDACTED]``; a name may be a secret too.
    """
    absolute = os.path.normpath(os.path.join(cwd, os.fspath(path)))  # noqa: PTH118 - keeps odd names
    shown = _relative(absolute, cwd)
    if shown is None:
        inside_home = _relative(absolute, home) if home else None
        shown = absolute if inside_home is None else f"~/{inside_home}"
    return _redact_components(shown.replace(os.sep, "/") if os.sep != "/" else shown)


def escape_controls(text: str) -> str:
    r"""Return *text* on one line, with control and direction characters written as ``\xNN``."""
    return _CONTROL.sub(lambda match: match.group().encode("unicode_escape").decode(), text)


def _relative(path: str, folder: str) -> str | None:
    if path == folder:
        return "."
    lead = folder if folder.endswith(os.sep) else folder + os.sep
    return path[len(lead) :] if path.startswith(lead) else None


def _redact_components(path: str) -> str:
    if _is_clean(path) and all(map(_is_clean_part, path.split("/"))):
        return path
    from mc_scan.engine import detect

    spans = [(candidate.start, candidate.end) for candidate in detect(path)]
    parts, at = [], 0
    for part in path.split("/"):
        end = at + len(part)
        is_hit = any(start < end and stop > at for start, stop in spans)
        parts.append(REDACTED if part and (is_hit or not _is_clean_part(part)) else part)
        at = end + 1
    return "/".join(parts)


def _is_clean_part(part: str) -> bool:
    # Without its suffix as well: `ana@harrow.dev.md` is no address, but it holds one.
    return _is_clean(part) and _is_clean(part.rpartition(".")[0])


# Names and path parts that trip no rule, so that each is tried once. Nothing that matches is kept.
_CLEAN: Final[set[str]] = set()
_MAX_CLEAN: Final = 4096


def _is_clean(text: str) -> bool:
    if text in _CLEAN or not text:
        return True
    from mc_scan.engine import detect

    if detect(text):
        return False
    if len(_CLEAN) >= _MAX_CLEAN:
        _CLEAN.clear()
    _CLEAN.add(text)
    return True
