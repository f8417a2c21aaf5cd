"""An evaluation as a numpy program does it: the yardstick for ours, on the same labels and the same index file.

The same terms of every query; BM25 over the same postings, as arrays; the ranking of pages from the same candidate pool,
scores equal to the last bit; the bytes of every page in a ranking hashed; the usual metrics, by category too; one JSON report.
It knows no stale pages but to count them, no causes of misses, no intervals, and prints nothing for a person.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Sequence
from itertools import chain
from statistics import fmean

import numpy as np
from searched import DEPTH_PAGES, POOL_CHUNKS, Given, Label, given

from vault_eval.index.bm25 import DEFAULT_B, DEFAULT_K1, Bm25
from vault_eval.index.store import IndexFile

CUTOFFS = (1, 5, 10)
# Beyond this share of all chunks, looking through the sums is quicker than sorting what was touched.
SHARE_OF_CHUNKS = 8


class NumpySearcher:
    """Scores chunks by whole lists of postings."""

    def __init__(self, index: IndexFile, k1: float = DEFAULT_K1, b: float = DEFAULT_B) -> None:
        self.index = index
        self.bm25 = Bm25(k1, b, index.chunks, index.total_length / index.chunks if index.chunks else 0.0)
        self._offsets = index["posting_offsets"]
        self._chunks = np.frombuffer(index["posting_chunks"], np.uint32)
        self._counts = np.frombuffer(index["posting_counts"], np.uint16)
        self._norms = k1 * (1.0 - b + b * (np.frombuffer(index["chunk_lengths"], np.uint32) / (self.bm25.mean_length or 1.0)))
        self._sums = np.zeros(index.chunks)

    def best(self, terms: Sequence[str], n: int) -> list[tuple[int, float]]:
        """The n best chunks, by score descending, then by chunk; sums are added up in the order of the terms."""
        lists = []
        for ordinal in map(self.index.term_ordinal, terms):
            if ordinal is not None:
                start, end = self._offsets[ordinal], self._offsets[ordinal + 1]
                chunks, tfs = self._chunks[start:end], self._counts[start:end].astype(np.float64)
                self._sums[chunks] += self.bm25.weight(end - start) * tfs / (tfs + self._norms[chunks])
                lists.append(chunks)
        if not lists:
            return []
        touched = self._touched(lists)
        scores = self._sums[touched]
        self._sums[touched] = 0.0
        if len(scores) > n:
            leading = scores >= np.partition(scores, len(scores) - n)[len(scores) - n]
            touched, scores = touched[leading], scores[leading]
        order = np.lexsort((touched, -scores))[:n]
        return list(zip(touched[order].tolist(), scores[order].tolist(), strict=True))

    def pages(self, terms: Sequence[str], depth: int) -> list[tuple[int, float]]:
        """The first `depth` distinct pages, by ordinal, with the score of their first chunk."""
        size, page_of = POOL_CHUNKS, self.index["chunk_pages"]
        while True:
            hits, found = self.best(terms, size), {}
            for chunk, score in hits:
                found.setdefault(page_of[chunk], score)
            if len(hits) < size or len(found) >= depth:
                return list(found.items())[:depth]
            size *= 2

    def _touched(self, lists: Sequence[np.ndarray]) -> np.ndarray:
        if len(lists) == 1:
            return lists[0]
        if sum(map(len, lists)) * SHARE_OF_CHUNKS > self.index.chunks:
            return np.flatnonzero(self._sums)
        return np.unique(np.concatenate(lists))


def metrics(label: Label, ranked: Sequence[str]) -> dict[str, float]:
    """Recall and hits at each cutoff, and RR, nDCG and AP at the last, of one query."""
    gold, last = set(label.gold), CUTOFFS[-1]
    at = [rank for rank, page in enumerate(ranked[:last], 1) if page in gold]
    found = {f"recall@{k}": sum(rank <= k for rank in at) / len(gold) for k in CUTOFFS}
    found |= {f"hit@{k}": float(any(rank <= k for rank in at)) for k in CUTOFFS}
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(gold), last) + 1))
    found[f"mrr@{last}"] = 1 / at[0] if at else 0.0
    found[f"ndcg@{last}"] = sum(1 / math.log2(rank + 1) for rank in at) / ideal
    found[f"ap@{last}"] = sum(place / rank for place, rank in enumerate(at, 1)) / len(gold)
    return found


def means(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    """The mean of every metric over the rows."""
    return {name: fmean(row[name] for row in rows) for name in rows[0]}


def evaluate(work: Given) -> dict[str, object]:
    """The report."""
    searcher = NumpySearcher(work.index)
    pages = {label.id: searcher.pages(label.terms, DEPTH_PAGES) for label in work.labels}
    met = {page for ranking in pages.values() for page, _ in ranking}
    names = {page: work.index.page(page) for page in met}
    digests = {page: hashlib.sha256((work.vault / names[page]).read_bytes()).hexdigest() for page in met}
    stale = sum(digest != work.index.page_digest(page) for page, digest in digests.items())
    by_category: dict[str, list[dict[str, float]]] = defaultdict(list)
    queries = []
    for label in work.labels:
        ranking = [{"rank": rank, "page": names[page], "score": score} for rank, (page, score) in enumerate(pages[label.id], 1)]
        found = metrics(label, [names[page] for page, _ in pages[label.id]]) if label.gold else {}
        if found:
            by_category[label.category].append(found)
        queries.append({"id": label.id, "query": label.query, "expected": label.gold, "ranking": ranking, "metrics": found})
    every = list(chain.from_iterable(by_category.values()))
    groups = {category: means(rows) for category, rows in by_category.items()}
    return {"metrics": means(every), "groups": groups, "stale": stale, "runs": [{"queries": queries}]}


def main() -> None:
    """Write the report beside ours."""
    work = given(__doc__)
    (work.folder / "numpy.json").write_text(json.dumps(evaluate(work), ensure_ascii=False), encoding="utf-8")
    print("{}")


if __name__ == "__main__":
    main()
