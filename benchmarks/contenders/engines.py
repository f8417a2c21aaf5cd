"""The best 25 chunks of each of 1,000 queries by different engines, from the same terms and postings: `engines.py NAME make|ask`.

`make` writes the engine's own index, where it needs one that is not there; `ask` opens it and asks, in one process.
bm25s is told our formula and rounds scores to 32 bits; tantivy scores with its own k1, b and rounded lengths.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import repeat
from pathlib import Path
from types import MappingProxyType

from searched import POOL_CHUNKS, Given, given

from vault_eval.index.bm25 import DEFAULT_B, DEFAULT_K1
from vault_eval.index.search import Searcher
from vault_eval.index.store import IndexFile


def chunk_terms(index: IndexFile) -> Iterator[list[str]]:
    """The terms of each chunk, each as often as the chunk holds it, in no order that means anything."""
    chunks: list[list[str]] = [[] for _ in range(index.chunks)]
    offsets, holders, counts = (index[name] for name in ("posting_offsets", "posting_chunks", "posting_counts"))
    for ordinal in range(index.term_count):
        term = index.term(ordinal)
        for at in range(offsets[ordinal], offsets[ordinal + 1]):
            chunks[holders[at]].extend(repeat(term, counts[at]))
    yield from chunks


def ask_ours(work: Given, _place: Path) -> None:
    """The pruned search of this project."""
    searcher = Searcher(work.index)
    for label in work.labels:
        searcher.best(label.terms, POOL_CHUNKS)


def ask_loop(work: Given, _place: Path) -> None:
    """The plainest loop over the same postings."""
    from exactness import plain_sums

    searcher = Searcher(work.index)
    for label in work.labels:
        sorted(plain_sums(work.index, searcher, label.terms).items(), key=lambda hit: (-hit[1], hit[0]))[:POOL_CHUNKS]


def ask_numpy(work: Given, _place: Path) -> None:
    """The same postings as arrays."""
    from numpy_program import NumpySearcher

    searcher = NumpySearcher(work.index)
    for label in work.labels:
        searcher.best(label.terms, POOL_CHUNKS)


def make_bm25s(work: Given, place: Path) -> None:
    """An index of bm25s with the parameters of ours."""
    import bm25s

    engine = bm25s.BM25(method="lucene", k1=DEFAULT_K1, b=DEFAULT_B)
    engine.index(list(chunk_terms(work.index)), show_progress=False)
    engine.save(str(place))


def ask_bm25s(work: Given, place: Path) -> None:
    """Its own index, mapped; it refuses a query without any term that it knows."""
    import bm25s

    engine = bm25s.BM25.load(str(place), mmap=True)
    for label in work.labels:
        if any(term in engine.vocab_dict for term in label.terms):
            engine.retrieve([list(label.terms)], k=POOL_CHUNKS, show_progress=False)


def make_tantivy(work: Given, place: Path) -> None:
    """An index of tantivy over our terms, parted by blanks."""
    import tantivy

    schema = tantivy.SchemaBuilder().add_text_field("terms", tokenizer_name="whitespace").add_unsigned_field("chunk", stored=True)
    place.mkdir()
    index = tantivy.Index(schema.build(), path=str(place))
    writer = index.writer()
    for chunk, terms in enumerate(chunk_terms(work.index)):
        writer.add_document(tantivy.Document(terms=" ".join(terms), chunk=chunk))
    writer.commit()
    writer.wait_merging_threads()


def ask_tantivy(work: Given, place: Path) -> None:
    """Its own index, any of the terms."""
    import tantivy

    index = tantivy.Index.open(str(place))
    schema, searcher = index.schema, index.searcher()
    for label in work.labels:
        terms = [(tantivy.Occur.Should, tantivy.Query.term_query(schema, "terms", term)) for term in label.terms]
        searcher.search(tantivy.Query.boolean_query(terms), POOL_CHUNKS)


MAKE: Mapping[str, Callable[[Given, Path], None]] = MappingProxyType({"bm25s": make_bm25s, "tantivy": make_tantivy})
ASK: Mapping[str, Callable[[Given, Path], None]] = MappingProxyType(
    {"ours": ask_ours, "loop": ask_loop, "numpy": ask_numpy, "bm25s": ask_bm25s, "tantivy": ask_tantivy}
)


def main() -> None:
    """Make or ask."""
    work = given(__doc__, tuple(ASK), ("make", "ask"), verify=False)
    name, what = work.mode
    place = work.folder / f"{name}-{Path(work.index.path).stem}"
    if what == "ask":
        ASK[name](work, place)
    elif name in MAKE and not place.exists():
        MAKE[name](work, place)
    print(json.dumps({}))


if __name__ == "__main__":
    main()
