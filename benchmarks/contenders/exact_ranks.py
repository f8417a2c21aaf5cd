"""How long the exact rank of a gold page takes, milliseconds a query: an unpruned pass over the postings, every fifth query."""

from __future__ import annotations

import json
import time
from pathlib import Path
from statistics import fmean

from searched import given

from vault_eval.retrievers.protocol import Explains, RetrieverContext
from vault_eval.retrievers.select import open_retriever
from vault_eval.retrievers.spec import parse_specs
from vault_eval.vault.snapshot import open_snapshot

STEP = 5


def main() -> None:
    """Print the mean, and the slowest of twenty."""
    work = given(__doc__)
    times = []
    with open_snapshot(str(work.vault)) as snapshot:
        keyword = open_retriever(parse_specs(["keyword"])[0], RetrieverContext(snapshot, str(Path(work.index.path).parent)))
        if not isinstance(keyword, Explains):
            raise TypeError("keyword explains its rankings")
        for label in work.labels[::STEP]:
            for page in label.gold[:1]:
                keyword.search(label.query, 10)
                started = time.perf_counter()
                keyword.evidence(label.query, page, exact_rank=True)
                times.append(1_000 * (time.perf_counter() - started))
        keyword.close()
    times.sort()
    print(json.dumps({"rank_ms": fmean(times), "rank_p95_ms": times[len(times) * 95 // 100]}))


if __name__ == "__main__":
    main()
