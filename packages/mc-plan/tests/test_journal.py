"""The written form of a journal: sealed, complete, refusing what it does not know."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mc_plan import IMMEDIATE, execute
from mc_plan.canonical import canonical_json, sha256_hex
from mc_plan.errors import PlanError
from mc_plan.files import Filesystem
from mc_plan.journal import (
    Content,
    Journal,
    JournalError,
    JournalFile,
    Owner,
    format_journal,
    parse_journal,
)

TEMPORARY = f"docs/memory/.mc-{'a' * 32}.tmp"


def journal(*files: JournalFile, private: bool = False) -> Journal:
    return Journal(
        command="forget",
        plan_id="0123456789abcdef",
        private=private,
        project_id=None,
        new_project_id=None,
        place="/home/é/docs/memory",
        memory_dir="docs/memory",
        owner=Owner(4711, "123 boot", "host"),
        directories=("docs/memory/areas",),
        files=files,
    )


SAMPLE = journal(
    JournalFile("docs/memory/a.md", "a", "replace", TEMPORARY, Content(b"\xff", 0o640), None),
)


def seal(fields: dict[str, Any]) -> bytes:
    body = canonical_json(fields)
    return body[:-1] + f',"sha256":"{sha256_hex(body)}"}}'.encode()


def fields_of(written: Journal) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(format_journal(written))
    del fields["sha256"]
    return fields


_CONTENT = st.builds(
    Content,
    st.binary(max_size=200),
    st.integers(0, 0o7777),
    st.integers(-1, 2**31),
    st.integers(-1, 2**31),
)
_FILE = st.builds(
    JournalFile,
    st.sampled_from(["docs/memory/a.md", "AGENTS.md", "docs/memory/areas/東京.md"]),
    st.text(st.characters(exclude_categories=["Cs"])),
    st.sampled_from(["create", "replace", "delete"]),
    st.just(TEMPORARY),
    st.none() | _CONTENT,
    st.none() | _CONTENT,
    size=st.just(0),
    tail_sha256=st.just(""),
    addition=st.just(b""),
)


@given(files=st.lists(_FILE, max_size=4), private=st.booleans())
def test_what_is_written_is_read_back(files: list[JournalFile], private: bool) -> None:  # noqa: FBT001 - drawn
    written = journal(*files, private=private)
    found = parse_journal(format_journal(written))

    assert written == found._replace(digest="")
    assert found.digest


@given(position=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_any_flipped_bit_is_noticed(position: int, bit: int) -> None:
    data = bytearray(format_journal(SAMPLE))
    data[position % len(data)] ^= 1 << bit

    with pytest.raises(JournalError):
        parse_journal(bytes(data))


@given(length=st.integers(0, 10_000))
def test_any_cut_is_noticed(length: int) -> None:
    data = format_journal(SAMPLE)

    with pytest.raises(JournalError):
        parse_journal(data[: length % len(data)])


def test_digest_is_the_last_field_and_of_the_rest() -> None:
    data = format_journal(SAMPLE)
    rest, _, seal_text = data.rpartition(b',"sha256":"')

    assert seal_text.decode() == f'{sha256_hex(rest + b"}")}"}}'


@pytest.mark.parametrize(
    ("field", "value"),
    [
        pytest.param("schema", 2, id="newer-schema"),
        pytest.param("plan_id", "nope", id="plan-id"),
        pytest.param("memory_dir", "../outside", id="memory-dir"),
        pytest.param("directories", ["/etc"], id="directory"),
        pytest.param("files", [{}], id="file-without-fields"),
        pytest.param("owner", {}, id="owner"),
    ],
)
def test_sealed_journal_with_an_unknown_field_value_is_refused(field: str, value: Any) -> None:
    fields = {**fields_of(SAMPLE), field: value}

    with pytest.raises(JournalError):
        parse_journal(seal(fields))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        pytest.param("path", "../../etc/passwd", id="path-outside"),
        pytest.param("temporary", "docs/memory/decisions.md", id="temporary-is-memory"),
        pytest.param("temporary", "../.mc-" + "a" * 32 + ".tmp", id="temporary-outside"),
        pytest.param("kind", "chmod", id="kind"),
    ],
)
def test_sealed_journal_that_leads_out_of_the_project_is_refused(field: str, value: Any) -> None:
    fields = fields_of(SAMPLE)
    fields["files"][0][field] = value

    with pytest.raises(JournalError):
        parse_journal(seal(fields))


def test_content_with_another_digest_is_refused() -> None:
    fields = fields_of(SAMPLE)
    fields["files"][0]["before"]["bytes"] = base64.b64encode(b"other").decode()

    with pytest.raises(JournalError):
        parse_journal(seal(fields))


def test_journal_is_complete_and_private_before_the_project_is_touched(
    place: Any, samples: Any
) -> None:
    seen = []
    journals = place.state / "memory-custodian" / "journal"

    class Watching(Filesystem):
        def open_create(self, path: Any) -> int:
            if place.project.root in path.parents:
                found = [*journals.iterdir()]
                seen.append((len(found), found[0].lstat().st_mode & 0o777))
                names = {file.temporary for file in parse_journal(found[0].read_bytes()).files}
                assert path.relative_to(place.project.root).as_posix() in names
            return super().open_create(path)

        def mkdir(self, path: Any) -> None:
            assert [*journals.iterdir()]
            super().mkdir(path)

    before = place.tree()
    execute(
        place.project,
        samples.build,
        request=samples.request._replace(confirmation=IMMEDIATE),
        notify=lambda line: None,
        filesystem=Watching(),
    )

    assert before != place.tree()
    assert set(seen) == {(1, 0o600)}
    assert [*journals.iterdir()] == []


def test_unsafe_journal_folder_stops_the_command_before_the_project_is_touched(
    place: Any, samples: Any, tmp_path: Any
) -> None:
    state = place.project.state.ensure()
    state.journal.rmdir()
    (tmp_path / "elsewhere").mkdir()
    state.journal.symlink_to(tmp_path / "elsewhere")
    before = place.tree()

    with pytest.raises(Exception, match="not safe") as caught:
        execute(
            place.project,
            samples.build,
            request=samples.request._replace(confirmation=IMMEDIATE),
            notify=lambda line: None,
        )

    assert not isinstance(caught.value, PlanError)
    assert before == place.tree()
    assert [*(tmp_path / "elsewhere").iterdir()] == []
