"""An index file mapped into memory: its parts by name, checked before they are trusted."""

from __future__ import annotations

import hashlib
import json
import mmap
import struct
import sys
from collections.abc import Mapping
from itertools import pairwise

from vault_eval import strict_json
from vault_eval.digests import DIGEST_BYTES
from vault_eval.errors import IndexUnusableError
from vault_eval.index.layout import ALIGNMENT, FORMAT, HEAD, ITEM_BYTES, MAGIC, SECTIONS
from vault_eval.index.sorted_texts import SortedTexts

LABEL_NOTE = "a label note: it may not answer its own queries"

# Offsets start at 0 and end where the section they lead into ends.
_ENDS = {
    "heading_offsets": "headings",
    "page_chunks": "chunk_lengths",
    "page_offsets": "pages",
    "term_offsets": "terms",
    "posting_offsets": "posting_chunks",
}


class IndexFile:
    """A mapped index, whose sections are its items as memory views; close it, or use it in a `with`."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._views: dict[str, memoryview[int]] = {}
        self._names: dict[int, str] = {}
        self._paths: dict[int, tuple[str, ...]] = {}
        self._map = mapped(path)
        try:
            self.header = read_header(self._map, path, MAGIC, FORMAT)
            self._open_sections()
        except (ValueError, struct.error, KeyError, TypeError) as error:
            self.close()
            raise IndexUnusableError(f"the index file {path!r} is corrupt: {error}") from None
        except IndexUnusableError:
            self.close()
            raise

    def __enter__(self) -> IndexFile:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Unmap the file."""
        for view in self._views.values():
            view.release()
        self._views.clear()
        self._map.close()

    def __getitem__(self, section: str) -> memoryview[int]:
        return self._views[section]

    def _open_sections(self) -> None:
        self.options: Mapping[str, object] = json_object(self.header["options"])
        places = json_object(self.header["sections"])
        if places.keys() != SECTIONS.keys():
            raise IndexUnusableError(f"the index file {self.path!r} is of another version: it has other sections")
        with memoryview(self._map) as whole:
            for name, code in SECTIONS.items():
                offset, size = _place(places[name])
                if offset % ALIGNMENT or offset + size > len(whole) or size % ITEM_BYTES[code]:
                    raise ValueError(f"the section {name} lies outside the file")
                self._views[name] = whole[offset : offset + size].cast(code)
        # Asked for once a ranked page: looked up by name but once.
        self._chunk_headings, self._chunk_lines = self["chunk_headings"], self["chunk_lines"]
        self._chunk_pages = self["chunk_pages"]
        self.chunks = len(self["chunk_lengths"])
        self.page_count = len(self["page_offsets"]) - 1
        self.term_count = len(self["term_offsets"]) - 1
        self._pages = SortedTexts(self["page_offsets"], self["pages"])
        self._terms = SortedTexts(self["term_offsets"], self["terms"])
        self.postings = len(self["posting_chunks"])
        self.total_length = counted(self.header["total_length"])
        self._check_shapes()

    def _check_shapes(self) -> None:
        expected = {
            "chunk_pages": self.chunks,
            "chunk_lines": 2 * self.chunks,
            "chunk_headings": self.chunks,
            "page_chunks": self.page_count + 1,
            "page_digests": DIGEST_BYTES * self.page_count,
            "page_body_digests": DIGEST_BYTES * self.page_count,
            "term_most": self.term_count,
            "term_shortest": self.term_count,
            "posting_offsets": self.term_count + 1,
            "posting_counts": self.postings,
            "frequent_classes": self.chunks * len(self["frequent_terms"]),
        }
        for name, length in expected.items():
            if len(self[name]) != length:
                raise ValueError(f"the section {name} has {len(self[name])} items where {length} belong")
        for offsets, content in _ENDS.items():
            if self[offsets][0] or self[offsets][-1] != len(self[content]):
                raise ValueError(f"the section {offsets} does not end where {content} does")
        # A length that is wrong by a bit would have a search make a table of billions.
        if sum(self["chunk_lengths"]) != self.total_length:
            raise ValueError("the lengths of its chunks do not add up to their total")

    def page(self, ordinal: int) -> str:
        """The name of a page by its ordinal."""
        name = self._names.get(ordinal)
        if name is None:
            name = self._names[ordinal] = str(self._pages[ordinal], "utf-8")
        return name

    def page_names(self) -> list[str]:
        """The names of all pages, sorted."""
        text = str(self["pages"], "utf-8")
        if len(text) == len(self["pages"]):  # a letter is a byte: one text is cut faster than many are read
            return [text[start:end] for start, end in pairwise(self["page_offsets"].tolist())]
        return [self.page(ordinal) for ordinal in range(self.page_count)]

    def page_ordinal(self, page: str) -> int | None:
        """The ordinal of a page by its name, or None where it is not in the index."""
        return self._pages.find(page.encode("utf-8", "surrogatepass"))

    def page_digest(self, ordinal: int, *, body: bool = False) -> str:
        """SHA-256 of a page's bytes when it was indexed; with `body`, without the lines of the label property."""
        digests = self["page_body_digests" if body else "page_digests"]
        return digests[DIGEST_BYTES * ordinal : DIGEST_BYTES * (ordinal + 1)].hex()

    def all_page_digests(self, *, body: bool = False) -> list[str]:
        """The digest of every page, by ordinal."""
        digits = self["page_body_digests" if body else "page_digests"].hex()
        return [digits[start : start + 2 * DIGEST_BYTES] for start in range(0, len(digits), 2 * DIGEST_BYTES)]

    def term_ordinal(self, term: str) -> int | None:
        """The ordinal of a term, or None where no chunk holds it."""
        return self._terms.find(term.encode("utf-8", "surrogatepass"))

    def term_place(self, term: str) -> int:
        """The ordinal of a term where it is there; else of the term before which it belongs."""
        return self._terms.place(term.encode("utf-8", "surrogatepass"))

    def term(self, ordinal: int) -> str:
        """A term by its ordinal."""
        return str(self._terms[ordinal], "utf-8", "surrogatepass")

    def heading(self, chunk: int) -> tuple[str, ...]:
        """The heading path of a chunk, outermost first."""
        ordinal = self._chunk_headings[chunk]
        path = self._paths.get(ordinal)
        if path is None:
            offsets = self["heading_offsets"]
            text = str(self["headings"][offsets[ordinal] : offsets[ordinal + 1]], "utf-8")
            path = self._paths[ordinal] = tuple(_lenient_json(text)[0])
        return path

    def lines(self, chunk: int) -> tuple[int, int]:
        """First and last source line of a chunk, counted from 1."""
        lines = self._chunk_lines
        return lines[2 * chunk], lines[2 * chunk + 1]

    def page_of(self, chunk: int) -> int:
        """The ordinal of the page a chunk belongs to."""
        return self._chunk_pages[chunk]

    def skipped(self) -> list[tuple[str, str]]:
        """Notes left out when the index was built: path and reason."""
        return self._remarks("skipped")

    def unusable(self) -> dict[str, str]:
        """SHA-256 of the notes that were read and left out since their bytes are no text."""
        return dict(self._remarks("unusable"))

    def warnings(self) -> dict[str, list[str]]:
        """What is odd about notes in the index, by page."""
        by_page: dict[str, list[str]] = {}
        for page, warning in self._remarks("warnings"):
            by_page.setdefault(page, []).append(warning)
        return by_page

    def _remarks(self, kind: str) -> list[tuple[str, str]]:
        remarks = strict_json.loads(str(self["remarks"], "utf-8"))
        rows = remarks.get(kind) if isinstance(remarks, dict) else None
        return [(str(row[0]), str(row[1])) for row in rows if isinstance(row, list)] if isinstance(rows, list) else []


