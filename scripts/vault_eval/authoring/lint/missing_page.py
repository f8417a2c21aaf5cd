"""Gold that is not in the vault: its query is excluded from every figure."""

from __future__ import annotations

from collections.abc import Iterator

from vault_eval.authoring.lint import Checked, Finding
from vault_eval.vault.paths import quoted

NAME = "expected page missing"
ADVICE = "the whole query is excluded until the path is right"


def find(checked: Checked) -> Iterator[Finding]:
    """Each missing page of each label, with what it may have become."""
    for one in checked.settled:
        for page, reason in one.missing.items():
            yield Finding(f"{quoted(page)}: {reason}", (one.label.id,), (page,))
