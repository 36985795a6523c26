"""Files and manifest metadata: what must be there, and what cannot be read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mc_retrieve.memorydir import MARKDOWN
from mc_retrieve.memoryset import MANIFEST
from mc_schema.manifest import POLICY_MENTIONS
from mc_schema.protocol import (
    ADMISSION_POLICY,
    ENTRY_SCHEMA_VERSION,
    FOREIGN,
    MISSING,
    OLDER,
    parse_version,
)
from mc_schema.storage import MODULE_FOLDERS
from mc_schema.trust import is_stated_in

from mc_cli.check.finding import ERROR, INFO, WARNING, Finding
from mc_cli.notices import MIGRATION_HINT, protocol_message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mc_retrieve.memorydir import Fault
    from mc_schema.manifest import Manifest

    from mc_cli.check.inspection import Inspection

CORE_FILES: Final = (
    MANIFEST,
    "brief.md",
    "decisions.md",
    "constraints.md",
    "do-not-use.md",
    "inbox.md",
)
METADATA_FIELDS: Final = (
    "protocol_version",
    "entry_schema_version",
    "initialized_with",
    "last_migrated_with",
    "project_id",
    "admission_policy",
)
"""The fields of guide section 三."""
_UNKNOWN: Final = "is not known here"
_REPAIR: Final = "`memory-custodian init --repair` writes what is missing"
_SCAFFOLD: Final = re.compile(
    r"^(?:Purpose|Current direction|System shape):[ \t]*(?:\r\n|\r|\n)(?:[ \t]*(?:\r\n|\r|\n))*"
    r"- TODO:|^This project uses MemoryCustodian to maintain",
    re.MULTILINE,
)
_CODES: Final = {
    "not_utf8": "not_utf8",
    "conflict": "conflict_markers",
    "unreadable": "unreadable_file",
    "too_large": "unreadable_file",
}


def structure_findings(inspection: Inspection) -> Iterator[Finding]:
    """Yield what is wrong with the files as files, and with the manifest's metadata."""
    is_listed = not any(fault.path == "." for fault in inspection.listing.faults)
    for name in CORE_FILES if is_listed else ():
        if not inspection.exists(name):
            yield _absent_finding(inspection, name)
    for fault in inspection.faults():
        yield _fault_finding(inspection, fault)
    yield from _private_findings(inspection)
    if inspection.manifest is not None:
        yield from _metadata_findings(inspection, inspection.manifest)
        yield from _policy_findings(inspection, inspection.manifest)
    if is_scaffold(inspection):
        path = inspection.repo_path("brief.md")
        message = "the brief is still the scaffold that `init` wrote"
        yield Finding(
            path, 0, WARNING, "brief_scaffold", message, f"replace its TODO lines in {path}"
        )


def is_scaffold(inspection: Inspection) -> bool:
    """Say whether the brief is still the generated one (protocol-0.5.md A9)."""
    for file in inspection.files(archive=False):
        if file.path == "brief.md":
            return _SCAFFOLD.search(file.document.text) is not None
    return False


def _absent_finding(inspection: Inspection, name: str) -> Finding:
    path = inspection.repo_path(name)
    if (inspection.location.memory_path / name).is_dir():
        message = "expected a plain file, found a folder"
        return Finding(path, 0, ERROR, "unsafe_file", message, "replace it by a plain file")
    return Finding(path, 0, ERROR, "missing_core_file", "a core file is missing", _REPAIR)


def _fault_finding(inspection: Inspection, fault: Fault) -> Finding:
    hints = {
        "not_utf8": "save the file as UTF-8",
        "conflict": "resolve the merge, then remove the markers",
        "unreadable": "give yourself permission to read it",
        "too_large": "move old entries to the archive or remove what is no memory",
    }
    is_file = fault.path.endswith(MARKDOWN)
    return Finding(
        inspection.repo_path(fault.path).removesuffix("/."),
        fault.line,
        ERROR,
        _CODES.get(fault.code, "unsafe_file"),
        fault.message,
        hints.get(fault.code, f"replace it by a {'plain file' if is_file else 'real folder'}"),
    )


