"""State directory and mutation lock that keeps two processes from losing each other's work."""

from __future__ import annotations

__version__ = "0.10.0"

__all__ = ["__version__"]
