"""The index file: one header and typed sections, mapped into memory, verified before it is trusted.

    magic 8 bytes | length of the header u32 | SHA-256 of the header 32 bytes | header JSON | sections, 64-byte aligned

The header says the format, the options, the counts, and each section's place and SHA-256. All numbers are little-endian.
There is no time and no absolute path in the file: the same notes and options give the same bytes. The file is named by its
own SHA-256 and made valid by `seal.json`, which is renamed into place last: a build that is killed leaves the old index.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import struct
import sys
from array import array
from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

from vault_eval import strict_json
from vault_eval.digests import DIGEST_BYTES, sha256_hex
from vault_eval.errors import IndexUnusableError
from vault_eval.vault.paths import quoted

FORMAT = "vault-eval.index.v1"
SEAL_FORMAT = "vault-eval.seal.v1"
SEAL_NAME = "seal.json"
STATES_NAME = "states.json"
LABEL_NOTE = "a label note: it may not answer its own queries"

_MAGIC = b"VAULTEVL"
_HEAD = struct.Struct("<8sI32s")
_ALIGNMENT = 64
_SEAL_MAX_BYTES = 65_536
_READ_BYTES = 1 << 20

# Section name -> type code of its numbers; "B" is bytes.
SECTIONS: dict[str, Literal["B", "H", "I", "Q"]] = {
    "chunk_lengths": "I",  # terms of each chunk, its prefix included
    "chunk_pages": "I",  # page ordinal of each chunk; chunks of a page stand together
    "chunk_lines": "I",  # first and last source line of each chunk, from 1
    "chunk_headings": "I",  # ordinal of each chunk's heading path
    "heading_offsets": "I",
    "headings": "B",  # heading paths, each a JSON list
    "page_chunks": "I",  # first chunk of each page, and one past the last
    "page_offsets": "I",
    "pages": "B",  # page names in UTF-8, sorted
    "page_digests": "B",  # SHA-256 of each page's bytes
    "page_body_digests": "B",  # the same without the lines of the label property
    "term_offsets": "I",
    "terms": "B",  # terms in UTF-8, sorted
    "term_most": "H",  # largest frequency of each term in one chunk
    "term_shortest": "I",  # length of the shortest chunk that holds it: with the above, a bound for any k1 and b
    "posting_offsets": "Q",
    "posting_chunks": "I",
    "posting_counts": "H",
    "remarks": "B",  # JSON: notes that are not in the index with reasons, and what is odd about notes that are
}
# Offsets start at 0 and end where the section they lead into ends.
_ENDS = {
    "heading_offsets": "headings",
    "page_chunks": "chunk_lengths",
    "page_offsets": "pages",
    "term_offsets": "terms",
    "posting_offsets": "posting_chunks",
}
_ITEM_BYTES = {"B": 1, "H": 2, "I": 4, "Q": 8}
Numbers: TypeAlias = "array[int] | memoryview[int]"


class IndexFile:
    """A mapped index. Attributes named in SECTIONS are memory views; close it, or use it in a `with`."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._views: dict[str, memoryview[int]] = {}
        self._names: dict[int, str] = {}
        self._paths: dict[int, tuple[str, ...]] = {}
        self._map = _mapped(path)
        try:
            self.header = _read_header(self._map, path)
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
        self.options: Mapping[str, object] = _mapping(self.header["options"])
        places = _mapping(self.header["sections"])
        with memoryview(self._map) as whole:
            for name, code in SECTIONS.items():
                offset, size, _ = _place(places[name])
                if offset % _ALIGNMENT or offset + size > len(whole) or size % _ITEM_BYTES[code]:
                    raise ValueError(f"the section {name} lies outside the file")
                self._views[name] = whole[offset : offset + size].cast(code)
        self.chunks = len(self["chunk_lengths"])
        self.page_count = len(self["page_offsets"]) - 1
        self.term_count = len(self["term_offsets"]) - 1
        self.postings = len(self["posting_chunks"])
        self.total_length = _count(self.header["total_length"])
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
            offsets = self["page_offsets"]
            name = self._names[ordinal] = str(self["pages"][offsets[ordinal] : offsets[ordinal + 1]], "utf-8")
        return name

    def page_names(self) -> list[str]:
        """The names of all pages, sorted."""
        return [self.page(ordinal) for ordinal in range(self.page_count)]

    def page_ordinal(self, page: str) -> int | None:
        """The ordinal of a page by its name, or None where it is not in the index."""
        return self._find(page.encode("utf-8", "surrogatepass"), "page_offsets", "pages", self.page_count)

    def page_digest(self, ordinal: int, *, body: bool = False) -> str:
        """SHA-256 of a page's bytes when it was indexed; with `body`, without the lines of the label property."""
        digests = self["page_body_digests" if body else "page_digests"]
        return digests[DIGEST_BYTES * ordinal : DIGEST_BYTES * (ordinal + 1)].hex()

    def term_ordinal(self, term: str) -> int | None:
        """The ordinal of a term, or None where no chunk holds it."""
        return self._find(term.encode("utf-8", "surrogatepass"), "term_offsets", "terms", self.term_count)

    def term(self, ordinal: int) -> str:
        """A term by its ordinal."""
        offsets = self["term_offsets"]
        return str(self["terms"][offsets[ordinal] : offsets[ordinal + 1]], "utf-8", "surrogatepass")

    def heading(self, chunk: int) -> tuple[str, ...]:
        """The heading path of a chunk, outermost first."""
        ordinal = self["chunk_headings"][chunk]
        path = self._paths.get(ordinal)
        if path is None:
            offsets = self["heading_offsets"]
            texts = strict_json.loads(str(self["headings"][offsets[ordinal] : offsets[ordinal + 1]], "utf-8"))
            path = self._paths[ordinal] = tuple(str(text) for text in texts) if isinstance(texts, list) else ()
        return path

    def lines(self, chunk: int) -> tuple[int, int]:
        """First and last source line of a chunk, counted from 1."""
        return self["chunk_lines"][2 * chunk], self["chunk_lines"][2 * chunk + 1]

    def page_of(self, chunk: int) -> int:
        """The ordinal of the page a chunk belongs to."""
        return self["chunk_pages"][chunk]

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

    def damaged_section(self) -> str | None:
        """The first section whose bytes do not have the digest in the header, or None."""
        places = _mapping(self.header["sections"])
        return next((name for name in SECTIONS if hashlib.sha256(self._bytes(name)).hexdigest() != _place(places[name])[2]), None)

    def _bytes(self, section: str) -> memoryview[int]:
        return self._views[section].cast("B") if SECTIONS[section] != "B" else self._views[section]

    def _find(self, key: bytes, offsets_name: str, blob_name: str, count: int) -> int | None:
        offsets, blob = self[offsets_name], self[blob_name]
        low, high = 0, count
        while low < high:
            middle = (low + high) // 2
            if bytes(blob[offsets[middle] : offsets[middle + 1]]) < key:
                low = middle + 1
            else:
                high = middle
        if low < count and bytes(blob[offsets[low] : offsets[low + 1]]) == key:
            return low
        return None


