"""The k-th system call of a command fails, or ends it: real processes and real files.

Quick: a sample spread over the calls. Torture: every call, every error, every signal.

Source: reliability specification 4.8, 5 and 7.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import pytest
from faults import injector
from scenario import SCENARIOS
from survival import faults_at, prepare, survive, torture

if TYPE_CHECKING:
    from pathlib import Path

    from scenario import Scenario

SAMPLES: Final = 4
"""Faults a command in the quick run."""


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_fault_at_a_sample_of_calls_leaves_before_or_after_and_a_way_out(
    tmp_path: Path, scenario: Scenario
) -> None:
    """A different kind of fault at each call sampled, the calls spread over the whole command."""
    subject = prepare(scenario, tmp_path, reading=False)
    places = [round(n * (len(subject.points) - 1) / (SAMPLES - 1)) for n in range(SAMPLES)]

    ends = []
    for number, place in enumerate(places):
        possible = faults_at(subject.points[place])
        # SIGKILL every second time: what is left then is the hardest to get out of.
        fault = "SIGKILL" if number % 2 else possible[(number + place) % len(possible)]
        ends.append(survive(subject, subject.points[place], fault))

    assert ends[0] == "before"
    assert ends[-1] == "after"
    # The last file cannot take its place: those before it have to be undone.
    renames = [point for point in subject.points if point.name in ("rename", "replace")]
    assert survive(subject, renames[-1], "EIO") == "before"


@pytest.mark.torture
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_fault_at_every_call_leaves_before_or_after_and_a_way_out(
    tmp_path: Path, scenario: Scenario
) -> None:
    tally = torture([scenario.name], tmp_path)

    total = sum(tally.faults.values())
    figures = f"{scenario.name}: {total} faults by {injector().__name__}, {dict(tally.ends)}"
    sys.stderr.write(f"\n{figures}, {dict(tally.faults)}\n")
    assert tally.wrong == []
    assert tally.ends["before"] > tally.ends["after"] > 0
