"""The native index as searchers use it: open, all its bytes verified, with the freshness of its pages."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from vault_eval.digests import sha256_of_lines
from vault_eval.index.layout import FORMAT
from vault_eval.index.pool import STALE, PageFreshness
from vault_eval.index.reading import IndexReading
from vault_eval.index.seal import file_sha256, open_index, sealed_state
from vault_eval.index.terms import Analyzer
from vault_eval.model import IndexDescription
from vault_eval.retrievers.protocol import RetrieverContext, SettingValue


class NativeIndex:
    """One open index: `file` is what is searched, `analyzer` cuts queries as its notes were cut."""

    def __init__(self, context: RetrieverContext) -> None:
        """Raises IndexUnusableError where there is none, or none that can be used."""
        self.folder = context.index_folder
        self.vault = context.vault.id
        reading = context.reading
        if reading is None or reading.folder != self.folder:
            reading = IndexReading(self.folder, self.vault)
        self._state = reading.state
        self.file, self.sha256 = open_index(self.folder, self.vault, verify=True, known=reading.digest)
        self.freshness = PageFreshness(self.file, context.vault.pages)
        stem = self.file.options.get("stem")
        self.analyzer = Analyzer(stem if isinstance(stem, str) else None)

    def description(self) -> IndexDescription:
        """What is searched."""
        counts = self.file.page_count, self.file.chunks
        return IndexDescription(FORMAT, self.sha256, *counts, notes_sha256=self._notes_sha256)

    @cached_property
    def _notes_sha256(self) -> str:
        named = zip(self.file.all_page_digests(body=True), self.file.page_names(), strict=True)
        return sha256_of_lines(f"{digest}  {page}" for digest, page in named)

    def options(self) -> Mapping[str, SettingValue]:
        """The options it was built with, lists aside."""
        return {key: value for key, value in self.file.options.items() if isinstance(value, (str, int, float, bool, type(None)))}

    def digest_now(self) -> str | None:
        """The digest of the index that is valid now, its bytes read again unless the file is as it was; None where none is."""
        now = sealed_state(self.folder, self.vault)
        if now is not None and now == self._state:
            return self.sha256
        try:
            return file_sha256(now[0]) if now is not None else None
        except OSError:
            return None

    def is_indexed(self, page: str) -> bool:
        """Whether the index holds the page."""
        return self.file.page_ordinal(page) is not None

    def is_stale(self, page: str) -> bool:
        """Whether the page's bytes, its label property aside, are no longer those that were indexed."""
        ordinal = self.file.page_ordinal(page)
        return ordinal is not None and self.freshness.of(ordinal) == STALE

    def close(self) -> None:
        """Unmap the index."""
        self.file.close()
