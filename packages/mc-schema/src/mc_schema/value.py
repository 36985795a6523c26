"""Immutable values with named fields, defined at a third of the cost of `typing.NamedTuple`.

A module takes the class like this, so that type checkers see the one they know::

    if TYPE_CHECKING:
        from typing import NamedTuple
    else:
        from mc_schema.value import NamedTuple

`typing.NamedTuple` compiles each annotation when a class is made; for the values of one command
that takes longer than the command's own work (`docs/performance.md`). The classes made here behave
the same, and a test compares the two.
"""

from __future__ import annotations

from operator import itemgetter

TYPE_CHECKING = False  # importing `typing` would cost a command more than its work
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from typing_extensions import Self


class _Value(tuple):  # type: ignore[type-arg]
    """What every value has beside its own fields and methods."""

    __slots__ = ()
    _fields: tuple[str, ...] = ()

    @classmethod
    def _make(cls, values: Iterable[Any]) -> Self:
        found = tuple.__new__(cls, values)
        if len(found) != len(cls._fields):
            raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(found)}")
        return found

    def _replace(self, /, **changes: Any) -> Self:
        found = self._make(map(changes.pop, self._fields, self))
        if changes:
            raise ValueError(f"Got unexpected field names: {list(changes)!r}")
        return found

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(self._fields, self, strict=True))

    def __repr__(self) -> str:
        fields = zip(self._fields, self, strict=True)
        return (
            f"{type(self).__name__}({', '.join([f'{name}={value!r}' for name, value in fields])})"
        )

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)


def read_by_property(index: int, doc: str) -> property:
    """Return a descriptor that reads the field *index* in any Python."""
    return property(itemgetter(index), doc=doc)


try:
    # What `collections.namedtuple` itself reads its fields with, where the interpreter has it.
    from _collections import _tuplegetter as _field  # type: ignore[import-not-found]
except ImportError:
    _field = read_by_property


class _ValueType(type):
    """Makes of a class body with annotations a tuple with those fields."""

    def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Any:
        if not bases:
            return super().__new__(mcs, name, bases, body)
        fields = tuple(body["__annotations__"])
        defaults = {field: body[field] for field in fields if field in body}
        members = dict(body)
        members.update((field, _field(index, "")) for index, field in enumerate(fields))
        members["__slots__"] = ()
        members["__new__"] = _constructor(fields, defaults)
        members["__match_args__"] = members["_fields"] = fields
        members["_field_defaults"] = defaults
        return type(name, (_Value,), members)


class NamedTuple(metaclass=_ValueType):
    """The base to write behind a class name; the class made of it is a tuple, not a child of it."""


def _constructor(fields: tuple[str, ...], defaults: dict[str, Any]) -> Callable[..., Any]:
    if fields[len(fields) - len(defaults) :] != tuple(defaults):
        raise TypeError("a field without a default cannot follow one that has a default")
    names = ", ".join(fields)
    # Names come from annotations in source text. Written out, so that calling is as fast, and
    # refuses wrong arguments as plainly, as any function; the standard library does the same.
    source = f"lambda _cls, {names}: _new(_cls, ({names},))"
    constructor: Any = eval(source, {"__builtins__": {}, "_new": tuple.__new__})  # noqa: S307
    constructor.__name__ = "__new__"
    constructor.__defaults__ = tuple(defaults.values())
    return constructor  # type: ignore[no-any-return]
