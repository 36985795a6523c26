"""Protocol vocabulary of MemoryCustodian: pure functions over text, no files, no clock."""

from __future__ import annotations

__version__ = "0.10.0"

__all__ = ["__version__"]
