"""`show`: print entries whole, whatever their status."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mc_retrieve.arguments import MAX_IDS
from mc_retrieve.disclosure import full_record
from mc_retrieve.graph import read_links
from mc_retrieve.selection import EXPORT_FORMAT
from mc_schema.admission import SERVED
from mc_schema.trust import TRUST_BOUNDARY

from mc_cli.errors import CommandError, UsageError
from mc_cli.options import Parser, command_parser
from mc_cli.output import Result, one_line
from mc_cli.packview import DATA_NOTE, framed
from mc_cli.recordview import Corpus, known_id, open_corpus, with_omissions

if TYPE_CHECKING:
    from argparse import Namespace

    from mc_retrieve.project import ProjectRecord

    from mc_cli.commands import Command


def parser(command: Command) -> Parser:
    """Return the parser of `show`."""
    result = command_parser(command, "memory-custodian show MC-DEC-20260726-a1b2c3d4")
    result.add_argument("ids", nargs="+", metavar="ID", help="Ids as `search` lists them.")
    return result


def run(args: Namespace) -> Result:
    """Return the records with those ids, all of them or none."""
    if len(args.ids) > MAX_IDS:
        raise UsageError(f"`show` takes at most {MAX_IDS} ids", hint="ask for fewer at a time")
    corpus = open_corpus(args, with_archive=True)
    found = [_find(corpus, text) for text in args.ids]
    data = {"format": EXPORT_FORMAT, "items": [_as_data(item) for item in found]}
    return Result(with_omissions(corpus, data), lambda: _as_text(found), notices=corpus.notices)


def _find(corpus: Corpus, text: str) -> ProjectRecord:
    wanted = known_id(text)
    for item in corpus.project.records:
        if item.record.id == wanted:
            return item
    raise CommandError(
        "no entry has this id",
        where=one_line(text),
        hint="`memory-custodian search` lists ids; `memory-custodian check` names unreadable files",
        code="not_found",
    )


def _as_data(item: ProjectRecord) -> dict[str, Any]:
    read_links(item.record, item.content)
    return {**full_record(item.record, item.content.decode("utf-8")), "status": item.status}


def _as_text(found: list[ProjectRecord]) -> str:
    parts = [f"Trust boundary: {TRUST_BOUNDARY}\n", DATA_NOTE]
    for item in found:
        mark = "" if item.record.is_active and item.status in SERVED else ", not served by default"
        parts.append(framed(item.record.id, item.content.decode("utf-8")))
        place = f"{item.record.path}:{item.line}"
        parts.append(one_line(f"status: {item.status}{mark}; {place}") + "\n")
    return "".join(parts)
