from __future__ import annotations

import re
from pathlib import Path

import pytest
from mc_lock import place_of
from mc_lock.place import guard_key, key_of_project

PROJECT = "7c9e6679-7425-40de-944b-e07fc1f90ae7"


def test_project_key_is_the_uuid_in_lower_case() -> None:
    """Two spellings of one id must exclude each other."""
    assert key_of_project(PROJECT.upper()) == PROJECT


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "../../etc/passwd",
        PROJECT[:-1],
        PROJECT + "\n",
        f"{{{PROJECT}}}",
        PROJECT.replace("-", ""),
        "７c9e6679-7425-40de-944b-e07fc1f90ae7",
        f"bootstrap-{'0' * 32}",
    ],
)
def test_what_is_no_uuid_never_becomes_a_file_name(text: str | None) -> None:
    assert key_of_project(text) is None


def test_every_spelling_of_a_memory_directory_is_one_place(tmp_path: Path) -> None:
    memory = tmp_path / "project" / "docs" / "memory"
    memory.mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "project")

    spellings = [
        memory,
        Path(f"{memory}/"),
        tmp_path / "link" / "docs" / "memory",
        tmp_path / "project" / "docs" / ".." / "docs" / "memory",
    ]

    assert {place_of(memory)} == {place_of(path) for path in spellings}


def test_two_places_differ(tmp_path: Path) -> None:
    assert place_of(tmp_path / "a" / "docs") != place_of(tmp_path / "b" / "docs")


def test_missing_memory_directory_has_the_place_it_will_have(tmp_path: Path) -> None:
    memory = tmp_path / "docs" / "memory"
    before = place_of(memory)
    memory.mkdir(parents=True)

    assert before == place_of(memory)


def test_guard_key_holds_32_hex_digits(tmp_path: Path) -> None:
    assert re.fullmatch(r"bootstrap-[0-9a-f]{32}", guard_key(tmp_path))


def test_name_that_is_no_text_has_a_place(tmp_path: Path) -> None:
    assert place_of(tmp_path / "caf\udce9")
