"""Every change of what exists is previewed, confirmed and exact: seen from outside, as processes.

Source: guide 13.1, 13.2 and 14; reliability specification 3.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from typing import TYPE_CHECKING, Final

import pytest
from mc_lock.testing import holder_process
from place import ENTRY_ID, PLAN_LINE, Place, new_place
from scenario import older_place

if TYPE_CHECKING:
    from pathlib import Path

EVIDENCE: Final = ["--evidence", "user-confirmed"]
TARGET_LINE: Final = re.compile(r"^- (\S+): (?:replace|create|delete|append)", re.MULTILINE)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return new_place(tmp_path / "machine")


def project_id(place: Place) -> str:
    found = re.search(r"project_id: (\S+)", place.text("manifest.md"))
    assert found is not None
    return found[1]


def previewed(place: Place, *kinds: str) -> list[list[str]]:
    """Return one command of each preview-first kind that has something to do in *place*."""
    old = place.add("Keep exports in CSV.")
    # Above the entry: bullets below it would be part of it.
    place.write("inbox.md", place.text("inbox.md") + "\n- twice\n- twice\n")
    wish = place.add("Perhaps faster trains.", "inbox", "--candidate")
    commands = {
        "supersede": ["add", "Exports in JSON.", "--supersedes", old, *EVIDENCE],
        "promote": ["add", "Go.", "--promotes", wish, "--type", "constraint", *EVIDENCE],
        "forget": ["forget", "faster"],
        "forget-hard": ["forget", "faster", "--mode", "hard"],
        "forget-purge": ["forget", "faster", "--mode", "purge"],
        "compact": ["compact"],
        "replace": ["init", "--replace-existing"],
    }
    return [commands[kind] for kind in kinds or commands]


def test_preview_has_one_plan_line_and_apply_needs_it(place: Place) -> None:
    for words in previewed(place):
        before = place.tree()

        preview = place.call(*words)
        unconfirmed = place.call(*words, "--apply")
        unknown = place.call(*words, "--apply", "--confirm-plan", "0" * 16)

        assert (preview.code, unconfirmed.code, unknown.code) == (0, 3, 3), words
        assert len(PLAN_LINE.findall(preview.out)) == 1
        assert preview.plan_id == unconfirmed.plan_id == unknown.plan_id, words
        assert re.findall("Plan ID", preview.out) == ["Plan ID"]
        assert "plan is stale" in unknown.err
        for refused in (unconfirmed, unknown):
            assert refused.err.startswith("error: ")
            assert "no files were written" in refused.err
        assert before == place.tree(), words


def test_preview_lists_what_the_guide_asks_for(place: Place) -> None:
    for words in previewed(place, "supersede", "forget", "compact"):
        shown = place.call(*words).out
        for part in ("Target files:", "Operations:", "Blockers:", "Warnings:", "Estimated budget:"):
            assert f"\n{part}\n" in shown
        assert re.search(r"^- docs/memory/\S+: replace, base [0-9a-f]{12}", shown, re.MULTILINE)
        assert "--- a/docs/memory/" in shown


def test_applied_plan_cannot_be_applied_again(place: Place) -> None:
    for words in previewed(place, "supersede", "promote", "compact", "forget"):
        confirm = ["--apply", "--confirm-plan", place.require(*words).plan_id]
        place.require(*words, *confirm)
        before = place.tree()

        again = place.call(*words, *confirm)

        assert again.code in (1, 3), again
        assert before == place.tree()


def test_forget_is_stale_after_another_process_wrote(place: Place) -> None:
    place.add("Keep exports in CSV.")
    preview = place.run("forget", "CSV", "--allow-broad-match")
    assert place.run("add", "Use UTC.", "--type", "decision", *EVIDENCE).code == 0
    before = place.tree()

    stale = place.run(*preview.apply_words)

    assert (stale.code, before) == (3, place.tree()), stale
    assert "plan is stale" in stale.err
    assert stale.plan_id != preview.plan_id
    done = place.run(*stale.apply_words)
    assert done.code == 0, done
    assert "Use UTC." in place.text("decisions.md")
    assert "## MC-DEC" in place.text("decisions.md")
    assert "Keep exports in CSV." not in place.text("decisions.md")


def test_compact_previewed_before_an_add_writes_nothing(place: Place) -> None:
    """Field report D2: the lost update with a long window."""
    place.write("inbox.md", place.text("inbox.md") + "\n- twice\n- twice\n")
    preview = place.run("compact")
    added = place.run("add", "Perhaps UTC.", "--candidate")
    before = place.tree()

    stale = place.run(*preview.apply_words)

    assert (added.code, stale.code) == (0, 3)
    assert before == place.tree()
    assert "Perhaps UTC." in place.text("inbox.md")


def test_add_against_compact_loses_neither(place: Place) -> None:
    """Whichever comes second sees the first: it works on its bytes, or says that it is stale."""
    place.write("inbox.md", place.text("inbox.md") + "\n- twice\n- twice\n")
    words = place.run("compact").apply_words
    racing = [place.start(*words)]
    racing += [place.start("add", f"Perhaps {n}.", "--candidate") for n in range(3)]
    errors = [process.communicate()[1] for process in racing]

    compact, *adds = (process.returncode for process in racing)
    text = place.text("inbox.md")
    assert adds == [0, 0, 0], errors
    assert [text.count(f"\nPerhaps {n}.\n") for n in range(3)] == [1, 1, 1]
    assert (compact, text.count("- twice\n")) in ((0, 1), (3, 2)), errors
    assert place.leftovers() == []


def test_crash_that_leaves_a_lock_is_named_and_led_out_of(place: Place) -> None:
    identity = project_id(place)
    with holder_process(
        place.root, state_home=place.state.parent, project_id=identity, command="forget"
    ) as holder:
        holder.kill()
    words = ["add", "Use UTC.", "--type", "decision", *EVIDENCE]

    young = place.run(*words)
    too_young = place.run(*words, "--break-stale-lock")
    place.age_locks()
    old = place.run(*words)
    broken = place.run(*words, "--break-stale-lock")

    assert (young.code, too_young.code, old.code, broken.code) == (4, 4, 4, 0)
    for refused in (young, too_young, old):
        assert f"pid {holder.pid} " in refused.err
        assert "(`forget`)" in refused.err
        assert f"{identity}.lock" in refused.err
        assert "no files were written" in refused.err
        assert refused.err.count("hint: ") == 1
    assert "wait " in young.err
    assert "run the command again with `--break-stale-lock`" in old.err
    assert f"pid {holder.pid}" in broken.err
    assert place.leftovers() == []
    assert place.text("decisions.md").count("\nUse UTC.\n") == 1


def test_lock_that_stays_held_times_out_with_a_clear_message(place: Place) -> None:
    (place.root / "memory-custodian.toml").write_text("lock-timeout = 0.3\n", "utf-8")
    before = place.tree()
    with holder_process(
        place.root, state_home=place.state.parent, project_id=project_id(place), command="compact"
    ) as holder:
        refused = [
            place.run("add", "Use UTC.", "--type", "decision", *EVIDENCE, *flag)
            for flag in ([], ["--break-stale-lock"])
        ]
        reading = place.run("read", "--task", "planning")
        status = place.run("status")

    for answer in refused:
        assert (answer.code, answer.out) == (4, "")
        assert answer.err.startswith(f"error: the lock is held by pid {holder.pid} ")
        assert f"hint: wait until pid {holder.pid} ends, then run the command again" in answer.err
        assert "no files were written" in answer.err
    assert "its owner is alive" in refused[1].err
    assert (reading.code, status.code) == (0, 0), (reading, status)
    assert f"pid {holder.pid}" in status.out
    assert before == place.tree()


@pytest.mark.parametrize("flag", [[], ["--break-stale-lock"]], ids=["plain", "flag"])
def test_stopped_owner_is_alive(place: Place, flag: list[str]) -> None:
    (place.root / "memory-custodian.toml").write_text("lock-timeout = 0.2\n", "utf-8")
    with holder_process(
        place.root, state_home=place.state.parent, project_id=project_id(place)
    ) as holder:
        os.kill(holder.pid, signal.SIGSTOP)
        place.age_locks()
        refused = place.run("enable", "changelog", *flag)
        os.kill(holder.pid, signal.SIGCONT)

    assert refused.code == 4
    assert not (place.memory / "changelog.md").exists()


@pytest.mark.parametrize("older", [False, True], ids=["current", "older"])
def test_nested_memory_directory_shows_whole_paths_and_agrees(tmp_path: Path, older: bool) -> None:  # noqa: FBT001
    nested = "docs/team/memory"
    if older:
        place = older_place(tmp_path / "machine")
        target = place.root / nested
        target.parent.mkdir(parents=True)
        (place.root / "docs" / "memory").rename(target)
        place = place._replace(memory_dir=nested)
        words = ["migrate", "--memory-dir", nested]
    else:
        place = new_place(tmp_path / "machine", memory_dir=nested)
        place.require("add", "Use CSV.", "--type", "decision", *EVIDENCE, "--memory-dir", nested)
        words = ["forget", "Use CSV", "--allow-broad-match", "--memory-dir", nested]
    before = place.tree()

    preview = place.call(*words)
    assert before == place.tree()
    applied = place.call(*preview.apply_words)

    assert (preview.code, applied.code) == (0, 0), (preview, applied)
    changed = {path for path in place.tree() if place.tree()[path] != before.get(path)}
    targets = set(TARGET_LINE.findall(preview.out))
    written = set(
        re.findall(r"^- (\S+)$", applied.out.rpartition("Files written:\n")[2], re.MULTILINE)
    )
    assert changed == targets == written
    assert all(path.startswith(f"{nested}/") for path in targets)
    assert str(place.root) not in preview.out


def test_candidates_with_equal_evidence_survive_compact(place: Place) -> None:
    for text in ("Perhaps JSON lines.", "Perhaps a daemon."):
        place.add(text, "inbox", "--candidate", "--evidence", "agent-observed")
    before = place.text("inbox.md")

    preview = place.require("compact")

    assert "Nothing to change." in preview.out
    place.write("inbox.md", before + "\n- twice\n- twice\n")
    place.apply("compact")
    for text in ("Perhaps JSON lines.", "Perhaps a daemon."):
        assert place.text("inbox.md").count(f"\n{text}\n") == 1


@pytest.mark.parametrize("name", ["constraints.md", "decisions.md", "preferences.md"])
def test_legacy_bullet_above_an_entry_is_read_forgotten_and_counted_alone(
    place: Place, name: str
) -> None:
    kind = name.removesuffix(".md").rstrip("s")
    if kind == "preference":
        place.require("enable", "preferences")
    title = place.text(name).splitlines()[0]
    place.write(name, f"{title}\n\n- Runs offline.\n- No telemetry.\n")
    place.add("Answers stay short.", kind)

    pack = place.require("read", "--task", "preferences" if "pref" in kind else "planning").out
    status = place.require("status").out if kind != "preference" else ""
    found = json.loads(place.require("search", "offline", "--json").out)["data"]
    place.apply("forget", "Runs offline")

    text = place.text(name)
    assert "Runs offline" in pack
    assert "2 legacy" in status or not status
    assert len(found["items"]) == 1
    assert "Runs offline" not in text
    assert "- No telemetry.\n" in text
    assert text.count("\nAnswers stay short.\n") == 1
    assert len(ENTRY_ID.findall(text)) == 1


def test_supersession_chain_ends_at_its_newest_entry(place: Place) -> None:
    """Field report D27: A, B supersedes A, A again supersedes B: exactly one is active."""
    ids = [place.add("Use CSV.")]
    for text in ("Use JSON.", "Use CSV."):
        said = place.apply("add", text, "--supersedes", ids[-1], *EVIDENCE).out
        ids.append(next(found for found in ENTRY_ID.findall(said) if found not in ids))
    before = place.tree()

    closed = [place.call("add", "Use XML.", "--supersedes", old, *EVIDENCE) for old in ids[:2]]

    for old, new, refused in zip(ids, ids[1:], closed, strict=False):
        assert refused.code == 1
        assert new in refused.err, (old, refused)
    assert before == place.tree()
    assert place.text("decisions.md").count("Status: active") == 1
    found = json.loads(place.require("search", "CSV", "--json").out)["data"]["items"]
    assert [item["id"] for item in found] == [ids[-1]]
    assert place.call("check").code == 0
    place.apply("compact")
    assert re.findall("^## (MC-[^ ]+)", place.text("decisions.md"), re.MULTILINE) == [ids[-1]]
    assert place.call("check").code == 0


def test_promoted_candidate_is_closed_and_names_its_entry(place: Place) -> None:
    wish = place.add("Perhaps faster trains.", "inbox", "--candidate")
    words = ["add", "Faster trains.", "--promotes", wish, "--type", "decision"]
    without = place.call(*words)
    said = place.apply(*words, *EVIDENCE).out
    (new,) = {found for found in ENTRY_ID.findall(said) if found != wish}

    again = place.call(*words, *EVIDENCE)

    assert (without.code, again.code) == (2, 1)
    assert new in again.err
    assert f"Promoted-To: {new}" in place.text("inbox.md")


def test_two_adds_at_once_are_both_there_or_one_says_why(place: Place) -> None:
    adds = [place.start("add", f"Decision {x}", "--type", "decision", *EVIDENCE) for x in "AB"]
    ended = [(*process.communicate(), process.returncode) for process in adds]

    for name, (_, err, code) in zip("AB", ended, strict=True):
        kept = place.text("decisions.md").count(f"\nDecision {name}\n")
        assert (code, kept) in ((0, 1), (4, 0)), err
    assert place.leftovers() == []


def test_printed_commands_work_from_any_folder(place: Place, tmp_path: Path) -> None:
    """A person who named the project on the command line is not told to run something else."""
    place.add("Keep exports in CSV.")
    words = ["forget", "exports", "--project-root", str(place.root)]
    preview = place.run(*words, cwd=tmp_path)

    applied = place.run(*preview.apply_words, cwd=tmp_path)

    assert (preview.code, applied.code) == (0, 0), (preview, applied)
    assert "exports in CSV" not in place.text("decisions.md")


def test_interrupted_change_is_noticed_by_every_command(place: Place) -> None:
    """Reading works and warns, writing stops with the command to run, `recover` leads out."""
    killing = (
        "import sys\nfrom mc_plan import files\nfrom mc_plan.testing import KillingFilesystem\n"
    )
    killing += (
        "files.SYSTEM = KillingFilesystem(19)\nfrom mc_cli.main import main\nmain(sys.argv[1:])"
    )
    words = ["add", "One a line.", "--type", "rule", "--name", "output", *EVIDENCE]
    assert place.run(*words, code=killing).code == -signal.SIGKILL
    place.age_locks()
    stuck = [name for name in place.leftovers() if name.endswith(".json")]
    assert len(stuck) == 1

    for reader in (["read", "--task", "planning"], ["search", "x"], ["status"], ["check"]):
        answer = place.call(*reader)
        assert "interrupted" in answer.err + answer.out, reader
        assert answer.code == (1 if reader[0] in ("status", "check") else 0), reader
    for writer in (
        ["enable", "changelog"],
        ["add", "Use UTC.", "--candidate"],
        ["compact", "--apply"],
    ):
        refused = place.call(*writer, "--break-stale-lock")
        assert refused.code == 5, (writer, refused)
        assert re.findall("^hint: run `memory-custodian (.*)`$", refused.err, re.MULTILINE) == [
            "recover"
        ]
    assert place.call(*place.require("recover").apply_words).code == 0
    assert place.leftovers() == []
    assert place.call(*words).code in (0, 1)


def test_no_lock_seed_or_journal_is_made_inside_the_project(place: Place) -> None:
    """A state directory that resolves into the project is not used; the temporary one is."""
    inside = {"XDG_STATE_HOME": str(place.root / "state"), "TMPDIR": str(place.base)}
    before = set(place.tree())

    done = place.run("add", "Use UTC.", "--type", "decision", *EVIDENCE, env=inside)
    hopeless = place.run(
        "add", "Use CSV.", "--candidate", env={**inside, "TMPDIR": str(place.root)}
    )

    assert (done.code, hopeless.code) == (0, 1), (done, hopeless)
    assert len(done.err.splitlines()) == 1
    assert "no files were written" in hopeless.err
    assert before == set(place.tree())


@pytest.mark.parametrize("unit", ["stdout-closed", "stdout-full"])
def test_answer_that_cannot_be_printed_changes_no_outcome(place: Place, unit: str) -> None:
    words = place.argv(["add", "Use UTC.", "--type", "decision", *EVIDENCE])
    shell = '"$@" >&-' if unit == "stdout-closed" else '"$@" >/dev/full'
    done = subprocess.run(
        ["sh", "-c", shell, "sh", *words],
        cwd=place.root,
        env=place.environment(),
        capture_output=True,
        check=False,
        text=True,
    )

    assert "Traceback" not in done.stderr
    assert done.returncode != 0, done
    assert place.text("decisions.md").count("\nUse UTC.\n") == 1
    assert place.leftovers() == []
