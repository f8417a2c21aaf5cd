"""What tests of several stages need: a vault with an index as claude-obsidian writes it; PDFs, written byte by byte."""

from __future__ import annotations

import hashlib
import json
import os
import re
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from vault_eval.index.vault_meta.analysis import terms_of

_FRONTMATTER = re.compile(r"---\n.*?\n---\n", re.DOTALL)


def whole(body: str) -> list[str]:
    """One chunk a page, none for a page without text."""
    return [body.strip()] if body.strip() else []


def paragraphs(body: str) -> list[str]:
    """A chunk a paragraph."""
    return [part.strip() for part in body.split("\n\n") if part.strip()]


@dataclass(frozen=True)
class VaultMeta:
    """A vault at `root`: notes are written, then indexed without prefixes, then changed."""

    root: Path

    @property
    def folder(self) -> Path:
        return self.root / ".vault-meta"

    @property
    def index_file(self) -> Path:
        return self.folder / "bm25" / "index.json"

    def write(self, page: str, content: str | bytes) -> Path:
        path = self.root / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def index(self, cut: Callable[[str], list[str]] = whole, **changed: object) -> None:
        """Chunk records and index file; `changed` are keys of every record that are to be otherwise."""
        docs: dict[str, Any] = {}
        postings: dict[str, list[list[object]]] = {}
        for path in sorted((self.root / "wiki").rglob("*.md")):
            for number, text in enumerate(cut(_FRONTMATTER.sub("", _lossy(path), count=1))):
                record = self._record(path, number, text) | changed
                chunk = f"{record['page_address']}:{record['chunk_index']}"
                place = f"chunks/{record['page_address']}/chunk-{number:03d}.json"
                self.write(f".vault-meta/{place}", json.dumps(record, ensure_ascii=False))
                terms = terms_of(text)
                hashes = {name: record[name] for name in ("body_hash", "page_body_hash")}
                docs[chunk] = {"path": f".vault-meta/{place}", "dl": len(terms), **hashes}
                for term, count in Counter(terms).items():
                    postings.setdefault(term, []).append([chunk, count])
        self.save(
            {
                "schema_version": 2,
                "params": {"k1": 1.5, "b": 0.75},
                "doc_count": len(docs),
                "avg_dl": sum(entry["dl"] for entry in docs.values()) / len(docs) if docs else 0.0,
                "updated_at": "2026-01-02T03:04:05Z",
                "vocab": {term: {"df": len(found), "postings": found} for term, found in sorted(postings.items())},
                "docs": docs,
            }
        )

    def document(self) -> dict[str, Any]:
        """The index file, to be changed and saved."""
        return json.loads(self.index_file.read_text(encoding="utf-8"))

    def save(self, document: Mapping[str, object]) -> None:
        self.write(".vault-meta/bm25/index.json", json.dumps(document, ensure_ascii=False))

    def record_file(self, page: str, number: int = 0) -> Path:
        """The file of a chunk's record."""
        return self.folder / "chunks" / _address(page) / f"chunk-{number:03d}.json"

    def change_record(self, page: str, **changed: object) -> None:
        """Other values in the record of a page's first chunk; the index file stays."""
        file = self.record_file(page)
        file.write_text(json.dumps(json.loads(file.read_text(encoding="utf-8")) | changed), encoding="utf-8")

    def _record(self, path: Path, number: int, text: str) -> dict[str, object]:
        page = path.relative_to(self.root).as_posix()
        return {
            "schema_version": 1,
            "page_path": page,
            "page_address": _address(page),
            "chunk_index": number,
            "raw_text": text,
            "contextualized_text": text,
            "prefix": "",
            "prefix_source": "synthetic",
            "char_count": len(text),
            "body_hash": _sha256(text),
            "page_body_hash": _sha256(_lossy(path)),
            "created_at": "2026-01-02T03:04:05Z",
        }


@pytest.fixture
def vault_meta(tmp_path: Path) -> VaultMeta:
    """An empty vault, to be filled and indexed."""
    (tmp_path / "vault" / "wiki").mkdir(parents=True)
    return VaultMeta(tmp_path / "vault")


@pytest.fixture(scope="session")
def claude_obsidian_root() -> str:
    """A checkout of claude-obsidian, named by CLAUDE_OBSIDIAN_ROOT."""
    root = os.environ.get("CLAUDE_OBSIDIAN_ROOT", "")
    if Path(root, "scripts", "retrieve.py").is_file():
        return root
    reason = f"CLAUDE_OBSIDIAN_ROOT={root!r} names no checkout of claude-obsidian"
    if os.environ.get("REQUIRE_CLAUDE_OBSIDIAN") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


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


def _lossy(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def _address(page: str) -> str:
    return "syn-" + hashlib.sha256(page.encode()).hexdigest()


def _sha256(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()