# Our own bytes, whose digest is known: the lenient reader without its ceremony is many times as quick.
_lenient_json = json.JSONDecoder().raw_decode


def mapped(path: str) -> mmap.mmap:
    """A file of ours, mapped. Raises IndexUnusableError where it cannot be opened."""
    try:
        with open(path, "rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise cannot_be_opened(path, error) from None


def cannot_be_opened(path: str, error: Exception) -> IndexUnusableError:
    """The refusal of an index file that the system does not let us open."""
    return IndexUnusableError(f"the index file {path!r} cannot be opened: {getattr(error, 'strerror', None) or error}")


def read_header(whole: mmap.mmap, path: str, magic: bytes, form: str) -> dict[str, strict_json.JsonValue]:
    """The header of a mapped file that begins with `magic`. Raises ValueError where it is damaged, IndexUnusableError where
    its format is not `form`.
    """
    found, length, digest = HEAD.unpack_from(whole, 0)
    text = whole[HEAD.size : HEAD.size + length]
    if found != magic or hashlib.sha256(text).digest() != digest:
        raise ValueError("its header does not have its own digest")
    if sys.byteorder != "little":
        raise ValueError("it is little-endian and this machine is big-endian")
    header = strict_json.loads(text.decode("utf-8"))
    if not isinstance(header, dict) or header.get("format") != form:
        raise IndexUnusableError(f"the index file {path!r} is of another version; {form!r} is read")
    return header


def json_object(value: object) -> dict[str, object]:
    """An object of a header. Raises TypeError for anything else."""
    if not isinstance(value, dict):
        raise TypeError("the header is no index header")
    return value


def _place(value: object) -> tuple[int, int]:
    """Where a section begins, and how long it is; the digest that stands behind these is part of that of the whole file."""
    if not isinstance(value, list) or len(value) != 3:
        raise TypeError("the header's list of sections is damaged")
    return counted(value[0]), counted(value[1])


def counted(value: object) -> int:
    """A count of a header. Raises TypeError for anything else."""
    if not isinstance(value, int) or value < 0:
        raise TypeError("the header holds a number that is none")
    return value
