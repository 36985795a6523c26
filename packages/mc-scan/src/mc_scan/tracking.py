"""
From offsets to findings: lines and columns, fingerprints, inline marks, across the windows of one file.

Source: rules page, 5.1 and 7.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Final

from mc_scan.finding import IN_SOURCE, WARNING, Finding
from mc_scan.lines import count_breaks, find_line_end, find_line_start
from mc_scan.redact import preview_of
from mc_scan.suppress import find_marks

if TYPE_CHECKING:
    from mc_scan.candidate import Candidate
    from mc_scan.reading import Window

_BOM: Final = "\ufeff"
_LINE_REACH: Final = 8_192  # a longer line is fingerprinted by the surroundings of the finding
_CLIP: Final = 256
_DIGEST_CHARS: Final = 16


class FileState:
    """What is known of one file between two of its windows."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.line = 1  # of the start of the core at hand
        self._cursor = 0  # offset up to which lines are counted
        self._cursor_line = 1
        self._line_start = 0  # offset of the start of that line
        self._covered = 0  # offset after the last finding
        self._counts: dict[bytes, int] = {}
        self._marks: dict[int, set[str]] = {}
        self._findings: list[Finding] = []

    def add_window(self, window: Window, candidates: list[Candidate]) -> None:
        """Take over the candidates that start in the core of *window*; the others belong to a neighbour."""
        text, base = window.text, window.base
        if not window.core_start and text.startswith(_BOM):
            self._line_start = self._cursor = 1
        for line, rules in find_marks(text, window.core_start - base, window.core_end - base):
            self._marks.setdefault(self.line + line, set()).update(rules)
        masker = _LineMasker(text, candidates)
        for index, candidate in enumerate(candidates):
            start = candidate.start + base
            if window.core_start <= start < window.core_end and start >= self._covered:
                self._findings.append(self._finding(window, masker, index))
                self._covered = candidate.end + base
        self._advance(window, max(window.core_end, self._cursor))
        self.line += count_breaks(text, window.core_start - base, window.core_end - base)

    def finish(self) -> list[Finding]:
        """Return the findings in order; a warning that a mark on its line allows is marked as suppressed."""
        if not self._marks:
            return self._findings
        return [
            finding._replace(suppressed=IN_SOURCE)
            if finding.severity == WARNING and finding.rule in self._marks.get(finding.line, ())
            else finding
            for finding in self._findings
        ]

    def _finding(self, window: Window, masker: _LineMasker, index: int) -> Finding:
        candidate = masker.candidates[index]
        line, column = self._position(window, candidate.start + window.base)
        end_line, end_column = self._position(window, candidate.end + window.base)
        preview = preview_of(candidate, masker.text, masker.end_before(index))
        fingerprint, occurrence = self._fingerprint(candidate.rule, masker.masked_line(index))
        return Finding(
            candidate.rule,
            candidate.severity,
            self.path,
            line,
            column,
            end_line,
            end_column,
            preview,
            fingerprint,
            candidate.is_obfuscated,
            occurrence,
        )

    def _position(self, window: Window, offset: int) -> tuple[int, int]:
        self._advance(window, offset)
        return self._cursor_line, offset - self._line_start + 1

    def _advance(self, window: Window, offset: int) -> None:
        text, low, high = window.text, self._cursor - window.base, offset - window.base
        breaks = count_breaks(text, low, high)
        if breaks:
            self._cursor_line += breaks
            self._line_start = find_line_start(text, high, low) + window.base
        self._cursor = offset

    def _fingerprint(self, rule: str, line: str) -> tuple[str, int]:
        head = f"1\0{rule}\0{self.path}\0{line}\0"
        digest = sha256(head.encode("utf-8", "surrogatepass"))
        key = digest.digest()[:_DIGEST_CHARS]
        occurrence = self._counts[key] = self._counts.get(key, 0) + 1
        digest.update(str(occurrence).encode())
        return digest.hexdigest()[:_DIGEST_CHARS], occurrence


class _LineMasker:
    """Lines of one window with every finding replaced by ``[rule]`` and white space squeezed."""

    def __init__(self, text: str, candidates: list[Candidate]) -> None:
        self.text = text
        self.candidates = candidates
        self._span = (-1, -1)
        self._masked = ""

    def end_before(self, index: int) -> int:
        """Return where the candidate before *index* ends."""
        return self.candidates[index - 1].end if index else 0

    def masked_line(self, index: int) -> str:
        """Return the masked lines from the first to the last one that candidate *index* touches."""
        candidate = self.candidates[index]
        text = self.text
        start = find_line_start(text, candidate.start, max(0, candidate.start - _LINE_REACH))
        end = find_line_end(text, candidate.end, min(len(text), candidate.end + _LINE_REACH))
        if start < 0 or end < 0:
            start = max(start, candidate.start - _CLIP)
            end = candidate.end + _CLIP if end < 0 else min(end, candidate.end + _CLIP)
        if (start, end) != self._span:
            self._span = (start, end)
            self._masked = self._mask(index, start, min(end, len(text)))
        return self._masked

    def _mask(self, index: int, start: int, end: int) -> str:
        first = index
        while first and self.candidates[first - 1].end > start:
            first -= 1
        parts, at = [], start
        for candidate in self.candidates[first:]:
            if candidate.start >= end:
                break
            parts += [self.text[at : max(at, candidate.start)], f"[{candidate.rule}]"]
            at = candidate.end
        parts.append(self.text[at:end])
        return " ".join("".join(parts).split())
