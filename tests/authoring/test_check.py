from __future__ import annotations

import json

import pytest

from vault_eval.authoring.check import check_labels
from vault_eval.authoring.kinds import KINDS
from vault_eval.authoring.lint import lint_rules
from vault_eval.errors import LabelError
from vault_eval.labels.load import LabelDocument
from vault_eval.labels.sources import open_sources
from vault_eval.vault.snapshot import open_snapshot

ASK = {"id": "a", "query": "rope and tackle", "expected_pages": ["A.md"]}


@pytest.fixture
def check(folder, write):
    """The check of these queries, against a vault with the pages A.md and B.md."""
    write("A.md", "---\naliases: Kedge anchor\n---\n# Where\nhemp in the locker\n")
    write("B.md", "the kettle\n")

    def run(*queries: dict, schema="vault-eval.labels.v1"):
        text = json.dumps({"schema": schema, "queries": list(queries)})
        with open_snapshot(str(folder)) as vault:
            return check_labels(vault, [LabelDocument("L.json", text.encode(), None, lambda: vault.names)])

    return run


@pytest.fixture
def findings(check):
    """The findings of these queries but for absent kinds: rule, ids, what."""

    def run(*queries: dict):
        found = check(*queries).findings
        return [(name, one.queries, one.what) for name, ones in found.items() for one in ones if name != "unasked_kind"]

    return run


def test_plain_good_label_has_no_finding(findings):
    assert findings(ASK) == []


def test_missing_page_is_found_with_what_it_may_be(findings):
    (only,) = findings({**ASK, "expected_pages": ["a.md"]})
    assert only[:2] == ("missing_page", ("a",))
    assert "'a.md': no note of that name is in the vault; in other letter case there is 'A.md'" in only[2]


def test_heading_that_is_not_in_its_page_is_found_with_one_that_is_near(findings):
    assert findings({**ASK, "expected_pages": ["A.md#where"]}) == []
    assert findings({**ASK, "expected_pages": ["A.md#Wehre"]}) == [
        ("missing_place", ("a",), "'A.md#Wehre': the note has no heading 'Wehre'; near it is 'Where'")
    ]


def test_page_that_cannot_be_read_or_holds_no_text_is_found(findings, folder, write):
    (folder / write("Secret.md")).chmod(0)
    (rule, ids, what) = findings({**ASK, "expected_pages": ["Secret.md#Nope"]})[0]
    assert (rule, ids) == ("unreadable_page", ("a",))
    assert what.startswith("'Secret.md': permission denied")


def test_indexed_pdf_without_text_is_found(folder, make_pdf):
    (folder / "Scan.pdf").write_bytes(make_pdf(["", ""]))
    (folder / "Bad.pdf").write_bytes(b"%PDF-1.7\nnothing")
    query = {"id": "a", "query": "q", "expected_pages": ["Scan.pdf#page=77", "Bad.pdf"]}
    text = json.dumps({"schema": "vault-eval.labels.v1", "queries": [query]})
    with open_snapshot(str(folder), with_pdfs=True) as vault:
        found = check_labels(vault, [LabelDocument("L.json", text.encode(), None, list)]).findings["unreadable_page"]
    assert [one.pages for one in found] == [("Scan.pdf",), ("Bad.pdf",)]
    assert found[0].what.startswith("'Scan.pdf': the PDF holds no text")
    assert found[1].what.startswith("'Bad.pdf': the PDF is broken")


def test_grade_of_what_is_not_there_is_found(findings, folder):
    (folder / "Linked.md").symlink_to(folder / "A.md")
    grades = {"A.md#Gone": 1, "A.md#Where": 1, "B.md": 0, "b.md": 0, "B.md#^x": 0, "Linked.md": 0}
    found = findings({**ASK, "grades": grades})
    assert {(rule, ids) for rule, ids, _ in found} == {("missing_graded", ("a",))}
    assert [what.partition(";")[0] for _, _, what in found] == [
        "'A.md#Gone': the note has no heading 'Gone'",
        "'b.md': no note of that name is in the vault",
        "'B.md#^x': no line of the note's text ends with '^x'",
        "'Linked.md': it is, or passes through, a link",
    ]


