"""Pages that are no longer what they were when they were labelled."""

from __future__ import annotations

from collections.abc import Iterator

from vault_eval.authoring.lint import Checked, Finding
from vault_eval.vault.paths import quoted

NAME = "page edited since it was labelled"
ADVICE = "look whether it still answers the query, then renew the hash"


def find(checked: Checked) -> Iterator[Finding]:
    """Each gold page whose SHA-256 is not the one that the label holds."""
    for one in checked.of("edited_since_labelled"):
        yield Finding(
            f"{quoted(one.page)} has other bytes than it was labelled with", (one.query,) if one.query else (), (one.page,)
        )
