"""The same figures of 1,000 queries at depth 1,000: `metrics_program.py ours|pytrec_eval|ir_measures|ranx`.

`within` is the seconds of the import and of the arithmetic.
The rankings are made up, the same for all; each gets them in the form that it takes.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from math import fsum
from pathlib import Path
from random import Random
from typing import TypeAlias

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

QUERIES = DEPTH = 1_000
PAGES = 20_000
# Our name, and those of pytrec_eval, ir_measures and ranx.
MEASURES = {
    "recall@1": ("recall_1", "R@1", "recall@1"),
    "recall@5": ("recall_5", "R@5", "recall@5"),
    "recall@10": ("recall_10", "R@10", "recall@10"),
    "mrr@1000": ("recip_rank", "RR", "mrr"),
    "ndcg@10": ("ndcg_cut_10", "nDCG@10", "ndcg@10"),
    "ndcg@1000": ("ndcg_cut_1000", "nDCG@1000", "ndcg@1000"),
    "ap@10": ("map_cut_10", "AP@10", "map@10"),
    "ap@1000": ("map_cut_1000", "AP@1000", "map@1000"),
    "hit@1": ("success_1", "Success@1", "hit_rate@1"),
    "hit@5": ("success_5", "Success@5", "hit_rate@5"),
    "hit@10": ("success_10", "Success@10", "hit_rate@10"),
}
Means: TypeAlias = "dict[str, float]"
Pages: TypeAlias = "Sequence[tuple[str, ...]]"


def made_up() -> tuple[Pages, Pages]:
    """The gold pages and the ranking of each query."""
    random, pages = Random(7), [f"wiki/area/note {number:06d}.md" for number in range(PAGES)]
    rankings = [tuple(random.sample(pages, DEPTH)) for _ in range(QUERIES)]
    return [
        (ranking[random.randrange(20)], ranking[random.randrange(DEPTH)], random.choice(pages)) for ranking in rankings
    ], rankings


def ours(gold: Pages, rankings: Pages) -> tuple[dict[str, float | None], float]:
    """The means, and the seconds from the import on."""
    started = time.perf_counter()
    from vault_eval.metrics import JudgedQuery, aggregate, metrics_for

    means = aggregate(metrics_for(DEPTH), [JudgedQuery(pages, ranked) for pages, ranked in zip(gold, rankings, strict=True)])
    return {name: means[name].value for name in MEASURES}, time.perf_counter() - started


def as_dictionaries(gold: Pages, rankings: Pages) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Judgments and scores by query and page, as others take them."""
    qrels = {str(number): dict.fromkeys(pages, 1) for number, pages in enumerate(gold)}
    run = {str(number): {page: float(DEPTH - rank) for rank, page in enumerate(ranked)} for number, ranked in enumerate(rankings)}
    return qrels, run


def by_pytrec_eval(gold: Pages, rankings: Pages) -> tuple[Means, float]:
    """The means, and the seconds from the import on."""
    qrels, run = as_dictionaries(gold, rankings)
    started = time.perf_counter()
    import pytrec_eval

    asked = {"recall.1,5,10", "recip_rank", "ndcg_cut.10,1000", "map_cut.10,1000", "success.1,5,10"}
    found = pytrec_eval.RelevanceEvaluator(qrels, asked).evaluate(run)
    means = {name: fsum(row[theirs[0]] for row in found.values()) / len(found) for name, theirs in MEASURES.items()}
    return means, time.perf_counter() - started


def by_ir_measures(gold: Pages, rankings: Pages) -> tuple[Means, float]:
    """The means, and the seconds from the import on."""
    qrels, run = as_dictionaries(gold, rankings)
    started = time.perf_counter()
    import ir_measures

    measures = {name: ir_measures.parse_measure(theirs[1]) for name, theirs in MEASURES.items()}
    found = ir_measures.calc_aggregate(measures.values(), qrels, run)
    return {name: found[measure] for name, measure in measures.items()}, time.perf_counter() - started


def by_ranx(gold: Pages, rankings: Pages) -> tuple[Means, float]:
    """The means, and the seconds from the import on, which compiles what it needs."""
    qrels, run = as_dictionaries(gold, rankings)
    started = time.perf_counter()
    import ranx

    found = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), [theirs[2] for theirs in MEASURES.values()])
    return {name: float(found[theirs[2]]) for name, theirs in MEASURES.items()}, time.perf_counter() - started


def main() -> None:
    """Print `within` and the means."""
    programs = {"ours": ours, "pytrec_eval": by_pytrec_eval, "ir_measures": by_ir_measures, "ranx": by_ranx}
    means, seconds = programs[sys.argv[1]](*made_up())
    print(json.dumps({"within": seconds, **means}))


if __name__ == "__main__":
    main()
