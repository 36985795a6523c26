from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any

import pytest
from mc_retrieve.errors import IntegrityError
from mc_retrieve.project import is_memory_directory, load_project
from mc_retrieve.testing import entry_text, numbered_id, write_project

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mc_retrieve.envelope import Result

NOW = 1_785_000_000_000


def found(memory: Path, **options: bool) -> dict[str, Any]:
    corpus = load_project(str(memory), now_ms=NOW, **options)
    return {item.record.id: item for item in corpus.records}


def place_id(path: str, ordinal: int) -> str:
    return f"path:{hashlib.sha256(f'{path}#{ordinal}'.encode()).hexdigest()[:16]}"


@pytest.mark.parametrize(
    ("manifest", "is_one"),
    [
        pytest.param(
            "# M\n\n## MemoryCustodian Protocol\n- protocol_version: 0.6\n", True, id="0.6"
        ),
        pytest.param("# M\n\n## Always load\nLoad:\n- brief.md\n", True, id="earlier"),
        pytest.param("# M\n\n## Other\n", False, id="other-manifest"),
        pytest.param("# M\n\n```\n## Always load\n```\n", False, id="section-in-a-fence"),
        pytest.param("<private>\n## Always load\n</private>\n", False, id="section-in-private"),
    ],
)
def test_memory_directory_is_known_by_its_manifest(
    cortex: Callable[..., Result], tmp_path: Path, manifest: str, *, is_one: bool
) -> None:
    (tmp_path / "manifest.md").write_text(manifest)
    (tmp_path / "decisions.md").write_text("# D\n\n" + entry_text())

    result = cortex("status", root=tmp_path)

    assert is_one is is_memory_directory(str(tmp_path))
    # As a memory directory it has one entry; as a bare corpus its two files are records.
    assert (1 if is_one else 2) == result.envelope["data"]["canonical"]["records"]


@pytest.mark.parametrize("folder", ["KNOWLEDGE", "MEMORY/KNOWLEDGE"])
def test_root_with_knowledge_is_no_memory_directory(
    cortex: Callable[..., Result], tmp_path: Path, folder: str
) -> None:
    memory = write_project(tmp_path)
    (memory / folder).mkdir(parents=True)

    assert cortex("status", root=memory).envelope["data"]["canonical"]["records"] == 0


def test_entry_is_a_record_with_its_dates_and_links(tmp_path: Path) -> None:
    old, new, promoted = (
        "MC-DEC-20250101-0000000a",
        "MC-DEC-20260301-0000000b",
        numbered_id(9, "INBOX"),
    )
    entries = [
        entry_text(new, "New way.", title="New", supersedes=old),
        entry_text(old, "Old way.", title="Old", status="superseded", superseded_by=new),
    ]
    inbox = entry_text(
        promoted,
        "Guess.",
        status="promoted",
        label="Statement",
        candidate_type="decision",
        promoted_to=new,
    )
    memory = write_project(
        tmp_path, {"decisions.md": "# D\n\n" + "".join(entries), "inbox.md": "# I\n\n" + inbox}
    )
    records = {key: item.record for key, item in found(memory).items()}

    assert [records[new].created, records[new].updated] == ["2026-03-01", "2026-03-01"]
    assert [records[old].created, records[old].updated] == ["2025-01-01", "2026-03-01"]
    assert [records[new].related, records[old].related] == [[old], []]
    assert [records[promoted].related, records[promoted].is_active] == [[new], False]
    assert [records[new].is_active, records[old].is_active] == [True, False]
    assert (records[new].type, records[new].title, records[new].source) == (
        "decision",
        "New",
        "memory-custodian",
    )
    assert (records[new].session, records[new].path) == (None, "decisions.md")


def test_updated_is_never_before_created(tmp_path: Path) -> None:
    new, old = "MC-DEC-20240101-0000000a", "MC-DEC-20250101-0000000b"
    entry = entry_text(old, status="superseded", superseded_by=new)
    memory = write_project(tmp_path, {"decisions.md": f"# D\n\n{entry}"})

    assert found(memory)[old].record.updated == "2025-01-01"


