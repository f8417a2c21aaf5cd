"""Small vaults in temporary folders, with an index beside them; and PDFs, written byte by byte."""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

from vault_eval.index.build import BuildResult, build_index
from vault_eval.index.options import IndexOptions
from vault_eval.index.seal import open_index
from vault_eval.index.search import Searcher
from vault_eval.index.store import IndexFile
from vault_eval.index.terms import Analyzer
from vault_eval.vault.location import vault_id
from vault_eval.vault.snapshot import open_snapshot

# Examples build indexes; how long one takes depends on the disk.
settings.register_profile("index", deadline=None)
settings.load_profile("index")

# What a file changed now looks like to a build an hour from now: settled.
LATER_NS = 3600 * 1_000_000_000


@dataclass(frozen=True)
class Vault:
    """A vault at `root`, and a folder for its index that is not in it."""

    root: Path
    folder: Path

    @property
    def id(self) -> str:
        return vault_id(str(self.root))

    def write(self, page: str, content: str | bytes) -> Path:
        path = self.root / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def build(self, options: IndexOptions | None = None, *, folder: Path | None = None, later_ns: int = LATER_NS) -> BuildResult:
        place = str(folder or self.folder)
        with open_snapshot(str(self.root), with_pdfs=options is not None and options.pdf) as snapshot:
            started_ns = time.time_ns() + later_ns
            return build_index(
                snapshot.reader,
                snapshot.listing,
                options or IndexOptions(),
                place,
                self.id,
                started_ns,
                lambda _done, _total: None,
            )

    @contextmanager
    def index(self) -> Iterator[IndexFile]:
        index, _ = open_index(str(self.folder), self.id, verify=True)
        with index:
            yield index

    def found(self, query: str) -> list[str]:
        """The pages that hold a term of the query, best first, by the built index alone."""
        with self.index() as index:
            hits = Searcher(index).best(Analyzer().terms(query), 1000)
            return list(dict.fromkeys(index.page(index.page_of(hit.chunk)) for hit in hits))


@pytest.fixture(scope="session")
def make_vault(tmp_path_factory) -> Callable[..., Vault]:
    """Vaults by their notes; one a call, so that property tests can have many."""

    def make(**notes: str) -> Vault:
        place = tmp_path_factory.mktemp("vault")
        vault = Vault(place / "vault", place / "index")
        vault.root.mkdir()
        for page, text in notes.items():
            vault.write(page, text)
        return vault

    return make


@pytest.fixture
def vault(make_vault) -> Vault:
    return make_vault()


def pdf_bytes(pages: Sequence[str], *, compressed: bool = False) -> bytes:
    """A PDF of so many pages, each with its lines of text in any script, or with nothing on it where that is empty.

    Each letter is a code of its own in the one font, which tells what it means (`/ToUnicode`).
    """
    codes = {letter: code for code, letter in enumerate(sorted(set("".join(pages)) - {"\n"}), 1)}
    meanings = "".join(f"<{code:02x}> <{letter.encode('utf-16-be').hex()}>\n" for letter, code in codes.items())
    cmap = f"1 begincodespacerange <00> <ff> endcodespacerange\n{len(codes)} beginbfchar\n{meanings}endbfchar".encode()
    kids = " ".join(f"{5 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 4 0 R >>",
        _stream(cmap, compressed=compressed),
    ]
    for number, text in enumerate(pages):
        lines = " T* ".join(f"<{''.join(f'{codes[letter]:02x}' for letter in line)}> Tj" for line in text.split("\n"))
        drawn = f"BT /F1 11 Tf 14 TL 50 750 Td {lines} ET".encode() if text else b""
        resources = "/Resources << /Font << /F1 3 0 R >> >> /MediaBox [0 0 595 842]"
        objects.append(f"<< /Type /Page /Parent 2 0 R {resources} /Contents {6 + 2 * number} 0 R >>".encode())
        objects.append(_stream(drawn, compressed=compressed))
    return pdf_of(objects)


def _stream(data: bytes, *, compressed: bool) -> bytes:
    data = zlib.compress(data) if compressed else data
    kind = b"/Filter /FlateDecode " if compressed else b""
    return b"<< %b/Length %d >>\nstream\n%b\nendstream" % (kind, len(data), data)


def pdf_of(objects: Sequence[bytes]) -> bytes:
    """A PDF of these objects, the first of which is its catalogue."""
    out, places = bytearray(b"%PDF-1.7\n"), []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size, start = len(objects) + 1, len(out)
    tail = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, start)
    return bytes(out) + b"xref\n0 %d\n0000000000 65535 f \n%b" % (size, table) + tail


@pytest.fixture(scope="session")
def make_pdf() -> Callable[..., bytes]:
    """`make_pdf(["text of page 1", …])`; a test that asks for it needs pypdf, without which it is skipped."""
    try:
        import pypdf  # noqa: F401 - that it is there is all that counts
    except ImportError:
        if os.environ.get("REQUIRE_PDF") == "1":
            pytest.fail("REQUIRE_PDF=1, but the package pypdf is not installed")
        pytest.skip("the package pypdf is not installed")
    return pdf_bytes


@pytest.fixture(scope="session")
def pdf_file() -> Callable[[Sequence[bytes]], bytes]:
    """`pdf_file([object 1, …])`: what no writer of PDFs would write."""
    return pdf_of
