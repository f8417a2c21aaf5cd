from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_eval.authoring.pool import pooled
from vault_eval.authoring.pool_sheet import read_sheet, sheet_text
from vault_eval.errors import LabelError
from vault_eval.model import Label, Target

PAGES = [f"Notes/{number}.md" for number in range(30)]
VAULT = ("0123456789abcdef", "Harbour")


def label(name, gold=()):
    return Label(name, f"what about {name}", tuple(map(Target, gold)), "labels.json", "", note="to know it")


def section(query, page):
    return (page, query), (len(query), len(query) + 1)


def pool_of(found, *, seed=0, gold=()):
    return pooled([label(name, gold) for name in found], found, section, seed, VAULT)


def test_sheet_is_the_same_whoever_found_a_page_and_whether_it_is_expected():
    found = {"one": set(PAGES[:5]), "two": set(PAGES[3:9])}
    text = sheet_text(pool_of(found))
    assert text == sheet_text(pool_of({name: dict.fromkeys(sorted(pages, reverse=True)).keys() for name, pages in found.items()}))
    assert text == sheet_text(pool_of(found, gold=PAGES[:2]))
    assert not {"rank", "score", "retriever", "searcher", "gold", "expected"} & set(json.dumps(json.loads(text)).split('"'))


@given(st.permutations(PAGES[:8]), st.integers(0, 3))
def test_order_within_a_query_does_not_depend_on_the_order_found(order, seed):
    (query,) = pool_of({"one": dict.fromkeys(order).keys()}, seed=seed).queries
    (sorted_query,) = pool_of({"one": set(order)}, seed=seed).queries
    assert query == sorted_query


def test_order_is_another_for_another_query_or_seed_and_not_that_of_the_paths():
    found = {"one": set(PAGES), "two": set(PAGES)}
    first, second = ([item.page for item in query.items] for query in pool_of(found).queries)
    assert sorted(first) == sorted(second) == sorted(PAGES)
    assert len({tuple(first), tuple(second), tuple(item.page for item in pool_of(found, seed=1).queries[0].items)}) == 3
    assert first != sorted(first)


@pytest.mark.parametrize(("items", "again"), [(4, 4), (10, 10), (100, 10), (101, 11), (250, 25)])
def test_one_in_ten_and_at_least_ten_are_shown_twice(items, again):
    found = {f"q{place // 25}": set() for place in range(items)}
    for place in range(items):
        found[f"q{place // 25}"].add(f"{place}.md")
    pool = pool_of(found)
    assert len(pool.again) == again == len(set(pool.again))
    assert set(pool.again) <= set(pool.items)


def test_section_is_asked_for_by_query_and_page_alone():
    (query,) = pool_of({"one": {"A.md"}}).queries
    assert (query.items[0].heading, query.items[0].lines) == (("A.md", "what about one"), (14, 15))
    assert query.need == "to know it"


@given(
    st.dictionaries(
        st.text(min_size=1, max_size=8), st.sets(st.text(min_size=1, max_size=8), max_size=5), min_size=1, max_size=4
    ).filter(lambda found: all(name.isprintable() for name in found))
)
def test_sheet_is_read_back_as_it_was(found):
    pool = pool_of(found)
    assert read_sheet(sheet_text(pool), "pool.json") == pool


@pytest.mark.parametrize(
    "change",
    [
        lambda value: value | {"schema": "other"},
        lambda value: value | {"again": ["unknown"]},
        lambda value: value | {"seed": True, "note": "added"},
        lambda value: {key: kept for key, kept in value.items() if key != "queries"},
        lambda value: value | {"queries": [{"id": 1}]},
        lambda _: [],
    ],
)
def test_what_is_no_pool_of_ours_is_refused(change):
    value = change(json.loads(sheet_text(pool_of({"one": {"A.md"}}))))
    with pytest.raises(
        LabelError, match=r"pool\.json: (.*; this is no pool of ours; make one with `labels pool`|the pool was changed by hand)"
    ):
        read_sheet(json.dumps(value), "pool.json")


def test_value_that_no_pool_of_ours_has_is_named_with_its_place():
    value = json.loads(sheet_text(pool_of({"one": {"A.md"}})))
    value["queries"][0]["items"][0]["page"] = 7
    with pytest.raises(LabelError) as error:
        read_sheet(json.dumps(value), "pool.json")
    assert str(error.value) == (
        "pool.json: queries[0]: items[0]: page: found '7', allowed is text; this is no pool of ours; make one with `labels pool`"
    )


def test_text_that_is_no_json_is_refused():
    with pytest.raises(LabelError, match="no pool of ours"):
        read_sheet("{", "pool.json")
