"""What a command answers, and its two renderings: text for people, one JSON object for programs."""

from __future__ import annotations

import sys

from mc_cli import exits

TYPE_CHECKING = False  # importing `typing` would cost a command more than its work
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Final, NamedTuple, TextIO

    from mc_cli.errors import Failure
else:
    from mc_schema.value import NamedTuple

SCHEMA: Final = "memory-custodian/v1"
_DELETE: Final = 0x7F
_BIDI: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class Result(NamedTuple):
    """The answer of a command: data first; text is rendered from the same values when asked."""

    data: Mapping[str, Any]
    """JSON values; the `data` of the envelope."""
    text: Callable[[], str]
    """Returns the text for people, with its final newline."""
    exit_code: int = exits.OK
    notices: tuple[str, ...] = ()
    """Lines for standard error: hints and warnings that are no part of the answer."""
    files_written: bool = True
    """False when a mutating command ends with a non-zero exit and wrote nothing."""


def printable(text: str) -> str:
    """Return *text* for a terminal: control and direction characters are written as escapes.

    Line feeds and tabs stay. Names of files and bodies of entries come from other people.
    """
    if text.isprintable():
        return text
    # Line by line: a line feed alone makes a text not printable, and most lines are.
    return "\n".join([_printable_line(line) for line in text.split("\n")])


def one_line(text: str) -> str:
    """Return *text* for a place that is one line: line feeds and tabs are escaped too."""
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


def without_secrets(text: str) -> str:
    """Return *text*, which may quote what somebody wrote, with secrets as ``[REDACTED]``.

    Private data such as machine paths stays: an error has to name the place it is about. When the
    text cannot be scanned nothing of it is shown.
    """
    from mc_scan.candidate import REDACTED
    from mc_scan.engine import detect
    from mc_scan.finding import SECURITY, ScanError
    from mc_scan.rules import RULES_BY_ID

    try:
        found = detect(text)
    except ScanError:
        return REDACTED
    parts, at = [], 0
    for candidate in found:
        if RULES_BY_ID[candidate.rule].category == SECURITY:
            parts += [text[at : candidate.start], REDACTED]
            at = candidate.end
    return "".join([*parts, text[at:]])


def _printable_line(line: str) -> str:
    if line.isprintable():
        return line
    return "".join([_escaped(one) if _is_unsafe(one) else one for one in line])


def _is_unsafe(character: str) -> bool:
    code = ord(character)
    if character in "\n\t":
        return False
    is_control = code < ord(" ") or _DELETE <= code < 0xA0  # noqa: PLR2004 - end of the C1 controls
    return is_control or character in _BIDI or 0xD800 <= code <= 0xDFFF  # noqa: PLR2004 - surrogates


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}"  # noqa: PLR2004


def emit(result: Result, command: str, *, as_json: bool, out: TextIO, err: TextIO) -> int:
    """Print *result* and return its exit code."""
    err.writelines(f"{one_line(notice)}\n" for notice in result.notices)
    if as_json:
        out.write(envelope(command, ok=True, data=result.data, error=None))
    else:
        out.write(result.text())
    return result.exit_code


def emit_failure(
    failure: Failure, command: str, *, as_json: bool, is_mutating: bool, out: TextIO, err: TextIO
) -> int:
    """Print *failure* and return its exit code; errors go to standard error, whole plans to both.

    In JSON the one object on standard output carries the error too, so that a program need not
    read standard error.
    """
    where = f": {one_line(failure.where)}" if failure.where else ""
    err.write(f"error: {one_line(failure.what)}{where}\n")
    if failure.hint:
        err.write(f"\nhint: {one_line(failure.hint)}\n")
    if is_mutating:
        err.write("".join(f"{one_line(line)}\n" for line in failure.file_lines))
    if as_json:
        error: dict[str, Any] = {
            "code": failure.code,
            "message": failure.what,
            "where": failure.where,
            "hint": failure.hint,
        }
        if failure.plan is not None:
            error["plan"] = failure.plan
        out.write(envelope(command, ok=False, data=None, error=error))
    elif failure.plan_text:
        out.write(failure.plan_text)
    return failure.exit_code


def envelope(
    command: str, *, ok: bool, data: Mapping[str, Any] | None, error: Mapping[str, Any] | None
) -> str:
    """Return the JSON object ``{schema, ok, command, data, error}`` and a line feed."""
    import json

    body = {"schema": SCHEMA, "ok": ok, "command": command, "data": data, "error": error}
    return json.dumps(body, ensure_ascii=True, indent=2) + "\n"


def use_utf8_streams() -> None:
    """Make standard streams UTF-8 whatever the locale says; what cannot be shown is escaped."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")
