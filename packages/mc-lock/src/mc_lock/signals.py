"""Signals that only set a flag.

An exception raised by a handler could strike between the creation of a lock and the ``try`` that
releases it. So a handler here only notes the signal, and the command asks for it where stopping is
safe. Source: reliability rule 2.10.
"""

from __future__ import annotations

import contextlib
import signal
from typing import TYPE_CHECKING, Any, Final

from mc_lock.errors import SignalReceivedError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from typing_extensions import Self

_NAMES: Final = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")


class SignalGuard:
    """Turns SIGINT, SIGTERM, SIGHUP (and Ctrl-Break on Windows) into a flag while it is entered.

    Enter it before acquiring a lock and leave it after releasing::

        with SignalGuard() as guard:
            with acquire_mutation_lock(..., guard=guard) as lock:
                ...
                guard.check()  # a safe place to stop
                with guard.hold():  # from the first rename to the last: no stopping
                    ...
            guard.check()

    A signal that was ignored before (``nohup``, a background job) stays ignored. Outside the main
    thread, where Python allows no handlers, entering it changes nothing.
    """

    def __init__(self) -> None:
        self._pending: int | None = None
        self._held = 0
        self._previous: dict[int, Any] = {}

    @property
    def pending(self) -> int | None:
        """Number of the first signal that arrived, or ``None``; also true while held."""
        return self._pending

    def check(self) -> None:
        """Stop here if a signal has arrived, unless held.

        Raises:
            SignalReceivedError: A signal has arrived; each further call raises it again.
        """
        if self._pending is not None and not self._held:
            raise SignalReceivedError(self._pending, signal.Signals(self._pending).name)

    @contextlib.contextmanager
    def hold(self) -> Iterator[None]:
        """Make `check` do nothing inside, so that what has begun completes; may be nested."""
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1

    def __enter__(self) -> Self:
        with contextlib.suppress(ValueError):  # not the main thread
            for number in _numbers():
                self._install(number)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        while self._previous:
            number, handler = self._previous.popitem()
            signal.signal(number, handler)

    def _install(self, number: int) -> None:
        previous = signal.getsignal(number)
        # None: a handler that was not installed from Python and could not be put back.
        if previous is None or previous is signal.SIG_IGN:
            return
        signal.signal(number, self.note)
        self._previous[number] = previous

    def note(self, number: int, _frame: object = None) -> None:
        """Note a signal; the handler itself, and for tests."""
        if self._pending is None:
            self._pending = number


def _numbers() -> list[int]:
    return [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
