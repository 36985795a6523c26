"""Any text gets an answer or a documented error: generated text, mixed with telling pieces.

Where atheris installs, `nox -s torture` also runs the coverage-guided harness beside this file.
"""

from __future__ import annotations

import contextlib
import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from fuzz_targets import DOCUMENTED, TARGETS, TOKENS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable

HARNESS: Final = Path(__file__).with_name("coverage_guided.py")
SECONDS: Final = 40
MEGABYTE: Final = 1_000_000
_QUICK: Final = settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
_LONG: Final = settings(_QUICK, max_examples=3000)
_SLOW_TARGETS: Final = ("command-line", "config")


def texts(name: str) -> st.SearchStrategy[bytes]:
    """Return telling pieces and random ones, joined; sometimes plain bytes."""
    pieces = st.sampled_from(TOKENS[name]) | st.text(max_size=6) | st.sampled_from("\n -:#`<>")
    joined = st.lists(pieces, max_size=30).map("".join)
    return joined.map(lambda text: text.encode("utf-8", "replace")) | st.binary(max_size=80)


def answer(name: str, data: bytes) -> None:
    target = TARGETS[name]
    with contextlib.suppress(*DOCUMENTED):
        target(data)


@pytest.mark.parametrize("name", TARGETS)
def test_any_text_is_answered(name: str) -> None:
    @_QUICK
    @given(data=texts(name))
    def check(data: bytes) -> None:
        answer(name, data)

    check()


@pytest.mark.torture
@pytest.mark.parametrize("name", TARGETS)
def test_any_text_is_answered_many_times(name: str) -> None:
    @settings(_LONG, max_examples=600 if name in _SLOW_TARGETS else 3000)
    @given(data=texts(name))
    def check(data: bytes) -> None:
        answer(name, data)

    check()


def calls(work: Callable[[], None]) -> int:
    """Return how many functions, built-in ones included, *work* calls."""
    count = 0

    def profile(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("name", [name for name in TARGETS if name not in _SLOW_TARGETS])
def test_twice_the_text_is_at_most_twice_the_work(name: str) -> None:
    """Work is counted, not timed; each telling piece repeated, and all of them in turn."""
    for unit in (*TOKENS[name], "".join(TOKENS[name])):
        if name == "contract" or not unit.strip():
            continue
        once, twice = (unit * (size // len(unit) + 1) for size in (1_000, 2_000))
        answer(name, b"warm")
        first = calls(lambda text=once: answer(name, text.encode()))  # type: ignore[misc]
        second = calls(lambda text=twice: answer(name, text.encode()))  # type: ignore[misc]
        assert second <= 2.3 * first + 300, (unit, first, second)


@pytest.mark.torture
@pytest.mark.parametrize("name", [name for name in TARGETS if name not in _SLOW_TARGETS])
def test_a_megabyte_of_any_piece_is_answered(name: str) -> None:
    for unit in (*TOKENS[name], "".join(TOKENS[name])):
        answer(name, (unit * (MEGABYTE // len(unit))).encode())


@pytest.mark.torture
@pytest.mark.parametrize("name", TARGETS)
def test_coverage_guided_search_finds_nothing(name: str, tmp_path: Path) -> None:
    """Without atheris on this Python the same budget is spent by hypothesis."""
    if importlib.util.find_spec("atheris") is None:
        test_any_text_is_answered_many_times(name)
        return
    done = subprocess.run(
        [sys.executable, str(HARNESS), name, f"-max_total_time={SECONDS}", f"{tmp_path}"],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
    )

    sys.stderr.write(f"\n{name}: {done.stderr.strip().splitlines()[-1]}\n")
    assert done.returncode == 0, done.stderr[-4000:]
