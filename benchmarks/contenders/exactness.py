"""Whether the pruned search gives what the plain sum over all postings gives: chunks, order, and scores to the last bit."""

from __future__ import annotations

import json
from collections.abc import Sequence

from searched import POOL_CHUNKS, given

from vault_eval.index.search import Searcher
from vault_eval.index.store import IndexFile

# k1 and b: ours, Lucene's, TREC's, and the ends of what each may be.
PARAMETERS = ((1.5, 0.75), (1.2, 0.75), (0.9, 0.4), (3.0, 1.0), (1.5, 0.0), (0.0, 0.75))


def plain_sums(index: IndexFile, searcher: Searcher, terms: Sequence[str]) -> dict[int, float]:
    """Every chunk that holds a term, with the sum of the terms' contributions in their order."""
    sums: dict[int, float] = {}
    lengths, chunks, counts, offsets = (
        index[name] for name in ("chunk_lengths", "posting_chunks", "posting_counts", "posting_offsets")
    )
    for ordinal in map(index.term_ordinal, terms):
        if ordinal is None:
            continue
        start, end = offsets[ordinal], offsets[ordinal + 1]
        weight = searcher.bm25.weight(end - start)
        for at in range(start, end):
            chunk = chunks[at]
            sums[chunk] = sums.get(chunk, 0.0) + searcher.bm25.contribution(weight, counts[at], lengths[chunk])
    return sums


def main() -> None:
    """Print how many answers were compared, and how many differ."""
    work = given(__doc__)
    answers = different = 0
    for k1, b in PARAMETERS:
        searcher = Searcher(work.index, k1, b)
        for label in work.labels:
            sums = plain_sums(work.index, searcher, label.terms)
            plain = sorted(sums.items(), key=lambda hit: (-hit[1], hit[0]))[:POOL_CHUNKS]
            answers += 1
            different += plain != list(map(tuple, searcher.best(label.terms, POOL_CHUNKS)))
    print(json.dumps({"answers": answers, "different": different}))


if __name__ == "__main__":
    main()
