"""Edits of a manifest that leave every other line byte for byte as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mc_schema.errors import ManifestError
from mc_schema.lines import BOM, dominant_newline, newline_behind, spliced
from mc_schema.manifest import INDEX_HEADING, Manifest, Section, fold_heading
from mc_schema.protocol import METADATA_HEADING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

INDEX_GROUPS: Final = {
    "rule": "Enabled rules",
    "profile": "Enabled profiles",
    "area": "Enabled areas",
}
_PLACEHOLDER: Final = "- none enabled."
_BEFORE_INDEX: Final = (
    "Optional profiles",
    "Area-specific memory",
    "Explicit only",
    "Context budget",
)


def set_metadata(text: str, values: Mapping[str, str]) -> str:
    """Return the manifest *text* with the metadata fields *values*, in their order.

    A field that is there keeps its line and gets the new value; a missing one follows the field
    that precedes it in *values*. Other fields, comments and unknown lines stay. Without a metadata
    section one is put before the first `##` heading.
    """
    manifest = Manifest(text)
    section = manifest.section(METADATA_HEADING)
    if section is None:
        lines = [f"- {key}: {value}" for key, value in values.items()]
        return insert_section(text, METADATA_HEADING, lines, before_first=True)
    newline = dominant_newline(text)
    known = {field.key: field.line - 1 for field in reversed(manifest.metadata.fields)}
    edits: list[tuple[int, int, str]] = []
    anchor = section.heading
    pending: dict[int, list[str]] = {}
    for key, value in values.items():
        if key in known:
            anchor = known[key]
            line = manifest.lines[anchor]
            if line.content.strip() != f"- {key}: {value}":
                edits.append((line.start, line.content_end, f"- {key}: {value}"))
        else:
            pending.setdefault(anchor, []).append(f"- {key}: {value}")
    for index, added in pending.items():
        end = manifest.lines[index].content_end
        edits.append((end, end, "".join(newline + line for line in added)))
    return spliced(text, edits)


def add_section_after(text: str, after: str, title: str, lines: Sequence[str]) -> str:
    """Return the manifest *text* with a `##` section below the section *after*.

    Without that section it is put before the first `##` heading.
    """
    manifest = Manifest(text)
    section = manifest.section(after)
    if section is None:
        return insert_section(text, title, lines, before_first=True)
    index = next(
        (
            s.heading
            for s in manifest.sections
            if s.heading > section.heading and s.level == 2  # noqa: PLR2004
        ),
        len(manifest.lines),
    )
    return _insert_block(manifest, index, [f"## {title}", "", *lines])


def insert_section(
    text: str, title: str, lines: Sequence[str], *, before_first: bool = False
) -> str:
    """Return the manifest *text* with a new `##` section, before the first one or at the end."""
    manifest = Manifest(text)
    index = len(manifest.lines)
    if before_first:
        index = next((s.heading for s in manifest.sections if s.level == 2), index)  # noqa: PLR2004
    return _insert_block(manifest, index, [f"## {title}", *lines])


def add_index_entry(text: str, kind: str, path: str, trigger: str) -> str:
    """Return the manifest *text* whose optional module index names *path* (newest first).

    *kind* is ``rule``, ``profile``, ``area``, or ``""`` for a file that belongs to no group. The
    index section and its group heading are made when missing; a line that says that none is
    enabled is dropped. Source: protocol-0.5.md A5.4.
    """
    manifest = Manifest(text)
    if manifest.is_indexed(path):
        return text
    entry = f"- `{path}`: {trigger}"
    section = manifest.section(INDEX_HEADING)
    if section is None:
        group = [f"### {INDEX_GROUPS[kind]}"] if kind else []
        return _insert_index(manifest, [f"## {INDEX_HEADING}", *group, entry])
    if not kind:
        return _insert_entry(manifest, section.heading, entry)
    group_section = _group(manifest, section, kind)
    if group_section is None:
        return _insert_block(manifest, section.end, [f"### {INDEX_GROUPS[kind]}", entry])
    for index in range(group_section.heading + 1, group_section.end):
        line = manifest.lines[index]
        if line.content.strip().casefold() == _PLACEHOLDER and not line.is_opaque:
            return spliced(text, [(line.start, line.content_end, entry)])
    return _insert_entry(manifest, group_section.heading, entry)


def _group(manifest: Manifest, index: Section, kind: str) -> Section | None:
    title = fold_heading(INDEX_GROUPS[kind])
    for section in manifest.sections:
        if index.heading < section.heading < index.end and section.title == title:
            return section
    return None


def _insert_index(manifest: Manifest, block: Sequence[str]) -> str:
    for title in _BEFORE_INDEX:
        section = manifest.section(title)
        if section is not None:
            return _insert_block(manifest, section.heading, block)
    return _insert_block(manifest, len(manifest.lines), block)


def _insert_entry(manifest: Manifest, heading: int, entry: str) -> str:
    """Insert *entry* below the line *heading*, apart from text that would continue the bullet."""
    newline = dominant_newline(manifest.text)
    end = manifest.lines[heading].content_end
    below = manifest.lines[heading + 1 : heading + 2]
    content = below[0].content.strip() if below else ""
    touches_text = bool(content) and not content.startswith(("- ", "* ", "+ ", "#"))
    added = newline + entry + (newline if touches_text else "")
    return spliced(manifest.text, [(end, end, added)])


def _insert_block(manifest: Manifest, index: int, block: Sequence[str]) -> str:
    """Insert *block* as a paragraph of its own before the line *index*."""
    text = manifest.text
    start = manifest.lines[index].start if index < len(manifest.lines) else len(text)
    newline = newline_behind(text[:start], dominant_newline(text))
    body = newline.join(block)
    if start < len(text):
        above_blank = index == 0 or manifest.lines[index - 1].is_blank
        lead = "" if above_blank else newline
        return text[:start] + lead + body + newline + newline + text[start:]
    if manifest.swallowing:
        raise ManifestError(
            "a code fence or HTML comment is never closed",
            where=f"manifest.md:{manifest.swallowing}",
            hint="close it by hand: what is added below it would be part of it",
            code="unclosed_block",
        )
    if not text.removeprefix(BOM):
        return text + body + newline
    ends_line = text[-1] in "\r\n"
    lead = newline if ends_line else newline + newline
    if ends_line and manifest.lines[-1].is_blank:
        lead = ""
    return text + lead + body + (newline if ends_line else "")
