"""A protocol version that is newer, unreadable or repeated: every writer refuses, readers work.

Source: design 7; the faults 24 to 27 of the earlier CLI.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import pytest
from place import Place, files_below, new_place
from scenario import older_place, remember

if TYPE_CHECKING:
    from pathlib import Path

VERSION: Final = "- protocol_version: 0.6\n"
VERSIONS: Final = [
    pytest.param("- protocol_version: 0.9\n", id="newer"),
    pytest.param("- protocol_version: 0.\u00b2\n", id="unreadable"),
    pytest.param("- protocol_version: 0.\uff15\n", id="full-width-digit"),
    pytest.param("- protocol_version: 0.6\n- protocol_version: 0.4\n", id="repeated"),
]
ITEM: Final = {
    "entry_type": "decision",
    "content": "Use UTC.",
    "evidence": ["user-confirmed"],
}
EVIDENCE: Final = ["--evidence", "user-confirmed"]
WRITERS: Final = [
    pytest.param(["add", "Use UTC.", "--type", "decision", *EVIDENCE], id="add"),
    pytest.param(["add", "Perhaps UTC.", "--candidate"], id="add-candidate"),
    pytest.param(["enable", "preferences"], id="enable"),
    pytest.param(["compact"], id="compact"),
    pytest.param(["compact", "--apply"], id="compact-apply"),
    pytest.param(["forget", "trains"], id="forget"),
    pytest.param(["forget", "trains", "--mode", "purge", "--apply"], id="forget-apply"),
    pytest.param(["migrate"], id="migrate"),
    pytest.param(["migrate", "--apply"], id="migrate-apply"),
    pytest.param(["init", "--repair"], id="init-repair"),
    pytest.param(["init", "--replace-existing"], id="init-replace"),
    pytest.param(["init", "--replace-existing", "--apply"], id="init-replace-apply"),
    pytest.param(remember({"type": "memory", **ITEM}, "docs/memory"), id="cortex-remember"),
    pytest.param(
        ["cortex", "propose", *remember({"type": "proposal", **ITEM}, "docs/memory")[2:]],
        id="cortex-propose",
    ),
]


@pytest.fixture(scope="module")
def current(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Return a current project with an entry; the tests of this module write nothing into it."""
    place = new_place(tmp_path_factory.mktemp("refused") / "machine")
    place.add("Answer in trains.")
    return place


@pytest.fixture
def refusing(current: Place, request: pytest.FixtureRequest) -> Place:
    manifest = current.text("manifest.md")
    start = manifest.index("- protocol_version:")
    end = manifest.index("\n- ", manifest.rindex("- protocol_version:"))
    current.write("manifest.md", manifest[:start] + str(request.param).rstrip() + manifest[end:])
    return current


@pytest.mark.parametrize("refusing", VERSIONS, indirect=True)
@pytest.mark.parametrize("words", WRITERS)
def test_writer_refuses_a_protocol_it_does_not_know_and_writes_nothing(
    refusing: Place, words: list[str]
) -> None:
    before = files_below(refusing.base)

    refused = refusing.call(*words)

    assert refused.code == (5 if words[0] == "cortex" else 2), refused
    assert "protocol" in (refused.out + refused.err).lower()
    assert before == files_below(refusing.base)
    if words[0] != "cortex":
        assert refused.err.startswith("error: ")
        assert "no files were written" in refused.err


@pytest.mark.parametrize("refusing", VERSIONS, indirect=True)
def test_readers_serve_a_protocol_they_do_not_know_with_a_warning(refusing: Place) -> None:
    before = files_below(refusing.base)

    read = refusing.call("read", "--task", "planning")
    found = refusing.call("search", "trains")
    get = refusing.call("cortex", "search", "trains", "--memory-root", "docs/memory")
    check = refusing.call("check")
    status = refusing.call("status")

    assert (read.code, found.code, get.code) == (0, 0, 0), (read, found, get)
    assert "Answer in trains." in read.out
    assert "Answer in trains" in found.out
    types = [item["type"] for item in json.loads(get.out)["data"]["items"]]
    assert types == ["decision", "brief"]
    assert "warning" in read.err.lower()
    assert (check.code, status.code) == (1, 1), (check, status)
    assert "protocol" in check.out.lower()
    assert before == files_below(refusing.base)


@pytest.mark.parametrize("section", ["protocol_version: 1\n", "- protocol_version: 1\n"])
def test_foreign_metadata_is_not_migrated_away(tmp_path: Path, section: str) -> None:
    place = older_place(tmp_path / "machine")
    place.write("manifest.md", f"# M\n\n{section}\n## Default Loading\n- brief.md\n")
    before = files_below(place.root)

    refused = place.call("migrate")

    assert refused.code == 2, refused
    assert before == files_below(place.root)
