"""Names and terms of an index file are found by bisection, however many are asked for."""

from __future__ import annotations

from array import array
from bisect import bisect_left

from hypothesis import example, given, settings
from hypothesis import strategies as st

from vault_eval.index import sorted_texts
from vault_eval.index.sorted_texts import SortedTexts


def packed(texts):
    offsets = array("Q", [0])
    for text in texts:
        offsets.append(offsets[-1] + len(text))
    return SortedTexts(memoryview(offsets), memoryview(b"".join(texts)))


@given(st.sets(st.binary(max_size=3), max_size=300), st.lists(st.binary(max_size=4), max_size=20))
@example(set(), [b"", b"a"])
@example(
    {bytes([n]) for n in range(64)}, [b"\x00", b"\x3f", b"\x40"]
)  # as many as are kept apart, the first and the last of them
@example({bytes([n]) for n in range(65)}, [b"\x3f", b"\x40", b"\x41"])
@settings(deadline=None)
def test_a_text_is_found_where_it_stands_before_and_after_some_are_kept_in_memory(texts, others):
    ordered = sorted(texts)
    found = packed(ordered)
    assert [found[ordinal] for ordinal in range(len(found))] == ordered
    expected = {text: ordered.index(text) if text in texts else None for text in (*ordered, *others)}
    for _ in range(2):
        assert {text: found.find(text) for text in expected} == expected
        assert {text: found.place(text) for text in expected} == {text: bisect_left(ordered, text) for text in expected}
        found._lookups = sorted_texts._FEW_LOOKUPS


def test_once_some_are_kept_a_look_up_reads_no_more_than_the_texts_between_two_of_them():
    texts = [b"%05d" % number for number in range(100_000)]
    found, few = packed(texts), sorted_texts._FEW_LOOKUPS
    for _ in range(few):
        found.find(b"00000")
    reads = []
    found._blob = type("Blob", (), {"__getitem__": lambda _, place: reads.append(place) or memoryview(b"".join(texts))[place]})()
    assert found.find(b"77777") == bisect_left(texts, b"77777") == 77_777
    assert len(reads) <= 8  # 64 texts are told apart in six steps, and the one that is left is looked at once more
