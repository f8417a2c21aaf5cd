"""The text of a PDF, page by page. Only here is pypdf used.

A PDF may come from anywhere, and a few bytes can keep whoever reads it busy, or ask for memory, without end. So each is read
in a process of its own that may take so much time and memory, write no file, and end in any way without harm. It is given the
bytes and gives back text; nothing in a PDF is followed, opened or run.
"""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from io import BytesIO

from vault_eval import launcher
from vault_eval.errors import MissingPackageError, UnreadableFileError
from vault_eval.limits import PDF_MAX_PAGES, PDF_MAX_SECONDS, PDF_MEMORY_MAX_BYTES, PDF_TEXT_MAX_CHARACTERS

# The child finds what this interpreter found, and nothing that lies in its working folder.
_CHILD = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from vault_eval.index.pdf_text import answer_as_a_child; answer_as_a_child()"
)
_REASON_MAX_CHARACTERS = 160
# `exam-` at the end of a line and `ple` at the beginning of the next are one word; it stands where it begins.
_BROKEN_WORD = re.compile(r"(?<=[^\W\d_])[-\u2010\u00ad]\n([^\W\d_]+)[ \t]?")


def reader_name() -> str:
    """The reader of PDFs and its version, which decides the text that is found. Raises MissingPackageError."""
    try:
        from pypdf import __version__
    except ImportError:
        raise MissingPackageError(
            f"PDFs are read with the package pypdf, which this Python ({sys.executable}) lacks. "
            f"Leave them out with index --no-pdf, or run: {launcher.install_command(['pdf'])}"
        ) from None
    return f"pypdf {__version__}"


def page_texts(data: bytes) -> tuple[str, ...]:
    """The text of each page, empty where there is none; lines end at LF, words broken at the end of a line are whole.

    Raises UnreadableFileError with the reason: encrypted, broken, without any text, or too much in pages, text, time or memory.
    """
    command = [sys.executable, "-I", "-B", "-c", _CHILD, json.dumps([*filter(None, sys.path)])]
    try:
        # What a damaged file makes the reader complain of may have no end, and nobody reads it.
        silent = subprocess.DEVNULL
        done = subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=silent, timeout=PDF_MAX_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise UnreadableFileError(f"reading the PDF takes longer than {PDF_MAX_SECONDS} seconds") from None
    except OSError as error:
        raise UnreadableFileError(f"the PDF cannot be read: no process can be started ({error.strerror})") from None
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        raise UnreadableFileError("the PDF cannot be read: its reader broke off") from None
    if isinstance(answer, str):
        raise UnreadableFileError(answer)
    return tuple(map(str, answer))


def answer_as_a_child() -> None:
    """Read a PDF from stdin and write to stdout, as JSON, the list of its pages' texts, or why there is none."""
    _confine()
    data = sys.stdin.buffer.read()
    try:
        answer: list[str] | str = list(_texts(data))
    except UnreadableFileError as refusal:
        answer = str(refusal)
    except MemoryError:
        answer = f"reading the PDF takes more than {PDF_MEMORY_MAX_BYTES >> 20:,} MiB of memory"
    except Exception as error:  # noqa: BLE001 - a damaged file raises whatever it likes, and that is the finding
        said = " ".join(str(error).split())[:_REASON_MAX_CHARACTERS]
        answer = f"the PDF is broken: {said or type(error).__name__}"
    sys.stdout.write(json.dumps(answer))


def _confine() -> None:
    """Bound memory and forbid files where the system can; the time is bounded by whoever waits."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (PDF_MEMORY_MAX_BYTES, PDF_MEMORY_MAX_BYTES))


def _texts(data: bytes) -> Iterator[str]:
    from pypdf import PdfReader

    reader = PdfReader(BytesIO(data), strict=False)
    # Many PDFs are encrypted with an empty password, which every viewer tries.
    if reader.is_encrypted and not reader.decrypt(""):
        raise UnreadableFileError("the PDF is encrypted: it opens with a password only")
    if len(reader.pages) > PDF_MAX_PAGES:
        raise UnreadableFileError(f"the PDF has {len(reader.pages):,} pages; at most {PDF_MAX_PAGES:,} are read")
    left, is_empty = PDF_TEXT_MAX_CHARACTERS, True
    for page in reader.pages:
        text = _tidy(page.extract_text())
        left -= len(text)
        if left < 0:
            raise UnreadableFileError(f"the PDF holds more than {PDF_TEXT_MAX_CHARACTERS:,} characters of text")
        is_empty = is_empty and not text.strip()
        yield text
    if is_empty:
        raise UnreadableFileError("the PDF holds no text: its pages are pictures, as of a scan, or empty")


def _tidy(text: str) -> str:
    whole = text.encode("utf-8", "replace").decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    return _BROKEN_WORD.sub(lambda found: f"{found[1]}\n" if found[1][0].islower() else found[0], whole)
