"""Finds secrets and private data in Markdown and text before they are shared."""

from __future__ import annotations

from mc_scan.api import find_secret, scan_bytes, scan_machine_paths, scan_paths, scan_text
from mc_scan.finding import BaselineError, Finding, Notice, ScanError, UnreadableFileError
from mc_scan.rules import RULES, Rule

__version__ = "0.10.0"

__all__ = [
    "RULES",
    "BaselineError",
    "Finding",
    "Notice",
    "Rule",
    "ScanError",
    "UnreadableFileError",
    "__version__",
    "find_secret",
    "scan_bytes",
    "scan_machine_paths",
    "scan_paths",
    "scan_text",
]
