"""PDFs in the index: by page, on demand alone, refreshed as notes are; and an index of notes that does not know of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from vault_eval.errors import MissingPackageError
from vault_eval.index import build as build_module
from vault_eval.index.freshness import compare_with_vault
from vault_eval.index.options import IndexOptions, options_from_json
from vault_eval.index.search import Searcher
from vault_eval.index.states import read_states
from vault_eval.index.terms import Analyzer
from vault_eval.index.vectors.build import build_vectors
from vault_eval.index.vectors.embedder import ModelIdentity
from vault_eval.vault.snapshot import open_snapshot

WITH_PDFS = IndexOptions(pdf=True)
NOTES = {"Sea/Tides.md": "# Tides\n\nThe moon pulls.\n", "Boat.md": "A boat.\n"}


@pytest.fixture
def harbour(make_vault, make_pdf):
    """Two notes; a PDF of three pages, the second empty; one with a single page, its suffix in capitals."""
    made = make_vault(**NOTES)
    made.write("Sea/Almanac.pdf", make_pdf(["Spring tides are high.", "", "Neap tides\nare low."]))
    made.write("Engine.PDF", make_pdf(["Change the oil."]))
    return made


def content(result):
    return Path(result.path).read_bytes()


def best(vault, query):
    """Page, heading and lines of the best chunk."""
    with vault.index() as index:
        (hit, *_) = Searcher(index).best(Analyzer().terms(query), 1)
        return index.page(index.page_of(hit.chunk)), index.heading(hit.chunk), index.lines(hit.chunk)


def test_each_page_with_text_is_found_under_its_number_with_the_lines_of_that_page(harbour):
    result = harbour.build(WITH_PDFS)
    assert (result.pages, result.chunks) == (4, 5)
    assert best(harbour, "spring high") == ("Sea/Almanac.pdf", ("page 1",), (1, 1))
    assert best(harbour, "neap low") == ("Sea/Almanac.pdf", ("page 3",), (1, 2))
    assert best(harbour, "oil") == ("Engine.PDF", ("page 1",), (1, 1))
    assert best(harbour, "moon") == ("Sea/Tides.md", ("Tides",), (1, 3))
    assert result.warnings == (("Sea/Almanac.pdf", "1 of its 3 pages hold no text"),)


def test_a_pdf_is_found_by_its_name_but_not_by_the_numbers_that_we_give_its_pages(harbour):
    harbour.build(WITH_PDFS)
    assert harbour.found("engine") == ["Engine.PDF"]
    assert harbour.found("page 3 pdf") == []


def test_nothing_in_a_pdf_is_taken_for_markup(make_vault, make_pdf):
    vault = make_vault()
    vault.write("A.pdf", make_pdf(["---\ntitle: xyzzy\n---\n# Heading\n- item"]))
    vault.build(WITH_PDFS)
    assert best(vault, "xyzzy heading") == ("A.pdf", ("page 1",), (1, 5))


def test_a_page_is_one_chunk_unless_it_is_very_long(make_vault, make_pdf):
    """52 lines of some 66 characters, a page of a book, are less than the 3,800 that a chunk has room for; 80 lines are not."""
    vault = make_vault()
    lines = [f"line {number} of a page that is set in small type and narrow columns" for number in range(80)]
    vault.write("A.pdf", make_pdf(["\n".join(lines[:52]), "\n".join(lines)]))
    assert vault.build(WITH_PDFS).chunks == 3
    with vault.index() as index:
        assert [index.heading(chunk) for chunk in range(3)] == [("page 1",), ("page 2",), ("page 2",)]
        assert index.lines(0) == (1, 52)
        (first, cut), (after, last) = index.lines(1), index.lines(2)
    assert (first, last) == (1, 80)
    assert first < after <= cut + 1 < last


def test_an_index_of_notes_has_the_same_bytes_whatever_pdfs_lie_beside_them(make_vault, make_pdf):
    plain, beside = make_vault(**NOTES), make_vault(**NOTES)
    beside.write("Sea/Almanac.pdf", make_pdf(["Spring tides."]))
    beside.write("Broken.pdf", b"%PDF")
    assert content(plain.build()) == content(beside.build())
    assert set(IndexOptions().as_json()) == {
        *("analysis", "chunk_chars", "chunk_max", "overlap", "prefix", "stem", "exclude", "label_property"),
    }


def test_asking_for_pdfs_changes_nothing_but_the_header_where_there_are_none(make_vault, make_pdf):
    vault = make_vault(**NOTES)
    vault.build()
    with vault.index() as index:
        before = {name: bytes(index[name]) for name in index.header["sections"]}
        options = dict(index.options)
    vault.build(WITH_PDFS)
    with vault.index() as index:
        assert {name: bytes(index[name]) for name in index.header["sections"]} == before
        added = dict(index.options)
    assert added.pop("pdf") is True
    assert added.pop("pdf_reader").startswith("pypdf ")
    assert added == options


def test_pdfs_that_give_no_text_are_left_out_with_their_reason_and_not_read_again_until_they_change(
    harbour, make_pdf, monkeypatch
):
    harbour.write("Scan.pdf", make_pdf(["", ""]))
    harbour.write("Broken.pdf", b"%PDF-1.7")
    result = harbour.build(WITH_PDFS)
    assert {one.path: one.reason for one in result.skipped} == {
        "Broken.pdf": "the PDF is broken: Stream has ended unexpectedly",
        "Scan.pdf": "the PDF holds no text: its pages are pictures, as of a scan, or empty",
    }
    asked = []
    read = build_module.page_texts
    monkeypatch.setattr(build_module, "page_texts", lambda data: asked.append(data) or read(data))
    harbour.write("Boat.md", "Two boats.\n")
    again = harbour.build(WITH_PDFS, later_ns=-(10**12))  # no file state is trusted: every file is read
    assert (again.skipped, asked) == (result.skipped, [])
    harbour.write("Broken.pdf", make_pdf(["Mended."]))
    assert [one.path for one in harbour.build(WITH_PDFS).skipped] == ["Scan.pdf"]
    assert len(asked) == 1


def test_a_refresh_ends_where_a_build_from_nothing_does(harbour, make_pdf):
    harbour.build(WITH_PDFS)
    harbour.write("Sea/Almanac.pdf", make_pdf(["Other tides.", "More."]))
    harbour.write("New.pdf", make_pdf(["New words."]))
    harbour.write("Scan.pdf", make_pdf([""]))
    (harbour.root / "Engine.PDF").rename(harbour.root / "Motor.pdf")
    refreshed = harbour.build(WITH_PDFS)
    assert not refreshed.unchanged
    assert content(refreshed) == content(harbour.build(WITH_PDFS, folder=harbour.folder.with_name("anew")))
    assert harbour.build(WITH_PDFS).unchanged
    assert harbour.found("oil") == ["Motor.pdf"]
    assert harbour.found("neap") == []
    assert not harbour.build().unchanged
    assert harbour.found("oil") == []


def test_another_version_of_the_reader_reads_all_pdfs_again(harbour, monkeypatch):
    harbour.build(WITH_PDFS)
    monkeypatch.setattr(build_module, "reader_name", lambda: "pypdf 0.0")
    other = harbour.build(WITH_PDFS)
    assert (other.unchanged, other.reused) == (False, 0)
    with harbour.index() as index:
        assert index.options["pdf_reader"] == "pypdf 0.0"


def test_without_the_package_an_index_with_pdfs_is_neither_built_nor_lost(harbour, monkeypatch):
    path = harbour.build(WITH_PDFS).path
    before = Path(path).read_bytes()
    monkeypatch.setitem(sys.modules, "pypdf", None)
    harbour.write("Boat.md", "Two boats.\n")
    with pytest.raises(MissingPackageError):
        harbour.build(WITH_PDFS)
    assert Path(path).read_bytes() == before
    assert harbour.found("oil") == ["Engine.PDF"]  # searching needs no reader of PDFs


def test_a_changed_pdf_is_stale_and_one_that_was_added_or_removed_is_said_so(harbour, make_pdf):
    result = harbour.build(WITH_PDFS)
    harbour.write("Sea/Almanac.pdf", make_pdf(["answers: other"]))
    harbour.write("New.pdf", make_pdf(["New."]))
    (harbour.root / "Engine.PDF").unlink()
    with harbour.index() as index, open_snapshot(str(harbour.root), with_pdfs=True) as snapshot:
        states = read_states(str(harbour.folder), result.sha256)
        found = compare_with_vault(snapshot.listing, index, states, snapshot.pages)
    assert (found.added, found.changed, found.removed) == (("New.pdf",), ("Sea/Almanac.pdf",), ("Engine.PDF",))
    assert found.label_only == ()


def test_the_option_is_remembered_as_json_and_said_as_arguments():
    assert options_from_json(WITH_PDFS.as_json()) == WITH_PDFS
    assert options_from_json(IndexOptions().as_json()).pdf is False
    assert WITH_PDFS.as_arguments() == ["--pdf"]


class Recorder:
    """A model that gives every text the same vector and remembers what it was asked."""

    identity = ModelIdentity("recorder", {})

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts):
        self.texts += texts
        return [[1.0, 0.0] for _ in texts]


def test_vectors_are_made_of_the_same_chunks(harbour):
    result = harbour.build(WITH_PDFS)
    model = Recorder()
    with harbour.index() as index, open_snapshot(str(harbour.root), with_pdfs=True) as snapshot:
        made = build_vectors(index, result.sha256, str(harbour.folder), snapshot.read, model, build_module.no_progress)
    assert made.chunks == result.chunks == 5
    assert model.texts[2:4] == ["Almanac\nSpring tides are high.", "Almanac\nNeap tides\nare low."]
