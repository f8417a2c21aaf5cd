"""The same numbers as trec_eval and ir_measures on random rankings, to 1e-12.

Skipped where a package is absent; REQUIRE_ORACLES=1 makes absence a failure.
"""

from __future__ import annotations

from random import Random

import pytest
from oracle_names import IR_NAMES, TREC_ASKED, TREC_NAMES, oracle

from vault_eval.metrics import JudgedQuery, aggregate, metrics_for


def random_queries(seed: int, depth: int, count: int = 300) -> dict[str, JudgedQuery]:
    """Up to 15 gold pages with grades 1 and 2, some pages judged 0, rankings from empty to the depth."""
    random = Random(seed)
    pages = [f"p{number}" for number in range(60)]
    queries = {}
    for number in range(count):
        gold = tuple(random.sample(pages, random.randint(1, 15)))
        grades = {page: random.choice([1, 2]) for page in gold}
        grades.update({page: 0 for page in random.sample(pages, 5) if page not in gold})
        ranked = tuple(random.sample(pages, random.randint(0, depth)))
        queries[f"q{number}"] = JudgedQuery(gold, ranked, grades)
    return queries


def as_qrels_and_run(
    queries: dict[str, JudgedQuery],
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    qrels = {qid: dict(query.grades) for qid, query in queries.items()}
    # Strictly falling scores, so that no tool reorders.
    run = {qid: {page: 1000.0 - rank for rank, page in enumerate(query.ranked)} for qid, query in queries.items()}
    return qrels, run


def test_trec_eval_says_the_same_of_every_query() -> None:
    pytrec_eval = oracle("pytrec_eval")
    queries = random_queries(11, depth=10)
    qrels, run = as_qrels_and_run(queries)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, TREC_ASKED)
    theirs = evaluator.evaluate(run)
    by_name = {metric.name: metric for metric in metrics_for()}
    for ours, name in TREC_NAMES.items():
        for qid, query in queries.items():
            expected = theirs[qid][name] if query.ranked else 0.0
            assert expected == pytest.approx(by_name[ours].per_query(query), abs=1e-12), (ours, qid)


def test_ir_measures_says_the_same_of_every_query_and_of_the_mean() -> None:
    ir_measures = oracle("ir_measures")
    queries = random_queries(12, depth=25)
    qrels, run = as_qrels_and_run(queries)
    names = IR_NAMES | {"mrr@25": "RR@25", "ndcg@25": "nDCG@25", "ap@25": "AP@25"}
    measures = {ours: ir_measures.parse_measure(name) for ours, name in names.items()}
    metrics = metrics_for(25)
    per_query = {
        (str(found.measure), found.query_id): found.value for found in ir_measures.iter_calc(list(measures.values()), qrels, run)
    }
    means = ir_measures.calc_aggregate(list(measures.values()), qrels, run)
    ours = aggregate(metrics, list(queries.values()))
    by_name = {metric.name: metric for metric in metrics}
    for name, measure in measures.items():
        assert means[measure] == pytest.approx(ours[name].value, abs=1e-12), name
        for qid, query in queries.items():
            assert per_query[str(measure), qid] == pytest.approx(by_name[name].per_query(query), abs=1e-12), (name, qid)
