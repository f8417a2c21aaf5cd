"""What the statistics are held against: scipy, absent where only the tool itself is installed."""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def stats() -> ModuleType:
    """scipy.stats; skipped where it is absent, unless REQUIRE_ORACLES=1."""
    if os.environ.get("REQUIRE_ORACLES") == "1":
        return import_module("scipy.stats")
    module: ModuleType = pytest.importorskip("scipy.stats", reason="scipy is not installed; REQUIRE_ORACLES=1 would fail here")
    return module
