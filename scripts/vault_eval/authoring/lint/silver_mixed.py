"""Labels that the vault proposed, beside labels that were written from a need."""

from __future__ import annotations

from collections.abc import Iterator

from vault_eval.authoring.lint import Checked, Finding
from vault_eval.authoring.suggest import SILVER

NAME = "silver labels among others"
ADVICE = "they are easier than what is really asked: read their figures apart, by their tag"


def find(checked: Checked) -> Iterator[Finding]:
    """All silver labels in one finding, where the set holds others too."""
    silver = [label.id for label in checked.labels if SILVER in label.tags]
    if 0 < len(silver) < len(checked.labels):
        yield Finding(f"{len(silver)} of {len(checked.labels)} have the tag {SILVER}", tuple(silver))
