"""Plans with stable ids, atomic multi-file apply, crash journal and the operations that compute plans."""

from __future__ import annotations

__version__ = "0.10.0"

__all__ = ["__version__"]
