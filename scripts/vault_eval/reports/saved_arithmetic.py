"""What follows from the rows of a saved report, computed again: where the report says otherwise, it was changed or damaged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import fsum
from typing import TypeAlias

from vault_eval.metrics.definitions import mrr, recall
from vault_eval.metrics.judged_query import JudgedQuery
from vault_eval.metrics.metric import Metric
from vault_eval.reports.document import CUTOFFS, QueryRow, RunReport
from vault_eval.reports.saved_node import ROUNDING_MAX, Node

Values: TypeAlias = Mapping[str, float | None]  # by metric name; None for a row that is in no mean


def check_run(node: Node, run: RunReport) -> None:
    """Raises UsageError where ranks, recall, RR, counts or means of `run`, read from `node`, do not follow from its rankings.

    Recall and MRR are computed again, since that is quick; of all other metrics only n is looked at.
    """
    metrics = (*recall.metrics(run.depth), *mrr.metrics(run.depth))
    rows = [_values(one, row, metrics, run.depth) for one, row in zip(node["queries"].items(), run.rows, strict=True)]
    _check_counts(node["counts"], run)
    _check_means(node["metrics"], rows)
    for kind, groups in (("category", [(row.category,) for row in run.rows]), ("tag", [row.tags for row in run.rows])):
        for name, group in node["groups"][kind].members():
            _check_means(group, [one for one, inside in zip(rows, groups, strict=True) if name in inside])


def _values(node: Node, row: QueryRow, metrics: Sequence[Metric], depth: int) -> Values:
    """The row's value of each metric, once its ranks, recall and RR have been checked."""
    ranks = {ranked.page: ranked.rank for ranked in row.ranking}
    if [*ranks.values()] != [*range(1, len(row.ranking) + 1)]:
        raise node["ranking"].refused("the ranks from 1 upwards, each with a page of its own")
    if node["ranks"].value != ({page: ranks.get(page) for page in row.expected} if row.is_answered else {}):
        raise node["ranks"].refused("the rank of each expected page in the ranking")
    judged = JudgedQuery(row.expected, tuple(ranks), row.grades)
    values = {metric.name: metric.per_query(judged) if row.status == "scored" else None for metric in metrics}
    for cutoff in CUTOFFS:
        if not _is_same(row.recall[cutoff], values[f"recall@{cutoff}"]):
            raise node["recall"][str(cutoff)].refused(_following(values[f"recall@{cutoff}"], "ranking"))
    if not _is_same(row.rr, values[f"mrr@{depth}"]):
        raise node["rr"].refused(_following(values[f"mrr@{depth}"], "ranking"))
    return values


def _check_counts(node: Node, run: RunReport) -> None:
    found = Counter(row.status for row in run.rows)
    numbers = {
        "queries": len(run.rows) + run.counts.other_collection,
        "scored": found["scored"],
        "negative": found["negative"],
        "missing_gold": found["missing-gold"],
        "missing_pages": len({page for row in run.rows for page in row.missing}),
        "skipped": found["skipped"],
        "error": found["error"],
    }
    for name, number in numbers.items():
        if node[name].value != number:
            raise node[name].refused(_following(number, "rows"))


def _check_means(node: Node, rows: Sequence[Values]) -> None:
    for name, metric in node.members():
        n = metric["n"]
        if rows and name in rows[0]:
            values = [value for one in rows if (value := one[name]) is not None]
            mean = fsum(values) / len(values) if values else None
            if n.value != len(values):
                raise n.refused(_following(len(values), "rows"))
            if not _is_same(metric["value"].or_none(Node.number), mean):
                raise metric["value"].refused(_following(mean, "rows"))
        elif n.count() > len(rows):
            raise n.refused(f"{len(rows)} at most, the rows")


def _is_same(found: float | None, expected: float | None) -> bool:
    if found is None or expected is None:
        return found is expected
    return abs(found - expected) <= ROUNDING_MAX


def _following(value: float | None, source: str) -> str:
    return f"{'null' if value is None else f'{value:.10g}'}, which follows from the {source}"
