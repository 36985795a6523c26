"""The same bytes and the same pending seed give the same Plan ID on any machine.

Source: guide 8.1; reliability specification 3.1, 3.2 and 3.5.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Final

import pytest
from place import Place, new_place

if TYPE_CHECKING:
    from pathlib import Path

EVIDENCE: Final = ["--evidence", "user-confirmed"]
ELSEWHERE: Final = {
    "TZ": "Pacific/Kiritimati",
    "LANG": "tr_TR.ISO8859-9",
    "LC_ALL": "C",
    "PYTHONHASHSEED": "4711",
    "COLUMNS": "40",
}
HERE: Final = {
    "TZ": "Etc/GMT+12",
    "LANG": "de_DE.UTF-8",
    "LC_ALL": "C.UTF-8",
    "PYTHONHASHSEED": "1",
}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Return a project with names and texts that locales and file systems treat differently."""
    place = new_place(tmp_path_factory.mktemp("identity") / "machine", extended=True)
    for name in ("zebra", "apfel", "ipsilon"):
        place.add(f"Über {name} 東京 \u0130stanbul.", "area", "--name", name)
    place.add("Keep exports in CSV.")
    place.add("Perhaps exports are wrong.", "inbox", "--candidate")
    place.write("rules/b.md", "# B\n\n- exports\n")
    place.write("rules/B2.md", "# B\n\n- exports\n")
    return place


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["forget", "exports"], id="soft"),
        pytest.param(["forget", "exports", "--mode", "hard"], id="hard"),
        pytest.param(["forget", "exports", "--mode", "purge"], id="purge"),
        pytest.param(["compact"], id="compact"),
        pytest.param(["init", "--replace-existing"], id="replace"),
        pytest.param(["forget", "\u0130STANBUL", "--allow-broad-match"], id="dotted-i"),
    ],
)
def test_two_machines_compute_the_same_plan_id(
    here: Place, tmp_path: Path, words: list[str]
) -> None:
    first = here.run(*words, env=HERE)
    there = Place(tmp_path / "a b" / "другая")
    shutil.copytree(here.base, there.base)

    second = there.run(*words, env=ELSEWHERE)
    # `init` takes the folder it is run in for the root.
    below = there.root if words[0] == "init" else there.memory / "areas"
    from_below = there.run(*words, env=ELSEWHERE, cwd=below)
    named = ["--project-root", str(there.root)]
    from_afar = there.run(*words, *named, env=HERE, cwd=tmp_path)

    assert (first.code, second.code) == (0, 0), (first, second)
    assert first.plan_id == second.plan_id == from_below.plan_id == from_afar.plan_id
    assert first.out.partition("Apply it with:")[0] == second.out.partition("Apply it with:")[0]


def test_plan_of_one_machine_is_applied_on_the_other(here: Place, tmp_path: Path) -> None:
    old = here.require("search", "CSV", "--json").out.partition('"id": "')[2].partition('"')[0]
    words = ["add", "Keep exports in JSON.", "--supersedes", old, *EVIDENCE]
    preview = here.run(*words, env=HERE)
    there = Place(tmp_path / "machine")
    shutil.copytree(here.base, there.base)
    seeds = len(list((there.state / "plans").glob("*.seed")))

    done = there.run(*preview.apply_words, env=ELSEWHERE)

    assert done.code == 0, done
    assert len(list((there.state / "plans").glob("*.seed"))) == seeds - 1


@pytest.mark.parametrize("words", [["forget", "exports", "--mode", "hard"], ["forget", "exports"]])
def test_machine_without_the_seed_finds_the_plan_stale(
    here: Place, tmp_path: Path, words: list[str]
) -> None:
    """A seed that is gone makes a plan stale and is no error of its own (3.5)."""
    preview = here.require(*words)
    there = Place(tmp_path / "machine")
    shutil.copytree(here.base, there.base)
    shutil.rmtree(there.state)
    before = there.tree()

    stale = there.call(*words, "--apply", "--confirm-plan", preview.plan_id)

    assert stale.code == 3
    assert stale.plan_id != preview.plan_id
    assert before == there.tree()


def test_any_changed_byte_changes_the_plan_id(here: Place, tmp_path: Path) -> None:
    place = Place(tmp_path / "machine")
    shutil.copytree(here.base, place.base)
    ids = [place.require("forget", "exports").plan_id]
    for name in ("decisions.md", "inbox.md", "do-not-use.md", "manifest.md", "areas/zebra.md"):
        place.write(name, place.text(name) + "\n")
        ids.append(place.require("forget", "exports").plan_id)

    assert len(ids) == len(set(ids))
