"""What is fuzzed: every reader of text that other people write, as a function of bytes.

Each returns when the text was answered, by a value or by a documented error; anything else that it
raises is a finding. Used by hypothesis (`tests/fuzz`) and by the coverage-guided harness there.
"""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mc_cli import config
from mc_cli.cortex import frontmatter, hot_entries, queue
from mc_cli.cortex.governance import GovernanceError
from mc_cli.errors import CommandError
from mc_retrieve import contract, jsonlines, markdown
from mc_retrieve.errors import RetrieveError
from mc_scan import baseline, engine, suppress
from mc_scan.finding import ScanError
from mc_schema import (
    budget,
    document,
    entry,
    evidence,
    ids,
    manifest,
    manifest_edit,
    memoryfile,
    private,
    textsafety,
    units,
    validity,
)
from mc_schema.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Callable

DOCUMENTED: Final = (SchemaError, RetrieveError, ScanError, CommandError, GovernanceError)
_WORDS: Final = ("decision", "constraint", "project", "active", "candidate")


def text_of(data: bytes) -> str:
    """Return *data* as the text that a reader would get."""
    return data.decode("utf-8", "replace")


def read_document(data: bytes) -> None:
    """Split and join; edit one unit: what was not touched stays byte for byte."""
    text = text_of(data)
    parsed = document.Document.parse(text)
    require(parsed.render() == text, "render(parse(x)) == x")
    for unit in parsed.units[:4]:
        own = text[unit.start : unit.content_end]
        require(parsed.replace_units([(unit, own)]) == text, "replacing a unit by itself")
        with contextlib.suppress(SchemaError):
            rest = parsed.remove_units([unit])
            require(is_subsequence(rest, text), "removing adds nothing")
            if unit.kind == units.ENTRY:
                kept = text[: unit.start], text[unit.end :]
                require(all(part.strip() in rest for part in kept), "removing takes one entry")
    inserted = parsed.insert_newest_first("## MC-DEC-20260101-00000001 — T\n\nText.\n")
    require("00000001" in inserted, "an inserted entry is there")
    budget.document_tokens(parsed)


def read_memory_file(data: bytes) -> None:
    """Judge a whole file of memory, as `check` and `read` do."""
    for name in ("decisions.md", "inbox.md", "areas/a.md", "archive/x.md"):
        found = memoryfile.parse_memory_file(name, text_of(data))
        memoryfile.file_tokens(found)
        memoryfile.with_unique_ids([found, found])


def read_manifest(data: bytes) -> None:
    """Read metadata, routes, index and budgets; add an index line."""
    text = text_of(data)
    found = manifest.parse_manifest(text)
    require(found.text == text, "a manifest keeps its text")
    for task in ("planning", "implementation", "x"):
        with contextlib.suppress(SchemaError):
            found.task_specs(task)
    found.has_trust_boundary()
    for kind in manifest_edit.INDEX_GROUPS:
        manifest_edit.add_index_entry(text, kind, "rules/x.md", "load it")


def read_entry(data: bytes) -> None:
    """Read an entry; a sound one is written and read again the same."""
    text = text_of(data)
    found = entry.parse_entry("## MC-DEC-20260101-00000001 — T\n" + text)
    written = entry.format_entry(found)
    again = entry.parse_entry(written)
    if not found.problems:
        require(entry.format_entry(again) == written, "a written entry is stable")
    ids.find_entry_ids(text)
    ids.claimed_entry_id(text)


def read_evidence(data: bytes) -> None:
    """Read one reference, and the text of an argument."""
    text = text_of(data)
    found = evidence.parse_evidence_or_none(text)
    if found is not None and text.startswith("repo:"):
        require(".." not in text.split("@")[0].split("/"), "a reference stays in the project")
    for read in (textsafety.require_body, textsafety.require_line):
        with contextlib.suppress(SchemaError):
            read(text, "--reason")
    validity.parse_timestamp(text)


