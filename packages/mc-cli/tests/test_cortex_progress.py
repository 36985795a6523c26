from __future__ import annotations

import io
import itertools

import pytest
from mc_cli.cortex.progress import Progress


@pytest.mark.parametrize(
    ("step", "is_shown"),
    [pytest.param(0.6, True, id="slow"), pytest.param(0.1, False, id="quick")],
)
def test_progress_appears_after_a_second_and_is_cleared(step: float, *, is_shown: bool) -> None:
    times = (step * number for number in itertools.count())
    stream = io.StringIO()
    progress = Progress(stream, clock=lambda: next(times))
    for number in range(1, 4):
        progress(number, 3)
    progress.clear()

    assert is_shown is ("reading 3 of 3 files" in stream.getvalue())
    assert is_shown is stream.getvalue().endswith("\r\x1b[K")
