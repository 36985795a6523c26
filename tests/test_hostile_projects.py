"""A project that somebody else made: links, pipes, odd names, escaping routes, huge files.

Nothing outside the project is read or written, nothing is followed, nothing unprintable printed,
and what cannot be used is named while the rest is served.

Source: reliability specification 4.1; field reports D9, D10, D15, D35, D36.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import sys
from typing import TYPE_CHECKING, Final

import pytest
from place import Place, files_below, new_place

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

EVIDENCE: Final = ["--evidence", "user-confirmed"]
OUTSIDE: Final = "outside-marker"
READERS: Final = (
    ["read", "--task", "planning"],
    ["read", "--task", "maintenance"],
    ["search", OUTSIDE],
    ["search", "zebras"],
    ["timeline", "--anchor", "2026-01-01"],
    ["status"],
    ["check"],
    ["check", "--privacy"],
    ["check", "--security"],
    ["check", "--format", "sarif"],
    ["cortex", "search", OUTSIDE, "--memory-root", "docs/memory"],
    ["cortex", "export", "--memory-root", "docs/memory"],
)
WRITERS: Final = (
    ["add", "No daemon.", "--type", "constraint", *EVIDENCE],
    ["add", "Use UTC.", "--type", "decision", *EVIDENCE],
    ["add", "Perhaps.", "--candidate"],
    ["enable", "preferences"],
    ["enable", "area/sync"],
    ["init", "--repair"],
    ["init", "--replace-existing"],
    ["compact"],
    ["compact", "--target", "constraints.md"],
    ["forget", OUTSIDE],
    ["forget", OUTSIDE, "--mode", "purge"],
    ["forget", "zebras", "--allow-broad-match"],
    ["migrate"],
)
CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

# Tells every file that is opened for writing, renamed or removed, every connection and process.
AUDITED: Final = r"""
import json, os, sys
seen = []
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC
NAMED = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate",
         "os.chmod", "os.chown", "os.utime", "shutil.move", "shutil.rmtree"}
def hook(event, args):
    if event == "open" and isinstance(args[0], (str, bytes)):
        if isinstance(args[2], int) and args[2] & WRITING:
            seen.append((event, os.path.abspath(os.fsdecode(args[0]))))
    elif event in NAMED:
        seen.extend((event, os.path.abspath(os.fsdecode(each))) for each in args[:2]
                    if isinstance(each, (str, bytes, os.PathLike)))
    elif event in ("socket.connect", "socket.bind", "socket.getaddrinfo"):
        seen.append((event, "network"))
    elif event == "subprocess.Popen":
        seen.append((event, str(args[0])))
