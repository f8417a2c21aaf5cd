"""Judged labels beside those that a file holds already: which of them are new, and which say otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from vault_eval.authoring.judged_labels import NOTHING_FOUND, UNFINISHED
from vault_eval.authoring.new_label import free_id
from vault_eval.model import Label
from vault_eval.vault.paths import quoted
from vault_eval.vault.targets import target_text


@dataclass(frozen=True, slots=True)
class Merge:
    """Labels to be added, those that stand there already, those not judged to the end, and sentences on what is refused."""

    added: tuple[Label, ...]
    there: tuple[Label, ...]
    unfinished: tuple[Label, ...]
    refused: tuple[str, ...]

    @property
    def nothing_found(self) -> tuple[Label, ...]:
        """Of the added ones those of which the person is still to say whether none should be found."""
        return tuple(label for label in self.added if label.skip_reason == NOTHING_FOUND)


def merged(known: Sequence[Label], judged: Sequence[Label]) -> Merge:
    """What becomes of judged labels in a file of `known` ones, of which none is changed. An id that is taken is made anew."""
    by_query = {label.query: label for label in known}
    done = [label for label in judged if label.skip_reason != UNFINISHED]
    twins = [(label, by_query[label.query]) for label in done if label.query in by_query]
    return Merge(
        added=_with_free_ids([label for label in done if label.query not in by_query], {label.id for label in known}),
        there=tuple(label for label, twin in twins if _says_the_same(label, twin)),
        unfinished=tuple(label for label in judged if label.skip_reason == UNFINISHED),
        refused=tuple(_refusal(label, twin) for label, twin in twins if not _says_the_same(label, twin)),
    )


def _with_free_ids(labels: Sequence[Label], taken: set[str]) -> tuple[Label, ...]:
    free: dict[str, Label] = {}
    own = {label.id for label in labels}
    for label in labels:
        name = free_id(label.query, {*taken, *own, *free}) if label.id in taken else label.id
        free[name] = replace(label, id=name)
    return tuple(free.values())


def _says_the_same(judged: Label, known: Label) -> bool:
    """A negative that the person made of a query for which nothing was found says no more than the judgements did."""
    return set(judged.gold) == set(known.gold) and (judged.skip_reason is not None or known.skip_reason is None)


def _refusal(judged: Label, known: Label) -> str:
    skipped = f", skipped ({quoted(known.skip_reason)})" if known.skip_reason is not None else ""
    return f"{quoted(judged.query)} is there as {quoted(known.id)} with {_gold(known)}{skipped}, judged: {_gold(judged)}"


def _gold(label: Label) -> str:
    return ", ".join(quoted(target_text(target)) for target in label.gold) or "no page"
