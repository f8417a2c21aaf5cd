"""`run:` answers by the ids of labels from a saved TREC run, and refuses what is none."""

from __future__ import annotations

import json

import pytest

from vault_eval.digests import sha256_hex
from vault_eval.errors import UnreadableFileError, UsageError
from vault_eval.evaluation import clock, evaluate
from vault_eval.limits import RUN_FILE_MAX_BYTES
from vault_eval.reports.findings import notes
from vault_eval.reports.json_report import report_value
from vault_eval.request import Request
from vault_eval.retrievers.protocol import ColdOnly, WarmOnly

IDS = {"where is the water": ("q1",), "paint": ("q2",), "coffee": ("q3",), "tides": ("q4", "q5")}


@pytest.fixture
def run(tmp_path):
    def write(*lines: str, data: bytes | None = None) -> str:
        path = tmp_path / "a run.txt"
        path.write_bytes("".join(f"{line}\n" for line in lines).encode() if data is None else data)
        return f"run:{path}"

    return write


def pages(ranking) -> list[tuple[str, float | None]]:
    assert ranking.error is None
    return [(one.page, one.score) for one in ranking.pages]


def test_query_is_answered_by_the_ranking_of_its_label(outside, run):
    spec = run("q2 Q0 Café.md 1 0.5 mine", "q1 Q0 Boat.md 2 1 mine", "q1 Q0 Sea/Tide%20tables.md 1 3.5 mine")
    searcher = outside(spec, label_ids=IDS)
    assert pages(searcher.search("where is the water", 10)) == [("Sea/Tide tables.md", 3.5), ("Boat.md", 1.0)]
    assert pages(searcher.search("where is the water", 1)) == [("Sea/Tide tables.md", 3.5)]
    assert pages(searcher.search("paint", 10)) == [("Café.md", 0.5)]


def test_score_decides_then_rank_whatever_the_order_of_the_lines(outside, run):
    spec = run("q1 Q0 Boat.md 3 2.0 t", "q1 Q0 Café.md 1 1.0 t", "q1 Q0 Sea/Tides.md 2 2.0 t")
    order = [page for page, _ in pages(outside(spec, label_ids=IDS).search("where is the water", 10))]
    assert order == ["Sea/Tides.md", "Boat.md", "Café.md"]


def test_other_forms_of_a_run_are_told_by_their_content(outside, run):
    as_json = run(data=json.dumps({"q1": {"Boat.md": 1.5, "Sea/Tides.md": 2.5}}).encode())
    assert pages(outside(as_json, label_ids=IDS).search("where is the water", 10)) == [("Sea/Tides.md", 2.5), ("Boat.md", 1.5)]


def test_query_that_the_tool_failed_on_is_an_error_and_no_empty_answer(outside, run):
    answer = {"metric_score": 0.5, "details": {}, "failures": {"q1": {"error": {"reason": "no such index"}}}}
    found = outside(run(data=json.dumps(answer).encode()), label_ids=IDS).search("where is the water", 10)
    assert (found.pages, "no such index" in (found.error or "")) == ((), True)


def test_query_that_the_run_lacks_has_an_empty_answer_and_is_counted(outside, run):
    searcher = outside(run("q1 Q0 Boat.md 1 2 t", "q9 Q0 Boat.md 1 2 t"), label_ids=IDS)
    assert pages(searcher.search("paint", 10)) == []
    described = searcher.describe().settings
    assert (described["queries"], described["queries_without_label"], described["labels_without_ranking"]) == (2, 1, 4)


def test_text_of_no_label_is_an_error(outside, run):
    assert outside(run("q1 Q0 Boat.md 1 2 t"), label_ids=IDS).search("other", 10).error is not None


def test_names_of_no_page_are_counted_and_per_cent_signs_decoded(outside, run):
    ranking = outside(run("q1 Q0 Caf%C3%A9.md 1 2 t", "q1 Q0 Tides.md 2 1 t"), label_ids=IDS).search("where is the water", 10)
    assert (pages(ranking), ranking.outside_vault) == ([("Café.md", 2.0)], 1)