def read_private(data: bytes) -> None:
    """Take private spans out: the result has none, and taking again changes nothing."""
    text = text_of(data)
    clean = private.strip_private(text)
    require(len(clean) <= len(text), "stripping never adds")
    require(private.strip_private(clean) == clean, "stripping twice is stripping once")
    (stripped, _removed, _cut), origin = private.strip_with_origin(text)
    require(stripped == clean, "both ways of stripping agree")
    require(origin is not None, "the origin is told")


def read_json_lines(data: bytes) -> None:
    """Read a file of JSON lines, and the queue of proposals."""
    with contextlib.suppress(RetrieveError):
        for record, content in jsonlines.parse_json_lines(text_of(data), "x.jsonl"):
            require(bool(record.id) and isinstance(content, str), "a record is whole")
    with contextlib.suppress(GovernanceError):
        queue.parse_queue(data)


def read_frontmatter(data: bytes) -> None:
    """Read a note, and split its frontmatter: joined again it is the same text."""
    with contextlib.suppress(RetrieveError):
        # The corpus hands over what it has found to be UTF-8.
        markdown.parse_markdown(text_of(data).encode(), "KNOWLEDGE/Ideas/x.md")
    text = text_of(data)
    found = frontmatter.split_frontmatter(text)
    if found is not None:
        require(found.text() == text, "a note is joined as it was")
        found.with_value("updated", "2026-01-01", after="created")
    with contextlib.suppress(GovernanceError):
        hot_entries.parse_hot_file(text, "PRINCIPAL_MEMORY.md")


def scan_text(data: bytes) -> None:
    """Look for secrets, with the marks that silence findings."""
    text = text_of(data)
    for _finding in engine.examine([text], "x.md"):
        pass
    list(suppress.find_marks(text, 0, len(text)))


def read_baseline(data: bytes) -> None:
    """Read a suppression file; what was read is written and read again the same."""
    with contextlib.suppress(ScanError):
        found = baseline.parse_baseline(text_of(data), "baseline.toml")
        written = baseline.format_baseline(found)
        require(
            baseline.format_baseline(baseline.parse_baseline(written, "again")) == written,
            "a written baseline is stable",
        )


