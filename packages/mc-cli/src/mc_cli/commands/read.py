"""`read`: print the context pack of a task."""

from __future__ import annotations

from mc_retrieve.contextpack import DEFAULT_TASK, UNREADABLE, ContextPack, PackRequest, build_pack
from mc_retrieve.memoryset import MANIFEST, ManifestFile, original_line
from mc_schema.errors import ManifestError
from mc_schema.routes import TASKS

from mc_cli import exits
from mc_cli.location import require_memory
from mc_cli.memory import require_manifest
from mc_cli.notices import journal_notices, protocol_notices
from mc_cli.options import Parser, command_parser
from mc_cli.output import Result
from mc_cli.packview import pack_as_data, pack_as_text

TYPE_CHECKING = False  # importing `typing` would cost a command more than its work
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from mc_cli.commands import Command
    from mc_cli.location import Location


def parser(command: Command) -> Parser:
    """Return the parser of `read`."""
    result = command_parser(command, "memory-custodian read --task planning --area sync")
    result.add_argument(
        "--task",
        default=DEFAULT_TASK,
        metavar="TASK",
        help=f"What the pack is for: {', '.join(TASKS)}.",
    )
    for name in ("area", "rule", "profile"):
        result.add_argument(
            f"--{name}",
            action="append",
            default=[],
            metavar="NAME",
            help=f"Load {name}s/NAME.md too; may be repeated.",
        )
    result.add_argument(
        "--names-only", action="store_true", help="List the files and leave out what they say."
    )
    result.add_argument(
        "--strict", action="store_true", help="Exit 1 when the pack is not complete."
    )
    return result


def run(args: Namespace) -> Result:
    """Return the context pack that *args* ask for."""
    location = require_memory(args)
    manifest = require_manifest(location)
    request = PackRequest(args.task, tuple(args.rule), tuple(args.profile), tuple(args.area))
    metadata = manifest.manifest.metadata
    try:
        pack = build_pack(location.memory_path, manifest.manifest, request)
    except ManifestError as error:
        raise _placed(error, location, manifest) from None
    is_answered = bool(pack.files) and not pack.missing and (pack.complete or not args.strict)
    return Result(
        pack_as_data(pack, names_only=args.names_only, memory_dir=location.memory_dir),
        lambda: pack_as_text(pack, names_only=args.names_only),
        exits.OK if is_answered else exits.NO,
        (
            *protocol_notices(metadata),
            *journal_notices(location, metadata.project_id),
            *_pack_notices(pack, location.memory_dir, strict=args.strict),
        ),
    )


def _placed(error: ManifestError, location: Location, manifest: ManifestFile) -> ManifestError:
    """Return *error* with its place as seen from the project root, in the file as it is."""
    name, _, line = error.where.partition(":")
    where = f"{location.memory_dir}/{name}" if name == MANIFEST else error.where
    if line:
        where += f":{original_line(manifest.text, manifest.file, int(line))}"
    return ManifestError(error.what, where=where, hint=error.hint, code=error.code)


def _pack_notices(pack: ContextPack, memory_dir: str, *, strict: bool) -> Iterator[str]:
    for item in pack.omitted:
        if item.reason == UNREADABLE:
            line = f":{item.line}" if item.line else ""
            yield f"warning: not served: {memory_dir}/{item.path}{line}: {item.detail}"
    for path in pack.missing:
        yield f"warning: a required file is missing: {memory_dir}/{path}"
    if not pack.files:
        yield "warning: no file was loaded"
    if strict and not pack.complete:
        yield "warning: the pack is not complete; its `Omitted` list says what is left out"
