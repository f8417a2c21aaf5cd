"""The same figures of 1,000 queries at depth 1,000: `metrics_program.py ours|pytrec_eval`.

`within` is the seconds of the import and of the arithmetic.
The rankings are made up, the same for both; each gets them in the form that it takes.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from math import fsum
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

QUERIES = DEPTH = 1_000
PAGES = 20_000
MEASURES = {
    "recall@1": "recall_1",
    "recall@5": "recall_5",
    "recall@10": "recall_10",
    "mrr@1000": "recip_rank",
    "ndcg@10": "ndcg_cut_10",
    "ndcg@1000": "ndcg_cut_1000",
    "ap@10": "map_cut_10",
    "ap@1000": "map_cut_1000",
    "hit@1": "success_1",
    "hit@5": "success_5",
    "hit@10": "success_10",
}


def made_up() -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """The gold pages and the ranking of each query."""
    random, pages = Random(7), [f"wiki/area/note {number:06d}.md" for number in range(PAGES)]
    rankings = [tuple(random.sample(pages, DEPTH)) for _ in range(QUERIES)]
    return [
        (ranking[random.randrange(20)], ranking[random.randrange(DEPTH)], random.choice(pages)) for ranking in rankings
    ], rankings


def ours(gold: Sequence[tuple[str, ...]], rankings: Sequence[tuple[str, ...]]) -> tuple[dict[str, float | None], float]:
    """The means, and the seconds from the import on."""
    started = time.perf_counter()
    from vault_eval.metrics import JudgedQuery, aggregate, metrics_for

    means = aggregate(metrics_for(DEPTH), [JudgedQuery(pages, ranked) for pages, ranked in zip(gold, rankings, strict=True)])
    return {name: means[name].value for name in MEASURES}, time.perf_counter() - started


def by_pytrec_eval(gold: Sequence[tuple[str, ...]], rankings: Sequence[tuple[str, ...]]) -> tuple[dict[str, float], float]:
    """The means, and the seconds from the import on."""
    qrels = {str(number): dict.fromkeys(pages, 1) for number, pages in enumerate(gold)}
    run = {str(number): {page: float(-rank) for rank, page in enumerate(ranked)} for number, ranked in enumerate(rankings)}
    started = time.perf_counter()
    import pytrec_eval

    asked = {"recall.1,5,10", "recip_rank", "ndcg_cut.10,1000", "map_cut.10,1000", "success.1,5,10"}
    found = pytrec_eval.RelevanceEvaluator(qrels, asked).evaluate(run)
    means = {name: fsum(row[theirs] for row in found.values()) / len(found) for name, theirs in MEASURES.items()}
    return means, time.perf_counter() - started


def main() -> None:
    """Print `within` and the means."""
    means, seconds = {"ours": ours, "pytrec_eval": by_pytrec_eval}[sys.argv[1]](*made_up())
    print(json.dumps({"within": seconds, **means}))


if __name__ == "__main__":
    main()
