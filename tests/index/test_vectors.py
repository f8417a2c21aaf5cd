"""Vectors of chunks: hashed from the postings, or made by a model and kept; the nearest chunks are those of the definition."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import fsum, log, sqrt
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_eval.errors import ChangedError, IndexUnusableError
from vault_eval.index.options import ChunkSizes, IndexOptions
from vault_eval.index.seal import open_index
from vault_eval.index.search import Hit
from vault_eval.index.terms import Analyzer
from vault_eval.index.vectors.build import VectorsResult, build_vectors
from vault_eval.index.vectors.dense import DenseCosines
from vault_eval.index.vectors.embedder import EmbeddingFailedError, ModelIdentity, unit_vectors
from vault_eval.index.vectors.hashed import HASH_DIMENSIONS, HashVectors
from vault_eval.index.vectors.vector_file import VectorFile, models_left_behind, vectors_path
from vault_eval.vault.snapshot import open_snapshot

PLAIN = IndexOptions(prefix="none")


@dataclass
class Letters:
    """A model that counts letters a to h: as good as any where only the handling of vectors is looked at."""

    identity: ModelIdentity = field(default_factory=lambda: ModelIdentity("letters", {"weights": "0" * 64}))
    asked: list[str] = field(default_factory=list)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked += texts
        return [[float(text.count(letter)) for letter in "abcdefgh"] for text in texts]


@dataclass
class Fixed:
    """A model that always gives the same answer."""

    answer: list[list[float]]
    identity: ModelIdentity = field(default_factory=lambda: ModelIdentity("fixed", {}))

    def embed(self, _texts: Sequence[str]) -> list[list[float]]:
        return self.answer


def make(vault, embedder) -> VectorsResult:
    index, sha256 = open_index(str(vault.folder), vault.id, verify=True)
    with index, open_snapshot(str(vault.root)) as snapshot:
        return build_vectors(index, sha256, str(vault.folder), snapshot.read, embedder, lambda _done, _total: None)


def opened(vault, model: str = "letters") -> VectorFile:
    return VectorFile(vectors_path(str(vault.folder), model))


# the hash vectors


def by_definition(text: str) -> dict[int, float]:
    vector: dict[int, float] = {}
    for term, count in Analyzer().counts(text).items():
        digest = crc32(term.encode())
        sign = -1 if digest >= 2**31 else 1
        vector[digest % 4096] = vector.get(digest % 4096, 0.0) + sign * (1 + log(count))
    return vector


def cosine(one: dict[int, float], other: dict[int, float]) -> float:
    lengths = sqrt(fsum(x * x for x in one.values())) * sqrt(fsum(x * x for x in other.values()))
    return fsum(value * other.get(key, 0.0) for key, value in one.items()) / lengths if lengths else 0.0


WORDS = st.lists(st.sampled_from(["sea", "fog", "boat", "Boat_house", "Größe", "тень", "潮汐", "neap"]), min_size=1, max_size=12)


@settings(max_examples=30)  # each builds an index
@given(st.lists(WORDS, min_size=1, max_size=5), WORDS)
def test_hash_cosines_are_those_of_the_definition(make_vault, notes, asked):
    vault = make_vault(**{f"N{number}.md": " ".join(words) + "\n" for number, words in enumerate(notes)})
    vault.build(PLAIN)
    with vault.index() as index:
        found = HashVectors(index, Analyzer()).cosines(" ".join(asked))
        expected = [cosine(by_definition(" ".join(asked)), by_definition(" ".join(words))) for words in notes]
        assert [found.of(chunk) for chunk in range(len(notes))] == pytest.approx(expected, abs=1e-12)
        in_order = sorted((-found.of(chunk), chunk) for chunk in range(len(notes)) if found.of(chunk) > 0)
        assert found.best(3) == [Hit(chunk, -negated) for negated, chunk in in_order[:3]]


def test_a_hash_cosine_computed_by_hand(make_vault):
    vault = make_vault(**{"A.md": "sea sea fog\n", "B.md": "boat\n"})
    vault.build(PLAIN)
    with vault.index() as index:
        found = HashVectors(index, Analyzer()).cosines("sea")
        # CRC-32 of sea, fog and boat differ in their low 12 bits: (1 + ln 2) / sqrt((1 + ln 2)^2 + 1) = 1.6931 / 1.9664
        assert found.best(9) == [Hit(0, pytest.approx(0.861037, abs=1e-6))]
        assert found.of(1) == 0.0, "it shares no word"


def test_words_that_meet_in_one_dimension_are_added_with_their_signs(make_vault):
    same, other = "w899", "w1240"
    first, second = crc32(same.encode()), crc32(other.encode())
    assert first % HASH_DIMENSIONS == second % HASH_DIMENSIONS
    assert first >> 31 != second >> 31
    vault = make_vault(**{"A.md": f"{same} {other}\n", "B.md": f"{other}\n"})
    vault.build(PLAIN)
    with vault.index() as index:
        found = HashVectors(index, Analyzer()).cosines(same)
        assert found.of(0) == 0.0, "they cancel out, and a vector of length 0 has no direction"
        assert found.of(1) == -1.0
        assert found.best(9) == []


@pytest.mark.parametrize("query", ["", "?!", "zither"])
def test_a_query_that_shares_nothing_has_no_nearest_chunk(make_vault, query):
    vault = make_vault(**{"A.md": "sea\n"})
    vault.build(PLAIN)
    with vault.index() as index:
        assert HashVectors(index, Analyzer()).cosines(query).best(9) == []


# the nearest of stored vectors


def rows_of(vectors: Sequence[Sequence[float]]) -> memoryview[float]:
    return memoryview(array("f", [number for vector in vectors for number in vector]).tobytes()).cast("f")


def as_units(vectors: Sequence[Sequence[float]]) -> list[array[float]]:
    return unit_vectors(Fixed([list(vector) for vector in vectors]), ["x"] * len(vectors))


VECTORS = st.lists(st.lists(st.integers(-3, 3).map(float), min_size=4, max_size=4), min_size=1, max_size=30)


@pytest.mark.parametrize("library", ["numpy", "none"])
@given(VECTORS, st.lists(st.integers(-3, 3).map(float), min_size=4, max_size=4), st.integers(1, 40))
def test_the_nearest_are_those_of_the_exhaustive_search(library, vectors, query, n):
    """Small whole numbers give many equal and nearly equal cosines."""
    rows, (asked,) = as_units(vectors), as_units([query])
    with pytest.MonkeyPatch.context() as patch:
        if library == "none":
            patch.setitem(sys.modules, "numpy", None)
        found = DenseCosines(rows_of(rows), asked)
    exact = [fsum(a * b for a, b in zip(row, asked, strict=True)) for row in rows]
    in_order = sorted((-score, chunk) for chunk, score in enumerate(exact) if score > 0)
    assert found.best(n) == [Hit(chunk, -negated) for negated, chunk in in_order[:n]]
    assert [found.of(chunk) for chunk in range(len(rows))] == exact


def test_rounding_of_the_first_pass_does_not_decide(monkeypatch):
    """The first pass is off by as much as 32-bit sums may be; the order is still that of the exact cosines."""
    rows = as_units([[1.0, number / 1e7, 0.0, 0.0] for number in range(50)])
    (asked,) = as_units([[1.0, 1.0, 0.0, 0.0]])
    exact = [fsum(a * b for a, b in zip(row, asked, strict=True)) for row in rows]
    rough = [score + (1 if number % 2 else -1) * 4 * 2.0**-24 for number, score in enumerate(exact)]
    monkeypatch.setattr("vault_eval.index.vectors.dense._rough_cosines", lambda *_: rough)
    best = sorted((-score, chunk) for chunk, score in enumerate(exact))[:5]
    assert [hit.chunk for hit in DenseCosines(rows_of(rows), asked).best(5)] == [chunk for _, chunk in best]


# what a model answers


def test_vectors_have_the_length_one_and_nothing_has_none():
    found = unit_vectors(Fixed([[3.0, 4.0], [0.0, 0.0]]), ["a", "b"])
    assert [list(vector) for vector in found] == [[pytest.approx(0.6), pytest.approx(0.8)], [0.0, 0.0]]


@pytest.mark.parametrize(
    "answer",
    [[], [[1.0]], [[1.0], [1.0, 2.0]], [[], []], [[1.0], [float("nan")]], [[1.0], [float("inf")]], [[1.0], [1e200]]],
    ids=["none", "one for two", "two lengths", "empty", "nan", "infinite", "too large to square"],
)
def test_an_answer_of_another_shape_is_refused(answer):
    with pytest.raises(EmbeddingFailedError, match="the model fixed gave"):
        unit_vectors(Fixed(answer), ["a", "b"])


def test_a_name_that_is_no_unicode_is_still_a_text_for_a_model():
    model = Letters()
    unit_vectors(model, ["a\udcff"])
    assert model.asked == ["a?"]


# the file


def test_every_chunk_has_the_vector_of_the_text_that_is_indexed(vault):
    vault.write("Sea/Ebb.md", "---\naliases: [face]\n---\n# Head\n\nbead\n\n# Two\n\nhedge\n")
    vault.write("A.md", "cab\n")
    vault.build()
    model = Letters()
    result = make(vault, model)
    # Path order; prefix, heading path above the chunk, then its own lines.
    assert model.asked == ["A\n\ncab\n", "Ebb\nface\n\n# Head\n\nbead\n\n", "Ebb\nface\n\n# Two\n\nhedge\n"]
    assert (result.chunks, result.reused, result.dims) == (3, 0, 8)
    with opened(vault) as file:
        assert [list(file.row(chunk)) for chunk in range(3)] == [list(one) for one in unit_vectors(Letters(), model.asked)]


def test_the_text_of_pdfs_is_given_to_the_model_page_by_page(vault, make_pdf):
    vault.write("Cab.pdf", make_pdf(["A bead.", "A hedge."]))
    vault.build(IndexOptions(pdf=True))
    model = Letters()
    assert make(vault, model).chunks == 2
    assert [text.split() for text in model.asked] == [["Cab", "A", "bead."], ["Cab", "A", "hedge."]]


def test_the_same_notes_and_model_give_the_same_bytes(vault):
    vault.write("A.md", "# Bed\n\ncab\n")
    vault.build()
    path = Path(make(vault, Letters()).path)
    before = path.read_bytes()
    path.unlink()
    make(vault, Letters())
    assert path.read_bytes() == before


def test_only_changed_text_is_given_to_the_model_again(vault):
    for page, text in {"A.md": "# One\n\nbad\n\n# Two\n\ncafe\n", "B.md": "deaf\n", "C.md": "fed\n"}.items():
        vault.write(page, text)
    vault.build(PLAIN)
    make(vault, Letters())
    vault.write("A.md", "# One\n\nbad\n\n# Two\n\nface and more\n")
    vault.write("B0.md", "added\n")
    (vault.root / "C.md").unlink()
    vault.build(PLAIN)
    model = Letters()
    result = make(vault, model)
    assert ([text.strip() for text in model.asked], result.reused) == (["# Two\n\nface and more", "added"], 2)
    renewed = Path(result.path).read_bytes()
    Path(result.path).unlink()
    make(vault, Letters())
    assert Path(result.path).read_bytes() == renewed, "as from nothing"


def test_vectors_of_another_state_of_the_model_are_not_used_again(vault):
    vault.write("A.md", "bad\n")
    vault.build()
    make(vault, Letters())
    assert make(vault, Letters(ModelIdentity("letters", {"weights": "1" * 64}))).reused == 0


def test_an_empty_vault_has_vectors_too(vault):
    vault.build()
    make(vault, Letters())
    with opened(vault) as file:
        assert (file.chunks, len(file.rows)) == (0, 0)
        assert DenseCosines(file.rows, as_units([[1.0]])[0]).best(5) == []


def test_a_page_that_changed_since_it_was_indexed_ends_it(vault):
    vault.write("A.md", "bad\n")
    vault.build()
    before = Path(make(vault, Letters()).path).read_bytes()
    vault.write("A.md", "cafe\n")
    with pytest.raises(ChangedError, match=r"'A\.md' changed since it was indexed"):
        make(vault, Letters())
    assert Path(vectors_path(str(vault.folder), "letters")).read_bytes() == before


def test_a_model_that_fails_leaves_the_old_vectors(vault):
    vault.write("A.md", "bad\n")
    vault.build()
    path = Path(make(vault, Letters()).path)
    before = path.read_bytes()
    vault.write("A.md", "cafe\n")
    vault.build()
    with pytest.raises(EmbeddingFailedError):
        make(vault, Fixed([], ModelIdentity("letters", {"weights": "0" * 64})))
    assert path.read_bytes() == before
    assert [name for name in vault.folder.iterdir() if name.suffix == ".tmp"] == []


def test_many_small_chunks_are_all_there_in_their_order(vault):
    vault.write("A.md", "".join(f"# H{number}\n\n{'abcdefgh'[number % 8] * (number % 5 + 1)}\n\n" for number in range(600)))
    vault.build(IndexOptions(ChunkSizes(50, 80, 0), prefix="none"))
    model = Letters()
    result = make(vault, model)
    assert result.chunks == len(model.asked) > 512
    with opened(vault) as file:
        expected = unit_vectors(Letters(), model.asked)
        assert all(list(file.row(chunk)) == list(expected[chunk]) for chunk in range(file.chunks))


def test_models_whose_vectors_are_of_an_older_index_are_named(vault):
    vault.write("A.md", "bad\n")
    first = vault.build()
    make(vault, Letters())
    assert models_left_behind(str(vault.folder), first.sha256) == []
    vault.write("A.md", "cafe\n")
    second = vault.build()
    assert models_left_behind(str(vault.folder), second.sha256) == ["letters"]
    (vault.folder / "vectors-0123456789abcdef.bin").write_bytes(b"damaged")
    assert models_left_behind(str(vault.folder), second.sha256) == ["letters"], "what cannot be read names nobody"


def test_every_flipped_byte_is_found(vault):
    vault.write("A.md", "bad\n")
    vault.build()
    path = Path(make(vault, Letters()).path)
    whole = path.read_bytes()
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 0x10
        path.write_bytes(damaged)
        with pytest.raises(IndexUnusableError):
            opened(vault).close()


@pytest.mark.parametrize("size", [0, 7, 43, 44, 200, -32, -1])
def test_a_file_that_is_cut_short_is_corrupt(vault, size):
    vault.write("A.md", "bad\n")
    vault.build()
    path = Path(make(vault, Letters()).path)
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(IndexUnusableError, match=r"corrupt|cannot be opened"):
        opened(vault)


def test_a_file_that_is_not_there_is_said_to_be_missing(vault):
    with pytest.raises(IndexUnusableError, match="there are no vectors of this model"):
        opened(vault)