def _private_findings(inspection: Inspection) -> Iterator[Finding]:
    files = list(inspection.files())
    if inspection.manifest_file:
        files.append(inspection.manifest_file.file)
    for file in files:
        if file.hidden_line:
            yield Finding(
                inspection.repo_path(file.path),
                file.hidden_line,
                ERROR,
                "unclosed_private",
                "an unclosed or malformed private opener hides the rest of the file",
                "close it with `</private>`, or write the word without its bracket",
            )


def _metadata_findings(inspection: Inspection, manifest: Manifest) -> Iterator[Finding]:
    metadata = manifest.metadata
    path = inspection.repo_path(MANIFEST)
    line = inspection.manifest_line(metadata.line)
    message = protocol_message(metadata)
    if metadata.state in (OLDER, MISSING):
        yield Finding(
            path, line, WARNING, "older_protocol", message.partition(";")[0], MIGRATION_HINT
        )
    elif message:
        hint = (
            "see the manifest; routes are read, metadata is not"
            if metadata.state == FOREIGN
            else "correct `protocol_version`, or install a newer memory-custodian"
        )
        yield Finding(
            path, line, ERROR, f"{metadata.state}_protocol", message.partition(";")[0], hint
        )
    yield from _repeated_fields(inspection, manifest)
    if metadata.is_current:
        yield from _current_findings(inspection, manifest)


def _repeated_fields(inspection: Inspection, manifest: Manifest) -> Iterator[Finding]:
    seen: set[str] = set()
    for field in manifest.metadata.fields:
        line = inspection.manifest_line(field.line)
        place = (inspection.repo_path(MANIFEST), line)
        if field.key in seen and field.key != "protocol_version":
            message = f"`{field.key}:` occurs twice"
            yield Finding(*place, ERROR, "repeated_metadata", message, "keep one of the lines")
        elif field.key not in METADATA_FIELDS and field.key not in seen:
            message = f"unknown metadata field `{field.key}` is kept"
            yield Finding(*place, INFO, "unknown_metadata", message)
        seen.add(field.key)


def _current_findings(inspection: Inspection, manifest: Manifest) -> Iterator[Finding]:
    metadata = manifest.metadata
    path, line = inspection.repo_path(MANIFEST), inspection.manifest_line(metadata.line)
    for code, message in _field_faults(manifest):
        hint = _REPAIR if not message.endswith(_UNKNOWN) else "correct the line in the manifest"
        yield Finding(path, line, ERROR, code, message, hint)
    for key in ("initialized_with", "last_migrated_with"):
        if not metadata.get(key):
            yield Finding(path, line, INFO, "missing_metadata", f"`{key}:` is missing")
    if not manifest.has_trust_boundary():
        message = "the manifest has no `## Trust boundary` section"
        yield Finding(path, 0, ERROR, "missing_trust_boundary", message, _REPAIR)
    elif not is_stated_in(manifest.text):
        message = "the trust boundary is not stated in the words of the protocol"
        yield Finding(path, 0, WARNING, "trust_boundary_text", message, "copy it from the README")


def _field_faults(manifest: Manifest) -> Iterator[tuple[str, str]]:
    metadata = manifest.metadata
    if not metadata.count("project_id"):
        yield "missing_project_id", "`project_id:` is missing"
    elif metadata.count("project_id") == 1 and metadata.project_id is None:
        yield "invalid_project_id", "`project_id:` is not a UUIDv4"
    schema = metadata.get("entry_schema_version")
    if parse_version(schema) != parse_version(ENTRY_SCHEMA_VERSION):
        problem = _UNKNOWN if schema else "is missing"
        yield "entry_schema_version", f"`entry_schema_version:` {problem}"
    policy = metadata.get("admission_policy")
    if policy != ADMISSION_POLICY:
        problem = _UNKNOWN if policy else "is missing"
        yield "admission_policy", f"`admission_policy:` {problem}"


def _policy_findings(inspection: Inspection, manifest: Manifest) -> Iterator[Finding]:
    folders = {f"{folder}/" for folder in MODULE_FOLDERS.values()}
    present = {f"{path.partition('/')[0]}/" for path in inspection.listing.paths if "/" in path}
    for word in dict.fromkeys((*POLICY_MENTIONS, *sorted(folders & present))):
        if word not in manifest.text:
            yield Finding(
                inspection.repo_path(MANIFEST),
                0,
                WARNING,
                "policy_mention",
                f"the manifest does not say when `{word}` is loaded",
                f"name `{word}` in a route, in the index or under `## Explicit only`",
            )
