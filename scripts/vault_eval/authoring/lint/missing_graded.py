"""Grades of pages that are not in the vault, and of places that are not in their page: they judge nothing."""

from __future__ import annotations

from collections.abc import Iterator

from vault_eval.authoring.lint import Checked, Finding
from vault_eval.labels.eligibility import settle
from vault_eval.model import Label, Target
from vault_eval.vault.paths import quoted
from vault_eval.vault.targets import parse_target, target_text

NAME = "graded page or place missing"
ADVICE = "the grade judges nothing: correct it, or take it out"


def find(checked: Checked) -> Iterator[Finding]:
    """Each grade of what is not there, or is there as a link, and is not expected either; with what may be meant."""
    faults = _page_faults(checked)
    for label in checked.labels:
        for target in _not_gold(label):
            fault = faults.get(target.page) or checked.places.fault(target)
            if fault is not None:
                yield Finding(f"{quoted(target_text(target))}: {fault}", (label.id,), (target.page,))


def _not_gold(label: Label) -> Iterator[Target]:
    """The graded places about which no other finding speaks."""
    for target in map(parse_target, label.grades):
        if target not in label.gold and (target != Target(target.page) or target.page not in label.pages):
            yield target


def _page_faults(checked: Checked) -> dict[str, str]:
    """Why a graded page is no page of the vault, for each that is none."""
    listed = frozenset(checked.vault.names)
    pages = dict.fromkeys(target.page for label in checked.labels for target in _not_gold(label) if target.page not in listed)
    refused = {page: reason for page in pages if (reason := checked.places.unreadable(page)) is not None}
    asked = Label("", "", tuple(Target(page) for page in pages if page not in refused), "", "")
    (settled,) = settle([asked], checked.vault.listing, checked.vault.reader, None, None, lambda _page: None)
    return {**refused, **settled.missing}
