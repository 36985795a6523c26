from __future__ import annotations

import pytest
from mc_lock import (
    LockError,
    LockTimeoutError,
    McLockError,
    NestedLockError,
    SignalReceivedError,
    StateError,
)


def test_error_carries_its_facts_and_builds_its_sentence() -> None:
    error = LockTimeoutError("the lock is held", where="/s/x.lock", hint="wait", row=1)

    assert str(error) == "the lock is held: /s/x.lock"
    assert (
        error.what,
        error.where,
        error.hint,
        error.code,
        error.row,
    ) == ("the lock is held", "/s/x.lock", "wait", "lock_timeout", 1)


def test_error_without_a_place_is_its_sentence() -> None:
    assert str(StateError("nothing works")) == "nothing works"


def test_code_may_be_more_exact_than_the_class() -> None:
    assert StateError("x", code="state_unsafe").code == "state_unsafe"
    assert StateError("x").code == "state_unusable"


def test_timeout_is_caught_as_a_timeout() -> None:
    with pytest.raises(TimeoutError):
        raise LockTimeoutError("x")


def test_catching_one_kind_never_catches_another() -> None:
    kinds = (StateError, LockError, SignalReceivedError)

    assert all(issubclass(kind, McLockError) for kind in kinds)
    assert not [(a, b) for a in kinds for b in kinds if a is not b and issubclass(a, b)]


def test_defect_of_the_caller_is_no_refusal() -> None:
    assert not issubclass(NestedLockError, McLockError)


def test_signal_error_names_the_signal() -> None:
    assert str(SignalReceivedError(15, "SIGTERM")) == "stopped by SIGTERM"
    assert str(SignalReceivedError(63)) == "stopped by signal 63"
