"""Random valid items are written, and read back as they were sent; private text never lands."""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mc_plan.files
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mc_cli.cortex import run
from mc_cli.cortex.hot_entries import PREFIXES
from mc_cli.cortex.items import LINK_TYPES
from mc_cli.cortex.testing import NOW, get, make_root, rebuild, store
from mc_schema.private import WHITE_SPACE, strip_private

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

EXAMPLES = int(os.environ.get("MC_EXAMPLES", "25"))
ODD = "abz09 -_#:'\"`\\[]{}<>|*.\t/=!\u00a0\u2003\u200b\ufeff\u0301é猫\U0001f600"
CHARACTERS = st.one_of(
    st.sampled_from(ODD),
    st.characters(blacklist_categories=["Cc", "Cs"], blacklist_characters="\u2028\u2029"),
)


class Unflushed(mc_plan.files.Filesystem):
    """Real files that no drive has to confirm: thousands of them are written here."""

    def fsync(self, descriptor: int) -> None:
        """Do not wait for the drive."""

    def fsync_directory(self, path: Path) -> None:
        """Do not wait for the drive."""


@pytest.fixture(scope="module", autouse=True)
def _unflushed() -> Iterator[None]:
    real = mc_plan.files.SYSTEM
    mc_plan.files.SYSTEM = Unflushed()
    yield
    mc_plan.files.SYSTEM = real


def is_sound(text: str) -> bool:
    if strip_private(text) != text or not text.strip(WHITE_SPACE):
        return False
    if "<!--" in text or "-->" in text:
        return False
    return all(line.strip(" \t") != "---" for line in text.replace("\u2028", "\n").split("\n"))


LINE = st.text(CHARACTERS, min_size=1, max_size=30).map(lambda text: text.replace("\t", " "))
TITLES = LINE.filter(is_sound)
WORDS = st.lists(st.one_of(LINE, st.sampled_from(["slug: x", "---x", "# h", "```", "id: y", ""])))
CONTENTS = WORDS.map("\n".join).filter(is_sound)
SESSIONS = st.text("abc019-_.[]", min_size=1, max_size=12).filter(is_sound)
SLUGS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,8}", fullmatch=True)
RELATED = st.lists(
    st.fixed_dictionaries({"slug": SLUGS, "type": st.sampled_from(LINK_TYPES)}),
    max_size=4,
    unique_by=lambda link: link["slug"],
)
CONFIDENCES = st.floats(0, 1)
OPTIONAL = {"source_session": SESSIONS, "confidence": CONFIDENCES, "related": RELATED}
IDEAS = st.fixed_dictionaries(
    {"type": st.just("idea"), "title": TITLES, "content": CONTENTS}, optional=OPTIONAL
)
KNOWLEDGE = st.fixed_dictionaries(
    {
        "type": st.just("knowledge"),
        "entity_type": st.sampled_from(["person", "company", "research"]),
        "name": TITLES,
        "content": CONTENTS,
    },
    optional=OPTIONAL,
)
ENTRIES = st.builds(
    "{}: {}".format, st.sampled_from(PREFIXES), TITLES.map(lambda text: text.strip(WHITE_SPACE))
)
HOT = st.fixed_dictionaries(
    {
        "type": st.just("memory"),
        "actor": st.sampled_from(["principal", "assistant"]),
        "content": ENTRIES,
    }
)
HOT_SETS = st.fixed_dictionaries(
    {
        "type": st.just("memory"),
        "actor": st.sampled_from(["principal", "assistant"]),
        "op": st.just("set"),
        "entries": st.lists(ENTRIES, min_size=1, max_size=5, unique=True),
    }
)
NOTES = st.one_of(IDEAS, KNOWLEDGE)


