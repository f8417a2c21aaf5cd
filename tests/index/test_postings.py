"""Postings: what is collected by word is, in the end, what the terms of each chunk say."""

from __future__ import annotations

from array import array
from collections import Counter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from vault_eval.index.postings import WordPostings, merged_sections
from vault_eval.index.terms import Analyzer

# Words of one term, of several, of none (`_`), and those that share a term.
WORDS = st.sampled_from(
    [
        "tide",
        "Tide",
        "TIDE",
        "tideTable",
        "tide-table",
        "v1.2",
        "_",
        "潮",
        "潮位",
        "潮位表",
        "İZMİR",
        "izmir",
        "GitHub备份",
        "🚀x",
        "ﬁn",
    ]
)
CHUNKS = st.lists(st.lists(WORDS, max_size=12).map(" ".join), max_size=5)


def collected(texts):
    """The chunks of each term, and the length of each chunk."""
    words = WordPostings(Analyzer())
    lengths = array("I", [words.add(chunk, text) for chunk, text in enumerate(texts)])
    return words.by_term(lengths), lengths


@given(CHUNKS)
def test_the_length_of_a_chunk_is_the_number_of_its_terms(texts):
    assert list(collected(texts)[1]) == [len(Analyzer().terms(text)) for text in texts]


@given(CHUNKS)
def test_postings_are_the_counts_of_the_terms_of_each_chunk_in_order(texts):
    by_term, lengths = collected(texts)
    sections = merged_sections(by_term, None, [], lengths)
    terms = [bytes(sections["terms"][start:end]) for start, end in pairwise(sections["term_offsets"])]
    counts = [Counter(term.encode() for term in Analyzer().terms(text)) for text in texts]
    assert terms == sorted({term for found in counts for term in found})
    for term, (start, end) in zip(terms, pairwise(sections["posting_offsets"]), strict=True):
        postings = list(zip(sections["posting_chunks"][start:end], sections["posting_counts"][start:end], strict=True))
        assert postings == [(chunk, found[term]) for chunk, found in enumerate(counts) if term in found]
