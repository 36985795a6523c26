"""Scanning text, bytes and files: the functions other packages call.

No function here prints, writes, or changes what it reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mc_scan.engine import examine
from mc_scan.finding import ERROR, Finding, ScanError
from mc_scan.reading import decode_pieces, split_bytes
from mc_scan.rules import RULES_BY_ID

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Iterable

    from mc_scan.candidate import Candidate
    from mc_scan.finding import Notice


def scan_text(
    text: str,
    path: str = "text",
    *,
    only: str | None = None,
    rules: Collection[str] | None = None,
    inline: bool = True,
) -> list[Finding]:
    """Return the findings of *text*, in order.

    Args:
        text: Any text; a byte order mark at the start counts no column.
        path: What reports call it, for example ``docs/memory/brief.md``. It enters the fingerprint.
        only: ``security`` or ``privacy``, to keep one of the two.
        rules: Rule ids to keep.
        inline: Leave out warnings that a ``mc-scan: allow`` mark on their line allows.

    Raises:
        ScanError: An unknown filter (code ``unknown_rule``), or a rule failed (code ``crashed``).
            The error never holds scanned text.

    Source: rules page, 8.
    """
    return _shown(examine([text], path), only, rules, inline=inline)


def scan_bytes(
    data: bytes,
    path: str = "bytes",
    *,
    only: str | None = None,
    rules: Collection[str] | None = None,
    inline: bool = True,
) -> list[Finding]:
    """Decode *data* (UTF-16/32 by mark, else UTF-8, nothing skipped) and scan it as text."""
    pieces = decode_pieces(split_bytes(data))
    return _shown(examine(pieces, path), only, rules, inline=inline)


def scan_paths(
    paths: Iterable[str | os.PathLike[str]],
    *,
    only: str | None = None,
    rules: Collection[str] | None = None,
    inline: bool = True,
    max_file_mb: float = 32,
    on_notice: Callable[[Notice], None] | None = None,
) -> list[Finding]:
    """Scan files as given and folders recursively; return findings by path, line and column.

    Args:
        paths: Files of any name; in folders, Markdown, text and dotenv files.
        only: ``security`` or ``privacy``, to keep one of the two.
        rules: Rule ids to keep.
        inline: Leave out warnings that an inline mark allows.
        max_file_mb: Larger files are not read (MiB); that is a notice, never a silent pass.
        on_notice: Called for each file that could not be scanned or followed.

    Raises:
        UnreadableFileError: A file could not be read and *on_notice* is not given.
        ScanError: A rule failed and *on_notice* is not given, or a filter is unknown.
    """
    from mc_scan.paths import find_files, scan_file

    check_filters(only, rules)
    findings: list[Finding] = []
    for source in find_files(paths, on_notice=on_notice):
        outcome = scan_file(source, max_file_mb=max_file_mb, on_notice=on_notice)
        if outcome is not None:
            findings += _shown(outcome.findings, only, rules, inline=inline)
    return findings


def scan_machine_paths(text: str, path: str = "preferences.md") -> list[Finding]:
    r"""Return a warning for each machine path in *text*.

    Those are ``/Users/``, ``/home/``, ``/Volumes/`` and drive paths (``X:\``, ``X:/``).
    The earlier command line's check of ``preferences.md``: without the exceptions of `home-path`.

    Source: rules page, 4.
    """
    from mc_scan.home_path import find_machine_paths

    return _examine_with(find_machine_paths, text, path)


def find_secret(text: str, path: str = "text") -> Finding | None:
    """Return the first finding that must not be stored unseen, or ``None``.

    That is an ERROR of a security rule, or a private key header that is not quoted as code, even
    when no key follows: a text typed into a command has often lost its line breaks.
    """
    from mc_scan.private_key import find_bare_headers

    errors = (finding for finding in examine([text], path) if finding.severity == ERROR)
    return next(errors, None) or next(iter(_examine_with(find_bare_headers, text, path)), None)


def _examine_with(
    detector: Callable[[str], Iterable[Candidate]], text: str, path: str
) -> list[Finding]:
    """Run one detector of its own instead of the rules."""
    from mc_scan.engine import settle
    from mc_scan.reading import cut_windows
    from mc_scan.tracking import FileState

    state = FileState(path)
    for window in cut_windows([text]):
        state.add_window(window, settle(list(detector(window.text))))
    return [finding._replace(suppressed="") for finding in state.finish()]


def check_filters(only: str | None, rules: Collection[str] | None) -> None:
    """Raise `ScanError` when a filter names no category or rule."""
    if only not in (None, "security", "privacy"):
        raise ScanError(
            "unknown category in `only`",
            hint="use `security` or `privacy`",
            code="unknown_category",
        )
    if any(rule not in RULES_BY_ID for rule in rules or ()):
        raise ScanError(
            "unknown rule id", hint="list the ids with `mc-scan --list-rules`", code="unknown_rule"
        )


def is_kept(finding: Finding, only: str | None, rules: Collection[str] | None) -> bool:
    """Say whether *finding* passes the filters."""
    return (only is None or RULES_BY_ID[finding.rule].category == only) and (
        rules is None or finding.rule in rules
    )


def _shown(
    findings: list[Finding],
    only: str | None,
    rules: Collection[str] | None,
    *,
    inline: bool,
) -> list[Finding]:
    check_filters(only, rules)
    return [
        finding._replace(suppressed="")
        for finding in findings
        if is_kept(finding, only, rules) and not (inline and finding.suppressed)
    ]
