"""Numbers that bound an answer, read from options.

Source: Cortex contract, sections 6 and 7.
"""

from __future__ import annotations

from mc_retrieve.errors import InvalidInputError
from mc_retrieve.numeral import parse_integer

TYPE_CHECKING = False  # importing `typing` costs a command more than reading a hundred records
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Final

MAX_PAGE: Final = 2**53 - 1
MAX_PAGE_SIZE: Final = 100
DEFAULT_PAGE_SIZE: Final = 10


class Page:
    """One page of a list, counted from 1."""

    __slots__ = ("number", "size")

    def __init__(self, number: int, size: int) -> None:
        self.number = number
        self.size = size

    @property
    def start(self) -> int:
        """Index of its first item."""
        return (self.number - 1) * self.size

    @property
    def end(self) -> int:
        """Index behind its last item."""
        return self.number * self.size


def read_page(options: Mapping[str, str]) -> Page:
    """Return the page that ``--page`` and ``--page-size`` ask for.

    Raises:
        InvalidInputError: One of them is no integer within its bounds.
    """
    return Page(
        read_bounded(options, "--page", default=1, low=1, high=MAX_PAGE),
        read_bounded(options, "--page-size", default=DEFAULT_PAGE_SIZE, low=1, high=MAX_PAGE_SIZE),
    )


def read_bounded(
    options: Mapping[str, str], name: str, *, default: int, low: int, high: int
) -> int:
    """Return the integer that option *name* gives, *default* when it is absent.

    Raises:
        InvalidInputError: It is no integer from *low* to *high*.
    """
    text = options.get(name)
    if text is None:
        return default
    number = parse_integer(text)
    if number is None or not low <= number <= high:
        raise InvalidInputError(f"`{name}` takes an integer from {low} to {high}")
    return number
