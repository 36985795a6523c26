from __future__ import annotations

import io

from mc_scan.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_line_appears_after_a_second_and_is_removed() -> None:
    stream, clock = Terminal(), Clock()
    progress = Progress(stream, 3, is_wanted=True, clock=clock)
    clock.now = 0.9
    progress.add_bytes(5_000_000)
    assert stream.getvalue() == ""
    clock.now = 1.1
    progress.add_file()
    progress.add_bytes(2_000_000)
    line = "scanning: file 2 of 3, 7 MB"

    assert f"\r{line}" == stream.getvalue()
    progress.clear()
    progress.clear()
    assert f"\r{line}\r{' ' * len(line)}\r" == stream.getvalue()


def test_line_is_renewed_a_few_times_a_second_only() -> None:
    stream, clock = Terminal(), Clock()
    progress = Progress(stream, 1, is_wanted=True, clock=clock)
    for step in range(1, 101):
        clock.now = step / 50
        progress.add_bytes(1)

    assert stream.getvalue().count("\r") == 6


def test_pipe_and_quiet_see_no_line() -> None:
    clock = Clock()
    for stream, is_wanted in ((io.StringIO(), True), (Terminal(), False)):
        progress = Progress(stream, 1, is_wanted=is_wanted, clock=clock)
        clock.now += 5
        progress.add_bytes(1)
        progress.clear()
        assert stream.getvalue() == ""
