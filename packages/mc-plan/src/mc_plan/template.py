"""The text of every generated file: a tracked copy of the repository's `templates/`.

A template is UTF-8 with LF line ends and placeholders of the form ``{{name}}``.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER: Final = Path(__file__).parent / "templates"
TRIGGERS: Final = "modules/triggers.md"

_PLACEHOLDER: Final = re.compile(r"\{\{([a-z_]+)\}\}")
_TRIGGER: Final = re.compile(r"- ([^:\s]+): (.+)")


class TemplateError(ValueError):
    """A template and the values for it do not fit: an error of this package, not of its user."""


def render_template(name: str, values: Mapping[str, str] | None = None) -> str:
    """Return the template *name*, for example ``memory/decisions.md``, with its values filled in.

    Values are put in as they are; a ``{{`` in a value is text.

    Raises:
        TemplateError: A placeholder has no value, or a value has no placeholder.
        FileNotFoundError: There is no such template.
    """
    given = dict(values or {})
    text = read_template(name)
    wanted = {match[1] for match in _PLACEHOLDER.finditer(text)}
    if wanted != set(given):
        missing, unknown = sorted(wanted - set(given)), sorted(set(given) - wanted)
        raise TemplateError(f"template {name}: no value for {missing}, no place for {unknown}")
    return _PLACEHOLDER.sub(lambda match: given[match[1]], text)


def read_template(name: str) -> str:
    """Return the template *name* as it is."""
    return FOLDER.joinpath(*name.split("/")).read_bytes().decode("utf-8")


def index_sentence(key: str) -> str:
    """Return what the manifest's index says about a module.

    Args:
        key: ``rules/output``, ``areas/sync``, ``preferences``: the path without its suffix. A name
            that is not well known gets the sentence of its folder.

    Raises:
        TemplateError: Neither is listed.
    """
    sentences = dict(_triggers())
    folder = f"{key.partition('/')[0]}/*"
    found = sentences.get(key) or sentences.get(folder)
    if found is None:
        raise TemplateError(f"template {TRIGGERS}: no sentence for {key}")
    return found


def _triggers() -> list[tuple[str, str]]:
    lines = read_template(TRIGGERS).split("\n")
    found = (_TRIGGER.fullmatch(line) for line in lines)
    return [(match[1], match[2]) for match in found if match]
