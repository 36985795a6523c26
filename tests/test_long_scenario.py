"""From Protocol 0.5 to daily use: migrate, read, add, supersede, forget, compact, check.

On projects of our own, and on every shared fixture where the folder is there.

Source: guide 11 and 13.3; design 7.
"""

from __future__ import annotations

import json
import re
import shutil
import signal
from typing import TYPE_CHECKING, Final

import pytest
from faults import injector
from place import ENTRY_ID, Place, files_below
from scenario import OLDER_FILES, OLDER_MANIFEST, older_place

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

EVIDENCE: Final = ["--evidence", "user-confirmed"]
TASKS: Final = ("planning", "implementation", "preferences", "maintenance")


def project_of(base: Path, files: Mapping[str, str]) -> Place:
    place = Place(base.resolve())
    place.root.mkdir(parents=True)
    for name, text in files.items():
        place.write(name, text)
    return place


def with_line_ends(files: Mapping[str, str]) -> dict[str, str]:
    texts = {name: text.replace("\n", "\r\n") for name, text in files.items()}
    return {**texts, "decisions.md": "\ufeff" + texts["decisions.md"].rstrip() + "  "}


def without_metadata(files: Mapping[str, str]) -> dict[str, str]:
    head, _, rest = OLDER_MANIFEST.partition("## MemoryCustodian Protocol")
    return {**files, "manifest.md": head + rest[rest.index("## Always load") :]}


OWN: Final[dict[str, Callable[[Mapping[str, str]], Mapping[str, str]]]] = {
    "plain": dict,
    "crlf-and-bom": with_line_ends,
    "0.4": lambda files: {
        **files,
        "manifest.md": OLDER_MANIFEST.replace("version: 0.5", "version: 0.4"),
    },
    "no-metadata": without_metadata,
    "fences-and-comments": lambda files: {
        **files,
        "decisions.md": files["decisions.md"]
        + "\n## Show a sample\n\nDecision:\nAs follows.\n\n"
        + "```md\n## Not a heading\nDecision:\n```\n"
        + "\n<!--\n## Hidden\nDecision: no\n-->\n\nLoose prose.\n\n\n\n- a bullet\n",
    },
    "cjk": lambda files: {
        **files,
        "decisions.md": "# 决定\n\n## 2026-02-28：使用 CSV\n\nDecision:\n导出使用 CSV。\n",
    },
}


def lines_of(data: bytes) -> list[bytes]:
    return re.findall(rb"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+", data)


def is_subsequence(short: list[bytes], long: list[bytes]) -> bool:
    rest = iter(long)
    return all(any(line == other for other in rest) for line in short)