def test_what_is_expected_and_not_there_is_found_once(findings):
    for place in ("Gone.md", "A.md#Gone"):
        assert len(findings({**ASK, "expected_pages": [place], "grades": {place: 2}})) == 1


def test_place_expected_in_a_page_that_does_not_help_contradicts(findings):
    assert findings({**ASK, "expected_pages": ["A.md#Where"], "grades": {"A.md": 0}}) == [
        ("contradiction", ("a",), "'rope and tackle': 'A.md#Where' is expected, but 'A.md' graded 0")
    ]


def test_page_that_its_owner_excludes_is_out_of_scope(findings, write):
    write(".obsidian/app.json", '{"userIgnoreFilters": ["Old/"]}')
    write("Old/C.md")
    assert findings({**ASK, "expected_pages": ["Old/C.md"]}) == [
        ("out_of_scope", ("a",), "'Old/C.md': excluded in Obsidian: Old/")
    ]


def test_page_that_cannot_be_read_is_out_of_scope(findings, folder):
    (folder / "C.md").write_bytes(b"x" * (16 * 2**20 + 1))
    (only,) = findings({**ASK, "expected_pages": ["C.md"]})
    assert only[0] == "out_of_scope"


def test_pdf_is_out_of_scope_where_pdfs_are_not_indexed(findings, folder):
    (folder / "C.pdf").write_bytes(b"%PDF-1.7")
    (only,) = findings({**ASK, "expected_pages": ["C.pdf#page=4"]})
    assert only == ("out_of_scope", ("a",), "'C.pdf': PDFs of this vault are not indexed; `index --pdf` does it")


def test_long_queries_that_are_nearly_equal_say_in_what_they_differ(findings):
    long = "in the winter of the year when the harbour froze over and the ice broke every mooring rope of the fleet was it {}"
    first, second = ({**ASK, "id": name, "query": long.format(word)} for name, word in (("a", "hemp"), ("b", "nylon")))
    ((rule, _, what),) = findings(first, second)
    assert rule == "near_duplicate"
    assert what.endswith("…', apart in 'hemp' and 'nylon'")


def test_nearly_equal_queries_are_found_once_a_pair(findings):
    other = {"id": "b", "query": "the rope and the tackle", "expected_pages": ["A.md"]}
    assert findings(ASK, other) == [("near_duplicate", ("a", "b"), "'rope and tackle' and 'the rope and the tackle'")]


@pytest.mark.parametrize(("query", "page"), [("a", "A.md"), ("kedge  ANCHOR!", "A.md")])
def test_query_that_is_the_name_of_its_page_is_found(findings, query, page):
    assert [(name, ids) for name, ids, _ in findings({**ASK, "query": query})] == [("title_copy", ("a",))]
    assert page in findings({**ASK, "query": query})[0][2]


def test_queries_without_a_word_are_no_title_and_contradict_only_where_they_are_equal(findings, write):
    dots, marks = write("….md"), "\u0e34" * 6
    asked = [{"id": f"q{number}", "query": query, "expected_pages": [dots]} for number, query in enumerate(("???", marks))]
    assert findings(*asked, {"id": "b", "query": "!!!", "expected_pages": ["B.md"]}) == []
    found = findings({**asked[0], "grades": {dots: 2}}, {"id": "b", "query": "???", "expected_pages": ["B.md"]})
    assert ("contradiction", ("q0", "b"), "'???': they expect different pages") in found


def test_more_pages_than_places_bound_recall(findings, write):
    pages = [write(f"Many/{number}.md") for number in range(12)]
    # 5 / 12 = 0.42 and 10 / 12 = 0.83
    assert findings({**ASK, "expected_pages": pages[:5]}) == []
    assert findings({**ASK, "expected_pages": pages}) == [
        ("more_gold_than_places", ("a",), "12 pages: recall@5 at most 0.42, recall@10 at most 0.83")
    ]


