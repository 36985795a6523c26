"""Pending seeds: what a preview drew at random, kept so that the apply draws the same.

A seed is 256 random bits and the date of the preview. Ids are derived from it, so that one small
private file repeats every value. It lies in the state directory, never in the project.

Source: reliability specification 3.4 to 3.6.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mc_plan.canonical import canonical_json

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mc_lock import StateError

    from mc_plan.draft import Request
    from mc_plan.project import Project

EXPIRY_SECONDS: Final = 7 * 24 * 60 * 60
_SCHEMA: Final = 1
_NONCE_BYTES: Final = 32
_KEY_NAME: Final = "names.key"
_SUFFIX: Final = ".seed"
_STAGED_SUFFIX: Final = ".tmp"
_SWEEP_LIMIT: Final = 100
_ID_DIGITS: Final = 8
_TRIES: Final = 10
_NONCE: Final = re.compile(r"[0-9a-f]{64}")
_DATE: Final = re.compile(r"[0-9]{8}")


class SeedValues(NamedTuple):
    """What is kept: 64 hex digits of randomness and a local date, ``YYYYMMDD``."""

    nonce: str
    date: str


class Seed:
    """Generated values of one plan. The same calls in the same order give the same values.

    The kept values are loaded at the first call, so that a plan that draws nothing needs no state.
    """

    def __init__(self, load: Callable[[], SeedValues]) -> None:
        self._load = load
        self._values: SeedValues | None = None
        self._drawn = 0

    @property
    def is_used(self) -> bool:
        """Whether anything was drawn."""
        return self._values is not None

    @property
    def nonce(self) -> str:
        """64 hex digits that no one can guess."""
        return self._kept().nonce

    @property
    def date(self) -> str:
        """The local date of the preview, ``YYYYMMDD``."""
        return self._kept().date

    @property
    def iso_date(self) -> str:
        """The local date of the preview, ``YYYY-MM-DD``."""
        date = self.date
        return f"{date[:4]}-{date[4:6]}-{date[6:]}"

    def entry_id(self, entry_type: str, *, date: str = "") -> str:
        """Return a new entry id, for example ``MC-DEC-20260726-a1b2c3d4``.

        Args:
            entry_type: One of the type codes, for example ``DEC``.
            date: ``YYYYMMDD``, in place of the date of the preview.

        The caller checks that no file has it and otherwise asks again.
        """
        return f"MC-{entry_type}-{date or self.date}-{self._draw('entry')[:_ID_DIGITS]}"

    def project_id(self) -> str:
        """Return a new UUIDv4 in lowercase."""
        digits = self._draw("project")
        variant = "89ab"[int(digits[16], 16) & 3]
        parts = (digits[:8], digits[8:12], "4" + digits[13:16], variant + digits[17:20])
        return "-".join((*parts, digits[20:32]))

    def _draw(self, purpose: str) -> str:
        self._drawn += 1
        label = f"{purpose}:{self._drawn}".encode()
        return hmac.new(bytes.fromhex(self.nonce), label, hashlib.sha256).hexdigest()

    def _kept(self) -> SeedValues:
        if self._values is None:
            self._values = self._load()
        return self._values


def fresh_values(now: float) -> SeedValues:
    """Return values that exist nowhere yet, dated by the local date at *now* (epoch seconds)."""
    date = time.strftime("%Y%m%d", time.localtime(now))
    return SeedValues(os.urandom(_NONCE_BYTES).hex(), date)


def kept_values(
    project: Project, project_id: str | None, request: Request, now: float
) -> SeedValues:
    """Return the values kept for *request*; where none can be trusted, keep new ones.

    Expired seeds are removed on the way (at most 100).

    Raises:
        StateError: The state directory cannot be used, or the seed is a link, somebody else's or
            open to others; it is left in place.

    Source: reliability specification 3.4: created exclusively, the loser reads the winner's.
    """
    project = project.with_usable_state()
    sweep_expired(project.state.plans, now)
    secret = _read_secret(project) or _create_secret(project)
    path = project.state.plans / _seed_name(secret, project, project_id, request)
    for _ in range(_TRIES):
        found = _read_seed(path, now)
        if found is not None:
            return found
        _discard(path)
        values = fresh_values(now)
        if _create_whole(path, _format_seed(values)):
            return values
    raise _stuck(path)


def drop_seed(project: Project, project_id: str | None, request: Request) -> None:
    """Remove the seed of an applied *request*; a seed that cannot be removed expires later."""
    from mc_lock import StateError

    try:
        secret = _read_secret(project)
    except (OSError, StateError):
        return
    if secret is not None:
        _discard(project.state.plans / _seed_name(secret, project, project_id, request))


def pending_count(project: Project, now: float) -> int:
    """Return how many seeds wait in the state directory, of all projects; nothing is removed."""
    return sum(1 for path in _files(project.state.plans, _SUFFIX) if not _is_expired(path, now))


def sweep_expired(plans: Path, now: float) -> None:
    """Remove seeds older than 7 days, at most 100; errors are ignored (3.6)."""
    left_over = _files(plans, _SUFFIX, _STAGED_SUFFIX)
    expired = [path for path in left_over if _is_expired(path, now)]
    for path in expired[:_SWEEP_LIMIT]:
        _discard(path)


def _files(plans: Path, *suffixes: str) -> list[Path]:
    try:
        return sorted(path for path in plans.iterdir() if path.name.endswith(suffixes))
    except OSError:
        return []


def _is_expired(path: Path, now: float) -> bool:
    try:
        return now - os.lstat(path).st_mtime > EXPIRY_SECONDS
    except OSError:
        return False


def _discard(path: Path) -> None:
    try:
        path.unlink()
    except OSError:
        return


def _read_seed(path: Path, now: float) -> SeedValues | None:
    from mc_lock import read_private_file

    if _is_expired(path, now):
        return None
    try:
        return _parse_seed(read_private_file(path))
    except FileNotFoundError:
        return None


def _format_seed(values: SeedValues) -> bytes:
    return canonical_json({"schema": _SCHEMA, "nonce": values.nonce, "date": values.date})


def _parse_seed(data: bytes) -> SeedValues | None:
    try:
        content = json.loads(data)
    except ValueError:
        return None
    if not isinstance(content, dict) or content.get("schema") != _SCHEMA:
        return None
    nonce, date = content.get("nonce"), content.get("date")
    if not (isinstance(nonce, str) and isinstance(date, str)):
        return None
    return SeedValues(nonce, date) if _NONCE.fullmatch(nonce) and _DATE.fullmatch(date) else None


def _seed_name(secret: bytes, project: Project, project_id: str | None, request: Request) -> str:
    # The arguments may hold a private topic: without the secret the name cannot be tested
    # against a list of topics.
    bound: dict[str, Any] = {
        "project": project_id or project.place_key,
        "memory_dir": project.memory_dir,
        "command": request.command,
        "arguments": dict(request.arguments),
    }
    return hmac.new(secret, canonical_json(bound), hashlib.sha256).hexdigest() + _SUFFIX


def _read_secret(project: Project) -> bytes | None:
    from mc_lock import read_private_file

    try:
        secret = read_private_file(project.state.plans / _KEY_NAME)
    except FileNotFoundError:
        return None
    # A damaged key would make the names guessable; a new one only makes pending seeds unknown.
    return secret if len(secret) == _NONCE_BYTES else None


def _create_secret(project: Project) -> bytes:
    path = project.state.plans / _KEY_NAME
    secret = os.urandom(_NONCE_BYTES)
    for _ in range(_TRIES):
        if _create_whole(path, secret):
            return secret
        found = _read_secret(project)
        if found is not None:
            return found
        _discard(path)
    raise _stuck(path)


def _stuck(path: Path) -> StateError:
    from mc_lock import StateError

    return StateError(
        "a file of the state directory can neither be used nor replaced",
        where=str(path),
        hint=f"check what `{path}` is, then remove it",
        code="private_file_unusable",
    )


def _create_whole(path: Path, data: bytes) -> bool:
    """Create *path* with all of *data* in one step; tell whether it was absent until then."""
    from mc_lock import write_private_file

    try:
        write_private_file(path, data, exclusive=True)
    except FileExistsError:
        return False
    return True
