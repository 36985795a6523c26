"""`search`: find entries by their words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mc_retrieve.search import Search
from mc_retrieve.tokenizer import TOKENIZERS, UNICODE

from mc_cli.options import Parser, command_parser
from mc_cli.output import Result
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
    from mc_cli.config import Config

_EXPANSION: Final = ("--max-nodes", "--max-tokens")
_HEADER: Final = ("score", "type", "id", "title", "tokens")


def parser(command: Command) -> Parser:
    """Return the parser of `search`."""
    result = command_parser(command, 'memory-custodian search "export format" --type decision')
    result.add_argument("query", help="Words to look for.")
    add_options(
        result,
        ("--recency", "WEIGHT", "How much a later update counts, 0 or more (default: 0)."),
        ("--expand", "ID", "Also list what the record ID links to."),
        ("--max-nodes", "N", "Records in that list, 1 to 100 (default: 10)."),
        ("--max-tokens", "N", "Estimated tokens of that list, 1 to 50000 (default: 2000)."),
    )
    result.add_argument(
        "--tokenizer",
        choices=TOKENIZERS,
        default=None,
        help="What a word is: of every script and in identifiers (unicode, the default), or the "
        "contract's ASCII words.",
    )
    return result


def run(args: Namespace) -> Result:
    """Return the cards of the records that hold the words."""
    corpus = open_corpus(args)
    options = _options(args, corpus.location.config)
    search = Search(args.query, options)
    feed(corpus.project.records, search.take)
    data = answered(search.answer)
    return Result(
        with_omissions(corpus, data), lambda: _as_text(corpus, data), notices=corpus.notices
    )


def _options(args: Namespace, config: Config) -> dict[str, str]:
    configured = {
        "--tokenizer": config.get("search.tokenizer", UNICODE),
        "--page-size": config.get("search.page-size"),
        "--recency": config.get("search.recency"),
    }
    options = {name: str(value) for name, value in configured.items() if value is not None}
    options |= shared_options(args)
    options |= given_options(args, ("--recency", "--tokenizer", *_EXPANSION))
    if args.expand is not None:
        options["--expand"] = known_id(args.expand)
    return options


def _as_text(corpus: Corpus, data: dict[str, Any]) -> str:
    lines: list[str] = []
    if data["items"]:
        lines += table(_HEADER, _rows(corpus, data["items"]))
    lines.append(f"{_count(data)}; `memory-custodian show ID` prints a record whole")
    if "expansion" in data:
        expansion = data["expansion"]
        lines += ["", "linked:", *table(_HEADER, _rows(corpus, expansion["items"]))]
        if expansion["truncated"]:
            lines.append("more is linked than this; raise `--max-nodes` or `--max-tokens`")
    return "\n".join([*lines, *omitted_lines(corpus)]) + "\n"


def _count(data: dict[str, Any]) -> str:
    total = data["total"]
    shown = f"{total} {'record' if total == 1 else 'records'}"
    pages = -(-total // data["page_size"])
    return f"{shown}, page {data['page']} of {pages}" if pages > 1 else shown


def _rows(corpus: Corpus, cards: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    titles = corpus.titles()
    return [
        (
            f"{card['score']:.3f}",
            card["type"],
            card["id"],
            titles[card["id"]],
            str(card["est_tokens"]),
        )
        for card in cards
    ]
