"""`--vary`: one setting changed at a time, its index built beside the standing one, and used again while nothing changed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from vault_eval.data_folder import DataFolder
from vault_eval.errors import IndexUnusableError, UsageError
from vault_eval.evaluation import clock, evaluate
from vault_eval.index.build import build_index, no_progress
from vault_eval.index.options import IndexOptions
from vault_eval.request import Request
from vault_eval.variants import build_variants, varied
from vault_eval.vault.location import vault_id, vault_root
from vault_eval.vault.snapshot import open_snapshot

NOTES = {"Sailing.md": "# Reefing\n\nReef early when the wind rises.\n", "Boat.md": "The boats rot in winter.\n"}
LABELS = [
    {"id": "plural", "query": "rotting planks", "expected_pages": ["Boat.md"]},
    {"id": "reef", "query": "reefing the sail", "expected_pages": ["Sailing.md"]},
]


@pytest.fixture
def request_(tmp_path):
    vault = tmp_path / "Notes"
    vault.mkdir()
    for name, text in NOTES.items():
        (vault / name).write_text(text, encoding="utf-8")
    labels = tmp_path / "labels.json"
    labels.write_text(json.dumps({"schema": "claude-obsidian.retrieval-queries.v1", "queries": LABELS}), encoding="utf-8")
    made = Request(str(vault), (str(labels),), data=str(tmp_path / "data"), cold_samples=0)
    build_standing(made)
    return made


def build_standing(asked):
    with open_snapshot(asked.vault) as snapshot:
        folder = DataFolder(asked.data).index_folder(snapshot.id)
        build_index(snapshot.reader, snapshot.listing, IndexOptions(), folder, snapshot.id, 0, no_progress)


def files_below(folder):
    return {str(path): path.stat().st_mtime_ns for path in Path(folder).rglob("*") if path.is_file()}


def test_each_value_is_one_configuration_with_one_setting_changed(request_):
    found = varied(request_, ["chunk-chars=1000,4000", "k1=0.9"])
    assert found.retrievers == ("keyword", "keyword:chunk-chars=1000", "keyword:chunk-chars=4000", "keyword:k1=0.9")


def test_first_configuration_is_varied_and_the_others_stay_as_they_are(request_):
    base = Request(request_.vault, request_.queries, ("keyword:k1=1.2", "title"), data=request_.data)
    assert varied(base, ["b=0.5"]).retrievers == ("keyword:k1=1.2", "title", "keyword:k1=1.2,b=0.5")


@pytest.mark.parametrize("change", ["k1=1.2,1.20,12e-1", "chunk-chars=1000,01000", "b=.5,0.5"])
def test_value_in_two_spellings_is_one_configuration(request_, change):
    assert varied(request_, [change]).retrievers == ("keyword", f"keyword:{change.partition(',')[0]}")
    named = replace(request_, retrievers=("keyword", f"keyword:{change.rpartition('=')[0]}={change.rpartition(',')[2]}"))
    assert varied(named, [change]).retrievers == named.retrievers


TWICE = [
    ("keyword:k1=1.5", "keyword"),
    ("keyword:k1=1.2", "keyword:k1=1.20"),
    ("keyword", "keyword:b=0.75,chunk-chars=2000,stem=none"),
    ("random", "random:seed=0"),
    ("vector", "vector:hash"),
    ("hybrid:pool=5e1", "hybrid"),
    ("command:timeout=20 cat", "command:timeout=20.0  'cat'"),
]


@pytest.mark.parametrize("specs", TWICE)
def test_configuration_in_two_spellings_is_given_twice(request_, specs):
    with pytest.raises(UsageError, match="are one configuration, which is given twice"):
        evaluate(replace(request_, retrievers=specs), clock())


def test_two_files_may_hold_the_same_run(request_, tmp_path):
    for name in ("before.trec", "after.trec"):
        (tmp_path / name).write_text("reef Q0 Sailing.md 1 2 t\n", encoding="utf-8")
    specs = (f"run:{tmp_path}/before.trec", f"run:{tmp_path}/after.trec")
    before, after = evaluate(replace(request_, retrievers=specs), clock()).runs
    assert before.rows == after.rows


HAD = ["chunk-chars=2000", "stem=none", "prefix=synthetic", "k1=1.5", "k1=1.50", "b=0.75", "b=.75", "overlap=200"]


@pytest.mark.parametrize("change", HAD)
def test_value_that_the_first_configuration_has_already_adds_nothing(request_, change):
    assert varied(request_, [change]).retrievers == ("keyword",)


def test_remembered_options_are_the_values_that_a_configuration_has_already(request_):
    vault = vault_id(vault_root(request_.vault))
    DataFolder(request_.data).remember(vault, index_options=IndexOptions(stem="english").as_json())
    assert varied(request_, ["stem=english,none"]).retrievers == ("keyword", "keyword:stem=none")


@pytest.mark.parametrize("change", ["", "k1", "k1=", "k1=1,,2", "colour=red", "=1"])
def test_what_is_no_change_is_refused_with_what_can_be_varied(request_, change):
    with pytest.raises(UsageError, match="KEY=VALUE,VALUE with KEY one of k1, b, chunk-chars"):
        varied(request_, [change])


@pytest.mark.parametrize("change", ["rerank=on", "rerank=maybe"])
def test_reranking_is_varied_where_there_is_a_reranker(request_, change):
    with pytest.raises(UsageError, match="allowed are on and off, with --retriever hybrid or"):
        varied(request_, [change])


@pytest.mark.parametrize("kind", ["title", "random", "claude-obsidian", "command:rg --files", "run:saved.trec", "mcp:qmd"])
@pytest.mark.parametrize("change", ["k1=1.2", "chunk-chars=1000", "rerank=on"])
def test_searcher_that_has_nothing_to_vary_says_so_and_nothing_is_built(request_, kind, change):
    base = Request(request_.vault, request_.queries, (kind,), data=request_.data)
    with pytest.raises(UsageError, match=f"{kind.partition(':')[0]} has nothing that can be varied; keyword, vector, hybrid"):
        varied(base, [change])


def test_reranker_of_another_model_goes_with_the_reranking(request_):
    base = Request(request_.vault, request_.queries, ("hybrid+rerank:by=hash,k1=1.2",), data=request_.data)
    assert varied(base, ["rerank=off"]).retrievers == ("hybrid+rerank:by=hash,k1=1.2", "hybrid:k1=1.2")


@pytest.mark.parametrize("spec", ["vector:wordllama", "hybrid:model2vec=/models/one", "hybrid+rerank:ollama=nomic"])
def test_index_whose_vectors_would_be_missing_is_not_built(request_, tmp_path, spec):
    base = Request(request_.vault, request_.queries, (spec,), data=request_.data)
    with pytest.raises(UsageError, match="are kept beside the standing index alone"):
        build_variants(varied(base, ["chunk-chars=1000"]))
    assert files_below(tmp_path / "data" / "variants") == {}


def test_reranking_is_switched_with_all_other_settings_kept(request_):
    base = Request(request_.vault, request_.queries, ("hybrid:k1=1.2",), data=request_.data)
    assert varied(base, ["rerank=on,off"]).retrievers == ("hybrid:k1=1.2", "hybrid+rerank:k1=1.2")


def test_variant_is_measured_on_its_own_index_and_the_standing_one_is_untouched(request_):
    standing = DataFolder(request_.data).index_folder(vault_id(vault_root(request_.vault)))
    before, notes = files_below(standing), files_below(request_.vault)
    asked = varied(request_, ["stem=english"])
    build_variants(asked)
    plain, stemmed = evaluate(asked, clock()).runs
    # "rotting planks" and "The boats rot" share a word once both are cut to their stems.
    assert {row.id: row.rank(row.expected[0]) for row in plain.rows} == {"plural": None, "reef": 1}
    assert {row.id: row.rank(row.expected[0]) for row in stemmed.rows} == {"plural": 1, "reef": 1}
    assert (plain.retriever.settings["stem"], stemmed.retriever.settings["stem"]) == (None, "english")
    assert (files_below(standing), files_below(request_.vault)) == (before, notes)


def test_variant_is_used_again_while_nothing_changed_and_renewed_when_a_note_did(request_, tmp_path):
    asked = varied(request_, ["chunk-chars=1000"])
    build_variants(asked)
    before = files_below(tmp_path / "data" / "variants")
    build_variants(asked)
    after = files_below(tmp_path / "data" / "variants")
    assert {path: when for path, when in after.items() if path.endswith(".bin")} == {
        path: when for path, when in before.items() if path.endswith(".bin")
    }
    (tmp_path / "Notes" / "Boat.md").write_text("Paint it.\n", encoding="utf-8")
    build_standing(asked)
    build_variants(asked)
    assert set(files_below(tmp_path / "data" / "variants")) != set(after)


@pytest.mark.parametrize("change", ["changed", "added", "removed"])
def test_nothing_is_built_beside_an_index_that_is_behind_the_notes(request_, tmp_path, change):
    notes = tmp_path / "Notes"
    if change == "removed":
        (notes / "Boat.md").unlink()
    else:
        (notes / ("Boat.md" if change == "changed" else "New.md")).write_text("Paint it.\n", encoding="utf-8")
    with pytest.raises(IndexUnusableError) as raised:
        build_variants(varied(request_, ["chunk-chars=1999"]))
    assert "1 note was added, changed or removed since the index was built" in str(raised.value)
    assert str(raised.value).splitlines()[-1].endswith(f"index --vault {notes} --data {request_.data}")
    assert files_below(tmp_path / "data" / "variants") == {}
    build_standing(request_)
    build_variants(varied(request_, ["chunk-chars=1999"]))


def test_label_notes_put_no_index_behind(request_, tmp_path):
    text = "---\nschema: claude-obsidian.retrieval-queries.v1\nqueries: []\n---\n"
    (tmp_path / "Notes" / "Labels.md").write_text(text, encoding="utf-8")
    with (tmp_path / "Notes" / "Boat.md").open("r+", encoding="utf-8") as note:
        note.write("---\nanswers: [where is the boat]\n---\n" + NOTES["Boat.md"])
    build_standing(request_)
    with (tmp_path / "Notes" / "Boat.md").open("w", encoding="utf-8") as note:
        note.write("---\nanswers: [who owns the boat]\n---\n" + NOTES["Boat.md"])
    (tmp_path / "Notes" / "More labels.md").write_text(text, encoding="utf-8")
    asked = varied(request_, ["chunk-chars=1999"])
    build_variants(asked)
    report = evaluate(asked, clock())
    assert not any("other states of the notes" in warning for warning in report.warnings)


def test_only_an_index_that_is_measured_must_be_fresh(request_, tmp_path):
    (tmp_path / "Notes" / "Boat.md").write_text("Paint it.\n", encoding="utf-8")
    build_variants(varied(request_, ["k1=1.2"]))  # both search the one that is there
    build_variants(varied(replace(request_, retrievers=("keyword:stem=english",)), ["chunk-chars=1999"]))


def test_settings_of_the_standing_index_said_aloud_are_measured_on_it(request_):
    (run,) = evaluate(replace(request_, retrievers=("keyword:chunk-chars=2000,stem=none",)), clock()).runs
    (standing,) = evaluate(request_, clock()).runs
    assert run.index == standing.index


def test_variant_that_was_never_built_ends_with_what_builds_it(request_):
    asked = Request(request_.vault, request_.queries, ("keyword:stem=english",), data=request_.data)
    with pytest.raises(IndexUnusableError, match="--vary stem=english"):
        evaluate(asked, clock())


def test_variant_beside_an_index_named_by_its_place_is_refused(request_):
    asked = Request(request_.vault, request_.queries, ("keyword:stem=english",), data=request_.data, index=request_.data)
    with pytest.raises(UsageError, match="asks for another index; leave one of them out"):
        evaluate(asked, clock())


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("chunk-chars=x", "chunk-chars is a whole number of characters"),
        ("chunk-chars=10", "allowed is 50 <= chunk-chars"),
        ("prefix=model", "allowed are synthetic and none"),
    ],
)
def test_value_that_no_index_has_is_refused(request_, setting, said):
    asked = Request(request_.vault, request_.queries, (f"keyword:{setting}",), data=request_.data)
    with pytest.raises(UsageError, match=said):
        evaluate(asked, clock())
