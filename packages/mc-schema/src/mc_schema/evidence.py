"""Evidence values: what an entry rests on (guide section 五)."""

from __future__ import annotations

import re

from mc_schema.errors import InvalidEvidenceError, quoted
from mc_schema.private import strip_private

TYPE_CHECKING = False  # importing `typing` would cost a command more than its work
if TYPE_CHECKING:
    from typing import Final, NamedTuple
else:
    from mc_schema.value import NamedTuple

PATH_KINDS: Final = ("repo", "doc", "test")
REFERENCE_KINDS: Final = ("issue", "pr")
CONFIRMED: Final = "user-confirmed"
CANDIDATE_ONLY: Final = ("agent-observed", "conversation-unconfirmed")
"""Evidence that admits a candidate and never an active entry, alone or together."""
LEGACY: Final = "legacy-unverified"
"""Written by migrations alone; admissible where a migration left it."""

ADMISSION_WHAT: Final = "agent-observed evidence cannot create active memory."
ADMISSION_HINT: Final = "Use --candidate or provide user-confirmed/source-backed evidence."
"""The two sentences of guide section 6.1, word for word."""

MAX_CHARS: Final = 1024

# Compiled when first needed: most reading never sees a reference, a revision or an odd character.
_NUMBER: Final = r"#[1-9][0-9]{0,17}"
_REVISION: Final = r"[^\s-]\S*"
_UNSAFE: Final = (
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_FORMS: Final = (
    "write one of `user-confirmed`, `repo:<path>`, `repo:<path>@<revision>`, `doc:<path>`, "
    "`test:<path>`, `issue:#<number>`, `pr:#<number>`"
)


class Evidence(NamedTuple):
    """One evidence value."""

    kind: str
    """``repo``, ``doc``, ``test``, ``issue``, ``pr``, or the whole word of a plain value."""
    value: str
    """The part after the colon as written; empty for plain words."""

    def __str__(self) -> str:
        """The written form, for example ``repo:pyproject.toml@293b9e6``."""
        return f"{self.kind}:{self.value}" if self.value else self.kind

    @property
    def has_path(self) -> bool:
        """Whether the value names a file of the project."""
        return self.kind in PATH_KINDS

    @property
    def is_admissible(self) -> bool:
        """Whether the value alone can carry an active entry."""
        return self.kind not in CANDIDATE_ONLY

    @property
    def is_source_backed(self) -> bool:
        """Whether the value counts as evidence in the coverage of `check` (not legacy)."""
        return self.is_admissible and self.kind != LEGACY

    def path_readings(self) -> tuple[tuple[str, str], ...]:
        """Return the possible ``(path, revision)`` readings, the one to prefer first.

        With an ``@`` in a ``repo:`` value a path that exists as written wins, else the last ``@``
        splits (design section 4); only the caller can see which paths exist.
        """
        if self.kind != "repo" or "@" not in self.value:
            return ((self.value, ""),)
        path, _, revision = self.value.rpartition("@")
        if path_fault(path) or not re.fullmatch(_REVISION, revision):
            return ((self.value, ""),)
        return ((self.value, ""), (path, revision))


def parse_evidence(text: str) -> Evidence:
    """Return the evidence written in *text*.

    Raises:
        InvalidEvidenceError: The kind is unknown, the path is absolute or leaves the project,
            or the reference is not ``#<number>``. The reason is its ``what``.
    """
    stripped = text.strip()
    if not stripped:
        raise _invalid("evidence is empty", "")
    if len(stripped) > MAX_CHARS:
        raise _invalid(f"evidence is longer than {MAX_CHARS:,} characters", stripped)
    if not stripped.isprintable() and re.search(_UNSAFE, stripped):
        raise _invalid("evidence holds a control or direction character", "")
    if "<!--" in stripped or "-->" in stripped or strip_private(stripped) != stripped:
        raise _invalid("evidence holds an HTML comment or private mark", "")
    if stripped in (CONFIRMED, LEGACY, *CANDIDATE_ONLY):
        return Evidence(stripped, "")
    kind, colon, value = stripped.partition(":")
    if not colon or kind not in (*PATH_KINDS, *REFERENCE_KINDS):
        raise _invalid("unknown evidence", stripped)
    if kind in REFERENCE_KINDS:
        if not re.fullmatch(_NUMBER, value):
            raise _invalid(f"expected `{kind}:#<number>`", stripped)
        return Evidence(kind, value)
    reason = path_fault(value) or (_split_path_fault(value) if kind == "repo" else "")
    if reason:
        raise _invalid(reason, stripped)
    if kind == "repo" and "@" in value and not _has_good_revision(value):
        raise _invalid("the revision after `@` must be one word without a leading `-`", stripped)
    return Evidence(kind, value)


def path_fault(path: str) -> str:
    """Return why *path* is no safe relative path inside the project, or an empty string."""
    parts = path.split("/")
    if not path or path != path.strip():
        return "the path is empty or has blanks around it"
    if "\\" in path:
        return "the path must use `/`"
    if path.startswith("/"):
        return "absolute path"
    if ":" in parts[0] or path.startswith("~"):
        return "absolute path"
    # Windows drops dots and blanks at the end of a name: `.. /` is a parent step there.
    if any(part.startswith("..") and not part.strip(". ") for part in parts):
        return "leaves the project root"
    if "" in parts[:-1] or "." in parts:
        return "the path has an empty or `.` part"
    return ""


def _split_path_fault(value: str) -> str:
    """Return what is wrong with the path before the last ``@``, the other reading of *value*."""
    path, at, _ = value.rpartition("@")
    return path_fault(path.strip()) if at and path.strip() else ""


def _has_good_revision(value: str) -> bool:
    path, _, revision = value.rpartition("@")
    # `packages/@scope/x` has an `@` that opens no revision: it can only be a path.
    return not path or "/" in revision or re.fullmatch(_REVISION, revision) is not None


def _invalid(what: str, text: str) -> InvalidEvidenceError:
    return InvalidEvidenceError(what, where=quoted(text) if text else "", hint=_FORMS)


def parse_evidence_or_none(text: str) -> Evidence | None:
    """Return the evidence written in *text*, or ``None`` when it is not valid evidence."""
    try:
        return parse_evidence(text)
    except InvalidEvidenceError:
        return None


def is_admissible_set(values: tuple[Evidence, ...]) -> bool:
    """Say whether *values* admit an active entry: weak evidence never adds up."""
    return any(value.is_admissible for value in values)
