"""Protocol vocabulary of MemoryCustodian: ids, evidence, entries, lossless documents, manifest, budgets, private spans, validity."""

from __future__ import annotations

__version__ = "0.10.0"

__all__ = ["__version__"]
