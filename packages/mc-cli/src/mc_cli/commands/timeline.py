"""`timeline`: list what was recorded around a date or an entry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mc_retrieve.timeline import Timeline

from mc_cli.options import Parser, command_parser
from mc_cli.output import Result, one_line
from mc_cli.recordview import (
    Corpus,
    add_options,
    answered,
    feed,
    given_options,
    known_id,
    omitted_lines,
    open_corpus,
    shared_options,
    table,
    with_omissions,
)

if TYPE_CHECKING:
    from argparse import Namespace

    from mc_cli.commands import Command

_HEADER: Final = ("", "created", "type", "id", "title")


def parser(command: Command) -> Parser:
    """Return the parser of `timeline`."""
    result = command_parser(command, "memory-custodian timeline --anchor 2026-07-26 --before 3")
    result.add_argument(
        "--anchor", required=True, metavar="ID|DATE", help="Where to look: an id, or a date."
    )
    add_options(
        result,
        ("--before", "N", "Records before it, 0 to 100 (default: 5)."),
        ("--after", "N", "Records after it, 0 to 100 (default: 5)."),
    )
    return result


def run(args: Namespace) -> Result:
    """Return the cards around the anchor, oldest first."""
    corpus = open_corpus(args)
    options = shared_options(args) | given_options(args, ("--before", "--after"))
    timeline = Timeline({**options, "--anchor": known_id(args.anchor)})
    feed(corpus.project.records, timeline.take)
    data = answered(timeline.answer)
    return Result(
        with_omissions(corpus, data), lambda: _as_text(corpus, data), notices=corpus.notices
    )


def _as_text(corpus: Corpus, data: dict[str, Any]) -> str:
    anchor = data["anchor"]
    titles = corpus.titles()
    rows = [
        (
            ">" if card["id"] == anchor["id"] else "",
            card["created"],
            card["type"],
            card["id"],
            titles[card["id"]],
        )
        for card in data["items"]
    ]
    lines = table(_HEADER, rows) if rows else []
    total = data["total"]
    place = one_line(anchor["id"] or anchor["date"])
    lines.append(f"{total} {'record' if total == 1 else 'records'} around {place}")
    return "\n".join([*lines, *omitted_lines(corpus)]) + "\n"
