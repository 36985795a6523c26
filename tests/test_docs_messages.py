"""The troubleshooting page lists every message and every finding that the sources can print.

`python tests/test_docs_messages.py` writes the list of messages anew.
"""

from __future__ import annotations

import ast
import re
import sys
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = ROOT / "docs" / "troubleshooting.md"
HEADING: Final = "## Every message\n"
HOLE: Final = "…"

# Errors of programs, not of people: they keep their traceback, or never reach a command line.
_INTERNAL: Final = frozenset(
    {
        "AttributeError",
        "FileNotFoundError",
        "NestedLockError",
        "OSError",
        "RuntimeError",
        "TemplateError",
        "TypeError",
        "ValueError",
        "JournalError",
        "NotImplementedError",
        "KeyError",
        "UnicodeDecodeError",
    }
)
# What the strict JSON front says; everything else is of people's commands.
_CONTRACT: Final = {
    "InternalError": "internal_error",
    "NotFoundError": "not_found",
    "InvalidInputError": "invalid_input",
    "IntegrityError": "integrity_error",
    "RetrieveError": "write_refused",
    "GovernanceError": "governance_refused",
}
# Functions that make an error or a blocker: where their words and the next step stand, and what the
# words are put behind.
_MAKERS: Final = {
    ("", "Blocker"): (1, 3, ""),
    ("evidence.py", "_invalid"): (0, None, ""),
    ("textsafety.py", "_refused"): (1, 3, f"the {HOLE} "),
}
_PACKAGES: Final = ("mc-cli", "mc-lock", "mc-migrate", "mc-plan", "mc-retrieve", "mc-schema")
_CODE: Final = re.compile(r"[a-z]+(?:_[a-z]+)+")
_METADATA: Final = frozenset(
    {
        "admission_policy",
        "entry_schema_version",
        "initialized_with",
        "last_migrated_with",
        "memory_dir",
        "project_id",
        "protocol_version",
    }
)


class Message(NamedTuple):
    """What an error says, with `…` where it puts in a value."""

    what: str
    hint: str
    code: str  # of the contract; "" for people's commands


@lru_cache
def messages() -> tuple[Message, ...]:
    """Return the messages of all errors that people can meet, sorted, each once."""
    found: dict[tuple[str, str], Message] = {}
    for package in _PACKAGES:
        for path in sorted((ROOT / "packages" / package / "src").rglob("*.py")):
            if path.name != "testing.py":
                tree = ast.parse(path.read_text(encoding="utf-8"))
                for message in (*_messages_in(tree), *_made_in(tree, path.name)):
                    key = (message.what, message.code)
                    if not found.get(key, message).hint or key not in found:
                        found[key] = message
    return tuple(sorted(found.values(), key=lambda m: (m.what.casefold(), m.what, m.code)))


def _messages_in(tree: ast.AST) -> Iterator[Message]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if not name.endswith("Error") or name in _INTERNAL:
            continue
        hint = next((_text(word.value) for word in node.keywords if word.arg == "hint"), "")
        whats = node.args[0]
        for part in (whats.body, whats.orelse) if isinstance(whats, ast.IfExp) else (whats,):
            if (text := _text(part)).strip(f"{HOLE} :;`()"):
                yield Message(text, hint, _CONTRACT.get(name, ""))


def _made_in(tree: ast.AST, file_name: str) -> Iterator[Message]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            name = node.func.id
            maker = _MAKERS.get((file_name, name)) or _MAKERS.get(("", name))
            if maker is not None and len(node.args) > maker[0]:
                what, hint = _text(node.args[maker[0]]), maker[1]
                step = _text(node.args[hint]) if hint and len(node.args) > hint else ""
                if what.strip(f"{HOLE} "):
                    yield Message(maker[2] + what, step, "")


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else HOLE for part in node.values
        )
    return ""


def finding_codes() -> set[str]:
    """Return the codes of the findings of `check`."""
    folder = ROOT / "packages" / "mc-cli" / "src" / "mc_cli" / "check"
    return {
        node.value
        for path in folder.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and _CODE.fullmatch(node.value)
    } - _METADATA


def tables() -> str:
    """Return the list of messages as two Markdown tables."""
    rows = [f"| {_cell(m.what)} | {_cell(m.hint)} |\n" for m in messages() if not m.code]
    contract = [f"| {_cell(m.what)} | `{m.code}` |\n" for m in messages() if m.code]
    return (
        "| It says | What to do |\n| --- | --- |\n"
        + "".join(rows)
        + "\nIn the JSON of `cortex`, after the place that it is about:\n\n"
        + "| It says | Code |\n| --- | --- |\n"
        + "".join(contract)
    )


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text(encoding="utf-8")


def test_every_message_is_explained(page: str) -> None:
    """When this fails: `python tests/test_docs_messages.py`."""
    listed = page.partition(HEADING)[2]

    assert [m.what for m in messages() if f"| {_cell(m.what)} |" not in listed] == []


def test_page_lists_no_message_that_is_gone(page: str) -> None:
    """When this fails: `python tests/test_docs_messages.py`."""
    assert page.endswith(tables())


def test_every_finding_of_check_is_explained(page: str) -> None:
    assert {code for code in finding_codes() if f"`{code}`" not in page} == set()


def test_every_exit_code_is_explained(page: str) -> None:
    from mc_cli import exits

    codes = {value for value in vars(exits).values() if type(value) is int and value < 128}

    assert {code for code in codes if f"\n| {code} | " not in page} == set()
    assert "\n| 128+n | " in page


def main() -> int:
    """Write the list of messages anew."""
    page = PAGE.read_text(encoding="utf-8")
    before = page.partition(HEADING)[0]
    words = f"`{HOLE}` stands for a value. An empty second column means that the first says it all."
    PAGE.write_text(f"{before}{HEADING}\n{words}\n\n{tables()}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