def read_config(data: bytes) -> None:
    """Read a configuration file of a project."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("memory-custodian.toml", "pyproject.toml"):
            Path(folder, name).write_bytes(data)
            with contextlib.suppress(CommandError):
                config.read_config(Path(folder))


def run_command_line(data: bytes) -> None:
    """Give the bytes, cut at line feeds, to the commands as their arguments.

    They run in an empty folder without a project: whatever they say, nothing may appear in it
    but what `init` and `cortex init-root` make.
    """
    from mc_cli.main import main

    words = [word for word in text_of(data).split("\n") if "\x00" not in word][:12]
    if words[:1] in (["cortex"], ["init"]) or "init-root" in words:
        words = ["cortex", "search", *words]
    with tempfile.TemporaryDirectory() as folder:
        before = Path.cwd()
        os.chdir(folder)
        try:
            out = io.TextIOWrapper(io.BytesIO(), "utf-8")
            err = io.TextIOWrapper(io.BytesIO(), "utf-8")
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                try:
                    code = main(words)
                except SystemExit as ended:  # the parser's --help
                    code = int(ended.code or 0)
            require(code in (0, 1, 2, 3, 4, 5), "a documented exit code")
        finally:
            os.chdir(before)
        require(os.listdir(folder) == [], "no file appeared")  # noqa: PTH208 - names only


def run_contract(data: bytes) -> None:
    """Give the bytes, cut at line feeds, to the commands of the contract."""
    words = text_of(data).split("\n")[:12]
    result = contract.run(
        [*words[:1], *words[1:]], store=lambda _request: {"ok": False, "code": "X"}
    )
    require(result.exit_code in (0, 1, 3, 4, 5), "an exit code of the contract")


def is_subsequence(short: str, long: str) -> bool:
    """Say whether *short* is *long* with characters left out."""
    rest = iter(long)
    return all(character in rest for character in short)


def require(is_so: bool, what: str) -> None:  # noqa: FBT001 - reads as an assertion
    """Raise `AssertionError` if a rule does not hold; not removed by ``-O``."""
    if not is_so:
        raise AssertionError(what)


TARGETS: Final[dict[str, Callable[[bytes], None]]] = {
    "document": read_document,
    "memory-file": read_memory_file,
    "manifest": read_manifest,
    "entry": read_entry,
    "evidence": read_evidence,
    "private": read_private,
    "json-lines": read_json_lines,
    "frontmatter": read_frontmatter,
    "scan": scan_text,
    "baseline": read_baseline,
    "config": read_config,
    "command-line": run_command_line,
    "contract": run_contract,
}

TOKENS: Final[dict[str, tuple[str, ...]]] = {
    "document": ("## ", "- ", "```", "~~~~", "<!--", "-->", "\n", "\r\n", "\r", "\ufeff", "# "),
    "memory-file": (
        "## MC-DEC-20260101-0badf00d — T\n",
        "Status: active\n",
        "Evidence:\n- ",
        "Supersedes: ",
        "<private>",
        "</private>",
        "Decision:\n",
        "user-confirmed\n",
        "```\n",
    ),
    "manifest": (
        "## MemoryCustodian Protocol\n",
        "- protocol_version: ",
        "0.6\n",
        "## Always load\n",
        "### Planning\nLoad:\n",
        "- decisions.md\n",
        "## Context budget\n",
        "- x.md: 9 tokens\n",
        "## Optional module index\n",
    ),
    "entry": (
        "Status: ",
        "Scope: ",
        "Evidence:\n- ",
        "Decision:\n",
        "Reason:\n",
        "Superseded-By: ",
        "Promoted-To: ",
        "\n",
        "```\n",
        "Candidate-Type: x\n",
    ),
    "evidence": (
        "repo:",
        "doc:",
        "test:",
        "issue:#",
        "pr:#",
        "@",
        "..",
        "/",
        "user-confirmed",
        "~",
    ),
    "private": (
        "<private>",
        "</private>",
        "<private",
        "<",
        ">",
        "\uff1c",
        "<PRIVATE >",
        "/private",
    ),
    "json-lines": (
        '{"id":"a"',
        '"type":"idea"',
        '"title":"t"',
        '"created":',
        '"updated":',
        "}\n",
        '"2026-01-01T00:00:00.000Z"',
        '"content":"c"',
        ",",
        "[",
        '"related":[]',
        "\\u0000",
        "1e999",
    ),
    "frontmatter": (
        "---\n",
        "id: a\n",
        "type: idea\n",
        "related:\n",
        "  - slug: x\n",
        '"',
        "[]",
        "created: 2026-01-01\n",
        "<!-- BEGIN ENTRIES -->\n",
        "RULE: x\n",
        "<!-- END ENTRIES -->\n",
    ),
    "scan": (
        "password=",
        "AKIA",
        "ghp_",
        "-----BEGIN RSA PRIVATE KEY-----\n",
        "https://u:p@h/",
        "mc-scan: allow ",
        "<!--",
        "-->",
        "/home/x/",
        "Bearer ",
        "0123456789abcdef",
        "a@b.co",
    ),
    "baseline": (
        "{",
        "}",
        '"',
        '"schema":',
        "1",
        '"entries":',
        "[",
        "]",
        ":",
        ",",
        '"rule":',
        '"path":',
    ),
    "config": (
        "[tool.memory-custodian]\n",
        "memory-dir = ",
        '"docs/memory"\n',
        "lock-timeout = ",
        "scan.fail-on = ",
        "inf\n",
        "-1\n",
        "[search]\n",
        "true\n",
        "memory-custodian",
    ),
    "command-line": (
        "add\n",
        "forget\n",
        "read\n",
        "--task\n",
        "--apply\n",
        "--confirm-plan\n",
        "-",
        "check\n",
        "--json\n",
        "--format\n",
        "sarif\n",
        "--memory-dir\n",
        "docs/../x\n",
        "recover\n",
    ),
    "contract": (
        "search\n",
        "get\n",
        "timeline\n",
        "--page\n",
        "1\n",
        "--memory-root\n",
        "remember\n",
        "{}\n",
        "--adapter\n",
        "codex\n",
        "--allow-write\n",
        "--anchor\n",
        "--type\n",
        "export\n",
    ),
}
"""Pieces that lead deeper than random text does."""
