"""Gold headings, blocks and PDF pages that are not in their page: the page can be found, the place never."""

from __future__ import annotations

from collections.abc import Iterator

from vault_eval.authoring.lint import Checked, Finding
from vault_eval.vault.paths import quoted
from vault_eval.vault.targets import target_text

NAME = "expected place missing"
ADVICE = "it counts as missed at section-hit or page-hit, whatever is found: correct it, or name the page alone"


def find(checked: Checked) -> Iterator[Finding]:
    """Each place that its page has not, with what may be meant."""
    for label in checked.labels:
        for target in label.gold:
            fault = checked.places.fault(target)
            if fault is not None:
                yield Finding(f"{quoted(target_text(target))}: {fault}", (label.id,), (target.page,))
