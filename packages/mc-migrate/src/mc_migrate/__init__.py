"""Protocol migrations of project memory as previewed plans."""

from __future__ import annotations

__version__ = "0.10.0"

__all__ = ["__version__"]