def test_labels_of_one_text_may_share_a_ranking_and_may_not_differ(outside, run):
    same = run("q4 Q0 Boat.md 1 2 t", "q5 Q0 Boat.md 1 2 t")
    assert pages(outside(same, label_ids=IDS).search("tides", 10)) == [("Boat.md", 2.0)]
    with pytest.raises(UsageError, match="the query 'tides' has the ids 'q4', 'q5', with different rankings"):
        outside(run("q4 Q0 Boat.md 1 2 t"), label_ids=IDS)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"Q7 Q0 Boat.md 1 2 t\nQ8 Q0 Boat.md 1 2 t\n", "its queries have other ids, such as 'Q7'"),
        (b'{"Q7": {"Boat.md": 1}}', "its queries have other ids, such as 'Q7'"),
        (b"", "it is empty"),
        (b"{}", "it is empty"),
    ],
)
def test_run_that_knows_no_label_is_refused_with_an_id_of_each(outside, run, data, says):
    with pytest.raises(UsageError) as raised:
        outside(run(data=data), label_ids=IDS)
    assert f"answers none of the labels, whose ids are such as 'q1': {says}" in str(raised.value)


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["q1 Q0 Boat.md 1 2 t", "q1 Q0 Boat.md 2 1 t"], "line 2: 'Boat.md' is there twice for the query 'q1'"),
        (["q1 Q0 Boat.md 1 2"], "line 1: 5 columns"),
        (["q1 Q0 My boat.md 1 2 t"], "line 1: 7 columns"),
        (["q1 Q0 Boat.md 1 nan t"], "line 1: score is 'nan'"),
        (["q1 Q0 Boat.md one 2 t"], "line 1: rank is 'one'"),
    ],
)
def test_what_is_no_run_is_refused_with_its_line(outside, run, lines, says):
    with pytest.raises(UsageError) as raised:
        outside(run(*lines), label_ids=IDS)
    assert says in str(raised.value)


def test_file_is_opened_safely(outside, run, tmp_path):
    with pytest.raises(UnreadableFileError, match="not UTF-8"):
        outside(run(data=b"q1 Q0 caf\xe9.md 1 2 t\n"))
    with pytest.raises(UnreadableFileError, match="it does not exist"):
        outside(f"run:{tmp_path}/none")
    (tmp_path / "link").symlink_to(tmp_path / "a run.txt")
    with pytest.raises(UnreadableFileError, match="link"):
        outside(f"run:{tmp_path}/link")
    with pytest.raises(UnreadableFileError, match="not a regular file"):
        outside(f"run:{tmp_path}")
    with (tmp_path / "large").open("wb") as file:
        file.truncate(RUN_FILE_MAX_BYTES + 1)
    with pytest.raises(UnreadableFileError, match="bytes"):
        outside(f"run:{tmp_path}/large")
    for spec in ("run", "run:"):
        with pytest.raises(UsageError, match="write run:FILE"):
            outside(spec)


def test_description_holds_the_digest_of_the_file_and_its_tag(outside, run, tmp_path):
    searcher = outside(run("q1 Q0 Boat.md 1 2 bm25"), label_ids=IDS)
    described = searcher.describe().settings
    assert described["sha256"] == sha256_hex((tmp_path / "a run.txt").read_bytes())
    assert described["tag"] == "bm25"
    assert isinstance(searcher, WarmOnly)
    assert isinstance(searcher, ColdOnly)
    assert (searcher.index(), searcher.bound_digest()) == (None, None)


def test_run_is_scored_as_any_searcher_is(run, small_vault, tmp_path):
    queries = [
        {"id": "q1", "query": "water", "expected_pages": ["Boat.md"]},
        {"id": "q2", "query": "paint", "expected_pages": ["Boat.md"]},
        {"id": "q3", "query": "rockets", "expected_pages": []},
    ]
    labels = tmp_path / "labels.json"
    labels.write_text(
        json.dumps({"schema": "claude-obsidian.retrieval-queries.v1", "queries": [{**one, "category": "c"} for one in queries]})
    )
    spec = run("q1 Q0 Café.md 1 3 t", "q1 Q0 Boat.md 2 2 t")
    found = evaluate(Request(str(small_vault), (str(labels),), (spec,), data=str(tmp_path / "data")), clock())
    (one,) = report_value(found)["runs"]
    # Of two queries one has Boat.md at rank 2 and the other no answer: recall@1 0, recall@5 1/2, MRR (1/2 + 0) / 2.
    values = {name: one["metrics"][name]["value"] for name in ("recall@1", "recall@5", "mrr@10")}
    assert values == {"recall@1": 0.0, "recall@5": 0.5, "mrr@10": 0.25}
    assert one["counts"]["error"] == 0
    assert "the run holds no ranking for 2 queries, which count as answered with nothing" in notes(found.runs[0])
