"""Labels with more gold pages than places are counted: their recall cannot reach 1."""

from __future__ import annotations

from collections.abc import Iterator

from vault_eval.authoring.lint import Checked, Finding
from vault_eval.metrics.metric import CUTOFFS

NAME = "more expected pages than places"
ADVICE = "recall there cannot reach 1: expect the pages that answer best, or read hit and MRR"
_LEAST = min(cutoff for cutoff in CUTOFFS if cutoff > 1)  # at one place every label of two pages is such


def find(checked: Checked) -> Iterator[Finding]:
    """Each label with more gold pages than the second cutoff, with the best recall it can have there."""
    for label in checked.scored:
        count = len(label.pages)
        over = [cutoff for cutoff in CUTOFFS if _LEAST <= cutoff < count]
        if over:
            limits = ", ".join(f"recall@{cutoff} at most {cutoff / count:.2f}" for cutoff in over)
            yield Finding(f"{count} pages: {limits}", (label.id,), label.pages)
