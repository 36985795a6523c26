"""Retrieval over the project's own memory: the same library as `cortex`, for people.

Source: design sections 6 and 8.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mc_retrieve.errors import INVALID_INPUT, RetrieveError
from mc_retrieve.memoryset import ManifestFile, load_manifest
from mc_retrieve.project import ProjectCorpus, ProjectRecord, load_project
from mc_schema.ids import parse_entry_id

from mc_cli import exits
from mc_cli.errors import CommandError
from mc_cli.location import Location, require_memory
from mc_cli.notices import journal_notices, protocol_notices
from mc_cli.output import one_line
from mc_cli.packview import omitted_as_data

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from mc_retrieve.contextpack import Omitted
    from mc_retrieve.record import Record

    from mc_cli.options import Parser

_FILTERS: Final = (
    ("--type", "TYPE", "Only records of this type, for example decision."),
    ("--from", "DATE", "Only records created on this day or instant, or later."),
    ("--to", "DATE", "Only records created at this instant (a date is its midnight), or earlier."),
    ("--page", "N", "Page of the answer, from 1."),
    ("--page-size", "N", "Records on a page, 1 to 100 (default: 10)."),
)


class Corpus(NamedTuple):
    """The memory of a project, read for one command."""

    location: Location
    project: ProjectCorpus
    notices: tuple[str, ...]

    def titles(self) -> dict[str, str]:
        """Return the title of every record by id."""
        return {item.record.id: item.record.title for item in self.project.records}


def add_options(parser: Parser, *more: tuple[str, str, str]) -> None:
    """Add the options that listing commands share, and *more* of the same kind."""
    for name, metavar, text in (*_FILTERS, *more):
        parser.add_argument(name, metavar=metavar, default=None, help=text)


def given_options(args: Namespace, names: Iterable[str]) -> dict[str, str]:
    """Return the contract options among *names* that were given."""
    values = {name: getattr(args, name[2:].replace("-", "_")) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def shared_options(args: Namespace) -> dict[str, str]:
    """Return the contract options that `add_options` added."""
    return given_options(args, [name for name, _, _ in _FILTERS])


def open_corpus(args: Namespace, *, with_archive: bool = False) -> Corpus:
    """Return the memory that *args* name.

    Raises:
        CommandError: There is none, or it cannot be served.
    """
    location = require_memory(args)
    project = answered(
        lambda: load_project(
            str(location.memory_path),
            now_ms=time.time_ns() // 1_000_000,
            with_archive=with_archive,
        )
    )
    return Corpus(location, project, tuple(_notices(location, project)))


def answered(call: Callable[[], Any]) -> Any:
    """Return what *call* answers, with refusals of the library as refusals of the command.

    Raises:
        CommandError: Exit 2 for a bad query, option or corpus, 1 for what is not found or read.
    """
    try:
        return call()
    except RetrieveError as error:
        is_bad = error.code in {INVALID_INPUT, "integrity_error"}
        raise CommandError(
            error.what,
            where=error.where,
            hint=error.hint,
            code=error.code,
            exit_code=exits.BAD_INPUT if is_bad else exits.NO,
        ) from None


def known_id(text: str) -> str:
    """Return *text* as ids are stored: an entry id in canonical letter case, else as it is."""
    found = parse_entry_id(text.strip())
    return text if found is None else str(found)


def with_omissions(corpus: Corpus, data: dict[str, Any]) -> dict[str, Any]:
    """Return the contract's *data* with `omitted` and `complete`."""
    omitted = [omitted_as_data(item) for item in corpus.project.omitted]
    return {**data, "omitted": omitted, "complete": corpus.project.complete}


def omitted_lines(corpus: Corpus) -> list[str]:
    """Return what was left out, one line a reason, for the end of a text answer."""
    groups: dict[str, list[Omitted]] = {}
    for item in corpus.project.omitted:
        groups.setdefault(item.reason, []).append(item)
    return [
        one_line(f"omitted, {reason}: {', '.join(item.label for item in items)}")
        for reason, items in sorted(groups.items())
    ]


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return *rows* under *header*, columns aligned, the last one as long as it is."""
    lines = [[one_line(cell) for cell in row] for row in (header, *rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header) - 1)]
    return [
        "  ".join(
            [*(cell.ljust(width) for cell, width in zip(line, widths, strict=False)), line[-1]]
        )
        for line in lines
    ]


def statuses(records: Iterable[ProjectRecord]) -> dict[str, str]:
    """Return the status of every record by id."""
    return {item.record.id: item.status for item in records}


def feed(
    records: Iterable[ProjectRecord], take: Callable[[Record, bytes, bytes | None], object]
) -> None:
    """Hand every one of *records* to *take*, as the library does."""
    for item in records:
        take(item.record, item.content, None)


def _notices(location: Location, project: ProjectCorpus) -> Iterator[str]:
    manifest = load_manifest(location.memory_path)
    project_id = None
    if isinstance(manifest, ManifestFile):
        metadata = manifest.manifest.metadata
        project_id = metadata.project_id
        yield from protocol_notices(metadata)
    yield from journal_notices(location, project_id)
    for item in project.omitted:
        if item.reason in {"unreadable", "private"}:
            line = f":{item.line}" if item.line else ""
            yield f"warning: not served: {location.memory_dir}/{item.path}{line}: {item.detail}"
