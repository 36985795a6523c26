"""What a built wheel of ours must contain and require; a check returns its problems as lines."""

from __future__ import annotations

import zipfile
from email.parser import Parser
from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from workspace import STREET, expected_requirements, import_name

if TYPE_CHECKING:
    from collections.abc import Sequence
    from email.message import Message
    from pathlib import Path


def check_wheel(wheel: Path, package: str, version: str, templates: Sequence[str]) -> list[str]:
    """Return every way in which *wheel* is not the wheel of *package*; empty when it is.

    Args:
        wheel: A file such as `dist/mc_plan-0.10.0-py3-none-any.whl`.
        package: A key of `STREET`.
        version: The one version of the workspace.
        templates: Relative POSIX paths that the mc-plan wheel must carry.
    """
    with zipfile.ZipFile(wheel) as archive:
        names = frozenset(archive.namelist())
        info = f"{import_name(package)}-{version}.dist-info"
        if f"{info}/METADATA" not in names:
            return [f"{wheel.name}: no {info}/METADATA"]
        metadata = Parser().parsestr(archive.read(f"{info}/METADATA").decode("utf-8"))
    problems = _missing_files(names, package, info, templates)
    problems += _foreign_files(names, package, info)
    problems += _wrong_requirements(metadata, package, version)
    return [f"{wheel.name}: {problem}" for problem in problems]


def read_requirements(wheel: Path) -> list[str]:
    """Return the `Requires-Dist` lines of *wheel* as they are written there."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(name).decode("utf-8"))
    return metadata.get_all("Requires-Dist", [])


def is_own(requirement: str) -> bool:
    """Tell whether *requirement* names one of the seven packages."""
    return Requirement(requirement).name in STREET


def _missing_files(
    names: frozenset[str], package: str, info: str, templates: Sequence[str]
) -> list[str]:
    module = import_name(package)
    needed = [f"{module}/__init__.py", f"{module}/py.typed", f"{info}/licenses/LICENSE"]
    if package == "mc-plan":
        needed += [f"{module}/templates/{name}" for name in templates]
    return [f"no {name}" for name in needed if name not in names]


def _foreign_files(names: frozenset[str], package: str, info: str) -> list[str]:
    allowed = (f"{import_name(package)}/", f"{info}/")
    return [
        f"{name} does not belong there" for name in sorted(names) if not name.startswith(allowed)
    ]


def _wrong_requirements(metadata: Message, package: str, version: str) -> list[str]:
    written = {str(Requirement(line)) for line in metadata.get_all("Requires-Dist", [])}
    expected = {str(Requirement(line)) for line in expected_requirements(package, version)}
    return [f"requires {line}" for line in sorted(written - expected)] + [
        f"does not require {line}" for line in sorted(expected - written)
    ]
