"""Configuration: `[tool.memory-custodian]` in `pyproject.toml`, or `memory-custodian.toml`.

It sets defaults of the command line and never routes context: the manifest alone does.
Source: design section 6, "Configuration".
"""

from __future__ import annotations

import os
import stat

from mc_cli import exits
from mc_cli.errors import CommandError, UsageError

TYPE_CHECKING = False  # importing `typing` would cost a command more than its work
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any, Final, NamedTuple
else:
    from mc_schema.value import NamedTuple

OWN_FILE: Final = "memory-custodian.toml"
PYPROJECT: Final = "pyproject.toml"
_MARK: Final = b"memory-custodian"
_MAX_BYTES: Final = 1 << 20


class Key(NamedTuple):
    """One configuration key."""

    name: str
    kinds: tuple[type, ...]
    form: str
    """What the value must be, in words."""
    choices: tuple[str, ...] = ()
    minimum: float | None = None


KEYS: Final = (
    Key("memory-dir", (str,), "a path such as `docs/memory`"),
    Key("lock-timeout", (int, float), "seconds, 0 or more", minimum=0),
    Key(
        "scan.fail-on",
        (str,),
        "`error`, `warning` or `never`",
        choices=("error", "warning", "never"),
    ),
    Key("scan.baseline", (str,), "a path below the project root"),
    Key("scan.inline", (bool,), "`true` or `false`"),
    Key("scan.max-file-mb", (int, float), "megabytes, more than 0", minimum=0.001),
    Key("search.tokenizer", (str,), "`contract` or `unicode`", choices=("contract", "unicode")),
    Key("search.page-size", (int,), "a number from 1 to 100", minimum=1),
    Key("search.recency", (int, float), "a number, 0 or more", minimum=0),
)
"""Every key; nested tables are written with a point."""
_BY_NAME: Final = {key.name: key for key in KEYS}
_MAX_PAGE: Final = 100


class Config(NamedTuple):
    """The configuration of one project."""

    values: Mapping[str, Any]
    path: str
    """The file it came from, empty when there is none."""

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of the key *name*, or *default*."""
        return self.values.get(name, default)


NO_CONFIG: Final = Config({}, "")


def read_config(root: Path) -> Config:
    """Return the configuration of the project at *root*; `memory-custodian.toml` goes first.

    Raises:
        UsageError: The file is not valid TOML, has an unknown key (the nearest one is named), or a
            value of the wrong type.
        CommandError: It cannot be read; to go on without it could mean another memory directory.
    """
    own = _read(root / OWN_FILE)
    if own is not None:
        return _checked(_parse(own, OWN_FILE), OWN_FILE)
    shared = _read(root / PYPROJECT)
    if shared is None or _MARK not in shared:
        return NO_CONFIG
    tool = _parse(shared, PYPROJECT).get("tool", {})
    table = tool.get("memory-custodian") if isinstance(tool, dict) else None
    if table is None:
        return NO_CONFIG
    if not isinstance(table, dict):
        raise UsageError("`tool.memory-custodian` must be a table", where=PYPROJECT)
    return _checked(table, PYPROJECT)


def _read(path: Path) -> bytes | None:
    try:
        with open(path, "rb", opener=_open_at_once) as file:
            if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return file.read(_MAX_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _unreadable(path.name, (error.strerror or "refused").lower()) from None
    raise _unreadable(path.name, "no plain file")


def _open_at_once(path: str, flags: int) -> int:
    # A FIFO would hold every command until somebody writes into it.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _unreadable(name: str, reason: str) -> CommandError:
    return CommandError(
        f"the configuration cannot be read ({reason})",
        where=name,
        hint="make it a plain file that you may read, or remove it",
        code="unreadable_config",
        exit_code=exits.NO,
    )


def _parse(data: bytes, name: str) -> dict[str, Any]:
    toml = _toml()
    try:
        return dict(toml.loads(data.decode("utf-8-sig")))
    except UnicodeDecodeError as error:
        raise UsageError(
            "the configuration is not UTF-8",
            where=f"{name}, byte {error.start}",
            hint="re-encode it",
        ) from None
    except toml.TOMLDecodeError as error:
        raise UsageError(
            "the configuration is not valid TOML", where=name, hint=f"correct it: {error}"
        ) from None


def _toml() -> Any:
    try:
        import tomllib  # type: ignore[import-not-found,unused-ignore]
    except ModuleNotFoundError:
        import tomli

        return tomli
    return tomllib


def _checked(table: Mapping[str, Any], path: str) -> Config:
    values: dict[str, Any] = {}
    for name, value in table.items():
        if isinstance(value, dict) and any(key.startswith(f"{name}.") for key in _BY_NAME):
            for inner, inner_value in value.items():
                values[f"{name}.{inner}"] = _value(f"{name}.{inner}", inner_value, path)
        else:
            values[name] = _value(name, value, path)
    return Config(values, path)


def _value(name: str, value: Any, path: str) -> Any:
    key = _BY_NAME.get(name)
    if key is None:
        import difflib

        nearest = difflib.get_close_matches(name, _BY_NAME, n=1, cutoff=0.0)
        raise UsageError(
            f"unknown configuration key `{name[:80]}`",
            where=path,
            hint=f"did you mean `{nearest[0]}`? Known keys: {', '.join(_BY_NAME)}",
            code="invalid_config",
        )
    fits = isinstance(value, key.kinds) and (isinstance(value, bool) == (bool in key.kinds))
    fits = fits and (not key.choices or value in key.choices)
    fits = fits and (key.minimum is None or value >= key.minimum)
    fits = fits and (name != "search.page-size" or value <= _MAX_PAGE)
    if not fits:
        raise UsageError(
            f"the configuration key `{name}` has a wrong value",
            where=path,
            hint=f"`{name}` must be {key.form}",
            code="invalid_config",
        )
    return value