@pytest.mark.parametrize("date", ["20261345", "00000000", "00500101"])
def test_id_without_a_real_date_gives_the_epoch(tmp_path: Path, date: str) -> None:
    entry_id = f"MC-DEC-{date}-0000000a"
    memory = write_project(tmp_path, {"decisions.md": "# D\n\n" + entry_text(entry_id)})

    assert found(memory)[entry_id].record.created == "1970-01-01T00:00:00.000Z"


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        pytest.param(
            "decisions.md",
            "# D\n\n## 2024-05-06 - Use CSV\n\nDecision: csv\n",
            [(0, "decision", "2024-05-06 - Use CSV", "2024-05-06", True)],
            id="dated-section",
        ),
        pytest.param(
            "decisions.md",
            "# D\n\nIntro.\n\n## Undated\n\nText.\n",
            [(1, "decision", "Undated", "1970-01-01T00:00:00.000Z", True)],
            id="ordinals-count-the-introduction",
        ),
        pytest.param(
            "constraints.md",
            "# C\n\n- First *one*\n- Second\n  more\n",
            [
                (0, "constraint", "First *one*", "1970-01-01T00:00:00.000Z", True),
                (1, "constraint", "Second", "1970-01-01T00:00:00.000Z", True),
            ],
            id="bullets",
        ),
        pytest.param(
            "changelog.md",
            "# L\n\n## 2024-01-02\n- One\n",
            [(1, "changelog", "One", "2024-01-02", True)],
            id="bullet-in-a-dated-group",
        ),
        pytest.param(
            "areas/sync.md",
            "# A\n\n- Fact\n",
            [(0, "area", "Fact", "1970-01-01T00:00:00.000Z", True)],
            id="area",
        ),
        pytest.param(
            "inbox.md",
            "# I\n\n- Guess\n",
            [(0, "candidate", "Guess", "1970-01-01T00:00:00.000Z", False)],
            id="inbox-holds-candidates",
        ),
        pytest.param(
            "brief.md",
            "# B\n\nOne paragraph.\n",
            [(0, "brief", "One paragraph.", "1970-01-01T00:00:00.000Z", True)],
            id="brief-of-one-paragraph",
        ),
        pytest.param("preferences.md", "# P\n\nAn introduction.\n", [], id="introduction-alone"),
    ],
)
def test_legacy_unit_is_a_record_by_place(
    tmp_path: Path, path: str, text: str, expected: list[tuple[int, str, str, str, bool]]
) -> None:
    bare = {"manifest.md": "# M\n\n## Always load\n", "brief.md": None, "decisions.md": None}
    bare |= {"constraints.md": None, "do-not-use.md": None, "inbox.md": None}
    memory = write_project(tmp_path, {**bare, path: text})

    assert expected == [
        (
            next(number for number in range(9) if place_id(path, number) == item.record.id),
            item.record.type,
            item.record.title,
            item.record.created,
            item.record.is_active,
        )
        for item in found(memory).values()
    ]


def test_private_spans_are_gone_before_units_are_cut(
    cortex: Callable[..., Result], tmp_path: Path
) -> None:
    text = "# C\n\n- a <private>SECRET\n- b</private> c\n- d <private/> SECRET\n- e SECRET\n"
    memory = write_project(tmp_path, {"constraints.md": text})
    corpus = load_project(str(memory), now_ms=NOW)

    assert [
        item.content.decode() for item in corpus.records if item.record.path == "constraints.md"
    ] == ["- a  c", "- d "]
    assert [item.line for item in corpus.records if item.record.path == "constraints.md"] == [3, 5]
    assert ("constraints.md", 5, "private") in [
        (item.path, item.line, item.reason) for item in corpus.omitted
    ]
    assert not corpus.complete
    for argv in (["search", "secret"], ["rebuild", "--from-canonical"]):
        assert "SECRET" not in cortex(*argv, root=memory).text


STATUSES = {
    "active": entry_text(numbered_id(1), "word active"),
    "superseded": entry_text(
        numbered_id(2), "word superseded", status="superseded", superseded_by="forgotten"
    ),
    "inadmissible": entry_text(numbered_id(3), "word inadmissible", evidence=()),
}


