"""Gold that exists and is never searched: excluded by its owner, not readable, or a PDF where PDFs are not indexed."""

from __future__ import annotations

from collections.abc import Iterator

from vault_eval.authoring.lint import Checked, Finding
from vault_eval.vault.paths import is_pdf, quoted

NAME = "expected page out of scope"
ADVICE = "no search can find it, and the query counts as missed"
_NO_PDFS = "PDFs of this vault are not indexed; `index --pdf` does it"


def find(checked: Checked) -> Iterator[Finding]:
    """Each gold page that the vault's listing leaves out, with the reason."""
    listed = frozenset(checked.vault.names)
    left_out = {one.path: one.reason for one in (*checked.vault.listing.excluded, *checked.vault.listing.skipped)}
    for label in checked.scored:
        for page in label.pages:
            reason = left_out.get(page) or (_NO_PDFS if is_pdf(page) and page not in listed else None)
            if reason is not None:
                yield Finding(f"{quoted(page)}: {reason}", (label.id,), (page,))