def index_bytes(
    options: Mapping[str, object], total_length: int, sections: Mapping[str, bytes | Numbers]
) -> Iterator[bytes | memoryview[int]]:
    """The parts of an index file in order, padding included; the same content gives the same bytes."""
    if sys.byteorder != "little":
        raise IndexUnusableError("indexes are little-endian, this machine is big-endian: build and evaluate on another one")
    views = {name: memoryview(sections[name]).cast("B") if len(sections[name]) else memoryview(b"") for name in SECTIONS}
    digests = {name: hashlib.sha256(view).hexdigest() for name, view in views.items()}
    # Places depend on the header's length, which depends on the places: reserve room for the largest numbers first.
    room = _HEAD.size + len(_header(options, total_length, dict.fromkeys(SECTIONS, (2**53, 2**53)), digests))
    offset = start = _aligned(room)
    places: dict[str, tuple[int, int]] = {}
    for name, view in views.items():
        places[name] = (offset, len(view))
        offset = _aligned(offset + len(view))
    header = _header(options, total_length, places, digests)
    head = _HEAD.pack(_MAGIC, len(header), hashlib.sha256(header).digest()) + header
    yield head + bytes(start - len(head))
    for name, view in views.items():
        yield view
        yield bytes(_aligned(places[name][0] + len(view)) - places[name][0] - len(view))


def _header(
    options: Mapping[str, object], total_length: int, places: Mapping[str, tuple[int, int]], digests: Mapping[str, str]
) -> bytes:
    rows = {name: [*place, digests[name]] for name, place in places.items()}
    content = {"format": FORMAT, "options": dict(options), "total_length": total_length, "sections": rows}
    return strict_json.encode(strict_json.dumps(content))


def file_sha256(path: str) -> str:
    """The SHA-256 of a file's bytes, read in pieces: hashing the map would make the whole file resident."""
    digest = hashlib.sha256()
    with open(path, "rb", buffering=0) as file:
        while piece := file.read(_READ_BYTES):
            digest.update(piece)
    return digest.hexdigest()


