from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_eval.authoring.splitting import assigned, with_splits
from vault_eval.errors import LabelError
from vault_eval.labels.load import LabelDocument, load_labels
from vault_eval.model import Label, Target

HALF = Fraction(1, 2)


def label(name: str, category: str | None = None, *, negative: bool = False, split: str | None = None) -> Label:
    return Label(name, f"query {name}", () if negative else (Target("A.md"),), "", "", category=category, split=split)


LABELS = st.lists(
    st.builds(
        label, st.text("abcdef0123456789", min_size=1, max_size=6), st.sampled_from(["x", "y", None]), negative=st.booleans()
    ),
    unique_by=lambda one: one.id,
    max_size=40,
)
SHARES = st.fractions(Fraction(1, 10), Fraction(9, 10), max_denominator=20)


@given(LABELS, SHARES, st.integers(0, 3))
def test_every_stratum_has_its_share_to_within_one_label(labels, share, seed):
    splits = assigned(labels, share, seed)
    assert splits.keys() == {one.id for one in labels}
    sizes = Counter((one.category, bool(one.gold)) for one in labels)
    held = Counter((one.category, bool(one.gold)) for one in labels if splits[one.id] == "holdout")
    assert all(abs(held[stratum] - size * share) < 1 for stratum, size in sizes.items())
    assert sum(held.values()) == len(labels) * share // 1


@given(LABELS, st.randoms())
def test_order_of_the_file_decides_nothing(labels, random):
    shuffled = list(labels)
    random.shuffle(shuffled)
    assert assigned(shuffled, HALF, 0) == assigned(labels, HALF, 0)


def test_another_seed_parts_otherwise_and_the_same_one_the_same():
    labels = [label(str(number)) for number in range(40)]
    assert assigned(labels, HALF, 1) == assigned(labels, HALF, 1) != assigned(labels, HALF, 2)


def test_label_that_has_a_split_keeps_it():
    labels = [label("a", split="holdout"), label("b"), label("c"), label("d", split="dev")]
    splits = assigned(labels, HALF, 0)
    assert splits.keys() == {"b", "c"}
    assert sorted(splits.values()) == ["dev", "holdout"]
    done = [replace(one, split=splits.get(one.id, one.split)) for one in labels]
    assert assigned(done, HALF, 7) == {}


def grown(labels: list[Label], share: Fraction, seed: int) -> Iterator[list[Label]]:
    """The set after each label that was added to it and parted alone."""
    done: list[Label] = []
    for one in labels:
        new = [*done, one]
        splits = assigned(new, share, seed)
        done = [replace(each, split=splits.get(each.id, each.split)) for each in new]
        yield done


def held_of(labels: list[Label]) -> Counter[object]:
    return Counter((one.category, bool(one.gold)) for one in labels if one.split == "holdout")


@given(LABELS, SHARES, st.integers(0, 3))
def test_every_stratum_of_a_set_that_grows_has_its_share_to_within_one_label_at_every_step(labels, share, seed):
    before: dict[str, str | None] = {}
    for done in grown(labels, share, seed):
        sizes, held = Counter((one.category, bool(one.gold)) for one in done), held_of(done)
        assert all(abs(held[stratum] - size * share) < 1 for stratum, size in sizes.items())
        # What follows for all together: each stratum adds less than one label.
        assert abs(held.total() - len(done) * share) < len(sizes)
        after = {one.id: one.split for one in done}
        assert before.items() <= after.items()  # no label changes sides
        before = after


@given(LABELS, SHARES, st.integers(0, 3))
def test_label_that_may_go_to_either_side_goes_where_all_together_lack_it(labels, share, seed):
    for done in grown(labels, share, seed):
        new = done[-1]
        stratum = [one for one in done if (one.category, bool(one.gold)) == (new.category, bool(new.gold))]
        others, all_others = (sum(one.split == "holdout" for one in some if one is not new) for some in (stratum, done))
        may_be_dev = others >= floor(len(stratum) * share)
        may_be_held = others + 1 <= ceil(len(stratum) * share)
        if may_be_dev and may_be_held:
            assert (new.split == "holdout") == (all_others < floor(len(done) * share))


