"""Gold that exists and is never searched: excluded by its owner, or not readable."""

from __future__ import annotations

from collections.abc import Iterator

from vault_eval.authoring.lint import Checked, Finding
from vault_eval.vault.paths import quoted

NAME = "expected page out of scope"
ADVICE = "no search can find it, and the query counts as missed"


def find(checked: Checked) -> Iterator[Finding]:
    """Each gold page that the vault's listing leaves out, with the reason."""
    left_out = {one.path: one.reason for one in (*checked.vault.listing.excluded, *checked.vault.listing.skipped)}
    for label in checked.scored:
        for page in label.pages:
            if page in left_out:
                yield Finding(f"{quoted(page)}: {left_out[page]}", (label.id,), (page,))
