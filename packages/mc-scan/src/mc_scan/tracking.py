"""From offsets to findings: lines, columns, fingerprints and inline marks of one file.

Source: rules page, 5.1 and 7.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Final

from mc_scan.finding import IN_SOURCE, WARNING, Finding
from mc_scan.lines import LineIndex, count_breaks, last_line_start
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
        self._line_start = 0  # offset in the file where that line starts
        self._covered = 0  # offset in the file after the last finding
        self._counts: dict[bytes, int] = {}
        self._marks: dict[int, set[str]] = {}
        self._findings: list[Finding] = []

    def add_window(self, window: Window, candidates: list[Candidate]) -> None:
        """Take over the candidates that start in the core of *window*; others are a neighbour's."""
        text, base = window.text, window.base
        core_start, core_end = window.core_start - base, window.core_end - base
        if not window.core_start and text.startswith(_BOM):
            self._line_start = 1
        for line, rules in find_marks(text, core_start, core_end):
            self._marks.setdefault(self.line + line, set()).update(rules)
        if candidates:
            lines = LineIndex(text, core_start, self.line, self._line_start - base)
            masker = _LineMasker(text, candidates)
            for index, candidate in enumerate(candidates):
                start = candidate.start
                if core_start <= start < core_end and start + base >= self._covered:
                    self._findings.append(self._finding(lines, masker, index))
                    self._covered = candidate.end + base
        self.line += count_breaks(text, core_start, core_end)
        line_start = last_line_start(text, core_start, core_end)
        if line_start is not None:
            self._line_start = line_start + base

    def finish(self) -> list[Finding]:
        """Return the findings in order; warnings that a mark allows are marked as suppressed."""
        if not self._marks:
            return self._findings
        return [
            finding._replace(suppressed=IN_SOURCE)
            if finding.severity == WARNING and finding.rule in self._marks.get(finding.line, ())
            else finding
            for finding in self._findings
        ]

    def _finding(self, lines: LineIndex, masker: _LineMasker, index: int) -> Finding:
        candidate = masker.candidates[index]
        place = lines.locate(candidate.start, candidate.end)
        masked = masker.masked_line(index, place.line_start, place.line_end)
        fingerprint, occurrence = self._fingerprint(candidate.rule, masked)
        return Finding(
            candidate.rule,
            candidate.severity,
            self.path,
            place.line,
            place.column,
            place.end_line,
            place.end_column,
            preview_of(candidate, masker.end_before(index)),
            fingerprint,
            candidate.is_obfuscated,
            occurrence,
        )

    def _fingerprint(self, rule: str, line: str) -> tuple[str, int]:
        head = f"1\0{rule}\0{self.path}\0{line}\0"
        digest = sha256(head.encode("utf-8", "surrogatepass"))
        key = digest.digest()[:_DIGEST_CHARS]
        occurrence = self._counts[key] = self._counts.get(key, 0) + 1
        digest.update(b"%d" % occurrence)
        return digest.hexdigest()[:_DIGEST_CHARS], occurrence


class _LineMasker:
    """Lines of one window with every finding replaced by ``[rule]`` and white space squeezed."""

    def __init__(self, text: str, candidates: list[Candidate]) -> None:
        self.candidates = candidates
        self._text = text
        self._span = (-1, -1)
        self._masked = ""

    def end_before(self, index: int) -> int:
        """Return where the candidate before *index* ends."""
        return self.candidates[index - 1].end if index else 0

    def masked_line(self, index: int, start: int, end: int) -> str:
        """Return the lines of candidate *index*, ``text[start:end]``, masked."""
        candidate = self.candidates[index]
        if candidate.start - start > _LINE_REACH or end - candidate.end > _LINE_REACH:
            start = max(start, candidate.start - _CLIP)
            end = min(end, candidate.end + _CLIP)
        if (start, end) != self._span:
            self._span = (start, end)
            self._masked = self._mask(index, max(start, 0), end)
        return self._masked

    def _mask(self, index: int, start: int, end: int) -> str:
        first = index
        while first and self.candidates[first - 1].end > start:
            first -= 1
        parts, at = [], start
        for place in range(first, len(self.candidates)):
            candidate = self.candidates[place]
            if candidate.start >= end:
                break
            parts += [self._text[at : max(at, candidate.start)], f"[{candidate.rule}]"]
            at = candidate.end
        parts.append(self._text[at : max(at, end)])
        return " ".join("".join(parts).split())