def seal_text(vault: str, index_name: str, index_sha256: str) -> str:
    """The seal that makes an index file valid for one vault; `vault` is the vault's id."""
    content = {"format": SEAL_FORMAT, "index_format": FORMAT, "vault": vault, "file": index_name, "sha256": index_sha256}
    return strict_json.dumps({**content, "seal": _seal_digest(content)}, spread=1) + "\n"


def read_seal(folder: str, vault: str) -> tuple[str, str]:
    """Path and SHA-256 of the index file in `folder`. Raises IndexUnusableError: missing, damaged, other version or vault."""
    seal = _seal(folder)
    found = seal.get("index_format")
    if seal.get("format") != SEAL_FORMAT or found != FORMAT:
        shown = "nothing" if found is None else quoted(str(found))
        raise IndexUnusableError(f"the index in {folder!r} is of another version: {shown} where {FORMAT!r} is read")
    name, sha256 = seal.get("file"), seal.get("sha256")
    content = {key: value for key, value in seal.items() if key != "seal"}
    if not (isinstance(name, str) and isinstance(sha256, str) and seal.get("seal") == _seal_digest(content)):
        raise IndexUnusableError(f"the index in {folder!r} is corrupt: {SEAL_NAME} does not have its own digest")
    if seal.get("vault") != vault:
        raise IndexUnusableError(f"the index in {folder!r} belongs to another vault, or the vault was moved")
    return os.path.join(folder, os.path.basename(name)), sha256


def open_index(folder: str, vault: str, *, verify: bool) -> tuple[IndexFile, str]:
    """The index of a vault and its SHA-256; with `verify` all its bytes are read and held against the seal.

    Raises IndexUnusableError; creates nothing.
    """
    path, sha256 = read_seal(folder, vault)
    if not os.path.exists(path):
        # A build that just finished may have replaced it: the seal names the new one.
        path, sha256 = read_seal(folder, vault)
    if verify and _digest_of(path) != sha256:
        raise IndexUnusableError(f"the index in {folder!r} is corrupt: its bytes do not have the digest in {SEAL_NAME}")
    return IndexFile(path), sha256


def _seal(folder: str) -> Mapping[str, object]:
    try:
        with open(os.path.join(folder, SEAL_NAME), "rb") as file:
            seal = strict_json.loads(file.read(_SEAL_MAX_BYTES).decode("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise IndexUnusableError(f"there is no index in {folder!r}") from None
    except (OSError, ValueError) as error:
        raise IndexUnusableError(f"the index in {folder!r} is corrupt: {SEAL_NAME} cannot be read ({error})") from None
    if not isinstance(seal, dict):
        raise IndexUnusableError(f"the index in {folder!r} is corrupt: {SEAL_NAME} is no seal")
    return seal


def _seal_digest(content: Mapping[str, object]) -> str:
    return sha256_hex(strict_json.encode(strict_json.dumps(content)))


def _digest_of(path: str) -> str:
    try:
        return file_sha256(path)
    except (OSError, ValueError) as error:
        raise _cannot_be_opened(path, error) from None


def _mapped(path: str) -> mmap.mmap:
    try:
        with open(path, "rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise _cannot_be_opened(path, error) from None


def _cannot_be_opened(path: str, error: Exception) -> IndexUnusableError:
    return IndexUnusableError(f"the index file {path!r} cannot be opened: {getattr(error, 'strerror', None) or error}")


def _read_header(whole: mmap.mmap, path: str) -> dict[str, strict_json.JsonValue]:
    magic, length, digest = _HEAD.unpack_from(whole, 0)
    text = whole[_HEAD.size : _HEAD.size + length]
    if magic != _MAGIC or hashlib.sha256(text).digest() != digest:
        raise ValueError("its header does not have its own digest")
    if sys.byteorder != "little":
        raise ValueError("it is little-endian and this machine is big-endian")
    header = strict_json.loads(text.decode("utf-8"))
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise IndexUnusableError(f"the index file {path!r} is of another version; {FORMAT!r} is read")
    return header


def _mapping(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise TypeError("the header is no index header")
    return value


def _place(value: object) -> tuple[int, int, str]:
    if not isinstance(value, list) or len(value) != 3:
        raise TypeError("the header's list of sections is damaged")
    return _count(value[0]), _count(value[1]), str(value[2])


def _count(value: object) -> int:
    if not isinstance(value, int) or value < 0:
        raise TypeError("the header holds a number that is none")
    return value


def _aligned(offset: int) -> int:
    return -(-offset // _ALIGNMENT) * _ALIGNMENT
