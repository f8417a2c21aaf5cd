from __future__ import annotations

import dataclasses
import json

from hypothesis import given
from hypothesis import strategies as st

from vault_eval.labels.load import LabelDocument, load_labels
from vault_eval.labels.rules import normalise_query
from vault_eval.labels.write import native_json
from vault_eval.model import Label, LabelSet, LabelSource, Target

WORDS = st.text(alphabet="abcé日 C#%'\"\\-_", min_size=1, max_size=8).filter(lambda text: normalise_query(text) == text)
PAGES = (
    st.from_regex(r"[a-cé#]{1,4}(/[a-c ]{1,3}x)?\.md", fullmatch=True)
    .map(normalise_query)
    .filter(lambda page: ".md#" not in page)
)
TARGETS = st.one_of(
    PAGES.map(Target),
    st.builds(lambda page, name: Target(page, heading=name), PAGES, st.sampled_from(["Part", "A#B", "C# tips"])),
    st.builds(lambda page, name: Target(page, block=name), PAGES, st.sampled_from(["id-1", "moon"])),
)
GOLD = st.lists(TARGETS, max_size=4, unique=True).map(tuple)
OPTIONAL = st.one_of(st.none(), WORDS)


@st.composite
def labels(draw, extended):
    found = []
    for number in range(draw(st.integers(1, 4))):
        gold = draw(GOLD)
        label = Label(
            id=f"{draw(WORDS)}{number}",
            query=f"{number} {draw(WORDS)}",
            gold=gold,
            source="q.json",
            place="",
            category=draw(OPTIONAL),
        )
        if extended:
            label = dataclasses.replace(
                label,
                skip_reason=draw(OPTIONAL),
                tags=tuple(draw(st.lists(WORDS, max_size=3, unique=True))),
                split=draw(st.sampled_from(["dev", "holdout", None])),
                origin=draw(OPTIONAL),
                note=draw(OPTIONAL),
                collection=draw(OPTIONAL),
                grades={target.page: 2 for target in gold if target.heading is None and target.block is None},
                hashes={target.page: "0" * 64 for target in gold},
            )
        found.append(dataclasses.replace(label, place=f"query {label.id!r}"))
    return LabelSet(tuple(found), (LabelSource("q.json", "", ""),))


def read_back(label_set):
    return load_labels([LabelDocument("q.json", native_json(label_set).encode(), None, list)])


@given(st.booleans().flatmap(labels))
def test_what_is_written_is_read_back_equal(label_set):
    assert read_back(label_set).labels == label_set.labels


@given(labels(extended=False))
def test_plain_schema_is_printed_where_no_extra_is_used(label_set):
    assert json.loads(native_json(label_set))["schema"] == "claude-obsidian.retrieval-queries.v1"


def test_one_extra_is_enough_for_the_extended_schema():
    label_set = LabelSet(
        (Label("a", "heap", (Target("a.md"),), "q.json", ""), Label("b", "tides", (), "q.json", "", split="dev")),
        (LabelSource("q.json", "", ""),),
    )
    assert native_json(label_set) == (
        '{\n"schema": "vault-eval.labels.v1",\n"queries": [\n'
        '{"id": "a", "query": "heap", "expected_pages": ["a.md"]},\n'
        '{"id": "b", "query": "tides", "expected_pages": [], "split": "dev"}\n]\n}\n'
    )
