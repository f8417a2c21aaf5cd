"""What follows from the rows of a saved report, computed again: where the report says otherwise, it was changed or damaged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import fsum
from typing import TypeAlias

from vault_eval.json_node import ROUNDING_MAX, Node
from vault_eval.metrics.definitions import ap, hit, mrr, ndcg, recall
from vault_eval.metrics.judged_query import JudgedQuery
from vault_eval.metrics.metric import CUTOFFS, Metric
from vault_eval.reports.document import RunReport
from vault_eval.reports.saved_rankings import SavedRanking
from vault_eval.reports.saved_rows import RANKING

_OF_RANKINGS = (recall, mrr, ndcg, ap, hit)
Values: TypeAlias = Mapping[str, float | None]  # by metric name; None for a row that is in no mean


def check_run(node: Node, run: RunReport, rows: Sequence[tuple[Node, SavedRanking]]) -> None:
    """Raises UsageError where ids, ranks, misses, recall, RR, counts or means of `run`, read from `node`, cannot be of `rows`.

    Means that follow from rankings are computed again; of all others only n and interval are looked at. Evidence is not needed.
    """
    metrics = [metric for definition in _OF_RANKINGS for metric in definition.metrics(run.depth)]
    rankings = [row for _, row in rows]
    _check_ids(rows)
    values = [_values(one, row, metrics, run.depth) for one, row in rows]
    _check_counts(node, run, rankings)
    required = [metric.name for metric in metrics]
    _check_means(node["metrics"], values, required)
    for kind, groups in (("category", [(row.category,) for row in rankings]), ("tag", [row.tags for row in rankings])):
        for name, group in node["groups"][kind].members():
            _check_means(group, [one for one, inside in zip(values, groups, strict=True) if name in inside], required)
    for _, stratum in node["trust"]["strata"].members():
        for _, metric in stratum.members():
            _check_at_most(metric["n"], len(rows))
            _check_interval(metric)


def _check_ids(rows: Sequence[tuple[Node, SavedRanking]]) -> None:
    seen: set[str] = set()
    for node, row in rows:
        if row.id in seen:
            raise node["id"].refused("an id that no other row has")
        seen.add(row.id)


def _values(node: Node, row: SavedRanking, metrics: Sequence[Metric], depth: int) -> Values:
    """The row's value of each metric, once its ranks, misses, recall and RR have been checked."""
    places = {page: rank for rank, page in enumerate(row.ranking, 1)}
    ranks = {page: places.get(page) for page in row.expected}
    if len(places) != len(row.ranking):
        raise node["ranking"].refused(RANKING)
    if len(ranks) != len(row.expected):
        raise node["expected"].refused("each page once")
    _check_ranks(node, row, ranks)
    judged = JudgedQuery(row.expected, row.ranking, row.grades)
    values = {metric.name: metric.per_query(judged) if row.status == "scored" else None for metric in metrics}
    recalls = node["recall"]
    for cutoff in CUTOFFS:
        _check_same(recalls[str(cutoff)], values[f"recall@{cutoff}"], "ranking")
    _check_same(node["rr"], values[f"mrr@{depth}"], "ranking")
    return values


def _check_ranks(node: Node, row: SavedRanking, ranks: Mapping[str, int | None]) -> None:
    is_answered, is_scored = row.status in ("scored", "negative"), row.status == "scored"
    found = node["ranks"].value
    # In Python 1 equals 1.0 and true.
    if found != (ranks if is_answered else {}) or not {type(rank) for rank in found.values()} <= {int, type(None)}:
        raise node["ranks"].refused("the rank of each expected page in the ranking")
    if node["no_result"].value is not ((not row.ranking) if is_answered else None):
        raise node["no_result"].refused("true where nothing came back, null where nothing was asked, else false")
    missed = {
        str(cutoff): [page for page, rank in ranks.items() if rank is None or rank > cutoff] if is_scored else None
        for cutoff in CUTOFFS
    }
    if node["misses"].value != missed:
        raise node["misses"].refused("the expected pages that are not among the first 1, 5 and 10 of the ranking")


def _check_counts(node: Node, run: RunReport, rows: Sequence[SavedRanking]) -> None:
    found = Counter(row.status for row in rows)
    numbers = {
        "queries": len(rows) + run.counts.other_collection,
        "scored": found["scored"],
        "negative": found["negative"],
        "missing_gold": found["missing-gold"],
        "missing_pages": len({page for row in rows for page in row.missing}),
        "skipped": found["skipped"],
        "error": found["error"],
    }
    for name, number in numbers.items():
        if node["counts"][name].value != number:
            raise node["counts"][name].refused(_following(number, "rows"))
    for cutoff in CUTOFFS:
        _check_at_most(node["more_gold_than_cutoff"][str(cutoff)], found["scored"])
    _check_at_most(node["trust"]["unjudged_queries"], found["scored"])


def _check_means(node: Node, rows: Sequence[Values], required: Sequence[str]) -> None:
    for name in required:
        node[name]
    for name, metric in node.members():
        n = metric["n"]
        if rows and name in rows[0]:
            values = [value for one in rows if (value := one[name]) is not None]
            if n.value != len(values):
                raise n.refused(_following(len(values), "rows"))
            _check_same(metric["value"], fsum(values) / len(values) if values else None, "rows")
        else:
            _check_at_most(n, len(rows))
        _check_interval(metric)


def _check_interval(metric: Node) -> None:
    value, interval = metric["value"], metric["interval"]
    if value.value is not None and interval.value is not None:
        low, high = interval["low"].number(), interval["high"].number()
        if not low - ROUNDING_MAX <= value.number() <= high + ROUNDING_MAX:
            raise value.refused(f"{low:.10g} to {high:.10g}, its interval")


def _check_at_most(node: Node, rows: int) -> None:
    if node.count() > rows:
        raise node.refused(f"{rows} at most, the rows")


def _check_same(node: Node, expected: float | None, source: str) -> None:
    found = node.or_none(Node.number)
    if found is not expected and (found is None or expected is None or abs(found - expected) > ROUNDING_MAX):
        raise node.refused(_following(expected, source))


def _following(value: float | None, source: str) -> str:
    return f"{'null' if value is None else f'{value:.10g}'}, which follows from the {source}"
