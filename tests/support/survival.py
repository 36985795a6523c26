"""What must hold after a fault, and the way out that the printed commands are.

Source: reliability specification 4.8, 5.4, 5.5 and 7, "Never acceptable".
"""

from __future__ import annotations

import collections
import multiprocessing
import re
import shlex
import signal
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, Final, NamedTuple

from faults import ERRORS, SIGNALS, injector, message_of
from place import APPLY_LINE, COMMAND, PLAN_LINE, without_new_ids
from scenario import SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from faults import Point
    from place import Answer, Place
    from scenario import Scenario

FLAG: Final = "--break-stale-lock"
_NOTHING: Final = ("no files were written", "nothing was written")
_LISTED: Final = re.compile(r"(?:^|; )(written|not written|unknown): ([^;\n\"]+)", re.MULTILINE)
_LOCKED: Final = 4
_PENDING: Final = 5
_MOST_STEPS: Final = 8
_OPENING: Final = {"openat": ("EACCES", "EIO"), "read": ("EIO",), "getdents64": ("EIO",)}
_STATS_STEP: Final = 5
"""Looking at a file is done often and fails like opening it: every fifth is made to fail."""
# A close or an fsync reports what a drive lost; the other errors belong to names and places.
_ONLY: Final = {"close": ("EIO", "ENOSPC"), "fsync": ("EIO", "ENOSPC", *SIGNALS)}


class Tally(NamedTuple):
    """Figures of a run: how many faults, and in which state the files were found after them."""

    faults: collections.Counter[str]
    ends: collections.Counter[str]
    wrong: list[str]


class Subject(NamedTuple):
    """A scenario made ready: its place, its command, and the trees before and after it."""

    place: Place
    keep: Path
    words: list[str]
    before: dict[str, bytes]
    after: dict[str, bytes]
    points: list[Point]
    reading: list[Point]


def prepare(scenario: Scenario, base: Path, *, reading: bool = True) -> Subject:
    """Build *scenario* below *base* and run it for its changing calls, its *reading* ones if asked.

    The result of the first run is what `after` means.
    """
    place, words = scenario.build(base / "machine")
    # Nothing else runs here, so a lock that is in the way stays there: it is not waited for long.
    (place.root / "memory-custodian.toml").write_text("lock-timeout = 0.2\n", "utf-8")
    keep = base / "keep"
    place.argv([])
    place.keep_as(keep)
    raw = place.tree()
    before = without_new_ids(raw, raw)
    points = injector().points(place, words)
    after = without_new_ids(place.tree(), before)
    place.restore_from(keep)
    seen = injector().points(place, words, reading=True) if reading else []
    place.restore_from(keep)
    return Subject(place, keep, words, before, after, points, seen)


def faults_at(point: Point) -> Sequence[str]:
    """Return the faults that can happen at a changing call."""
    return _ONLY.get(point.name, (*ERRORS, *SIGNALS))


def survive(subject: Subject, point: Point, fault: str) -> str:
    """Inject one fault, check everything, follow the messages; return before, after or between.

    Raises:
        AssertionError: A promise is broken; the message says which.
    """
    is_change = point in subject.points
    answer = _run_with(subject, point, fault)
    end = _check_files(subject, answer)
    _check_answer(subject, answer, fault, end, is_change=is_change)
    lead_out(subject)
    return end


def lead_out(subject: Subject) -> None:
    """Run the command again and do what is printed, until the change is there exactly once."""
    place, words = subject.place, list(subject.words)
    for _ in range(_MOST_STEPS):
        answer = _obey(place, words)
        way = _recover_words(answer)
        if way is None:
            break
        shown = _obey(place, way)
        assert shown.code == 0, ("recover", shown)
        if PLAN_LINE.search(shown.out):
            (line,) = APPLY_LINE.findall(shown.out)
            done = _obey(place, shlex.split(line))
            assert done.code == 0, ("recover --apply", done)
        tree = without_new_ids(place.tree(), subject.before)
        assert tree in (subject.before, subject.after), ("after recover", _changed(subject, tree))
    else:
        raise AssertionError(("no way out", answer))
    # The plan of a change that was complete is stale, a second equal entry a duplicate.
    assert answer.code in (0, 1, 3, 5), answer
    tree = without_new_ids(place.tree(), subject.before)
    assert tree == subject.after or _is_repeated_note(subject), (answer, _changed(subject, tree))
    left = [name for name in place.leftovers() if name != "journal/retired"]
    assert left == [], (left, answer)


def torture(names: Iterable[str], base: Path, *, workers: int = 2) -> Tally:
    """Inject every fault at every call of the scenarios *names*, in parallel."""
    tally = Tally(collections.Counter(), collections.Counter(), [])
    jobs = [(name, base / f"{name}-{part}", part, workers) for name in names for part in range(2)]
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        for found in pool.map(_job, jobs):
            tally.faults.update(found.faults)
            tally.ends.update(found.ends)
            tally.wrong.extend(found.wrong)
    return tally


def _run_with(subject: Subject, point: Point, fault: str) -> Answer:
    place = subject.place
    for _ in range(_MOST_STEPS):
        place.restore_from(subject.keep)
        try:
            return injector().run(place, subject.words, point, fault)
        except LookupError:
            # Another process has compiled a module meanwhile, so that other calls come before it.
            place.restore_from(subject.keep)
            kind = subject.points if point in subject.points else subject.reading
            fresh = injector().points(place, subject.words, reading=kind is subject.reading)
            index = kind.index(point)
            kind[:] = fresh
            point = fresh[index]
    raise LookupError(point)