sys.addaudithook(hook)
from mc_cli.main import main
code = main(sys.argv[1:])
sys.stdout.flush()
sys.stderr.write("\nAUDIT " + json.dumps(seen) + "\n")
sys.exit(code)
"""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = new_place(tmp_path_factory.mktemp("hostile") / "machine")
    place.add("Answer in zebras.")
    place.add("Only zebras.", "constraint")
    (place.base / "outside").mkdir()
    (place.base / "outside" / "secret.md").write_text(f"# S\n\n- {OUTSIDE}\n", "utf-8")
    return place


@pytest.fixture
def place(template: Place, tmp_path: Path) -> Place:
    place = Place(tmp_path.resolve() / "machine")
    shutil.copytree(template.base, place.base)
    return place


def replace_by_link(place: Place, name: str, target: Path) -> None:
    path = place.memory / name
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


def link_file(place: Place) -> None:
    replace_by_link(place, "constraints.md", place.base / "outside" / "secret.md")


def link_folder(place: Place) -> None:
    replace_by_link(place, "areas", place.base / "outside")


def link_memory(place: Place) -> None:
    shutil.move(place.memory, place.base / "outside" / "memory")
    place.memory.symlink_to(place.base / "outside" / "memory")


def link_docs(place: Place) -> None:
    shutil.move(place.memory.parent, place.base / "outside" / "docs")
    place.memory.parent.symlink_to(place.base / "outside" / "docs")


def link_nowhere(place: Place) -> None:
    replace_by_link(place, "constraints.md", place.base / "outside" / "new.md")


def link_loop(place: Place) -> None:
    replace_by_link(place, "constraints.md", place.memory / "constraints.md")


def make_fifo(place: Place) -> None:
    (place.memory / "constraints.md").unlink()
    os.mkfifo(place.memory / "constraints.md")


def make_folder(place: Place) -> None:
    (place.memory / "constraints.md").unlink()
    (place.memory / "constraints.md").mkdir()


def make_utf16(place: Place) -> None:
    (place.memory / "constraints.md").write_bytes("# C\n\n- zebras\n".encode("utf-16"))


OBSTACLES: Final = [
    link_file,
    link_folder,
    link_memory,
    link_docs,
    link_nowhere,
    link_loop,
    make_fifo,
    make_folder,
    make_utf16,
]


@pytest.mark.skipif(os.name == "nt", reason="links and pipes need POSIX")
@pytest.mark.parametrize("obstruct", OBSTACLES, ids=lambda each: each.__name__)
def test_obstacle_is_never_followed_and_always_named(
    place: Place, obstruct: Callable[[Place], None]
) -> None:
    obstruct(place)
    outside = files_below(place.base / "outside")
    before = place.tree()
    names = {"link_folder": "areas", "link_memory": "docs/memory", "link_docs": "docs/memory"}
    name = names.get(obstruct.__name__, "constraints.md")

    for words in (*READERS, *WRITERS):
        answer = place.call(*words)
        said = answer.out + answer.err
        assert "Traceback" not in said
        assert f"\n- {OUTSIDE}" not in said, words
        if words[0] in ("check", "status"):
            assert answer.code != 0, words
        if answer.code and words[0] != "cortex":
            assert name in said, (words, answer)
            assert answer.err, words
        if (
            words[0] not in ("read", "search", "timeline", "status", "check", "cortex")
            and answer.code
        ):
            assert "no files were written" in answer.err
    assert outside == files_below(place.base / "outside")
    changed = {path for path, data in before.items() if place.tree().get(path) != data}
    assert f"docs/memory/{name}" not in changed
    assert place.leftovers() == []


@pytest.mark.skipif(os.name == "nt", reason="modes need POSIX")
def test_read_only_file_is_refused_before_anything_is_written(place: Place) -> None:
    words = ["forget", "zebras", "--allow-broad-match"]
    confirm = ["--apply", "--confirm-plan", place.require(*words).plan_id]
    (place.memory / "constraints.md").chmod(0o444)
    before = place.tree()

    answers = [
        place.call("add", "No daemon.", "--type", "constraint", *EVIDENCE),
        place.call(*words),
        place.call(*words, *confirm),
    ]

    assert [answer.code for answer in answers] == [1, 1, 1], answers
    for answer in answers:
        assert "write protection" in answer.err
        assert "docs/memory/constraints.md" in answer.err
    assert before == place.tree()
    assert stat.S_IMODE((place.memory / "constraints.md").stat().st_mode) == 0o444


@pytest.mark.skipif(os.name == "nt", reason="modes need POSIX")
@pytest.mark.parametrize("mode", [0o640, 0o600, 0o755])
def test_mode_survives_a_change(place: Place, mode: int) -> None:
    """Field report D5."""
    (place.memory / "constraints.md").chmod(mode)

    place.add("No daemon.", "constraint")

    assert stat.S_IMODE((place.memory / "constraints.md").stat().st_mode) == mode


@pytest.mark.skipif(os.name == "nt", reason="hard links need POSIX")
def test_hard_link_keeps_its_old_text_and_is_announced(place: Place) -> None:
    other = place.base / "outside" / "linked.md"
    os.link(place.memory / "constraints.md", other)
    old = other.read_bytes()

    done = place.require("add", "No daemon.", "--type", "constraint", *EVIDENCE)

    assert "hard link" in done.err
    assert old == other.read_bytes()
    assert "No daemon." in place.text("constraints.md")


@pytest.mark.parametrize("name", ["decisions.md", "do-not-use.md", "constraints.md"])
@pytest.mark.parametrize("kind", ["folder", "link", "gone"])
def test_target_replaced_after_the_preview_is_refused(place: Place, name: str, kind: str) -> None:
    words = ["forget", "zebras", "--allow-broad-match"]
    plan_id = place.require(*words).plan_id
    path = place.memory / name
    path.unlink()
    if kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to(place.base / "outside" / "secret.md")
    outside, before = files_below(place.base / "outside"), place.tree()

    refused = place.call(*words, "--apply", "--confirm-plan", plan_id)

    assert refused.code in (1, 2, 3), refused
    assert "no files were written" in refused.err
    assert (outside, before) == (files_below(place.base / "outside"), place.tree())


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names that only Linux allows")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("new\nline.md", id="newline"),
        pytest.param("esc\x1b]0;title\x07.md", id="terminal-escape"),
        pytest.param("rtl\u202egnp.md", id="bidirectional"),
        pytest.param("c1\x9b31m.md", id="c1-control"),
        pytest.param("sur\udcff.md", id="not-utf-8"),
    ],
)
@pytest.mark.parametrize("folder", ["", "rules/", "areas/"])
def test_names_are_printed_with_escapes(place: Place, folder: str, name: str) -> None:
    path = place.memory / folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"# X\n\n- a \x1b[31mred\x1b[0m zebra\n\xff")

    for words in (*READERS, *WRITERS):
        answer = place.call(*words)
        assert "Traceback" not in answer.err
        found = CONTROL.search(answer.out + answer.err)
        assert found is None, (words, answer)
        if (
            words[0] not in ("read", "search", "timeline", "status", "check", "cortex")
            and answer.code
        ):
            assert "no files were written" in answer.err
    assert path.read_bytes().endswith(b"\xff")
    assert CONTROL.search(place.text("manifest.md")) is None
    assert place.leftovers() == []


@pytest.mark.parametrize(
    "route",
    [
        "../../../outside/secret.md",
        "/etc/passwd",
        "..\\x.md",
        "C:x.md",
        "areas/../../x.md",
        ".",
        "",
        "*.md",
        "~/x.md",
        "docs\u2215x.md",
        "a//b.md",
        "archive/old.md",
        "manifest.md",
    ],
)
def test_route_that_escapes_is_reported_and_not_loaded(place: Place, route: str) -> None:
    manifest = place.text("manifest.md")
    start = manifest.index("## Always load")
    place.write("manifest.md", manifest[:start] + f"## Always load\n- {route}\n- brief.md\n")
    place.write("archive/old.md", f"# Old\n\n- {OUTSIDE}\n")

    read = place.call("read", "--task", "planning")
    check = place.call("check")

    assert f"- {OUTSIDE}" not in read.out + read.err
    assert "root:" not in read.out
    assert "Traceback" not in read.err + check.err
    assert (check.code, "Traceback" in check.out) == (1, False)


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_evidence_through_a_link_out_of_the_project_is_refused(place: Place, kind: str) -> None:
    link = place.root / "linked"
    target = place.base / "outside"
    link.symlink_to(target / "secret.md" if kind == "file" else target)
    path = "linked" if kind == "file" else "linked/secret.md"
    before = place.tree()

    refused = place.call("add", "X y.", "--type", "decision", "--evidence", f"repo:{path}")

    assert refused.code in (1, 2), refused
    assert path in refused.err
    assert before == place.tree()


@pytest.mark.parametrize(
    "identity",
    ["MC-DEC-" + "9" * 5000 + "-00000000", "MC-DEC-20260101-" + "a" * 100_000, "MC-DEC-20260101-"],
    ids=["huge-date", "huge-suffix", "no-suffix"],
)
def test_huge_id_is_no_id_and_stops_nothing(place: Place, identity: str) -> None:
    place.write("decisions.md", f"{place.text('decisions.md')}\n## {identity} — X\n\nText.\n")

    read = place.call("read", "--task", "planning")
    refused = [
        place.call("add", "X.", "--supersedes", identity, *EVIDENCE),
        place.call("show", identity),
        place.call("cortex", "get", identity, "--memory-root", "docs/memory"),
    ]

    assert read.code == 0
    assert "Answer in zebras." in read.out
    assert all(answer.code for answer in refused)
    for answer in refused:
        assert "Traceback" not in answer.err
        assert len(answer.err) < 3000 + len(identity)


@pytest.mark.parametrize("count", [1_000, pytest.param(10_000, marks=pytest.mark.torture)])
def test_thousands_of_entries_are_read_and_written(place: Place, count: int) -> None:
    """Work grows with the text, not with its square: the largest project anyone has still works."""
    body = "Status: active\nScope: project\nEvidence:\n- user-confirmed\n\nConstraint:\nText {n}.\n"
    entries = "".join(
        f"\n## MC-CON-20260101-{n:08x} — Number {n}\n\n" + body.replace("{n}", str(n))
        for n in range(count)
    )
    place.write("constraints.md", "# Constraints\n" + entries)

    new = place.add("One more.", "constraint")
    found = place.require("search", "711", "--json")
    forgot = place.require("forget", "Text 711.", "--allow-broad-match")
    check = place.call("check")

    assert place.text("constraints.md").rstrip().endswith("One more.")
    assert new in place.text("constraints.md")
    items = json.loads(found.out)["data"]["items"]
    assert [item["id"] for item in items] == [f"MC-CON-20260101-{711:08x}"]
    assert f"Remove MC-CON-20260101-{711:08x}" in forgot.out
    assert check.code == 0, check.out[:500]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param("sync", "SYNC", id="case"),
        pytest.param("straße", "STRASSE", id="folded"),
        pytest.param("caf\u00e9", "cafe\u0301", id="composed"),
    ],
)
def test_names_that_clash_on_other_systems_are_refused(
    place: Place, first: str, second: str
) -> None:
    one = place.call("enable", f"area/{first}")
    before = place.tree()

    two = place.call("enable", f"area/{second}")
    three = place.call("add", "X y.", "--type", "decision", "--area", second, *EVIDENCE)

    assert one.code in (0, 2)
    if one.code == 0:
        assert (two.code, three.code) in ((2, 2), (1, 1)), (two, three)
        assert before == place.tree()


@pytest.mark.parametrize(
    "name",
    ["CON", "nul", "com1", "../x", "a/b", "/etc/x", "..\\x", "C:x", "x.", ".x", "README", ""],
)
def test_names_of_modules_never_leave_their_folder(place: Place, name: str) -> None:
    """Field report D35."""
    before = place.tree()

    answers = [
        place.call("enable", f"area/{name}"),
        place.call("add", "X.", "--type", "decision", "--area", name, *EVIDENCE),
        place.call("add", "X.", "--type", "rule", "--name", name, *EVIDENCE),
    ]

    assert [answer.code for answer in answers] == [2, 2, 2], answers
    assert before == place.tree()


def test_one_bad_file_hides_no_other(place: Place) -> None:
    """Field reports D10 and D15: a torn entry, conflict markers and another encoding at once."""
    place.write("do-not-use.md", "# D\n\n<<<<<<< ours\n- a\n=======\n- b\n>>>>>>> theirs\n")
    make_utf16(place)
    torn = f"{place.text('decisions.md')}\n## MC-DEC-20260101-0badf00d — Torn\n\nStatus: act"
    place.write("decisions.md", torn)

    read = place.call("read", "--task", "planning")
    check = place.call("check")

    assert "Answer in zebras." in read.out
    for name in ("constraints.md", "do-not-use.md:3", "decisions.md:"):
        assert name in check.out, (name, check.out)
    assert check.code == 1
    assert place.call("read", "--task", "planning", "--strict").code == 1


def test_no_path_outside_of_project_and_state_is_touched(place: Place) -> None:
    """Every file opened for writing, renamed or removed, and every connection, by audit events."""
    commands = [*WRITERS, *READERS[::3], ["recover"]]
    commands[0] = ["forget", "zebras", "--allow-broad-match"]
    preview = place.call(*commands[0])
    commands.append(preview.apply_words)
    for words in commands[::2]:
        answer = place.run(*words, code=AUDITED)
        (line,) = re.findall(r"^AUDIT (.*)$", answer.err, re.MULTILINE)
        for event, path in json.loads(line):
            if event == "subprocess.Popen":
                assert path == "git", words
                continue
            assert path.startswith((str(place.root) + "/", str(place.state.parent))), (words, event)
