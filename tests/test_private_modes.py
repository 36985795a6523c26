"""`forget --mode hard` and `purge`: what was forgotten is nowhere, whatever happens on the way.

A byte search in every file of the machine, in everything printed, and in every file name.

Source: guide 8.1; reliability specification 3.3, 3.4 and 5.1; field report D29.
"""

from __future__ import annotations

import json
import os
import re
import signal
import unicodedata
from typing import TYPE_CHECKING, Final

import pytest
from faults import injector
from mc_lock.testing import holder_process
from place import Place, files_below, new_place

if TYPE_CHECKING:
    from pathlib import Path

TOPIC: Final = "Zyxwolf"
SPELLINGS: Final = (
    TOPIC,
    TOPIC.upper(),
    "\uff3a\uff59\uff58\uff57\uff4f\uff4c\uff46",
)
MODES: Final = ["hard", "purge"]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a project that holds the topic in every kind of place."""
    place = new_place(tmp_path / "machine", extended=True)
    place.add(f"The {TOPIC} client pays early.")
    place.add(f"Never call {SPELLINGS[1]}.", "constraint")
    place.add(f"Perhaps {SPELLINGS[2]} leaves.", "inbox", "--candidate")
    place.write("do-not-use.md", f"{place.text('do-not-use.md')}\n## Tombstone: {TOPIC}\nNo.\n")
    place.write("archive/old.md", f"# Old\n\n- An archived {TOPIC.lower()}.\n- Another.\n")
    inside = f"# Rules\n\n- a rule <private>for {TOPIC}</private>\n- another rule\n"
    place.write("rules/style.md", inside)
    place.require("status")
    return place


def holds_topic(data: bytes | str) -> bool:
    text = data if isinstance(data, str) else data.decode("utf-8", "replace")
    return TOPIC.casefold() in unicodedata.normalize("NFKC", text).casefold()


def state_with_topic(place: Place) -> list[str]:
    """Return the files of the state directory that hold the topic, base64 of a journal included."""
    import base64

    found = []
    for path, data in files_below(place.state).items():
        encoded = [
            base64.b64decode(match)
            for match in re.findall(rb'"([A-Za-z0-9+/]{16,}={0,2})"', data)
            if len(match) % 4 == 0
        ]
        if holds_topic(path) or any(holds_topic(each) for each in (data, *encoded)):
            found.append(path)
    return found


def memory_with_topic(place: Place) -> list[str]:
    return [
        path
        for path, data in files_below(place.memory).items()
        if holds_topic(data) or holds_topic(path)
    ]


def words_of(mode: str) -> list[str]:
    return ["forget", TOPIC, "--mode", mode, "--allow-broad-match"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", [[], ["--json"]], ids=["text", "json"])
def test_topic_is_nowhere_after_success(place: Place, mode: str, form: list[str]) -> None:
    words = [*words_of(mode), *form]
    preview = place.call(*words)
    plan_id = json.loads(preview.out)["data"]["plan_id"] if form else preview.plan_id
    assert preview.code == 0, preview
    assert state_with_topic(place) == []

    done = place.call(*words, "--apply", "--confirm-plan", plan_id)

    assert done.code == 0, done
    said = preview.out + preview.err + done.out + done.err
    assert not holds_topic(said)
    assert state_with_topic(place) == []
    left = memory_with_topic(place)
    assert left == ([] if mode == "purge" else ["archive/old.md"])
    counted = "Archived units that still match: 1\n" in preview.out
    assert counted == (mode == "hard" and not form)
    assert not list((place.state / "plans").glob("*.seed"))
    assert place.call("check").code == 0


@pytest.mark.parametrize("mode", MODES)
def test_public_plan_shows_no_digest_and_no_diff(place: Place, mode: str) -> None:
    plan = json.loads(place.call(*words_of(mode), "--json").out)["data"]["plan"]

    text = json.dumps(plan)
    for known in (plan["project_id"], plan["plan_id"]):
        text = text.replace(known, "")
    assert re.findall(r"\b[0-9a-f]{12,64}\b", text) == []
    assert "@@" not in text
    assert not holds_topic(text)


@pytest.mark.parametrize("mode", MODES)
def test_id_of_a_private_plan_cannot_be_tested_against_topics(tmp_path: Path, mode: str) -> None:
    """Two machines with equal bytes: without the secret of the first, its id means nothing."""
    ids = set()
    for name in "ab":
        place = Place(tmp_path / name)
        if name == "a":
            place = new_place(place.base)
            place.add(f"The {TOPIC} client pays early.")
            source = place.tree()
        else:
            for path, data in source.items():
                target = place.root / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
        ids.add(place.require(*words_of(mode)).plan_id)

    assert len(ids) == 2


@pytest.mark.parametrize("mode", MODES)
def test_refusals_of_a_private_plan_name_no_topic(place: Place, mode: str) -> None:
    words = words_of(mode)
    plain = [word for word in words if word != "--allow-broad-match"]
    plan_id = place.require(*words).plan_id
    (place.root / "memory-custodian.toml").write_text("lock-timeout = 0.1\n", "utf-8")
    said = [
        place.call(*words, "--apply"),
        place.call(*words, "--apply", "--confirm-plan", "0" * 16),
        place.call(*words, "--apply", "--confirm-plan", "xyz"),
        place.call(*plain, "--apply", "--confirm-plan", plan_id),
    ]
    place.add("Another entry makes it stale.")
    said.append(place.call(*words, "--apply", "--confirm-plan", plan_id))
    identity = re.findall("project_id: (.*)", place.text("manifest.md"))[0]
    with holder_process(place.root, state_home=place.state.parent, project_id=identity) as holder:
        said.append(place.call(*words, "--apply", "--confirm-plan", plan_id))
        holder.release()
    place.write("brief.md", f"# Brief\n\nProse about {TOPIC}.\n")
    said.append(place.call(*words))
    blocked = place.call(*words, "--apply", "--confirm-plan", said[-1].plan_id)
    said.append(blocked)

    assert [answer.code for answer in said] == [3, 3, 2, 1, 3, 4, 0, 1]
    for answer in said:
        assert not holds_topic(answer.out + answer.err), answer
    assert state_with_topic(place) == []
    assert memory_with_topic(place)


@pytest.mark.parametrize("mode", MODES)
def test_topic_in_a_file_name_is_blocked_and_not_printed(tmp_path: Path, mode: str) -> None:
    """Fault 37 of the earlier CLI."""
    place = new_place(tmp_path / "machine")
    place.add("Poll hourly.", "area", "--name", TOPIC.lower())
    place.add(f"Ask {TOPIC}.")

    shown = place.call(*words_of(mode))

    blockers = shown.out.partition("Blockers:\n")[2].partition("\n\n")[0]
    assert "none" not in blockers
    assert not holds_topic(shown.out + shown.err)
    assert "[redacted]" in shown.out
    assert state_with_topic(place) == []


@pytest.mark.parametrize("mode", MODES)
def test_killed_apply_keeps_the_topic_in_its_journal_only_until_recovery(
    place: Place, tmp_path: Path, mode: str
) -> None:
    """The journal must be able to undo; `check` reports it, `recover` removes it for good."""
    confirm = ["--apply", "--confirm-plan", place.require(*words_of(mode)).plan_id]
    words = [*words_of(mode), *confirm]
    keep = tmp_path / "keep"
    place.argv([])
    place.keep_as(keep)
    points = injector().points(place, words)
    renames = [point for point in points if point.name in ("rename", "replace")]
    place.restore_from(keep)

    killed = injector().run(place, words, renames[len(renames) // 2], "SIGKILL")

    assert killed.code == -signal.SIGKILL
    assert all(name.startswith("journal/") for name in state_with_topic(place))
    assert not any(holds_topic(name) for name in files_below(place.state))
    for lock in (place.state / "locks").glob("*"):
        assert not holds_topic(lock.read_bytes())
    place.age_locks()
    check, status, again = place.call("check"), place.call("status"), place.call(*words)
    again = place.call(*words, "--break-stale-lock")
    preview = place.call("recover")
    done = place.call(*preview.apply_words)
    for answer in (check, status, again, preview, done):
        assert not holds_topic(answer.out + answer.err), answer
    assert (check.code, again.code, preview.code, done.code) == (1, 5, 0, 0)
    assert "interrupted" in check.out
    assert state_with_topic(place) == []
    assert list((place.state / "journal").glob("retired/*")) == []
    rest = memory_with_topic(place)
    forward = [] if mode == "purge" else ["archive/old.md"]
    assert rest == forward or len(rest) == len(memory_with_topic(Place(keep)))


def test_accepting_the_current_files_deletes_a_private_journal(
    place: Place, tmp_path: Path
) -> None:
    words = words_of("purge")
    words += ["--apply", "--confirm-plan", place.require(*words).plan_id]
    keep = tmp_path / "keep"
    place.argv([])
    place.keep_as(keep)
    renames = [
        point for point in injector().points(place, words) if point.name in ("rename", "replace")
    ]
    place.restore_from(keep)
    injector().run(place, words, renames[2], "SIGKILL")
    place.age_locks()
    place.call("enable", "changelog", "--break-stale-lock")

    place.require(*place.require("recover", "--accept-current").apply_words)

    assert state_with_topic(place) == []
    assert place.leftovers() == []


def test_seed_of_a_private_plan_goes_after_seven_days(place: Place) -> None:
    old = place.require(*words_of("hard")).plan_id
    seeds = list((place.state / "plans").glob("*.seed"))
    for seed in seeds:
        stamp = seed.stat().st_mtime - 8 * 24 * 60 * 60
        os.utime(seed, (stamp, stamp))

    stale = place.call(*words_of("hard"), "--apply", "--confirm-plan", old)

    assert (len(seeds), stale.code) == (1, 3)
    assert stale.plan_id != old
    assert place.call(*words_of("hard"), "--apply", "--confirm-plan", stale.plan_id).code == 0
