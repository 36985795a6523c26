"""Context packs: complete units within budgets, and a reason for everything that is left out."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mc_retrieve.contextpack import (
    CANDIDATE_MARK,
    ContextPack,
    PackedFile,
    PackRequest,
    build_pack,
)
from mc_retrieve.memoryset import ManifestFile, load_manifest
from mc_retrieve.testing import MANIFEST_TEXT, entry_text, numbered_id, write_project
from mc_schema.budget import budget_of
from mc_schema.errors import InvalidNameError, ManifestError

if TYPE_CHECKING:
    from pathlib import Path

MARKER = "zebra-marker"
CON = {"label": "Constraint"}


def _pack(memory: Path, task: str = "planning", **names: tuple[str, ...]) -> ContextPack:
    manifest = load_manifest(memory)
    assert isinstance(manifest, ManifestFile)
    return build_pack(memory, manifest.manifest, PackRequest(task, **names))


def _file(pack: ContextPack, path: str) -> PackedFile:
    return next(file for file in pack.files if file.path == path)


def _reasons(pack: ContextPack) -> dict[str, str]:
    return {item.label: item.reason for item in pack.omitted}


def _words(count: int, start: str = "w") -> str:
    return " ".join(f"{start}{number}" for number in range(count))


def _budget(limit: int, path: str = "decisions.md") -> str:
    default = {"decisions.md": "800", "constraints.md": "400"}[path]
    return MANIFEST_TEXT.replace(f"{path}: {default} tokens", f"{path}: {limit} tokens")


def test_a_task_loads_general_files_then_its_own_then_named_modules(tmp_path: Path) -> None:
    memory = write_project(
        tmp_path,
        dict.fromkeys(("rules/output.md", "profiles/git.md", "areas/sync.md"), "# T\n"),
    )

    pack = _pack(memory, rules=("output",), profiles=("git",), areas=("sync", "sync", "gone"))

    assert [file.path for file in pack.files] == [
        "brief.md",
        "decisions.md",
        "constraints.md",
        "do-not-use.md",
        "rules/output.md",
        "profiles/git.md",
        "areas/sync.md",
    ]
    assert pack.skipped == ("areas/gone.md",)
    assert pack.complete


def test_an_indexed_module_is_not_loaded_on_its_own(tmp_path: Path) -> None:
    memory = write_project(tmp_path, {"areas/sync.md": "# T\n"})

    assert "areas/sync.md" not in [file.path for file in _pack(memory).files]


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".hid", "/etc/x", "..\\x"])
def test_a_module_name_that_could_leave_its_folder_is_refused(tmp_path: Path, name: str) -> None:
    memory = write_project(tmp_path)

    with pytest.raises(InvalidNameError):
        _pack(memory, areas=(name,))


def test_an_unknown_task_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ManifestError):
        _pack(write_project(tmp_path), "dancing")


def test_required_and_optional_files_that_are_absent_are_told_apart(tmp_path: Path) -> None:
    memory = write_project(tmp_path, {"constraints.md": None})

    pack = _pack(memory, "implementation")

    assert (pack.missing, pack.skipped) == (("constraints.md",), ("preferences.md",))
    assert not pack.complete


@pytest.mark.parametrize(
    ("path", "text", "reason", "complete"),
    [
        pytest.param(
            "decisions.md",
            entry_text(status="superseded", superseded_by="forgotten"),
            "superseded",
            True,
            id="superseded",
        ),
        pytest.param("decisions.md", entry_text(evidence=()), "inadmissible", False, id="bare"),
        pytest.param(
            "decisions.md",
            entry_text(evidence=("agent-observed", "conversation-unconfirmed")),
            "inadmissible",
            False,
            id="weak-evidence-does-not-add-up",
        ),
        pytest.param("constraints.md", entry_text(), "inadmissible", False, id="wrong-file"),
        pytest.param(
            "decisions.md",
            entry_text(status="candidate"),
            "inadmissible",
            False,
            id="candidate-here",
        ),
        pytest.param(
            "decisions.md", entry_text(scope="everywhere"), "inadmissible", False, id="bad-scope"
        ),
        pytest.param(
            "decisions.md", entry_text(status="done"), "inadmissible", False, id="bad-status"
        ),
    ],
)
def test_what_is_not_active_is_left_out_with_its_reason(
    tmp_path: Path, path: str, text: str, reason: str, *, complete: bool
) -> None:
    memory = write_project(tmp_path, {path: f"# T\n\n{text}"})

    pack = _pack(memory)

    assert _reasons(pack) == {"MC-DEC-20260726-a1b2c3d4": reason}
    assert "CSV" not in _file(pack, path).text
    assert pack.complete is complete


def test_a_mistyped_id_is_named_by_its_place(tmp_path: Path) -> None:
    text = entry_text().replace("a1b2c3d4", "xyz")
    memory = write_project(tmp_path, {"decisions.md": f"# T\n\n{text}"})

    assert _reasons(_pack(memory)) == {"decisions.md:3": "inadmissible"}


def test_legacy_units_are_served_without_evidence(tmp_path: Path) -> None:
    memory = write_project(
        tmp_path,
        {
            "decisions.md": "# D\n\n## 2026-01-02 - Old\nDecision:\nKeep it.\n",
            "constraints.md": "# C\n\n- one\n- two\n",
        },
    )

    pack = _pack(memory)

    assert pack.complete
    assert _file(pack, "constraints.md").text == "# C\n\n- one\n- two"
    assert "Keep it." in _file(pack, "decisions.md").text


@pytest.mark.parametrize("other", ["inbox.md", "archive/old.md", "notes/x.md", "areas/a.md"])
def test_an_id_that_occurs_twice_in_any_file_is_inadmissible(tmp_path: Path, other: str) -> None:
    again = entry_text().replace("MC-DEC", "mc-dec").replace("a1b2c3d4", "A1B2C3D4")
    memory = write_project(
        tmp_path, {"decisions.md": "# D\n\n" + entry_text(), other: f"# O\n\n{again}"}
    )

    pack = _pack(memory)

    assert _reasons(pack) == {"MC-DEC-20260726-a1b2c3d4": "inadmissible"}
    assert not pack.complete


def test_an_id_that_is_only_mentioned_elsewhere_stays_admissible(tmp_path: Path) -> None:
    memory = write_project(
        tmp_path,
        {
            "decisions.md": "# D\n\n" + entry_text(),
            "archive/old.md": "# O\n\nSee MC-DEC-20260726-a1b2c3d4.\n",
        },
    )

    assert _pack(memory).omitted == ()


def test_candidates_are_shown_in_maintenance_alone_and_each_is_marked(tmp_path: Path) -> None:
    candidate = entry_text(
        "MC-INBOX-20260726-00000001",
        "Perhaps.",
        status="candidate",
        label="Statement",
        candidate_type="decision",
        evidence=("agent-observed",),
    )
    promoted = entry_text(
        "MC-INBOX-20260726-00000002",
        "Done.",
        status="promoted",
        label="Statement",
        candidate_type="decision",
        promoted_to="MC-DEC-20260726-a1b2c3d4",
    )
    inbox = f"# I\n\n- an old bullet\n\n{candidate}{promoted}"
    manifest = MANIFEST_TEXT.replace("Load:\n- brief.md", "Load:\n- brief.md\n- inbox.md")
    memory = write_project(tmp_path, {"inbox.md": inbox, "manifest.md": manifest})

    planning, maintenance = _pack(memory), _pack(memory, "forget")

    assert _file(planning, "inbox.md").text == "# I"
    assert _reasons(planning) == {
        "inbox.md:3": "candidate",
        "MC-INBOX-20260726-00000001": "candidate",
        "MC-INBOX-20260726-00000002": "promoted",
    }
    assert planning.complete
    shown = _file(maintenance, "inbox.md").text
    assert shown.count(f"[{CANDIDATE_MARK}]") == 2
    assert f"[{CANDIDATE_MARK}]\n- an old bullet" in shown
    assert f"[{CANDIDATE_MARK}]\n## MC-INBOX-20260726-00000001" in shown
    assert _reasons(maintenance) == {"MC-INBOX-20260726-00000002": "promoted"}


def test_units_are_taken_whole_and_in_order_until_one_does_not_fit(tmp_path: Path) -> None:
    entries = [entry_text(numbered_id(n), _words(40), title="T") for n in range(3)]
    tiny = entry_text(numbered_id(9), "x", title="T")
    memory = write_project(
        tmp_path,
        {"decisions.md": "# D\n\n" + "".join([*entries, tiny]), "manifest.md": _budget(100)},
    )

    pack = _pack(memory)

    assert [unit.entry_id for unit in _file(pack, "decisions.md").units] == [
        numbered_id(0),
        numbered_id(1),
    ]
    assert _file(pack, "decisions.md").tokens == 2 + 2 * 41
    assert _reasons(pack) == {numbered_id(2): "budget", numbered_id(9): "budget"}
    assert (pack.oversized, pack.complete) == ((), False)


def test_the_first_entry_is_printed_whole_however_big_and_listed(tmp_path: Path) -> None:
    big = entry_text(numbered_id(1), _words(300) + " END", title="T")
    memory = write_project(
        tmp_path,
        {
            "decisions.md": "# D\n\n" + big + entry_text(numbered_id(2)),
            "manifest.md": _budget(100),
        },
    )

    pack = _pack(memory)

    assert _file(pack, "decisions.md").text.endswith("END")
    assert [(item.label, item.budget) for item in pack.oversized] == [(numbered_id(1), 100)]
    assert _reasons(pack) == {numbered_id(2): "budget"}


def test_a_long_introduction_starves_no_file_of_its_first_entry(tmp_path: Path) -> None:
    text = f"# C\n\n{_words(300)}\n\n- first\n- second\n"
    memory = write_project(
        tmp_path, {"constraints.md": text, "manifest.md": _budget(100, "constraints.md")}
    )

    pack = _pack(memory)

    assert "- first" in _file(pack, "constraints.md").text
    assert [item.label for item in pack.oversized] == ["constraints.md:3", "constraints.md:5"]
    assert _reasons(pack) == {"constraints.md:6": "budget"}


def test_governance_lines_count_nothing(tmp_path: Path) -> None:
    evidence = tuple(f"repo:src/module_{number}.py@abc{number}" for number in range(40))
    text = entry_text(body=_words(30), title="T", evidence=evidence)
    memory = write_project(tmp_path, {"decisions.md": "# D\n\n" + text, "manifest.md": _budget(40)})

    pack = _pack(memory)

    assert (_file(pack, "decisions.md").tokens, pack.complete) == (33, True)


def test_superseded_entries_take_no_room(tmp_path: Path) -> None:
    old = entry_text(numbered_id(1), _words(90), status="superseded", superseded_by="forgotten")
    new = entry_text(numbered_id(2), _words(90))
    memory = write_project(
        tmp_path, {"decisions.md": f"# D\n\n{old}{new}", "manifest.md": _budget(100)}
    )

    pack = _pack(memory)

    assert (pack.complete, pack.oversized) == (True, ())


@pytest.mark.parametrize(
    ("path", "budget"),
    [("decisions.md", 800), ("preferences.md", 300), ("areas/sync.md", 600), ("inbox.md", None)],
)
def test_a_file_has_the_budget_of_the_manifest_or_the_default(
    tmp_path: Path, path: str, budget: int | None
) -> None:
    manifest = load_manifest(write_project(tmp_path))

    assert isinstance(manifest, ManifestFile)
    assert budget_of(path, manifest.manifest.budgets) == budget


def test_a_dated_heading_without_its_bullets_is_left_out(tmp_path: Path) -> None:
    text = f"# C\n\n## 2026-01-01\n- {_words(60)}\n\n## 2026-01-02\n- {_words(60)}\n"
    memory = write_project(
        tmp_path, {"constraints.md": text, "manifest.md": _budget(80, "constraints.md")}
    )

    shown = _file(_pack(memory), "constraints.md").text

    assert "2026-01-01" in shown
    assert "2026-01-02" not in shown


def test_a_fenced_heading_is_text_of_its_entry(tmp_path: Path) -> None:
    body = "See:\n\n~~~~\n## MC-DEC-20260726-ffffffff — not an entry\n```\n~~~~"
    memory = write_project(tmp_path, {"decisions.md": "# D\n\n" + entry_text(body=body)})

    pack = _pack(memory)

    assert [unit.entry_id for unit in _file(pack, "decisions.md").units] == [
        "MC-DEC-20260726-a1b2c3d4"
    ]
    assert body in _file(pack, "decisions.md").text


def test_crlf_bom_and_cjk_give_the_same_pack_as_plain_text(tmp_path: Path) -> None:
    plain = "# 决定\n\n" + entry_text(body="人工智能技术发展迅速，\n保持简单。", title="技术")
    marked = "\ufeff" + plain.replace("\n", "\r\n")
    first = _pack(write_project(tmp_path / "a", {"decisions.md": plain}))
    second = _pack(write_project(tmp_path / "b", {"decisions.md": marked}))

    assert first == second
    assert "人工智能技术发展迅速" in _file(first, "decisions.md").text


def test_a_private_span_over_three_entries_shows_none_of_them(tmp_path: Path) -> None:
    entries = [entry_text(numbered_id(n), f"{MARKER} {n}") for n in range(3)]
    before, after = entry_text(numbered_id(8), "before"), entry_text(numbered_id(9), "after")
    text = f"# D\n\n{before}<private>\n{''.join(entries)}</private>\n\n{after}"
    memory = write_project(tmp_path, {"decisions.md": text})

    pack = _pack(memory)

    assert [unit.entry_id for unit in _file(pack, "decisions.md").units] == [
        numbered_id(8),
        numbered_id(9),
    ]
    assert MARKER not in repr(pack)
    assert (_file(pack, "decisions.md").removed_spans, pack.complete) == (1, True)
    line = text[: text.index(numbered_id(9))].count("\n") + 1
    assert _file(pack, "decisions.md").units[1].line == line


@pytest.mark.parametrize("opener", ["<private>", "<private/>", "<private ><private>x</private>"])
def test_an_unsafe_opener_hides_the_rest_and_is_listed(tmp_path: Path, opener: str) -> None:
    text = f"# D\n\n{entry_text(numbered_id(1), 'before')}{opener}\n"
    text += entry_text(numbered_id(2), MARKER)
    memory = write_project(tmp_path, {"decisions.md": text})

    pack = _pack(memory)

    assert MARKER not in repr(pack)
    assert [(item.reason, item.path) for item in pack.omitted] == [("private", "decisions.md")]
    assert text.splitlines()[pack.omitted[0].line - 1].startswith("<private")
    assert not pack.complete


def test_a_file_with_conflict_markers_is_unreadable_and_the_rest_is_served(tmp_path: Path) -> None:
    text = "# D\n\n<<<<<<< ours\n" + entry_text(body=MARKER) + "=======\n>>>>>>> theirs\n"
    memory = write_project(tmp_path, {"decisions.md": text, "constraints.md": "# C\n\n- kept\n"})

    pack = _pack(memory)

    assert [(item.reason, item.line) for item in pack.omitted] == [("unreadable", 3)]
    assert "- kept" in _file(pack, "constraints.md").text
    assert MARKER not in repr(pack)


def test_one_undecodable_byte_costs_one_file(tmp_path: Path) -> None:
    memory = write_project(
        tmp_path, {"decisions.md": b"# D\n\n\xff\n", "constraints.md": "- kept\n"}
    )

    pack = _pack(memory)

    assert [(i.label, i.reason) for i in pack.omitted] == [("decisions.md:3", "unreadable")]
    assert "byte 5" in pack.omitted[0].detail
    assert "- kept" in _file(pack, "constraints.md").text
    assert pack.missing == ()


@pytest.mark.skipif(os.name == "nt", reason="POSIX links and special files")
@pytest.mark.parametrize("kind", ["link", "fifo", "folder"])
def test_what_is_no_plain_file_is_unreadable_and_hides_nothing(tmp_path: Path, kind: str) -> None:
    memory = write_project(tmp_path, {"decisions.md": None})
    target = memory / "decisions.md"
    {"link": lambda: target.symlink_to("brief.md"), "fifo": lambda: os.mkfifo(target)}.get(
        kind, target.mkdir
    )()

    pack = _pack(memory)

    assert _reasons(pack) == {"decisions.md": "unreadable"}
    assert len(pack.files) == 3


def test_archive_and_manifest_are_loaded_where_a_project_routes_them(tmp_path: Path) -> None:
    manifest = MANIFEST_TEXT.replace(
        "Load:\n- brief.md", "Load:\n- brief.md\n- archive/d.md\n- manifest.md"
    )
    old = entry_text(status="superseded", superseded_by="forgotten")
    memory = write_project(
        tmp_path, {"manifest.md": manifest, "archive/d.md": f"# A\n\n## Old\nkept\n\n{old}"}
    )

    pack = _pack(memory)

    assert _file(pack, "archive/d.md").text == "# A\n\n## Old\nkept"
    assert "## Always load" in _file(pack, "manifest.md").text
    assert _reasons(pack) == {"MC-DEC-20260726-a1b2c3d4": "superseded"}


@settings(max_examples=60)
@given(
    sizes=st.lists(st.integers(1, 60), max_size=12),
    limit=st.integers(1, 200),
    intro=st.integers(0, 120),
)
def test_every_entry_is_either_whole_in_the_pack_or_listed(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], limit: int, intro: int
) -> None:
    entries = [entry_text(numbered_id(n), _words(size)) for n, size in enumerate(sizes)]
    text = f"# D\n\n{_words(intro, 'i')}\n\n{''.join(entries)}"
    memory = write_project(
        tmp_path_factory.mktemp("pack"), {"decisions.md": text, "manifest.md": _budget(limit)}
    )

    pack = _pack(memory)
    file = _file(pack, "decisions.md")
    taken = [unit.entry_id for unit in file.units if unit.entry_id]

    assert taken + [item.entry_id for item in pack.omitted] == [
        numbered_id(n) for n in range(len(sizes))
    ]
    assert all(entries[n].strip() in file.text for n in range(len(taken)))
    assert taken or not sizes
    assert file.tokens <= limit or pack.oversized or not (taken or intro)