@settings(max_examples=EXAMPLES)
@given(st.lists(NOTES, min_size=1, max_size=3))
def test_notes_are_read_back_as_they_were_sent(items: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = make_root(Path(folder))
        for number, item in enumerate(items):
            answer = store(root, item, now=NOW + number)
            if not answer["ok"]:
                # Two random titles can share a slug, and a title can join with its content.
                assert answer["code"] in ("ETITLE_CONFLICT", "EINVAL_TARGET"), answer
                continue
            (record,) = get(root, answer["detail"]["id"])
            assert item["content"] in record["content"]
            assert (item.get("title") or item["name"]).strip(WHITE_SPACE) == record["title"]
            assert {link["slug"] for link in item.get("related", [])} <= set(record["related"])
            if not answer["detail"]["appended"]:
                assert item.get("source_session") == record["provenance"]["session"]
        assert rebuild(root)["equivalent"] is True


@settings(max_examples=EXAMPLES)
@given(st.lists(st.one_of(HOT, HOT_SETS), min_size=1, max_size=4))
def test_hot_entries_are_read_back_as_they_were_sent(items: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = make_root(Path(folder))
        for number, item in enumerate(items):
            answer = store(root, item, now=NOW + number)
            if not answer["ok"]:
                assert answer["code"] == "EINVAL_ITEM", answer
                assert "repeats" in answer["message"]
                continue
            (record,) = get(root, answer["detail"]["id"])
            lines = record["content"].split("\n")
            assert all(entry in lines for entry in item.get("entries", [item.get("content")]))
        assert rebuild(root)["equivalent"] is True


@settings(max_examples=EXAMPLES)
@given(CONTENTS, CONTENTS, CONFIDENCES)
def test_proposals_are_queued_as_they_were_sent(
    edit: str, rationale: str, confidence: float
) -> None:
    item = {
        "type": "proposal",
        "target_file": "x",
        "target_kind": "style",
        "edit": edit,
        "rationale": rationale,
        "confidence": confidence,
    }
    with tempfile.TemporaryDirectory() as folder:
        root = make_root(Path(folder))
        store(root, item)
        lines = (root / "OBSERVABILITY/pending-proposals.jsonl").read_text().split("\n")

    row = json.loads(lines[0])
    assert (edit, rationale, confidence) == (row["edit"], row["rationale"], row["confidence"])
    assert lines[1:] == [""]


HUSH = "q7zhushq7z"
SPANS = st.sampled_from(
    [
        f"<private>{HUSH}</private>",
        f"<PRIVATE a=b>{HUSH}<private>x</private>{HUSH}</private >",
        f"< private>{HUSH}",
        f"<private/>{HUSH}",
        f"<private\u200b>{HUSH}</private>",
        f"\uff1cprivate\uff1e{HUSH}",
        f"<priv<private></private>ate>{HUSH}</private>",
    ]
)


def with_span(place: Callable[[str], dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(lambda before, span, after: place(before + span + after), LINE, SPANS, LINE)


HIDING = st.one_of(
    with_span(lambda text: {"type": "idea", "title": text, "content": "c"}),
    with_span(lambda text: {"type": "idea", "title": "t", "content": f"{text}\nmore"}),
    with_span(lambda text: {"type": "idea", "title": "t", "content": "c", "source_session": text}),
    with_span(
        lambda text: {
            "type": "idea",
            "title": "t",
            "content": "c",
            "related": [{"slug": text, "type": "supports"}],
        }
    ),
    with_span(lambda text: {"type": "idea", "title": "t", "content": "c", text: 1}),
    with_span(lambda text: {"type": "memory", "actor": "principal", "content": f"RULE: {text}"}),
    with_span(
        lambda text: {
            "type": "memory",
            "actor": "principal",
            "op": "set",
            "entries": ["NAME: a", f"RULE: {text}"],
        }
    ),
    with_span(
        lambda text: {
            "type": "proposal",
            "target_file": "STYLE.md",
            "edit": text,
            "rationale": text,
            "confidence": 1,
        }
    ),
    with_span(
        lambda text: {
            "type": "proposal",
            "target_file": text,
            "target_kind": "style",
            "edit": "e",
            "rationale": "r",
            "confidence": 1,
        }
    ),
)


@settings(max_examples=2 * EXAMPLES)
@given(st.lists(HIDING, min_size=1, max_size=3))
def test_private_text_lands_nowhere(items: list[dict[str, Any]]) -> None:
    said = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(said):
        root = make_root(Path(folder))
        for item in items:
            command = "propose" if item["type"] == "proposal" else "remember"
            argv = [command, json.dumps(item), "--memory-root", str(root)]
            said.write(run([*argv, "--adapter", "codex", "--allow-write"]).text)
        written = b"".join(
            str(path).encode() + (path.read_bytes() if path.is_file() else b"")
            for path in root.rglob("*")
        )
        assert rebuild(root)["equivalent"] is True

    assert HUSH.encode() not in written
    assert HUSH not in said.getvalue()
