"""Pages are digested once, and those that are looked into again are read once too, as far as there is room."""

from __future__ import annotations

import hashlib

import pytest

from vault_eval.vault import page_digests
from vault_eval.vault.page_digests import PageDigests
from vault_eval.vault.reader import FolderReader
from vault_eval.vault.refusal import FileRefusedError


class Counting(FolderReader):
    """A reader that counts what it reads."""

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self.asked: list[str] = []

    def read(self, path: str, max_bytes: int = 1 << 20) -> bytes:
        self.asked.append(path)
        return super().read(path, max_bytes)


@pytest.fixture
def reader(tmp_path):
    for name, text in (("A.md", "ebb"), ("B.md", "neap tide")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    with Counting(str(tmp_path)) as opened:
        yield opened


def test_a_kept_page_is_read_once_and_any_other_each_time(reader):
    pages = PageDigests(reader)
    pages.keep(["A.md"])
    assert pages.digest("A.md") == hashlib.sha256(b"ebb").hexdigest()
    assert [pages.read(page) for page in ("A.md", "B.md", "A.md", "B.md")] == [b"ebb", b"neap tide"] * 2
    assert reader.asked == ["A.md", "B.md", "B.md"]


def test_what_is_kept_already_stays_when_more_is_to_be_kept(reader):
    pages = PageDigests(reader)
    pages.keep(["A.md"])
    pages.read("A.md")
    pages.keep(["A.md", "B.md"])
    pages.read("A.md")
    assert reader.asked == ["A.md"]


def test_no_more_is_kept_than_there_is_room_for(reader, monkeypatch):
    monkeypatch.setattr(page_digests, "_KEPT_MAX_BYTES", 8)
    pages = PageDigests(reader)
    pages.keep(["B.md", "A.md"])
    for page in ("B.md", "A.md", "B.md", "A.md"):
        pages.read(page)
    assert reader.asked == ["B.md", "A.md", "B.md"]  # 9 bytes are too many, 3 are not


def test_a_page_that_cannot_be_read_is_not_kept(reader, tmp_path):
    pages = PageDigests(reader)
    pages.keep(["C.md"])
    with pytest.raises(FileRefusedError):
        pages.read("C.md")
    (tmp_path / "C.md").write_text("spring", encoding="utf-8")
    assert pages.read("C.md") == b"spring"
