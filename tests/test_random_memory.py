"""Random memory, random changes: a preview tells the truth, and a change in between is seen.

Real files, the real command in this process. Source: reliability specification 3.7.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mc_plan import files
from mc_plan.testing import CountingFilesystem
from place import Place, files_below, new_place

if TYPE_CHECKING:
    from collections.abc import Iterator

EVIDENCE: Final = ["--evidence", "user-confirmed"]
WORDS: Final = ["zebra", "CSV", "東京", "Straße", "trains", "a `code`", "x"]
KINDS: Final = ["decision", "constraint", "preference", "do-not-use"]
LINES: Final = st.sampled_from(
    [
        "- zebra bullet",
        "- CSV bullet",
        "Prose about trains.",
        "",
        "## A heading",
        "```\n## no heading zebra\n```",
        "<!-- zebra -->",
        "* star 東京",
        "  - nested",
        "x\u2028y",
    ]
)
TEXTS: Final = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
ENTRIES: Final = st.lists(st.tuples(st.sampled_from(KINDS), TEXTS, st.booleans()), max_size=4)
APPENDED: Final = st.dictionaries(
    st.sampled_from(["decisions.md", "constraints.md", "inbox.md", "do-not-use.md", "areas/a.md"]),
    st.lists(LINES, max_size=5),
    max_size=3,
)
CHANGES: Final = st.sampled_from(
    ["forget-soft", "forget-hard", "forget-purge", "compact", "target", "supersede", "promote"]
)
PROPERTY: Final = settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
THOROUGH: Final = settings(PROPERTY, max_examples=600)


@pytest.fixture(scope="module")
def blank(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return new_place(tmp_path_factory.mktemp("random") / "machine", extended=True)


class Case:
    """A random project and one change of it."""

    def __init__(self, data: st.DataObject, blank: Place, folder: str) -> None:
        self.place = Place(Path(folder).resolve())
        for path, content in files_below(blank.root).items():
            target = self.place.root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        newline = data.draw(st.sampled_from(["\n", "\r\n"]), label="newline")
        for name, lines in data.draw(APPENDED, label="appended").items():
            old = self.place.text(name) if (self.place.memory / name).exists() else "# A\n"
            text = old + "\n" + "\n".join(lines)
            self.place.write(name, text.replace("\n", newline))
        for kind, text, is_candidate in data.draw(ENTRIES, label="entries"):
            words = ["--candidate"] if is_candidate else EVIDENCE
            self.place.call("add", text, "--type", kind, *words)
        self.words = self._change(data)

    def _change(self, data: st.DataObject) -> list[str]:
        change = data.draw(CHANGES, label="change")
        if change.startswith("forget"):
            topic = data.draw(st.sampled_from(WORDS), label="topic")
            return ["forget", topic, "--mode", change[7:], "--allow-broad-match"]
        if change in ("compact", "target"):
            target = data.draw(st.sampled_from(["decisions.md", "constraints.md"]), label="target")
            return ["compact", *(["--target", target] if change == "target" else [])]
        ids = [
            line[3:].partition(" ")[0]
            for path in sorted(self.place.memory.rglob("*.md"))
            for line in path.read_text("utf-8").splitlines()
            if line.startswith("## MC-")
        ]
        old = data.draw(st.sampled_from(ids or ["MC-DEC-20260101-00000000"]), label="old")
        flag = "--promotes" if "INBOX" in old or change == "promote" else "--supersedes"
        return ["add", "A new text.", flag, old, *EVIDENCE]


@pytest.fixture(autouse=True, scope="module")
def unflushed() -> Iterator[None]:
    """Nothing is lost here that only a drive could lose, and hundreds of runs would wait for it."""
    real, files.SYSTEM = files.SYSTEM, CountingFilesystem()
    yield
    files.SYSTEM = real


def sha256(data: bytes | None) -> str | None:
    return None if data is None else hashlib.sha256(data).hexdigest()


def check_apply(data: st.DataObject, blank: Place) -> None:
    with tempfile.TemporaryDirectory() as folder:
        case = Case(data, blank, folder)
        place, words = case.place, case.words
        before = place.tree()

        preview = place.call(*words, "--json")
        assert before == place.tree()
        answer = json.loads(preview.out)
        if preview.code:
            assert preview.code in (1, 2), preview
            return
        plan = answer["data"]["plan"]
        done = place.call(*words, "--apply", "--confirm-plan", plan["plan_id"])

        after = place.tree()
        if plan["blockers"] or plan["confirmations"]:
            assert done.code in (1, 0), done
        if done.code:
            assert plan["blockers"] or plan["confirmations"], (plan, done)
            assert before == after
            return
        changed = {path for path in {*before, *after} if before.get(path) != after.get(path)}
        planned = {target["path"] for target in plan["targets"] if target["action"] != "read"}
        assert changed == planned
        if not plan["private"]:
            for target in plan["targets"]:
                assert target["base_sha256"] == sha256(before.get(target["path"])), target
                if target["action"] != "read":
                    assert target["output_sha256"] == sha256(after.get(target["path"])), target
        assert place.leftovers() == []
        again = place.call(*words, "--apply", "--confirm-plan", plan["plan_id"])
        assert again.code in (0, 1, 3), again
        assert again.code or not changed
        assert after == place.tree()


def check_stale(data: st.DataObject, blank: Place) -> None:
    with tempfile.TemporaryDirectory() as folder:
        case = Case(data, blank, folder)
        place, words = case.place, case.words
        preview = place.call(*words, "--json")
        if preview.code:
            return
        plan = json.loads(preview.out)["data"]["plan"]
        targets = [target["path"] for target in plan["targets"]]
        touched = data.draw(st.sampled_from(targets), label="touched")
        path = place.root / touched
        old = path.read_bytes() if path.exists() else None
        edit = data.draw(st.sampled_from(["append", "byte", "delete", "newline"]), label="edit")
        if old is None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"# New\n")
        elif edit == "delete" and path.name != "manifest.md":
            path.unlink()
        elif edit == "byte" and b"a" in old:
            path.write_bytes(old.replace(b"a", b"b", 1))
        else:
            path.write_bytes(old + b"\n")
        before = place.tree()

        stale = place.call(*words, "--apply", "--confirm-plan", plan["plan_id"])

        assert stale.code in (1, 2, 3), stale
        assert before == place.tree()
        assert "no files were written" in stale.err
        assert place.leftovers() == []


@PROPERTY
@given(data=st.data())
def test_apply_gives_exactly_the_previewed_digests(data: st.DataObject, blank: Place) -> None:
    check_apply(data, blank)


@PROPERTY
@given(data=st.data())
def test_change_between_preview_and_apply_is_refused_with_zero_writes(
    data: st.DataObject, blank: Place
) -> None:
    check_stale(data, blank)


@pytest.mark.torture
@THOROUGH
@given(data=st.data())
def test_apply_gives_exactly_the_previewed_digests_many_times(
    data: st.DataObject, blank: Place
) -> None:
    check_apply(data, blank)


@pytest.mark.torture
@THOROUGH
@given(data=st.data())
def test_change_in_between_is_refused_many_times(data: st.DataObject, blank: Place) -> None:
    check_stale(data, blank)
