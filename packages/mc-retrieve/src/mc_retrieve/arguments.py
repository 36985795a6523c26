"""The strict command line: what is not in the table is refused, never ignored.

Source: Cortex contract, sections 1.1 and 13 (D26).
"""

from __future__ import annotations

from mc_retrieve.errors import InvalidInputError
from mc_retrieve.tokenizer import TOKENIZERS

TYPE_CHECKING = False  # importing `typing` costs a command more than reading a hundred records
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

STATUS: Final = "status"
SEARCH: Final = "search"
TIMELINE: Final = "timeline"
GET: Final = "get"
EXPORT: Final = "export"
REMEMBER: Final = "remember"
PROPOSE: Final = "propose"
REBUILD: Final = "rebuild"

MAX_IDS: Final = 100
ADAPTERS: Final = ("claude", "hermes", "codex", "subagent")

_COMMON: Final = frozenset({"--memory-root", "--adapter"})
_LISTING: Final = frozenset(
    {"--type", "--source", "--session", "--from", "--to", "--page", "--page-size"}
)
_EXPANSION: Final = frozenset({"--expand", "--max-nodes", "--max-tokens"})
_OPTIONS: Final = {
    STATUS: _COMMON,
    SEARCH: _COMMON | _LISTING | _EXPANSION | {"--recency", "--tokenizer"},
    TIMELINE: _COMMON | _LISTING | {"--anchor", "--before", "--after"},
    GET: _COMMON,
    EXPORT: _COMMON,
    REMEMBER: _COMMON | {"--allow-write"},
    PROPOSE: _COMMON | {"--allow-write"},
    REBUILD: _COMMON | {"--from-canonical"},
}
_FLAGS: Final = frozenset({"--allow-write", "--from-canonical"})

COMMANDS: Final = tuple(_OPTIONS)


class Arguments:
    """A command line that the table allows."""

    __slots__ = ("command", "flags", "options", "positionals")

    def __init__(
        self,
        command: str,
        positionals: list[str],
        options: dict[str, str],
        flags: frozenset[str],
    ) -> None:
        self.command = command
        self.positionals = positionals
        self.options = options
        self.flags = flags


def parse_arguments(argv: Sequence[str]) -> Arguments:
    """Return what *argv* says; the first thing wrong with it, from left to right, is refused.

    Raises:
        InvalidInputError: An unknown command, an unknown, repeated, valueless or inapplicable
            option, or a value that an option does not take.
    """
    if not argv:
        raise InvalidInputError(f"a command is missing: one of {', '.join(COMMANDS)}")
    command = argv[0]
    if command not in _OPTIONS:
        raise InvalidInputError(f"unknown command: one of {', '.join(COMMANDS)} is expected")
    positionals: list[str] = []
    options: dict[str, str] = {}
    flags: set[str] = set()
    rest = iter(argv[1:])
    for argument in rest:
        if not argument.startswith("--"):
            positionals.append(argument)
            continue
        if argument not in _OPTIONS[command]:
            raise InvalidInputError(f"`{command}` has no such option: argument `{argument[:64]}`")
        if argument in options or argument in flags:
            raise InvalidInputError(f"`{argument}` is given twice")
        if argument in _FLAGS:
            flags.add(argument)
            continue
        value = next(rest, "")
        if not value or value.startswith("--"):
            raise InvalidInputError(f"`{argument}` takes a value")
        options[argument] = value
    _check_choice(options, "--adapter", ADAPTERS)
    _check_choice(options, "--tokenizer", TOKENIZERS)
    return Arguments(command, positionals, options, frozenset(flags))


def check_positionals(arguments: Arguments) -> None:
    """Refuse a read command that has too few or too many positional arguments.

    Raises:
        InvalidInputError: The count is wrong, or `rebuild` lacks its flag.
    """
    command, count = arguments.command, len(arguments.positionals)
    if command in {STATUS, TIMELINE, REBUILD} and count:
        raise InvalidInputError(f"`{command}` takes no argument besides options")
    if command == SEARCH and count != 1:
        raise InvalidInputError("`search` takes exactly one query")
    if command == REBUILD and "--from-canonical" not in arguments.flags:
        raise InvalidInputError("`rebuild` needs `--from-canonical`")
    if command in {GET, EXPORT} and not 1 <= count <= MAX_IDS:
        raise InvalidInputError(f"`{command}` takes 1 to {MAX_IDS} ids")


def _check_choice(options: dict[str, str], name: str, choices: tuple[str, ...]) -> None:
    if name in options and options[name] not in choices:
        raise InvalidInputError(f"`{name}` is one of {', '.join(choices)}")
