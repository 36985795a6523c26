"""The errors of plans and of their application, with the facts a command line needs to report them.

Every error says what happened (`what`), where (`where`), what to do next (`hint`) and has a
machine code (`code`). It also says which files were touched (`files`): an error that knows of no
written and no unknown file means that no files were written.

Source: reliability specification, sections 4.8 and 6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mc_plan.draft import Blocker, Confirmation
    from mc_plan.public import PublicPlan

NO_FILES_WRITTEN: Final = "no files were written"


class FilesReport(NamedTuple):
    """Repo-relative paths by what is on disk; a private path reads ``[redacted]``."""

    written: tuple[str, ...] = ()
    not_written: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Return the lines for standard error, such as ``written: docs/memory/inbox.md``."""
        if not self.written and not self.unknown:
            return [NO_FILES_WRITTEN]
        return [
            *(f"written: {path}" for path in self.written),
            *(f"not written: {path}" for path in self.not_written),
            *(f"unknown: {path}" for path in self.unknown),
        ]


class PlanError(Exception):
    """The base of every error this package raises on purpose."""

    default_code = "plan_error"

    def __init__(
        self,
        what: str,
        *,
        where: str = "",
        hint: str = "",
        code: str = "",
        files: FilesReport | None = None,
    ) -> None:
        self.what = what
        self.where = where
        self.hint = hint
        self.code = code or self.default_code
        self.files = FilesReport() if files is None else files
        super().__init__(what)

    @property
    def written(self) -> tuple[str, ...]:
        """Paths that now hold the new bytes."""
        return self.files.written

    @property
    def not_written(self) -> tuple[str, ...]:
        """Paths that hold the bytes they had before."""
        return self.files.not_written

    @property
    def unknown(self) -> tuple[str, ...]:
        """Paths whose bytes are neither, or cannot be read."""
        return self.files.unknown

    def __str__(self) -> str:
        return f"{self.what}: {self.where}" if self.where else self.what


class InputError(PlanError, ValueError):
    """An argument is wrong: a memory directory outside `docs/`, a malformed plan id."""

    default_code = "bad_input"


class MalformedFileError(PlanError, ValueError):
    """A project file cannot be read as what it should be; it is left alone."""

    default_code = "malformed_file"


class UnsupportedProtocolError(PlanError, ValueError):
    """The manifest's protocol version is newer, unreadable or repeated: no writer may go on."""

    default_code = "unsupported_protocol"


class RefusedError(PlanError):
    """The answer is no: a blocker, a missing confirmation, a file that must not be written."""

    default_code = "refused"


class UnsafeFileError(RefusedError):
    """A path is not a plain file behind real directories inside the project root."""

    default_code = "unsafe_file"


class UnreadableFileError(RefusedError):
    """The operating system refused to read or inspect a path."""

    default_code = "file_error"


class BlockedError(RefusedError):
    """The confirmed plan has blockers; the error is the first of them, `plan` lists all."""

    default_code = "blocked"

    def __init__(self, blocker: Blocker, *, plan: PublicPlan) -> None:
        super().__init__(blocker.what, where=blocker.where, hint=blocker.hint, code=blocker.code)
        self.plan = plan


class ConfirmationError(RefusedError):
    """The confirmed plan needs a flag such as `--allow-broad-match`."""

    default_code = "confirmation_required"

    def __init__(self, needed: Confirmation, *, plan: PublicPlan) -> None:
        super().__init__(needed.what, hint=f"if that is wanted, add `{needed.flag}` to the command")
        self.plan = plan
        self.flag = needed.flag


class StalePlanError(PlanError):
    """The given plan id is not the id of the plan as it would be now; `plan` is the new one."""

    default_code = "stale_plan"

    def __init__(self, what: str, *, plan: PublicPlan, hint: str = "", given: str = "") -> None:
        super().__init__(what, hint=hint)
        self.plan = plan
        self.given = given


class UnconfirmedPlanError(StalePlanError):
    """No plan id was given where one is required; `plan` is the plan to confirm."""

    default_code = "unconfirmed_plan"


class PendingRecoveryError(PlanError):
    """An interrupted change must be recovered first; `details` has one line per file."""

    default_code = "interrupted_change"

    def __init__(
        self,
        what: str,
        *,
        where: str = "",
        hint: str = "",
        code: str = "",
        details: Sequence[str] = (),
    ) -> None:
        super().__init__(what, where=where, hint=hint, code=code)
        self.details = tuple(details)


class ApplyError(PlanError):
    """Applying failed; `files` says exactly what is on disk."""

    default_code = "apply_failed"


class ChangedWhileApplyingError(ApplyError):
    """A target changed between the read under the lock and its rename; the change is kept."""

    default_code = "changed_while_applying"


class LostLockError(ApplyError):
    """The mutation lock was taken away while applying; the change was undone."""

    default_code = "lock_lost"


def files_report(error: BaseException) -> FilesReport:
    """Return what *error* knows about files; an error of another package has written nothing."""
    found = getattr(error, "files", None)
    return found if isinstance(found, FilesReport) else FilesReport()
