from __future__ import annotations

import os
import shutil
import signal
import tempfile
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from vault_eval.vault.opening import DESCRIPTOR_RELATIVE
from vault_eval.vault.reader import FolderReader

NOBODY = 65534


@pytest.fixture
def vault(tmp_path):
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


@pytest.fixture
def write(vault):
    """Writes one note below the vault, with the folders it needs."""

    def write_note(path: str, text: str = "# Tides\n") -> Path:
        place = vault / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8", newline="")
        return place

    return write_note


@pytest.fixture(params=[True, False], ids=["descriptors", "degraded"])
def relative(request):
    if request.param and not DESCRIPTOR_RELATIVE:
        pytest.skip("this platform opens by path only")
    return request.param


@pytest.fixture
def reader(vault, relative):
    """A reader of the vault, in both modes."""
    with FolderReader(str(vault), descriptor_relative=relative) as opened:
        yield opened


@pytest.fixture
def no_hang():
    """Ends a test that waits for a FIFO, instead of the whole run."""

    def give_up(*_: object) -> None:
        raise TimeoutError("the test hung")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def open_vault():
    """A vault in a folder that any user may enter."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    if not all(parent.stat().st_mode & 0o001 for parent in folder.resolve().parents):
        pytest.skip("the folder for temporary files is private")
    yield folder
    folder.chmod(0o755)
    for place, folders, _ in os.walk(folder):
        for name in folders:
            Path(place, name).chmod(0o755)  # before the walk enters it
    shutil.rmtree(folder)


@pytest.fixture
def without_privileges():
    """A context in which file modes count, for root as well."""
    return _as_nobody if os.geteuid() == 0 else nullcontext


@contextmanager
def _as_nobody():
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
