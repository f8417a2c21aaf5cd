from __future__ import annotations

import pytest
from foreign_sets import faults, reading

from vault_eval.errors import UsageError
from vault_eval.interop import topics, trec
from vault_eval.interop.records import Judgment, Topic
from vault_eval.labels.problems import Place, Problems


def run_of(text):
    return {
        qid: [(one.rank, one.page, one.score) for one in ranking]
        for qid, ranking in trec.read_run(text, "a.run").rankings.items()
    }


def test_score_decides_then_rank_then_path_and_ranks_are_counted_anew():
    text = "q Q0 low.md 1 1.5 t\nq Q0 second.md 7 2 t\nq Q0 first.md 3 2.0 t\nq Q0 b.md 9 1e0 t\nq Q0 a.md 9 1 t\n"
    assert run_of(text) == {
        "q": [(1, "first.md", 2.0), (2, "second.md", 2.0), (3, "low.md", 1.5), (4, "a.md", 1.0), (5, "b.md", 1.0)]
    }


def test_columns_part_at_blanks_and_tabs_alone():
    # What C programs do: a no-break space, an ideographic space and a line separator belong to the name.
    text = "q\tQ0  Two\u00a0words\u3000and\u2028more.md 1 1.0 t\r\n"
    assert run_of(text) == {"q": [(1, "Two\u00a0words\u3000and\u2028more.md", 1.0)]}


def test_names_are_decoded_and_a_lone_per_cent_sign_stands_for_itself():
    text = "q%201 Q0 Two%20words.md 1 2 t\nq%201 Q0 50%.md 2 1 t\nq%201 Q0 e%CC%81.md 3 0.5 t\n"
    assert run_of(text) == {"q 1": [(1, "Two words.md", 2.0), (2, "50%.md", 1.0), (3, "é.md", 0.5)]}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q Q0 a.md 1 1.0", "5 columns"),
        (
            "q Q0 two words.md 1 1.0 t",
            "7 columns, 'q Q0 two words.md 1 1.0 t'; a line is 'qid Q0 docno rank score tag', and a blank",
        ),
        ("q Q0 a.md first 1.0 t", "rank is 'first'; it must be a whole number"),
        ("q Q0 a.md 1 nan t", "score is 'nan'; it must be a finite number"),
        ("q Q0 a.md 1 1e999 t", "score is '1e999'; it must be a finite number"),
        ("q Q0 a.md 1 1_0 t", "score is '1_0'"),
        ("q Q0 a%ff.md 1 1 t", "not in UTF-8"),
        ("q Q0 b.md 2 0.5 t", "'b.md' is there twice for the query 'q'; a ranking names a page once"),
        ("q Q0 a.md 1 1.0 other", "the tag 'other' after 't': one file is one run; part them"),
    ],
)
def test_fault_of_a_run_names_file_and_line(line, message):
    with pytest.raises(UsageError) as refusal:
        trec.read_run(f"# a comment\nq Q0 b.md 1 1.0 t\n\n{line}\n", "a.run")
    assert str(refusal.value).startswith("a.run: line 4: ")
    assert message in str(refusal.value)


def test_page_in_two_unicode_forms_is_a_page_twice():
    with pytest.raises(UsageError, match=r"a\.run: line 2: 'é\.md' is there twice"):
        trec.read_run("q Q0 é.md 1 2 t\nq Q0 e\u0301.md 2 1 t\n", "a.run")


def test_second_column_means_nothing_and_grades_keep_their_sign():
    found, warnings = reading(trec.read_labels, "q 17 a.md -1\nq Q0 b.md +3\n")
    assert found == (Topic("q", "", (Judgment("a.md", -1), Judgment("b.md", 3))),)
    assert warnings == ()


def test_every_faulty_judgment_is_reported_at_once():
    text = "".join(f"q 0 a{number}.md good\n" for number in range(25))
    assert faults(trec.read_labels, text).splitlines()[0] == "25 problems in the labels:"


def test_topics_are_read_and_their_faults_named():
    problems = Problems()
    text = "a%20b\tfirst\ttext\n# comment\n\nno tab\nc\t \na%20b\tagain\n%ff\tx\n"
    assert topics.read_topics(text, Place(problems, "t.tsv")) == {"a b": "first\ttext"}
    assert problems.count == 4
