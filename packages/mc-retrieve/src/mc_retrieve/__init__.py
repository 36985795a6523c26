"""Context packs and exact lexical retrieval over project memory, without an index."""

from __future__ import annotations

__version__ = "0.10.0"

__all__ = ["__version__"]
