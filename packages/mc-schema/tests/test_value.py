"""A value behaves as `typing.NamedTuple` does; only defining it is cheaper."""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from typing import NamedTuple as Value
else:
    from mc_schema.value import NamedTuple as Value


class Made(Value):
    """A place."""

    name: str
    """How it is called."""
    line: int = 1
    tags: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return f"{self.name}:{self.line}"

    def __str__(self) -> str:
        return self.label


class Known(NamedTuple):
    """A place."""

    name: str
    line: int = 1
    tags: tuple[str, ...] = ()


def test_value_is_a_tuple_with_names_defaults_and_methods() -> None:
    made = Made("a", tags=("x",))

    assert (made.name, made.line, made.tags) == ("a", 1, ("x",))
    assert (made.label, str(made)) == ("a:1", "a:1")
    assert isinstance(made, tuple)
    assert hash(made) == hash(("a", 1, ("x",)))
    assert tuple(made) == ("a", 1, ("x",))


@pytest.mark.parametrize(
    "ask",
    [
        pytest.param(lambda kind: kind._fields, id="fields"),
        pytest.param(lambda kind: kind._field_defaults, id="defaults"),
        pytest.param(lambda kind: kind.__match_args__, id="match-arguments"),
        pytest.param(lambda kind: kind.__doc__, id="docstring"),
        pytest.param(lambda kind: kind("a")._asdict(), id="as-mapping"),
        pytest.param(lambda kind: tuple(kind("a")._replace(line=2)), id="replaced"),
        pytest.param(lambda kind: tuple(kind._make(["a", 2, ()])), id="made"),
        pytest.param(lambda kind: repr(kind("a")).partition("(")[2], id="written"),
        pytest.param(lambda kind: hasattr(kind("a"), "__dict__"), id="no-further-attributes"),
    ],
)
def test_value_answers_as_a_named_tuple_of_typing(ask: Any) -> None:
    assert ask(Known) == ask(Made)


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        pytest.param(lambda kind: kind(), TypeError, id="missing-field"),
        pytest.param(lambda kind: kind("a", 1, (), 2), TypeError, id="one-field-too-many"),
        pytest.param(lambda kind: kind("a", other=1), TypeError, id="unknown-field"),
        pytest.param(lambda kind: kind._make(["a"]), TypeError, id="made-of-too-few"),
        pytest.param(lambda kind: setattr(kind("a"), "name", "b"), AttributeError, id="assignment"),
        pytest.param(lambda kind: setattr(kind("a"), "other", 1), AttributeError, id="new-name"),
    ],
)
def test_value_refuses_what_a_named_tuple_refuses(wrong: Any, kind: type[Exception]) -> None:
    for made in (Known, Made):
        with pytest.raises(kind):
            wrong(made)


def test_replacing_an_unknown_field_is_refused() -> None:
    with pytest.raises((TypeError, ValueError), match="unexpected field names"):
        Made("a")._replace(other=1)  # type: ignore[call-arg]


def test_copies_and_pickles_are_equal() -> None:
    made = Made("a", 3, ("x",))

    assert made == copy.deepcopy(made) == pickle.loads(pickle.dumps(made))  # noqa: S301
    assert type(copy.copy(made)) is Made


def test_field_without_default_behind_one_with_a_default_is_refused() -> None:
    with pytest.raises(TypeError, match="default"):

        class Wrong(Value):
            first: int = 1
            second: int  # type: ignore[misc]


def test_values_match_by_position_in_patterns() -> None:
    match Made("a", 2):
        case Made(name, line):
            assert (name, line) == ("a", 2)


def test_fields_can_be_read_without_the_interpreters_own_reader() -> None:
    from mc_schema.value import read_by_property

    assert read_by_property(1, "").fget is not None
    assert read_by_property(1, "").fget(("a", "b")) == "b"  # type: ignore[misc]
