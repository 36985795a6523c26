"""What the seven packages are and what each may require: what the checks compare with."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT: Final = Path(__file__).resolve().parent.parent

# The one-way street: package name to the own packages that it may require, in install order.
STREET: Final[Mapping[str, frozenset[str]]] = {
    "mc-schema": frozenset(),
    "mc-lock": frozenset(),
    "mc-scan": frozenset(),
    "mc-plan": frozenset({"mc-schema", "mc-lock"}),
    "mc-retrieve": frozenset({"mc-schema"}),
    "mc-migrate": frozenset({"mc-schema", "mc-plan"}),
    "mc-cli": frozenset(
        {"mc-schema", "mc-lock", "mc-scan", "mc-plan", "mc-retrieve", "mc-migrate"}
    ),
}
THIRD_PARTY: Final[Mapping[str, frozenset[str]]] = {
    "mc-lock": frozenset({"platformdirs>=4.2"}),
    "mc-cli": frozenset({"tomli>=2.0.1; python_version < '3.11'"}),
}

_VERSION_PLACES: Final = (
    ("packages/*/pyproject.toml", re.compile(rb'(?m)^version = "([^"\n]*)"')),
    ("packages/*/pyproject.toml", re.compile(rb'"mc-[a-z]+==([^"\n;]*)"')),
    ("packages/*/src/*/__init__.py", re.compile(rb'(?m)^__version__ = "([^"\n]*)"')),
    (".claude-plugin/plugin.json", re.compile(rb'"version": "([^"\n]*)"')),
    (".codex-plugin/plugin.json", re.compile(rb'"version": "([^"\n]*)"')),
    ("gemini-extension.json", re.compile(rb'"version": "([^"\n]*)"')),
)


class VersionLiteral(NamedTuple):
    """One place that spells the version, for example a pin in a `pyproject.toml`."""

    path: str  # relative to the root, POSIX form
    start: int  # byte offset of the version text
    version: str


def import_name(package: str) -> str:
    """Return the name that *package* is imported by: `mc-plan` is `mc_plan`."""
    return package.replace("-", "_")


def with_requirements(package: str) -> frozenset[str]:
    """Return *package* and every own package that installing it brings along."""
    found = {package}
    for required in STREET[package]:
        found |= with_requirements(required)
    return frozenset(found)


def expected_requirements(package: str, version: str) -> frozenset[str]:
    """Return the requirement lines of *package* when all packages have *version*."""
    own = {f"{name}=={version}" for name in STREET[package]}
    return frozenset(own) | THIRD_PARTY.get(package, frozenset())


def find_version_literals(root: Path) -> Iterator[VersionLiteral]:
    """Yield every place below *root* that spells the version, by path and then by offset."""
    found = [
        VersionLiteral(path.relative_to(root).as_posix(), match.start(1), match[1].decode())
        for pattern, literal in _VERSION_PLACES
        for path in root.glob(pattern)
        for match in literal.finditer(path.read_bytes())
    ]
    yield from sorted(found)