def test_page_behind_a_quarter_of_the_queries_is_found(findings, write):
    queries = [
        {"id": str(number), "query": f"{number} word{number}", "expected_pages": [write(f"{number}.md")]} for number in range(12)
    ]
    for query in queries[:3]:
        query["expected_pages"] = ["A.md"]
    assert findings(*queries) == [("one_page_often", ("0", "1", "2"), "'A.md' is expected by 3 of 12 queries")]
    more = {"id": "x", "query": "one more altogether", "expected_pages": ["B.md"]}
    assert findings(*queries, more) == []  # 3 of 13 is less than a quarter


@pytest.mark.parametrize(
    ("other", "what"),
    [
        ({"expected_pages": []}, "one expects a page, the other none"),
        ({"expected_pages": ["B.md"]}, "they expect different pages"),
        ({"expected_pages": ["B.md"], "grades": {"A.md": 0}}, "they expect different pages"),
        ({"expected_pages": ["A.md"], "grades": {"A.md": 1}}, None),
        ({"expected_pages": ["A.md"], "grades": {"A.md": 2, "B.md": 0}}, None),
        ({"expected_pages": ["A.md"]}, None),
    ],
)
def test_labels_that_say_otherwise_of_one_query_contradict(findings, other, what):
    found = findings(ASK, {"id": "b", "query": "Rope, and tackle?", **other})
    contradictions = [(ids, text) for name, ids, text in found if name == "contradiction"]
    assert contradictions[:1] == ([(("a", "b"), f"'rope and tackle': {what}")] if what else [])


@pytest.mark.parametrize(
    ("grades", "others", "what"),
    [
        ({}, {"A.md": 2, "B.md": 0}, "expected in one, graded 0 in the other"),
        ({"A.md": 2}, {"B.md": 0}, "expected in one, graded 0 in the other"),
        ({"B.md": 1}, {"B.md": 0}, "graded 1 in one, graded 0 in the other"),
    ],
)
def test_page_ruled_out_by_one_label_and_expected_by_another_contradicts(findings, grades, others, what):
    one = {**ASK, "expected_pages": ["A.md", "B.md"], "grades": grades}
    other = {"id": "b", "query": "rope and tackle!", "expected_pages": ["A.md"], "grades": others}
    assert ("contradiction", ("a", "b"), f"'rope and tackle': 'B.md' is {what}") in findings(one, other)


def test_two_grades_of_one_page_contradict_where_both_were_given(findings):
    one, other = {**ASK, "grades": {"A.md": 2}}, {"id": "b", "query": "rope and tackle!", "expected_pages": ["A.md"]}
    assert "contradiction" not in {name for name, *_ in findings(one, other)}
    found = findings(one, {**other, "grades": {"A.md": 1}})
    assert ("contradiction", ("a", "b"), "'rope and tackle': 'A.md' is graded 2 in one, graded 1 in the other") in found


def test_query_in_the_text_or_properties_of_its_page_is_a_leak(findings, write):
    write("C.md", "---\nabout: where the kettle sings\n---\nand when the tide turns again\n")
    text, properties = ({**ASK, "query": query, "expected_pages": ["C.md"]} for query in ("the tide turns", "where the kettle"))
    assert findings(text) == [("leakage", ("a",), "word for word in the text of 'C.md'")]
    assert findings(properties) == [("leakage", ("a",), "word for word in the properties of 'C.md'")]


def test_label_property_is_no_leak(folder, write):
    write("C.md", "---\nanswers:\n  - where the kettle sings\n---\ntext\n")
    with open_snapshot(str(folder)) as vault:
        documents = open_sources(["property:answers"], vault.reader, str(folder), lambda: vault.names)
        assert set(check_labels(vault, documents).findings) == {"unasked_kind"}


