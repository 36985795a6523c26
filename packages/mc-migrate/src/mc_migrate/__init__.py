"""Protocol migrations of project memory, as previewed plans."""

from __future__ import annotations

from mc_migrate.migration import MANUAL, MigrationResult, build_migration, migrate_request
from mc_migrate.registry import STEPS, Step

__version__ = "0.10.0"

__all__ = [
    "MANUAL",
    "STEPS",
    "MigrationResult",
    "Step",
    "__version__",
    "build_migration",
    "migrate_request",
]
