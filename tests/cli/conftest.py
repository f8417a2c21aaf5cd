"""What tests of the command line share."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """One data folder, in which our modules are compiled once; each test has a vault of its own."""
    return str(tmp_path_factory.mktemp("data"))