def test_page_with_other_bytes_than_it_was_labelled_with_has_drifted(findings):
    assert findings({**ASK, "hashes": {"A.md": "0" * 64}}) == [
        ("drift", ("a",), "'A.md' has other bytes than it was labelled with")
    ]


def test_silver_labels_are_found_among_others_and_not_alone(findings):
    silver = {"id": "b", "query": "where is hemp", "expected_pages": ["A.md"], "tags": ["silver", "silver-alias"]}
    assert findings(ASK, silver) == [("silver_mixed", ("b",), "1 of 2 have the tag silver")]
    assert findings(silver) == []


def test_saved_report_among_the_notes_is_found(findings, write):
    write("report.md", "measured with vault-eval 0.1\n")
    assert findings(ASK) == [("not_a_note", (), "'report.md' is a saved report")]


LOOKS = {
    "exact identifiers": {"query": "pump_valve_7b"},
    "natural language": {"query": "where do we keep the hemp"},
    "synonyms": {"query": "cordage"},
    "Unicode names": {"query": "Łódź"},
    "several pages": {"query": "x", "expected_pages": ["A.md", "B.md"]},
    "stale": {"query": "hemp", "tags": ["stale"]},
    "conflicting": {"query": "hemp", "category": "conflicting"},
    "absent topics": {"query": "hemp", "expected_pages": []},
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_known_by_a_label_of_it_and_not_by_a_plain_one(check, kind):
    plain = {**ASK, "query": "hemp locker"}
    assert check(plain).kinds[kind] == 0
    assert check({**plain, **LOOKS[kind]}).kinds[kind] == 1


def test_no_grade_makes_a_label_conflicting_but_its_category_or_a_tag_does(check):
    """Judged pools and imported judgments are full of pages graded 0, which say otherwise than none."""
    judged = {**ASK, "expected_pages": ["A.md"], "grades": {"A.md": 2, "B.md": 0}}
    assert check(judged).kinds["conflicting"] == 0
    assert check({**judged, "category": "conflicting"}).kinds["conflicting"] == 1
    assert check({**judged, "tags": ["notes contradict"]}).kinds["conflicting"] == 1


@pytest.mark.parametrize("query", ["¿hemp locker", "hemp “locker”", "hemp – locker…"])
def test_sign_beyond_ascii_makes_no_unicode_name(check, query):
    assert check({**ASK, "query": query}).kinds["Unicode names"] == 0


def test_absent_kinds_are_one_finding(check):
    (only,) = check({**ASK, "query": "pump_valve_7b"}).findings["unasked_kind"]
    assert only.what.startswith("none looks like natural language, Unicode names")
    every = [{**ASK, "id": str(number), **looks} for number, looks in enumerate(LOOKS.values())]
    assert "unasked_kind" not in check(*every).findings


def test_the_set_is_counted_by_status_and_category(check):
    found = check(
        {**ASK, "category": "rigging"},
        {"id": "b", "query": "helicopter", "expected_pages": []},
        {"id": "c", "query": "gone", "expected_pages": ["Gone.md"]},
        {"id": "d", "query": "later", "expected_pages": [], "skip_reason": "later"},
    )
    assert found.statuses == {"scored": 1, "negative": 1, "missing-gold": 1, "skipped": 1}
    assert found.categories == {"rigging": 1, "(none)": 2}
    assert (found.detectable, found.wins_needed) == (None, 6)


def test_more_queries_can_show_a_smaller_difference(check):
    queries = [{**ASK, "id": str(number), "query": f"q{number} r{number}"} for number in range(30)]
    small, large = check(*queries[:10]).detectable, check(*queries).detectable
    assert small == pytest.approx(1.0, abs=0.01)  # 1.00 standard deviations at n = 10
    assert large is not None
    assert large < small


def test_invalid_labels_are_an_error_and_not_a_finding(check):
    with pytest.raises(LabelError, match="unknown key 'pages'"):
        check({**ASK, "pages": []})


def test_every_rule_says_what_it_is_and_what_to_do():
    assert all(rule.NAME and rule.ADVICE for rule in lint_rules().values())
