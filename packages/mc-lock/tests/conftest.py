from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from mc_lock import StateDirectory
from mc_lock.testing import FakeClock

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "docs" / "memory").mkdir(parents=True)
    return root


@pytest.fixture
def state(tmp_path: Path) -> StateDirectory:
    return StateDirectory(tmp_path / "state").ensure()