def check_kept(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> None:
    """Every line is still there, in order, with its own end; only headings may have been given ids.

    A heading's text survives inside its new heading, but for a date that moved into the id.
    """
    assert set(before) <= set(after)
    for path, data in before.items():
        new = lines_of(after[path])
        kept = [
            line
            for line in lines_of(data)
            if not re.match(rb"\xef?\xbb?\xbf?## ", line) and not is_metadata(line)
        ]
        assert is_subsequence(kept, new), path


def is_metadata(line: bytes) -> bool:
    return re.match(rb"- (protocol_version|initialized_with|last_migrated_with):", line) is not None


def live(place: Place) -> None:
    """Migrate, read, add, supersede a migrated decision, forget, compact, check."""
    start = place.tree()
    served = {task: place.call("read", "--task", task) for task in TASKS}
    preview = place.require("migrate")
    assert start == place.tree()
    place.require(*preview.apply_words)
    check_kept(start, place.tree())
    assert "nothing to migrate" in place.require("migrate").out
    for task, before in served.items():
        after = place.call("read", "--task", task)
        assert (before.code, after.code) in ((0, 0), (1, 0), (2, 0), (1, 1), (2, 2)), (task, after)
    assert place.call("check").code == 0, place.call("check")

    new = place.add("Ask before every upload.", "constraint")
    migrated = re.search(r"^## (MC-DEC-\S+)", place.text("decisions.md"), re.MULTILINE)
    old = migrated[1] if migrated else place.add("Old choice.")
    said = place.apply("add", "Chosen anew.", "--supersedes", old, *EVIDENCE).out
    successor = next(each for each in ENTRY_ID.findall(said) if each != old)
    assert f"Superseded-By: {successor}" in place.text("decisions.md")
    place.add("Perhaps a zyxwolf client.", "inbox", "--candidate")
    place.apply("forget", "zyxwolf", "--mode", "hard")
    place.apply("forget", "Ask before every upload", "--allow-broad-match")
    assert new not in place.text("constraints.md")
    place.apply("compact")
    assert f"## {old}" not in place.text("decisions.md")
    assert f"## {old}" in "".join(
        path.read_bytes().decode() for path in (place.memory / "archive").rglob("*.md")
    )

    check = place.call("check")
    assert (check.code, check.out.splitlines()[-1]) == (0, "check: OK"), check
    assert "ERROR" not in check.out
    status = json.loads(place.call("status", "--json").out)["data"]
    assert status
    pack = place.require("read", "--task", "planning").out
    assert "Chosen anew." in pack
    assert place.leftovers() == []


@pytest.mark.parametrize("kind", OWN)
def test_migrated_project_lives_on(tmp_path: Path, kind: str) -> None:
    live(project_of(tmp_path / "machine", OWN[kind](OLDER_FILES)))


def test_every_shared_fixture_lives_on_or_is_refused_untouched(
    shared_folder: Path, tmp_path: Path
) -> None:
    folders = [f for f in (shared_folder / "fixtures" / "protocol-0.5").iterdir() if f.is_dir()]
    lived = 0
    for folder in sorted(folders):
        place = Place((tmp_path / folder.name).resolve())
        for path in folder.rglob("*"):
            if path.is_file() and path.name != "expected.json":
                target = place.root / path.relative_to(folder)
                target.parent.mkdir(parents=True, exist_ok=True)
                # Only the bytes: the fixtures are read-only, what is written to must not be.
                shutil.copyfile(path, target)
        expected = json.loads((folder / "expected.json").read_text("utf-8"))
        if expected["outcome"] == "refuse":
            before = place.tree()
            assert place.call("migrate").code == 2, folder.name
            assert place.call("read", "--task", "planning").code in (0, 1), folder.name
            assert before == place.tree()
            continue
        live(place)
        lived += 1

    assert lived >= 8


def test_routes_budgets_and_custom_sections_are_byte_identical(tmp_path: Path) -> None:
    custom = "\n## House rules\r\nKept  \n\n\n- as it is\n"
    place = project_of(
        tmp_path / "machine", {**OLDER_FILES, "manifest.md": OLDER_MANIFEST + custom}
    )
    place.apply("migrate")

    text = place.text("manifest.md")
    for section in ("## Always load", "## Load by task", "## Optional module index", "## Context"):
        start = OLDER_MANIFEST.index(section)
        end = OLDER_MANIFEST.find("\n## ", start)
        assert OLDER_MANIFEST[start : end if end > 0 else None] in text
    assert custom in text
    assert text.count("project_id:") == 1
    kept = {path for path in ("changelog.md", "areas/sync.md") if OLDER_FILES[path] != path}
    assert kept <= {path.removeprefix("docs/memory/") for path in place.tree()}


def test_migration_without_its_id_or_with_an_old_one_writes_nothing(tmp_path: Path) -> None:
    place = older_place(tmp_path / "machine")
    old = place.require("migrate").plan_id
    place.write("constraints.md", place.text("constraints.md") + "- New.\n")
    before = place.tree()

    refused = [
        place.call("migrate", "--apply"),
        place.call("migrate", "--apply", "--confirm-plan", old),
    ]

    assert [answer.code for answer in refused] == [3, 3]
    assert before == place.tree()
    assert {answer.plan_id for answer in refused} != {old}


def test_interrupted_migration_is_readable_and_can_be_run_again(tmp_path: Path) -> None:
    """Until the manifest is renamed, last of all, the project is a 0.5 project."""
    place = older_place(tmp_path / "machine")
    words = place.require("migrate").apply_words
    keep = tmp_path / "keep"
    place.argv([])
    place.keep_as(keep)
    points = injector().points(place, words)
    after = place.tree()
    place.restore_from(keep)
    before = place.tree()
    renames = [
        point
        for point in points
        if point.name in ("rename", "replace") and ".json" not in point.subject
    ]

    for point in renames:
        place.restore_from(keep)
        assert injector().run(place, words, point, "SIGKILL").code == -signal.SIGKILL
        assert "protocol_version: 0.5" in place.text("manifest.md")
        for task in TASKS[:2]:
            pack = place.call("read", "--task", task)
            assert pack.code == 0, pack
            assert "interrupted" in pack.err
        assert "Keep exports in CSV." in place.call("read", "--task", "planning").out
        place.age_locks()
        assert place.call(*words, "--break-stale-lock").code == 5
        # A migration holds two locks, and one command breaks those that it needs itself.
        place.require(*place.require("recover").apply_words, "--break-stale-lock")
        assert place.tree() in (before, after)
        if place.tree() == before:
            place.apply("migrate")
        assert "nothing to migrate" in place.require("migrate").out
        assert place.leftovers() == []
    assert len(renames) >= 3


def test_command_of_the_older_protocol_keeps_its_formats(tmp_path: Path) -> None:
    """Before the migration nothing is written that the earlier CLI could not read."""
    place = older_place(tmp_path / "machine")

    added = place.require("add", "Use UTC.", "--type", "decision", *EVIDENCE)
    bullet = place.require("add", "No daemon.", "--type", "constraint")
    wish = place.require("add", "Perhaps UTC.", "--type", "decision", "--candidate")
    refused = place.call("add", "X.", "--supersedes", "MC-DEC-20260101-00000000", *EVIDENCE)
    compacted = place.require("compact", "--apply")
    forgot = place.require("forget", "telemetry", "--apply")

    text = "".join(data.decode() for data in files_below(place.memory).values())
    assert "MC-" not in text
    assert "Evidence:" not in text
    assert refused.code != 0
    assert "memory-custodian migrate" in refused.err
    for answer in (added, bullet, wish, compacted, forgot):
        assert "memory-custodian migrate" in answer.err, answer
    assert place.text("inbox.md").count("Perhaps JSON lines.") == 1
    assert "- No telemetry." not in place.text("constraints.md")
