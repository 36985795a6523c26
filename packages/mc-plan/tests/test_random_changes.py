"""For random files and random changes: apply gives the previewed digests, or writes nothing."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mc_plan import Draft, Request, StalePlanError, execute, preview

if TYPE_CHECKING:
    from mc_plan import Seed, Snapshot

NAMES = [
    "docs/memory/decisions.md",
    "docs/memory/do-not-use.md",
    "docs/memory/areas/a.md",
    "docs/memory/areas/東京.md",
    "docs/memory/archive/x/y.md",
    "AGENTS.md",
]
_CONTENT = st.binary(max_size=60) | st.text(max_size=30).map(
    lambda text: text.encode("utf-8", "replace")
)
_FILES = st.dictionaries(st.sampled_from(NAMES), _CONTENT, max_size=5)
_CHANGES = st.dictionaries(st.sampled_from(NAMES), st.none() | _CONTENT, min_size=1, max_size=5)
_ANY_PLACE = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def silent(line: str) -> None:
    """Take a line for standard error."""


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def build_from(changes: dict[str, bytes | None]) -> Any:
    def build(snapshot: Snapshot, seed: Seed) -> Draft:
        for path in snapshot.list_memory():
            snapshot.read(path)
        return Draft(changes=changes)

    return build


def plain_files(place: Any) -> dict[str, bytes]:
    root = place.project.root
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file()
    }


@_ANY_PLACE
@given(files=_FILES, changes=_CHANGES)
def test_apply_gives_exactly_the_previewed_bytes(
    samples: Any, files: dict[str, bytes], changes: dict[str, bytes | None]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        manifest = {"docs/memory/manifest.md": samples.manifest.encode()}
        place = samples.make_place(Path(folder).resolve(), files={**files, **manifest})
        request = Request("x", {})
        plan = preview(place.project, build_from(changes), request=request)
        before = plain_files(place)

        applied = execute(
            place.project,
            build_from(changes),
            request=request,
            confirm=plan.plan_id,
            notify=silent,
        )

        after = plain_files(place)
        expected = {**before, **changes}
        assert after == {path: data for path, data in expected.items() if data is not None}
        for target in plan.public().targets:
            found = digest(after[target.path]) if target.path in after else None
            assert found == target.output_sha256
        changed = {path for path in {*before, *after} if before.get(path) != after.get(path)}
        assert changed == {file.path for file in applied.written}
        assert place.state_files() == []


@_ANY_PLACE
@given(files=_FILES, changes=_CHANGES, edit=st.tuples(st.sampled_from(NAMES[:5]), _CONTENT))
def test_any_change_in_between_is_refused_with_nothing_written(
    samples: Any,
    files: dict[str, bytes],
    changes: dict[str, bytes | None],
    edit: tuple[str, bytes],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        manifest = {"docs/memory/manifest.md": samples.manifest.encode()}
        place = samples.make_place(Path(folder).resolve(), files={**files, **manifest})
        request = Request("x", {})
        plan = preview(place.project, build_from(changes), request=request)
        path, data = edit
        if files.get(path) == data:
            data += b"!"
        place.write(path, data)
        before = place.tree()

        with pytest.raises(StalePlanError):
            execute(
                place.project,
                build_from(changes),
                request=request,
                confirm=plan.plan_id,
                notify=silent,
            )

        assert before == place.tree()
        assert place.state_files() == []
