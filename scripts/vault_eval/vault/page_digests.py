"""The bytes of pages as they are now: remembered by digest, and kept of the pages that are looked into again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from vault_eval.digests import sha256_hex
from vault_eval.vault.note_text import body_digest
from vault_eval.vault.paths import page_max_bytes
from vault_eval.vault.reader import FolderReader
from vault_eval.vault.refusal import FileRefusedError

# The pages that a thousand labels expect, as notes are: five kilobytes each, with room for long ones.
_KEPT_MAX_BYTES = 16 * 1_048_576


class PageDigests:
    """SHA-256 of pages, read through one reader and remembered for one run.

    `disk_paths` names the file of each page that the disk spells otherwise, where a listing knows it.
    """

    def __init__(self, reader: FolderReader, disk_paths: Mapping[str, str] = MappingProxyType({})) -> None:
        self._reader = reader
        self._disk_paths = disk_paths
        self._digests: dict[str, str | None] = {}
        self._problems: dict[str, str] = {}
        self._kept: dict[str, bytes | None] = {}  # None until it is read
        self._room_bytes = _KEPT_MAX_BYTES

    def keep(self, pages: Iterable[str]) -> None:
        """Keep the bytes of these pages from their first reading on, as far as there is room: they are asked for again."""
        self._kept = {**dict.fromkeys(pages), **self._kept}

    def digest(self, page: str) -> str | None:
        """SHA-256 of the page's bytes, or None where it cannot be read; `problem` then says why."""
        if page not in self._digests:
            try:
                self._digests[page] = sha256_hex(self.read(page))
            except FileRefusedError as refusal:
                self._digests[page] = None
                self._problems[page] = refusal.reason
        return self._digests[page]

    def body_digest(self, page: str, label_property: str) -> str | None:
        """SHA-256 of the page's bytes without the lines of its label property, or None where it cannot be read."""
        try:
            return body_digest(self.read(page), label_property)
        except FileRefusedError:
            return None

    def problem(self, page: str) -> str | None:
        """Why `digest` gave None for this page."""
        return self._problems.get(page)

    def known(self) -> dict[str, str]:
        """The digests of all pages read so far."""
        return {page: digest for page, digest in self._digests.items() if digest is not None}

    def read(self, page: str) -> bytes:
        """The bytes of a page. Raises FileRefusedError."""
        data = self._kept.get(page)
        if data is None:
            data = self._reader.read(self._disk_paths.get(page, page), page_max_bytes(page))
            if page in self._kept and len(data) <= self._room_bytes:
                self._kept[page] = data
                self._room_bytes -= len(data)
        return data
