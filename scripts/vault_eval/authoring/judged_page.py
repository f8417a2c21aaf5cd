"""A page as a judge reads it: a note without the questions that it is labelled with, a PDF as the text of its pages."""

from __future__ import annotations

from dataclasses import dataclass

from vault_eval.digests import sha256_hex
from vault_eval.errors import UnreadableFileError
from vault_eval.index.pdf_text import page_texts, reader_name
from vault_eval.vault.note_text import decode, with_empty_property
from vault_eval.vault.paths import is_pdf
from vault_eval.vault.snapshot import VaultSnapshot


@dataclass(frozen=True, slots=True)
class JudgedPage:
    """`sha256` is that of the bytes that were read; `texts` is the text of a note, or that of each page of a PDF.

    The lines of the label property are empty: they would tell the judge that somebody expects the note.
    """

    sha256: str
    texts: tuple[str, ...]

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join(self.texts)

    def section(self, heading: tuple[str, ...]) -> str:
        """The text whose lines an item counts: that of one page of a PDF, whose heading is `page 4`, else all."""
        number = next((number for number in range(len(self.texts)) if heading == (f"page {number + 1}",)), None)
        return self.text if number is None else self.texts[number]


def read_judged_page(vault: VaultSnapshot, page: str) -> JudgedPage | None:
    """The page as it is now; None where it cannot be read. Raises MissingPackageError for a PDF without its reader."""
    if is_pdf(page):
        reader_name()
    try:
        data = vault.read(page)
        return JudgedPage(sha256_hex(data), page_texts(data) if is_pdf(page) else (with_empty_property(decode(data)),))
    except UnreadableFileError:
        return None