@pytest.mark.parametrize("order", [1, -1])
def test_twenty_categories_of_one_label_each_are_parted_in_halves_at_once_and_one_by_one(order):
    labels = [label(f"{number}", f"c{number:02}") for number in range(20)][::order]
    assert Counter(assigned(labels, HALF, 0).values()) == {"dev": 10, "holdout": 10}
    # Each is a choice, so all together stay exact at every step: half, rounded down.
    assert [held_of(done).total() for done in grown(labels, HALF, 0)] == [number // 2 for number in range(1, 21)]


def test_largest_remainder_takes_the_odd_label():
    # Three tenths of 2, 3 and 3 are 0.6, 0.9 and 0.9, each 0 rounded down; of all 8 they are 2.4, so two of the three take one.
    labels = [label(f"{name}{number}", name) for name, size in (("a", 2), ("b", 3), ("c", 3)) for number in range(size)]
    splits = assigned(labels, Fraction(3, 10), 0)
    assert Counter(name[0] for name, split in splits.items() if split == "holdout") == {"b": 1, "c": 1}


def test_new_labels_make_up_for_what_their_own_stratum_has_too_much_of():
    labels = [label(f"{number}", split="holdout") for number in range(10)] + [label(f"n{number}") for number in range(10)]
    assert set(assigned(labels, HALF, 0).values()) == {"dev"}


def test_stratum_does_not_make_up_for_what_another_has_too_much_of():
    labels = [label(f"{number}", "a", split="dev") for number in range(10)] + [label(f"n{number}", "b") for number in range(10)]
    assert Counter(assigned(labels, HALF, 0).values()) == {"dev": 5, "holdout": 5}


def document(text: str, name: str = "L.json") -> LabelDocument:
    return LabelDocument(name, text.encode(), None, list)


def test_splits_are_written_beside_everything_else():
    before = (
        '{"schema": "claude-obsidian.retrieval-queries.v1", "queries": [\n'
        '  {"id": "a", "query": "one", "expected_pages": []},\r\n'
        '  {\n    "query": "two",\n    "id": "b", "expected_pages": ["B.md"]\n  }\n]}'
    )
    after = with_splits(document(before), {"a": "dev", "b": "holdout"}).decode()
    assert after == (
        '{"schema": "vault-eval.labels.v1", "queries": [\n'
        '  {"id": "a", "query": "one", "expected_pages": [], "split": "dev"},\r\n'
        '  {\n    "query": "two",\n    "id": "b", "expected_pages": ["B.md"],\n    "split": "holdout"\n  }\n]}'
    )
    assert [one.split for one in load_labels([document(after)]).labels] == ["dev", "holdout"]


def test_nothing_to_write_writes_nothing():
    before = '{"schema": "vault-eval.labels.v1", "queries": [{"id": "a", "query": "q", "expected_pages": [], "split": "dev"}]}'
    assert with_splits(document(before), {}) == before.encode()


@given(LABELS.filter(bool), st.integers(0, 4), st.booleans())
def test_nothing_but_the_splits_changes(labels, indent, ascii_only):
    queries = [{"id": one.id, "query": one.query + " é", "expected_pages": [], "note": "x\u2028y"} for one in labels]
    text = json.dumps({"schema": "vault-eval.labels.v1", "queries": queries}, indent=indent or None, ensure_ascii=ascii_only)
    splits = assigned(labels, HALF, 0)
    after = json.loads(with_splits(document(text), splits))
    assert after["queries"] == [{**query, "split": splits[query["id"]]} for query in queries]


def test_formats_without_a_split_are_refused():
    with pytest.raises(LabelError, match="splits are written into JSON label files"):
        with_splits(document('{"query": "q", "relevant": []}', "L.jsonl"), {"x": "dev"})
