"""Label sets and rankings with every name that a file format may stumble over."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import strategies as st

from vault_eval.errors import LabelError
from vault_eval.interop.carried import Part, best_grades, kept
from vault_eval.interop.records import Judgment, Topic
from vault_eval.labels.problems import Place, Problems
from vault_eval.labels.rules import normalise_query
from vault_eval.vault.paths import page_name, page_problem

# Blanks of every kind, signs that formats use for themselves, letters in two Unicode forms, a line end that JSON allows.
HOSTILE = "ab é日\u0301 %#\t\"',:;|[]{}\\&\u00a0\u3000\u2028\ufeff=?-_"
NAMES = st.text(HOSTILE.replace("\\", ""), min_size=1, max_size=8)
IDS = st.text(HOSTILE, min_size=1, max_size=8).map(page_name).filter(lambda text: text.strip())
QUERIES = st.text(HOSTILE + "\n", min_size=1, max_size=12).map(normalise_query).filter(bool)
PAGES = (
    st.lists(NAMES, min_size=1, max_size=2)
    .map(lambda parts: page_name("/".join(parts) + ".md"))
    .filter(lambda page: page_problem(page) is None and ".md#" not in page)
)
OPTIONAL = st.one_of(st.none(), QUERIES)


@st.composite
def judgments(draw):
    pages = draw(st.lists(PAGES, max_size=4, unique=True))
    places = [page + draw(st.sampled_from(["", "", "#Part of it", "#^moon"])) for page in pages]
    return tuple(Judgment(place, draw(st.sampled_from([0, 1, 1, 2]))) for place in places)


@st.composite
def topic_sets(draw):
    topics = []
    for name in draw(st.lists(IDS, min_size=1, max_size=4, unique=True)):
        topic = Topic(
            id=name,
            query=draw(QUERIES),
            judgments=draw(judgments()),
            category=draw(OPTIONAL),
            tags=tuple(draw(st.lists(QUERIES, max_size=2, unique=True))),
            skip_reason=draw(st.sampled_from([None, None, "unsure"])),
            split=draw(st.sampled_from([None, "dev", "holdout"])),
            origin=draw(st.sampled_from([None, "chat"])),
            note=draw(OPTIONAL),
            collection=draw(OPTIONAL),
        )
        topics.append(topic)
    return tuple(topics)


def as_carried(topics, carries):
    """What a format that carries these parts can give back, by the table alone."""
    return tuple(_carried(topic, carries) for topic in kept(topics, carries))


def _carried(topic, carries):
    judged = topic.judgments
    if not carries & {Part.PLACES}:
        judged = tuple(Judgment(page, grade) for page, grade in best_grades(topic).items())
    if Part.REFUSED not in carries:
        judged = tuple(one for one in judged if one.grade > 0)
    if Part.GRADES not in carries:
        judged = tuple(Judgment(one.target, min(one.grade, 1)) for one in judged)
    lost = {
        name: () if name == "tags" else "" if name == "query" else None
        for name in ("query", "category", "tags", "skip_reason", "split", "origin", "note", "collection")
        if Part[name.upper()] not in carries
    }
    return dataclasses.replace(topic, judgments=judged, **lost)


def without_places(topics):
    """The topics without where in a file they stood."""
    return tuple(
        dataclasses.replace(topic, where="", judgments=tuple(dataclasses.replace(one, where="") for one in topic.judgments))
        for topic in topics
    )


def reading(read, given):
    """What a reader of labels makes of a text that has no fault, and its warnings."""
    problems = Problems()
    topics = read(given, Place(problems, "labels.file"))
    problems.raise_if_any()
    return without_places(topics), problems.warnings


def faults(read, given):
    """What a reader of labels says against a text, a line each."""
    problems = Problems()
    read(given, Place(problems, "labels.file"))
    with pytest.raises(LabelError) as refusal:
        problems.raise_if_any()
    return str(refusal.value)
