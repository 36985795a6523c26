"""Progress is for people at a terminal who wait."""

from __future__ import annotations

import io

import pytest
from mc_cli.check.progress import tracked


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "step", "expected"),
    [
        pytest.param(_Terminal(), 0.6, "scanning 3 of 3", id="slow-terminal"),
        pytest.param(_Terminal(), 0.1, "", id="quick-terminal"),
        pytest.param(io.StringIO(), 9.0, "", id="pipe"),
    ],
)
def test_progress_is_shown_on_a_terminal_after_a_second_and_cleared(
    stream: io.StringIO, step: float, expected: str
) -> None:
    times = iter(step * number for number in range(9))

    done = list(tracked("abc", "scanning", stream=stream, clock=lambda: next(times)))

    assert done == ["a", "b", "c"]
    assert expected in stream.getvalue()
    assert bool(stream.getvalue()) is bool(expected)
    assert not expected or stream.getvalue().endswith("\r\x1b[K")