@pytest.mark.parametrize("verb", ["search", "timeline", "get", "export", "expand"])
def test_every_read_verb_serves_active_and_legacy_memory_alone(
    cortex: Callable[..., Result], tmp_path: Path, verb: str
) -> None:
    candidate = entry_text(
        numbered_id(4, "INBOX"), "word candidate", status="candidate", label="Statement",
        candidate_type="decision",
    )  # fmt: skip
    memory = write_project(
        tmp_path,
        {
            "decisions.md": "# D\n\n" + "".join(STATUSES.values()) + "## Legacy\n\nword legacy\n",
            "inbox.md": "# I\n\n" + candidate,
            "archive/decisions.md": "# A\n\n" + entry_text(numbered_id(5), "word archived"),
        },
    )
    ids = [*(numbered_id(number) for number in (1, 2, 3, 5)), numbered_id(4, "INBOX")]

    def argv(entry_id: str) -> list[str]:
        return {
            "search": ["search", "word"],
            "timeline": ["timeline", "--anchor", entry_id],
            "get": ["get", entry_id],
            "export": ["export", entry_id],
            "expand": ["search", "word", "--expand", entry_id],
        }[verb]

    served = [entry_id for entry_id in ids if cortex(*argv(entry_id), root=memory).exit_code == 0]

    if verb == "search":
        items = cortex("search", "word", root=memory).envelope["data"]["items"]
        assert len(items) == 2
        served = [item["id"] for item in items if item["id"] in ids]
    assert served == [numbered_id(1)]


def test_of_equal_ids_the_first_in_file_order_counts(tmp_path: Path) -> None:
    twice = entry_text(numbered_id(1), "first"), entry_text(numbered_id(1).lower(), "second")
    memory = write_project(tmp_path, {"decisions.md": "# D\n\n" + "".join(twice)})
    corpus = load_project(str(memory), now_ms=NOW)

    assert b"first" in found(memory)[numbered_id(1)].content
    assert [(numbered_id(1), "inadmissible")] == [
        (item.entry_id, item.reason) for item in corpus.omitted
    ]


def test_one_unreadable_file_never_hides_the_others(
    cortex: Callable[..., Result], tmp_path: Path
) -> None:
    memory = write_project(
        tmp_path,
        {
            "constraints.md": "a\n".encode("utf-16"),
            "preferences.md": "# P\n<<<<<<< ours\n- a\n=======\n- b\n>>>>>>> theirs\n",
            "decisions.md": "# D\n\n" + entry_text(body="word"),
        },
    )
    corpus = load_project(str(memory), now_ms=NOW)

    assert cortex("search", "word", root=memory).envelope["data"]["total"] == 1
    assert [(item.path, item.reason) for item in corpus.omitted] == [
        ("constraints.md", "unreadable"),
        ("preferences.md", "unreadable"),
    ]
    assert (corpus.faults, corpus.complete) == (2, False)


def test_corpus_without_a_readable_file_is_an_integrity_error(
    cortex: Callable[..., Result], tmp_path: Path
) -> None:
    (tmp_path / "manifest.md").write_text("# M\n\n## Always load\n")
    (tmp_path / "a.md").write_bytes(b"\xff")

    assert cortex("status", root=tmp_path).envelope["error"]["code"] == "integrity_error"


def test_empty_memory_directory_has_no_records(
    cortex: Callable[..., Result], tmp_path: Path
) -> None:
    (tmp_path / "manifest.md").write_text("# M\n\n## Always load\n")

    assert cortex("status", root=tmp_path).envelope["data"]["canonical"]["records"] == 0


def test_link_in_a_memory_directory_is_an_integrity_error(
    cortex: Callable[..., Result], tmp_path: Path
) -> None:
    memory = write_project(tmp_path / "project")
    (memory / "areas").symlink_to(tmp_path)

    assert cortex("status", root=memory).envelope["error"]["code"] == "integrity_error"


def test_pipe_in_a_memory_directory_is_left_out_and_never_opened(tmp_path: Path) -> None:
    memory = write_project(tmp_path)
    os.mkfifo(memory / "rules.md")

    corpus = load_project(str(memory), now_ms=NOW)

    assert [(item.path, item.reason) for item in corpus.omitted] == [("rules.md", "unreadable")]


def test_limits_hold_for_a_memory_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = write_project(tmp_path)
    monkeypatch.setattr("mc_retrieve.project.MAX_TOTAL_BYTES", 100)

    with pytest.raises(IntegrityError):
        load_project(str(memory), now_ms=NOW)


def test_archive_is_read_only_when_asked_for(tmp_path: Path) -> None:
    memory = write_project(
        tmp_path, {"archive/decisions.md": "# A\n\n" + entry_text(numbered_id(5), "old")}
    )

    assert numbered_id(5) not in found(memory)
    assert not found(memory, with_archive=True)[numbered_id(5)].record.is_active
