"""What is doubtful in a label set, and what a set of its size and make can show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vault_eval.authoring.gold_places import GoldPlaces
from vault_eval.authoring.kinds import KINDS
from vault_eval.authoring.lint import Checked, Finding, lint_rules
from vault_eval.diagnosis.label_findings import Examined, every_finding
from vault_eval.index.freshness import without_index
from vault_eval.labels.eligibility import settle
from vault_eval.labels.load import LabelDocument, load_labels
from vault_eval.labels.sources import label_properties
from vault_eval.significance.power import detectable_effect, wins_needed
from vault_eval.vault.snapshot import VaultSnapshot

NO_CATEGORY = "(none)"


@dataclass(frozen=True, slots=True)
class LabelCheck:
    """All findings by rule, and what the set is made of.

    `detectable` is the smallest mean difference between two searchers, in standard deviations of the differences, that the
    scored queries find in four of five tries; None for fewer than two. `wins_needed` is how many queries must get better,
    and none worse, before chance is ruled out.
    """

    findings: Mapping[str, tuple[Finding, ...]]
    statuses: Mapping[str, int]
    categories: Mapping[str, int]
    kinds: Mapping[str, int]
    detectable: float | None
    wins_needed: int
    warnings: tuple[str, ...]


def check_labels(vault: VaultSnapshot, documents: Sequence[LabelDocument]) -> LabelCheck:
    """The check of label sources against a vault as it is now, with or without an index. Raises LabelError for invalid labels."""
    labels = load_labels(documents)
    settled = settle(labels.labels, vault.listing, vault.reader, None, None, lambda _page: None)
    freshness = without_index(vault.listing, vault.pages)
    diagnosed = tuple(every_finding(Examined(vault, freshness, settled, (), frozenset(), None, label_properties(documents))))
    checked = Checked(vault, settled, diagnosed, GoldPlaces(vault))
    scored = len(checked.scored)
    return LabelCheck(
        findings={name: found for name, rule in lint_rules().items() if (found := tuple(rule.find(checked)))},
        statuses=Counter(one.status for one in settled),
        categories=Counter(label.category or NO_CATEGORY for label in checked.labels),
        kinds={name: sum(looks_like(label, checked) for label in checked.labels) for name, looks_like in KINDS.items()},
        detectable=detectable_effect(scored),
        wins_needed=wins_needed(0),
        warnings=labels.warnings,
    )
