"""Finds secrets and private data in Markdown and text before they are shared."""

from __future__ import annotations

__version__ = "0.10.0"

__all__ = ["__version__"]
