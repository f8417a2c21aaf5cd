"""What a format carries comes back equal, whatever stands in names; what it does not carry is said."""

from __future__ import annotations

import csv
import dataclasses
import io
import json

from foreign_sets import IDS, PAGES, as_carried, reading, topic_sets, without_places
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_eval.interop import beir, citewell, elasticsearch, enquire, expect, qmd, quepid, ranx, topics, trec
from vault_eval.interop.conversion import labels_of, topics_of, with_texts
from vault_eval.interop.records import ForeignRun, Judgment, Topic
from vault_eval.labels.load import LabelDocument, load_labels
from vault_eval.labels.problems import Place, Problems
from vault_eval.labels.rules import query_id
from vault_eval.model import RankedPage


def only(written):
    (text,) = written.files.values()
    # A file keeps bytes: what UTF-8 cannot hold, and what a reader of text files would change, must not be in it.
    return text.encode().decode("utf-8-sig")


def said(written, topics, carried):
    """A sentence is there exactly where something is lost."""
    return bool(written.left_out) == (carried != topics)


@settings(max_examples=40, deadline=None)
@given(topic_sets())
def test_trec_judgments_and_topics_together_come_back(given_topics):
    written, texts = trec.write_labels(given_topics), topics.write_labels(given_topics)
    judged, _ = reading(trec.read_labels, only(written))
    place = Place(Problems(), "topics.tsv")
    back = with_texts(judged, topics.read_topics(only(texts), place), place)
    expected = as_carried(given_topics, trec.CARRIES | topics.CARRIES)
    assert back == tuple(topic for topic in expected if topic.judgments)
    assert place.problems.warnings == ()


@settings(max_examples=40, deadline=None)
@given(topic_sets())
def test_ranx_judgments_come_back(given_topics):
    written = ranx.write_labels(given_topics)
    expected = as_carried(given_topics, ranx.CARRIES)
    assert reading(ranx.read_labels, only(written))[0] == expected
    assert said(written, given_topics, expected)


@settings(max_examples=40, deadline=None)
@given(topic_sets())
def test_elasticsearch_requests_come_back(given_topics):
    written = elasticsearch.write_labels(given_topics)
    expected = as_carried(given_topics, elasticsearch.CARRIES)
    assert reading(elasticsearch.read_labels, only(written))[0] == expected
    assert said(written, given_topics, expected)


@settings(max_examples=40, deadline=None)
@given(topic_sets())
def test_enquire_lines_come_back(given_topics):
    written = enquire.write_labels(given_topics)
    expected = as_carried(given_topics, enquire.CARRIES)
    assert reading(enquire.read_labels, only(written))[0] == expected
    negatives = any(not topic.judgments for topic in expected)  # carried, and said to be scored otherwise there
    assert said(written, given_topics, expected) or negatives


@settings(max_examples=40, deadline=None)
@given(topic_sets())
def test_qmd_fixture_comes_back(given_topics):
    written = qmd.write_labels(given_topics)
    expected = as_carried(given_topics, qmd.CARRIES)
    assert reading(qmd.read_labels, only(written))[0] == expected
    assert said(written, given_topics, expected)


@settings(max_examples=40, deadline=None)
@given(topic_sets())
def test_citewell_lines_come_back(given_topics):
    written = citewell.write_labels(given_topics)
    expected = as_carried(given_topics, citewell.CARRIES)
    assert said(written, given_topics, expected)
    if expected:  # it is our own format too, in which a file without queries is refused
        assert reading(citewell.read_labels, only(written))[0] == expected


@settings(max_examples=40, deadline=None)
@given(topic_sets())
def test_beir_folder_comes_back(given_topics):
    written = beir.write_labels(given_topics)
    files = {name: text.encode().decode("utf-8-sig") for name, text in written.files.items()}
    assert all(map(beir.is_read, files))
    carried = as_carried(given_topics, beir.CARRIES)
    expected = tuple(topic if topic.relevant else dataclasses.replace(topic, judgments=()) for topic in carried)
    assert reading(beir.read_folder, files) == (expected, ())
    assert said(written, given_topics, expected)