def _job(job: tuple[str, Path, int, int]) -> Tally:
    name, base, part, parts = job
    (scenario,) = (each for each in SCENARIOS if each.name == name)
    subject = prepare(scenario, base)
    # By index: the lists are renewed where the numbers of the calls have moved.
    faults = [
        (subject.points, index, fault)
        for index, point in enumerate(subject.points)
        for fault in faults_at(point)
    ]
    stats = [i for i, point in enumerate(subject.reading) if point.name not in _OPENING]
    faults += [(subject.reading, index, "EIO") for index in stats[::_STATS_STEP]]
    faults += [
        (subject.reading, index, fault)
        for index, point in enumerate(subject.reading)
        for fault in _OPENING.get(point.name, ())
    ]
    tally = Tally(collections.Counter(), collections.Counter(), [])
    for kind, index, fault in faults[part::parts]:
        tally.faults[fault] += 1
        point = kind[index]
        try:
            tally.ends[survive(subject, point, fault)] += 1
        except (AssertionError, LookupError) as error:
            tally.wrong.append(f"{name} {fault} at {point.name} {point.number}: {error!r}"[:1500])
    return tally


def _check_files(subject: Subject, answer: Answer) -> str:
    tree = without_new_ids(subject.place.tree(), subject.before)
    left = subject.place.leftovers()
    has_journal = any(name.endswith(".json") for name in left if "/journal/" in f"/{name}")
    for path in {*tree, *subject.before, *subject.after}:
        found = tree.get(path)
        if path.rpartition("/")[2].startswith(".mc-"):
            assert has_journal, ("temporary without a journal", path, answer)
            continue
        known = (subject.before.get(path), subject.after.get(path))
        torn_row = has_journal and path.endswith(".jsonl")
        assert found in known or torn_row, ("neither before nor after", path, answer)
    whole = {path: data for path, data in tree.items() if "/.mc-" not in f"/{path}"}
    if whole in (subject.before, subject.after):
        return "before" if whole == subject.before else "after"
    assert has_journal, ("a mix that nothing knows of", _changed(subject, tree), answer)
    return "between"


def _check_answer(
    subject: Subject, answer: Answer, fault: str, end: str, *, is_change: bool
) -> None:
    said = answer.out + answer.err
    if fault == "SIGKILL":
        assert answer.code == -signal.SIGKILL, answer
        return
    assert "Traceback" not in said, answer
    if answer.code == 0:
        assert end == "after", ("success was claimed", answer)
        return
    if fault in SIGNALS:
        # The contract of `cortex` has exit codes of its own and says the signal in words.
        number = 128 + getattr(signal, fault)
        assert answer.code == (1 if subject.words[0] == "cortex" else number), answer
        assert fault in said or f"signal {number - 128}" in said, answer
    elif is_change:
        has_reason = message_of(fault).lower() in said.lower() or f"({fault})" in said
        assert has_reason, ("the reason is missing", answer)
    _check_report(subject, answer, said, end)


def _check_report(subject: Subject, answer: Answer, said: str, end: str) -> None:
    listed = _LISTED.findall(said)
    if not listed:
        # The contract of `cortex` has no such line for what is refused before the store is asked.
        is_told = any(line in said for line in _NOTHING) or subject.words[0] == "cortex"
        assert is_told, ("no account of the files", answer)
        assert end == "before", ("nothing was written, it says", answer)
        return
    tree = without_new_ids(subject.place.tree(), subject.before)
    for kind, path in listed:
        found = tree.get(path.strip())
        if kind == "written":
            assert found == subject.after.get(path.strip()), ("not written", path, answer)
        if kind == "not written":
            assert found == subject.before.get(path.strip()), ("written", path, answer)


def _obey(place: Place, words: list[str]) -> Answer:
    """Run a command; where a dead owner's lock is in the way, wait and break it as it says."""
    answer = place.call(*words)
    if answer.code == _LOCKED:
        assert "run the command again" in answer.err, answer
        place.age_locks()
        answer = place.call(*words)
        assert f"run the command again with `{FLAG}`" in answer.err, answer
        split = words.index("--") if "--" in words else len(words)
        answer = place.call(*words[:split], FLAG, *words[split:])
    elif "ELOCKED" in answer.out:
        place.age_locks()
    return answer


def _recover_words(answer: Answer) -> list[str] | None:
    said = answer.out + answer.err
    if answer.code != _PENDING and "ELOCKED" not in said and "ERECOVER" not in said:
        return None
    found = [line for line in COMMAND.findall(said) if line.startswith("recover")]
    return shlex.split(found[-1]) if found else None


def _is_repeated_note(subject: Subject) -> bool:
    """A note's second equal section is no duplicate to the store, so repeating it is visible."""
    return subject.words[:2] == ["cortex", "remember"] and "idea" in subject.words[2]


def _changed(subject: Subject, tree: Mapping[str, bytes]) -> dict[str, str]:
    states = {}
    for path in {*tree, *subject.before, *subject.after}:
        found = tree.get(path)
        if found == subject.before.get(path):
            states[path] = "before"
        elif found == subject.after.get(path):
            states[path] = "after"
        else:
            states[path] = f"neither: {found!r}"[:300]
    return {path: state for path, state in states.items() if state != "before"}
