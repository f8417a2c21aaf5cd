from __future__ import annotations

from vault_eval.authoring.judged_page import read_judged_page
from vault_eval.digests import sha256_hex
from vault_eval.vault.snapshot import open_snapshot


def read(folder, page):
    with open_snapshot(str(folder), with_pdfs=True) as vault:
        return read_judged_page(vault, page)


def test_question_that_a_note_is_labelled_with_is_not_shown_and_every_line_keeps_its_number(folder, write):
    text = "---\ntags: [sea]\nanswers:\n  - when is high water\n---\nnoon\n"
    found = read(folder, write("Tides.md", text))
    assert found.text.split("\n") == ["---", "tags: [sea]", "", "", "---", "noon", ""]
    assert found.sha256 == sha256_hex(text.encode())


def test_pdf_is_its_text_and_a_section_of_it_one_page(folder, make_pdf):
    (folder / "Tides.pdf").write_bytes(make_pdf(["Spring tides.", "", "Neap tides\nare low."]))
    found = read(folder, "Tides.pdf")
    assert found.text == "Spring tides.\n\nNeap tides\nare low."
    assert found.section(("page 3",)) == "Neap tides\nare low."
    assert found.section(()) == found.text


def test_heading_of_a_note_that_is_called_page_3_cuts_nothing(folder, write):
    found = read(folder, write("Log.md", "# page 1\nfair wind\n"))
    assert found.section(("page 1",)) == "# page 1\nfair wind\n"


def test_page_that_cannot_be_read_is_none(folder, make_pdf):
    (folder / "Broken.pdf").write_bytes(make_pdf(["text"])[:40])
    (folder / "Bytes.md").write_bytes(b"\xff")
    assert [read(folder, page) for page in ("Broken.pdf", "Bytes.md", "Gone.md")] == [None, None, None]
