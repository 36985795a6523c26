"""What `add` was asked, checked as far as that goes without reading memory.

Private spans are removed before anything else looks at the text; then text safety, evidence
grammar, admission, the evidence files and the secret check. All of this happens before any lock.

Source: design sections 3 and 4; guide sections 五 and 6.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mc_schema.errors import InvalidEvidenceError, InvalidTextError
from mc_schema.evidence import (
    ADMISSION_HINT,
    ADMISSION_WHAT,
    LEGACY,
    Evidence,
    is_admissible_set,
    parse_evidence,
)
from mc_schema.ids import require_entry_id
from mc_schema.private import strip_private_spans
from mc_schema.storage import require_module_name
from mc_schema.textsafety import require_body, require_title

from mc_plan.errors import InputError
from mc_plan.operations.gate import GateError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import TypeAlias

    Scan: TypeAlias = Callable[[str], "Sequence[SecretFinding]"]

INBOX: Final = "inbox"
DECISIONS: Final = ("decision", "area")
MISSING_FLAG: Final = "--allow-missing-evidence"
SECRET_FLAG: Final = "--allow-secret-like"  # noqa: S105 - the name of an option


class SecretFinding(NamedTuple):
    """Something in a text that looks secret or private; it never holds the text itself."""

    is_error: bool
    """Whether it is certainly a secret: then the text is refused."""
    what: str
    """Kind and line, for example ``github-token, line 1``."""


class AddOptions(NamedTuple):
    """What the user gave; ``None`` where an option was left out."""

    message: str
    type: str | None = None
    area: str | None = None
    name: str | None = None
    title: str | None = None
    reason: str | None = None
    evidence: tuple[str, ...] = ()
    candidate: bool = False
    supersedes: str | None = None
    promotes: str | None = None
    allow_missing_evidence: bool = False
    allow_long: bool = False
    allow_secret_like: bool = False


class CheckedAdd(NamedTuple):
    """An `add` whose text and evidence may be written."""

    options: AddOptions
    """With clean text, canonical ids and canonical evidence."""
    evidence: tuple[Evidence, ...]
    notices: tuple[str, ...]
    """Sentences for standard error: removed private text, evidence not verified, suspicions."""
    is_secret_like: bool = False
    """Whether the user insisted on text that looks like a secret; no output may show it."""

    @property
    def is_preview_first(self) -> bool:
        """Whether the command changes an existing entry."""
        return bool(self.options.supersedes or self.options.promotes)

    @property
    def is_candidate(self) -> bool:
        """Whether an inbox candidate is written, as far as the command line says."""
        if self.is_preview_first:
            return False
        return self.options.candidate or self.options.type in (None, INBOX)

    def arguments(self) -> dict[str, Any]:
        """Return the normalised arguments of the plan: what was asked, in canonical form."""
        return {**self.options._asdict(), "evidence": list(self.options.evidence)}


def check_add(
    options: AddOptions,
    *,
    root: Path,
    scan: Scan | None = None,
    environ: Mapping[str, str] | None = None,
) -> CheckedAdd:
    """Return *options* checked.

    Args:
        options: As given.
        root: The real project root, for evidence paths.
        scan: Looks for secrets; ``None`` looks for none.
        environ: The environment that Git is found by.

    Raises:
        InputError: Options exclude each other.
        SchemaError: Text, a name, an id or evidence is refused.
        GateError: The text holds what is certainly a secret.
    """
    _require_combination(options)
    notices: list[str] = []
    clean = _clean_texts(options, notices)
    # Before the evidence is parsed: an error would name what was given.
    is_secret_like = _look_for_secrets(clean, scan, notices)
    evidence = _evidence(clean)
    checked = CheckedAdd(clean, evidence, ())
    if evidence and not checked.is_candidate and not is_admissible_set(evidence):
        raise InvalidEvidenceError(ADMISSION_WHAT, hint=ADMISSION_HINT, code="weak_evidence")
    _require_files(clean, evidence, root, environ, notices)
    named = tuple(dict.fromkeys(str(value) for value in evidence))
    return CheckedAdd(clean._replace(evidence=named), evidence, tuple(notices), is_secret_like)


def _require_combination(options: AddOptions) -> None:
    changes = [
        flag
        for flag, value in (("--supersedes", options.supersedes), ("--promotes", options.promotes))
        if value is not None
    ]
    if changes and (options.candidate or options.type == INBOX):
        what = "a candidate" if options.candidate else "type `inbox`"
        raise InputError(
            f"`{changes[0]}` makes an active entry and does not go with {what}",
            hint=f"leave `{changes[0]}` out, or give the type of the active entry",
        )
    takes_type_of_old = bool(changes) and options.type is None
    if options.allow_long and options.type not in DECISIONS and not takes_type_of_old:
        raise InputError(
            "`--allow-long` goes with decisions only", hint="leave it out, or use `--type decision`"
        )
    for name in (options.area, options.name):
        if name is not None:
            require_module_name(name)


def _clean_texts(options: AddOptions, notices: list[str]) -> AddOptions:
    message = require_body(_public(options.message, "message", notices), "message")
    title, reason = options.title, options.reason
    if title is not None:
        title = require_title(_public(title, "title", notices))
    if reason is not None:
        reason = require_body(_public(reason, "reason", notices), "reason")
    supersedes, promotes = options.supersedes, options.promotes
    if supersedes is not None:
        supersedes = str(require_entry_id(supersedes, where="--supersedes"))
    if promotes is not None:
        promotes = str(require_entry_id(promotes, where="--promotes"))
    return options._replace(
        message=message,
        title=title,
        reason=reason,
        evidence=tuple(_public(text, "evidence", notices) for text in options.evidence),
        supersedes=supersedes,
        promotes=promotes,
    )


def _public(text: str, name: str, notices: list[str]) -> str:
    """Return *text* without private spans; what a malformed opener would hide is refused."""
    stripped = strip_private_spans(text)
    if stripped.cut_at is not None:
        line = text.count("\n", 0, stripped.cut_at) + 1
        raise InvalidTextError(
            f"the {name} has an unclosed or malformed `<private>` tag",
            where=f"{name}, line {line}",
            hint="close it with `</private>`, or leave it out",
            code="private_opener",
        )
    if stripped.removed:
        notices.append(f"text inside `<private>` was removed from the {name}")
    return stripped.text


def _evidence(options: AddOptions) -> tuple[Evidence, ...]:
    values = []
    for text in options.evidence:
        value = parse_evidence(text)
        if value.kind == LEGACY:
            raise InvalidEvidenceError(
                f"`{LEGACY}` is written by migrations alone",
                hint="give the evidence that there is; a candidate may go without",
            )
        values.append(value)
    return tuple(values)


def _require_files(
    options: AddOptions,
    evidence: tuple[Evidence, ...],
    root: Path,
    environ: Mapping[str, str] | None,
    notices: list[str],
) -> None:
    if not any(value.has_path for value in evidence):
        return
    from mc_plan.operations.evidence_files import MISSING, NOT_VERIFIED, find_evidence_files

    for found in find_evidence_files(root, evidence, environ=environ):
        if found.state == NOT_VERIFIED:
            notices.append(f"`{found.evidence}` was not verified: Git cannot be asked here")
        if found.state != MISSING:
            continue
        if not options.allow_missing_evidence:
            raise InvalidEvidenceError(
                "the evidence path does not exist",
                where=f"`{found.evidence}`",
                hint=f"correct the path, or keep it as it is with `{MISSING_FLAG}`",
                code="missing_evidence",
            )
        notices.append(f"`{found.evidence}` does not exist and was kept by `{MISSING_FLAG}`")


def _look_for_secrets(options: AddOptions, scan: Scan | None, notices: list[str]) -> bool:
    """Say whether a secret was found that the user insists on."""
    if scan is None:
        return False
    is_secret_like = False
    for name, text in _parts(options):
        for finding in scan(text):
            what = f"{finding.what} of the {name}"
            if finding.is_error and not options.allow_secret_like:
                raise GateError(
                    "the text looks like it holds a secret",
                    where=what,
                    hint=f"take it out; if it is none, repeat the command with `{SECRET_FLAG}`",
                    code="secret_like",
                )
            is_secret_like = is_secret_like or finding.is_error
            notices.append(f"the text may hold secret or private data: {what}")
    return is_secret_like


def _parts(options: AddOptions) -> list[tuple[str, str]]:
    named = [
        ("title", options.title),
        ("message", options.message),
        ("reason", options.reason),
        ("area", options.area),
        ("name", options.name),
        *(("evidence", text) for text in options.evidence),
    ]
    return [(name, text) for name, text in named if text]