@settings(max_examples=40, deadline=None)
@given(topic_sets())
def test_our_own_json_without_ids_comes_back(given_topics):
    distinct = {topic.query: dataclasses.replace(topic, id=query_id(topic.query)) for topic in given_topics}
    written = expect.write_labels(tuple(distinct.values()))
    expected = as_carried(distinct.values(), expect.CARRIES)
    assert said(written, tuple(distinct.values()), expected)
    if expected:
        labels = load_labels([LabelDocument("labels.json", only(written).encode(), None, list)]).labels
        assert without_places(topics_of(labels)) == expected


@settings(max_examples=40, deadline=None)
@given(topic_sets())
def test_quepid_ratings_are_all_in_the_table(given_topics):
    header, *rows = csv.reader(io.StringIO(only(quepid.write_labels(given_topics)), newline=""))
    expected = as_carried(given_topics, quepid.CARRIES)
    assert header == ["query", "docid", "rating"]
    assert rows == [[one.query, judged.target, str(judged.grade)] for one in expected for judged in one.judgments]


@settings(max_examples=40, deadline=None)
@given(topic_sets())
def test_labels_and_records_are_the_same(given_topics):
    problems = Problems()
    labels = labels_of(given_topics, Place(problems, "labels.file"))
    problems.raise_if_any()
    relevant_first = tuple(
        dataclasses.replace(topic, judgments=tuple(sorted(topic.judgments, key=lambda one: one.grade < 1)))
        for topic in given_topics
    )
    assert topics_of(labels) == relevant_first


def test_text_that_qmd_takes_for_a_kind_of_search_is_named():
    topic = Topic("q", "lex: heap", (Judgment("a.md"),))
    assert qmd.write_labels((topic,)).left_out == (
        "that the text is one text: qmd takes what stands before its colon for a kind of search; 1 of 1 queries: 'q'",
    )


def rankings(scores):
    pages = st.lists(st.one_of(PAGES, st.just("half \udc80.md")), max_size=5, unique=True)
    ranked = pages.flatmap(lambda found: st.tuples(*(st.tuples(st.just(page), scores) for page in found)))
    return ranked.map(lambda found: tuple(RankedPage(rank, page, score) for rank, (page, score) in enumerate(found, 1)))


RUNS = st.builds(
    ForeignRun,
    st.sampled_from(["keyword:k1=1.2,b=0.5", "hybrid+rerank", "command:rg -c # 100%"]),
    st.dictionaries(
        IDS, rankings(st.one_of(st.none(), st.floats(allow_nan=True), st.sampled_from([0.0, 1.0, 1.0 + 1e-12]))), max_size=3
    ),
)


def order(run):
    return {qid: [(one.rank, one.page) for one in ranking] for qid, ranking in run.rankings.items() if ranking}


@settings(max_examples=60, deadline=None)
@given(RUNS)
def test_trec_run_keeps_order_and_name(run):
    back = trec.read_run(only(trec.write_run(run)), "the run")
    assert order(back) == order(run)
    # Programs that part lines and columns at any white space see the same ones.
    lines = only(trec.write_run(run)).splitlines()
    assert [len(line.split()) for line in lines] == [6] * sum(map(len, run.rankings.values()))
    assert back.tag == (run.tag if order(run) else "")
    assert trec.write_run(back).files == trec.write_run(run).files


@settings(max_examples=60, deadline=None)
@given(RUNS)
def test_ranx_run_keeps_order_and_empty_rankings(run):
    (text,) = ranx.write_run(run).files.values()
    back = ranx.read_run(text.encode("utf-8", "backslashreplace").decode(), "the run")
    assert order(back) == order(run)
    assert back.rankings.keys() == run.rankings.keys()
    assert list(json.loads(text)) == list(run.rankings)


@settings(max_examples=60, deadline=None)
@given(RUNS)
def test_scores_fall_where_single_precision_is_all_there_is(run):
    from array import array

    for ranking in trec.read_run(only(trec.write_run(run)), "the run").rankings.values():
        singles = array("f", [one.score for one in ranking])
        assert all(singles[place] > singles[place + 1] for place in range(len(singles) - 1))


@given(rankings(st.floats(-1e6, 1e6, width=32)))
def test_scores_that_fall_are_kept_to_the_last_bit(ranking):
    falling = tuple(sorted(ranking, key=lambda one: -one.score))
    if len({one.score for one in falling}) == len(falling):
        run = ForeignRun("keyword", {"q": falling})
        back = trec.read_run(only(trec.write_run(run)), "the run").rankings.get("q", ())
        assert [one.score for one in back] == [one.score for one in falling]
        assert trec.write_run(run).left_out == () or not falling
