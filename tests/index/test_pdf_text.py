"""Text of PDFs by page, and what becomes of those that are broken, locked, empty or made to do harm."""

from __future__ import annotations

import io
import subprocess
import sys
import time
import zlib
from pathlib import Path

import pytest

from vault_eval.errors import MissingPackageError, UnreadableFileError
from vault_eval.index import pdf_text
from vault_eval.index.pdf_text import page_texts, reader_name
from vault_eval.limits import PDF_MAX_PAGES

SCRIPTS = Path(pdf_text.__file__).parents[2]


def reason(data: bytes) -> str:
    with pytest.raises(UnreadableFileError) as refused:
        page_texts(data)
    return str(refused.value)


@pytest.mark.parametrize("compressed", [False, True])
def test_each_page_gives_its_text_in_its_lines(make_pdf, compressed):
    pages = ["Spring tides are high.\nNeap tides are low.", "", "潮の高さ ğüşiöç हिन्दी"]
    assert page_texts(make_pdf(pages, compressed=compressed)) == tuple(pages)


def test_a_word_broken_at_the_end_of_a_line_is_whole_again_and_lines_stay_as_many(make_pdf):
    text = "a brok-\nen word, well-\nKnown, 1990-\n2000, soft\u00ad\nware"
    assert page_texts(make_pdf([text])) == ("a broken\nword, well-\nKnown, 1990-\n2000, software\n",)


def test_more_text_than_is_indexed_is_refused(make_pdf, monkeypatch):
    """In this process, which alone can be told of a smaller limit."""
    pytest.importorskip("pypdf")
    monkeypatch.setattr(pdf_text, "PDF_TEXT_MAX_CHARACTERS", 10)
    assert list(pdf_text._texts(make_pdf(["12345", "67890"]))) == ["12345", "67890"]
    with pytest.raises(UnreadableFileError, match="the PDF holds more than 10 characters of text"):
        list(pdf_text._texts(make_pdf(["12345", "678901"])))


def test_the_reader_says_its_version(make_pdf):
    import pypdf

    assert reader_name() == f"pypdf {pypdf.__version__}"


def test_without_the_package_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pypdf", None)
    with pytest.raises(MissingPackageError, match="install 'pypdf>=5'"):
        reader_name()


@pytest.mark.parametrize("data", [b"", b"%PDF-1.7", b"hello", b"\x00" * 5000, b"%PDF-1.7\n1 0 obj <<" * 300])
def test_what_is_no_pdf_is_called_broken(make_pdf, data):
    assert reason(data).startswith("the PDF is broken: ")


def test_a_pdf_that_ends_early_is_read_or_called_broken_in_one_short_line(make_pdf):
    whole = make_pdf(["Spring tides are high."])
    outcomes = {_outcome(whole[: len(whole) * part // 5]) for part in range(1, 5)}
    assert any(said.startswith("the PDF is broken: ") for said in outcomes)
    assert all("\n" not in said and len(said) < 250 for said in outcomes)


def _outcome(data: bytes) -> str:
    try:
        return " ".join(page_texts(data))
    except UnreadableFileError as refused:
        return str(refused)


def test_a_pdf_without_text_is_said_to_be_pictures(make_pdf):
    assert "no text: its pages are pictures" in reason(make_pdf(["", "", ""]))


def encrypted(data: bytes, user: str) -> bytes:
    import pypdf

    writer = pypdf.PdfWriter(clone_from=io.BytesIO(data))
    writer.encrypt(user, "owner", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def test_a_locked_pdf_is_left_alone_and_one_without_a_password_opens_as_in_every_viewer(make_pdf):
    data = make_pdf(["Spring tides."])
    assert "opens with a password only" in reason(encrypted(data, "secret"))
    assert page_texts(encrypted(data, "")) == ("Spring tides.",)


def test_a_pdf_of_too_many_pages_is_refused(make_pdf, pdf_file):
    kids = b"3 0 R " * (PDF_MAX_PAGES + 1)
    pages = b"<< /Type /Pages /Kids [%b] /Count %d >>" % (kids, PDF_MAX_PAGES + 1)
    data = pdf_file([b"<< /Type /Catalog /Pages 2 0 R >>", pages, b"<< /Type /Page /Parent 2 0 R >>"])
    assert reason(data) == f"the PDF has {PDF_MAX_PAGES + 1:,} pages; at most {PDF_MAX_PAGES:,} are read"


def test_a_pdf_made_to_keep_its_reader_busy_is_given_up(make_pdf, pdf_file, monkeypatch):
    """Sixty kilobytes that are two million words once they are unpacked."""
    packed = zlib.compress(b"BT /T 9 Tf (x) Tj ET\n" * 2_000_000)
    data = pdf_file(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /T 5 0 R >> >> >>",
            b"<< /Length %d /Filter /FlateDecode >>\nstream\n%b\nendstream" % (len(packed), packed),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        ]
    )
    monkeypatch.setattr(pdf_text, "PDF_MAX_SECONDS", 1)
    started = time.monotonic()
    assert reason(data) == "reading the PDF takes longer than 1 seconds"
    assert time.monotonic() - started < 10


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not bound the memory of a process")
def test_the_process_that_reads_may_take_so_much_memory_and_write_no_file(tmp_path):
    code = f"""
import sys; sys.path.insert(0, {str(SCRIPTS)!r})
from vault_eval.index.pdf_text import _confine
_confine()
try:
    bytearray(3 << 30)
except MemoryError:
    print("no memory")
import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    with open({str(tmp_path / "out")!r}, "w") as file: file.write("x")
except OSError:
    print("no file")
"""
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.split("\n"), done.stderr) == (["no memory", "no file", ""], "")


def test_a_reader_that_breaks_off_is_a_reason_and_no_crash(monkeypatch):
    monkeypatch.setattr(pdf_text, "_CHILD", "import os; os.abort()")
    assert reason(b"") == "the PDF cannot be read: its reader broke off"


def test_nothing_that_a_pdf_asks_for_is_done(make_pdf, pdf_file, tmp_path):
    """Actions at opening, a program to be started, a file to be fetched: the text is read, and that is all."""
    flag = tmp_path / "flag"
    launch = b"<< /S /Launch /F (/usr/bin/touch) /Win << /F (touch) /P (%b) >> >>" % str(flag).encode()
    text = b"BT /T 9 Tf 9 9 Td (Spring tides) Tj ET"
    data = pdf_file(
        [
            b"<< /Type /Catalog /Pages 2 0 R /OpenAction 5 0 R /AA << /O 6 0 R >> >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /AA << /O 5 0 R >> /Resources << /Font << /T 7 0 R >> >> >>",
            b"<< /Length %d /F (https://example.org/x) >>\nstream\n%b\nendstream" % (len(text), text),
            launch,
            b"<< /S /JavaScript /JS (app.launchURL\\('https://example.org'\\)) >>",
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        ]
    )
    assert page_texts(data) == ("Spring tides",)
    assert not flag.exists()
