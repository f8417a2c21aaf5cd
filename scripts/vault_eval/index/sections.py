"""The sections of an index file, filled page by page and chunk by chunk in path order."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from vault_eval import strict_json
from vault_eval.index.frequent_terms import frequent_sections
from vault_eval.index.layout import Numbers
from vault_eval.index.postings import GONE, WordPostings, merged_sections
from vault_eval.index.store import IndexFile
from vault_eval.index.terms import Analyzer


class Sections:
    """Pages with their chunks; those that an old index has are copied from it, postings and all."""

    def __init__(self, old: IndexFile | None, analyzer: Analyzer) -> None:
        self._old = old
        self._renumbered = array("I", [GONE]) * (old.chunks if old else 0)
        self._new = WordPostings(analyzer)
        self._headings: dict[bytes, int] = {}
        self._digests = bytearray()
        self._body_digests = bytearray()
        self._page_chunks = array("I", [0])
        self._lengths = array("I")
        self._chunk_headings = array("I")
        self._chunk_lines = array("I")
        self.pages: list[str] = []

    @property
    def chunks(self) -> int:
        """How many chunks were added."""
        return len(self._lengths)

    def add_page(self, page: str, digest: str, body_digest: str) -> None:
        """A page, to which all chunks belong that are added before the next one."""
        self.pages.append(page)
        self._digests += bytes.fromhex(digest)
        self._body_digests += bytes.fromhex(body_digest)
        self._page_chunks.append(self._page_chunks[-1])

    def add_chunk(self, heading: Sequence[str], lines: tuple[int, int], text: str) -> None:
        """A chunk of the last page, with the text that is indexed of it."""
        self._append(self._new.add(self.chunks, text), strict_json.dumps(heading).encode(), *lines)

    def copy_page(self, old: IndexFile, ordinal: int) -> None:
        """A page of the old index as it is there, with all its chunks."""
        self.add_page(old.page(ordinal), old.page_digest(ordinal), old.page_digest(ordinal, body=True))
        offsets, blob, headings = old["heading_offsets"], old["headings"], old["chunk_headings"]
        for chunk in range(old["page_chunks"][ordinal], old["page_chunks"][ordinal + 1]):
            self._renumbered[chunk] = self.chunks
            heading = headings[chunk]
            self._append(old["chunk_lengths"][chunk], bytes(blob[offsets[heading] : offsets[heading + 1]]), *old.lines(chunk))

    def named(self, remarks: Mapping[str, object]) -> dict[str, bytes | Numbers]:
        """All sections by name."""
        postings = merged_sections(self._new.by_term(self._lengths), self._old, self._renumbered, self._lengths)
        names = [page.encode("utf-8", "surrogatepass") for page in self.pages]
        chunk_pages = array("I")
        for page, (first, after) in enumerate(pairwise(self._page_chunks)):
            chunk_pages.extend([page] * (after - first))
        return {
            "chunk_lengths": self._lengths,
            "chunk_pages": chunk_pages,
            "chunk_lines": self._chunk_lines,
            "chunk_headings": self._chunk_headings,
            "heading_offsets": _offsets(list(self._headings)),
            "headings": b"".join(self._headings),
            "page_chunks": self._page_chunks,
            "page_offsets": _offsets(names),
            "pages": b"".join(names),
            "page_digests": bytes(self._digests),
            "page_body_digests": bytes(self._body_digests),
            **postings,
            **frequent_sections(postings, self._lengths),
            "remarks": strict_json.dumps(remarks, ascii_only=True).encode(),
        }

    def _append(self, length: int, heading: bytes, first_line: int, last_line: int) -> None:
        self._lengths.append(length)
        self._chunk_headings.append(self._headings.setdefault(heading, len(self._headings)))
        self._chunk_lines.extend((first_line, last_line))
        self._page_chunks[-1] = self.chunks


def _offsets(items: Sequence[bytes]) -> array[int]:
    def ends() -> Iterator[int]:
        end = 0
        yield end
        for item in items:
            end += len(item)
            yield end

    return array("I", ends())
