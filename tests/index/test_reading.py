"""An index file is read by a thread of its own, and what it was before that is known."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from vault_eval.errors import IndexUnusableError
from vault_eval.index.reading import IndexReading
from vault_eval.index.seal import open_index, sealed_state


@pytest.fixture
def built(make_vault):
    vault = make_vault(**{"A.md": "tide\n"})
    return vault, Path(vault.build().path)


def test_the_digest_is_that_of_the_file_and_of_no_other(built):
    vault, path = built
    reading = IndexReading(str(vault.folder), vault.id)
    assert reading.digest(str(path)) == hashlib.sha256(path.read_bytes()).hexdigest()
    assert reading.digest(f"{path}x") is None
    assert reading.state == sealed_state(str(vault.folder), vault.id)


def test_without_an_index_there_is_nothing_to_read(make_vault, tmp_path):
    vault = make_vault(**{"A.md": "tide\n"})
    reading = IndexReading(str(tmp_path / "nowhere"), vault.id)
    assert (reading.state, reading.digest(str(tmp_path))) == (None, None)


def test_an_index_that_cannot_be_read_is_refused_all_the_same(built, monkeypatch):
    vault, path = built
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    reading = IndexReading(str(vault.folder), vault.id)
    with pytest.raises(IndexUnusableError, match="corrupt"):
        open_index(str(vault.folder), vault.id, verify=True, known=reading.digest)
    monkeypatch.setattr("vault_eval.index.reading.file_sha256", lambda _path: (_ for _ in ()).throw(OSError("gone")))
    assert IndexReading(str(vault.folder), vault.id).digest(str(path)) is None


def test_an_index_that_was_replaced_while_it_was_read_is_read_anew(built):
    vault, path = built
    reading = IndexReading(str(vault.folder), vault.id)
    reading.digest(str(path))
    vault.write("B.md", "ebb\n")
    vault.build()
    index, sha256 = open_index(str(vault.folder), vault.id, verify=True, known=reading.digest)
    with index:
        assert (index.page_count, sha256) == (2, hashlib.sha256(Path(index.path).read_bytes()).hexdigest())
    assert reading.state != sealed_state(str(vault.folder), vault.id)
