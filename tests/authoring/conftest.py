from __future__ import annotations

import pytest


@pytest.fixture
def folder(tmp_path):
    """An empty vault."""
    place = tmp_path / "Harbour"
    place.mkdir()
    return place


@pytest.fixture
def write(folder):
    """Writes one note below the vault, with the folders it needs."""

    def write_note(path: str, text: str = "# Tides\n") -> str:
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8", newline="")
        return path

    return write_note
