"""What refuses a comparison, what confounds it, and what is only worth knowing."""

from __future__ import annotations

import pytest

from vault_eval.comparison.comparability import findings
from vault_eval.comparison.compare import compare
from vault_eval.comparison.pairing import paired
from vault_eval.model import LabelSource


def found(baseline, candidate, *, allow_different=False):
    pairing = paired(baseline, candidate)
    return [
        (one.subject, one.effect, one.sentence) for one in findings(baseline, candidate, pairing, allow_different=allow_different)
    ]


def test_the_same_experiment_has_nothing_to_say(side):
    assert found(side([1.0]), side([0.5])) == []
    assert found(side([1.0]), side([0.5], name="title", settings={}, index_sha256=None)) == []


def test_other_labels_refuse(side, query):
    baseline, candidate = side([query("a", 1.0)]), side([query("a", 1.0, gold=("b.md",)), query("c", 1.0)])
    sentence = "the labels differ ('a': the expected pages differ: 'a.md' and 'b.md', and 1 more)"
    assert found(baseline, candidate) == [("labels", "refuses", sentence)]


def test_label_files_of_other_bytes_with_the_same_labels_do_not(side):
    candidate = side([1.0], label_sources=(LabelSource("new.json", "m" * 64, "v1"),))
    assert found(side([1.0]), candidate) == [
        ("labels", "notes", "the label files differ, but no id, query, expected page or grade does")
    ]


def test_the_order_in_which_label_files_were_named_is_no_difference(side):
    files = LabelSource("a.json", "a" * 64, "v1"), LabelSource("b.json", "b" * 64, "v1")
    assert found(side([1.0], label_sources=files), side([1.0], label_sources=files[::-1])) == []


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"depth": 20}, "the depth differs (--top): 10 and 20 pages"),
        ({"pool_chunks": 50}, "the candidate pool differs: 20 and 50 chunks"),
    ],
)
def test_another_depth_or_pool_refuses_unless_allowed(side, change, sentence):
    baseline, candidate = side([1.0], pool_chunks=20), side([1.0], **{"pool_chunks": 20, **change})
    subject = next(iter(change)).removesuffix("_chunks")
    assert found(baseline, candidate) == [(subject, "refuses", sentence)]
    assert found(baseline, candidate, allow_different=True) == [(subject, "confounds", sentence)]


def test_a_pool_that_one_side_hides_is_not_another_pool(side):
    assert found(side([1.0], pool_chunks=20), side([1.0], pool_chunks=None)) == []


def test_an_exhausted_pool_is_noted(side):
    sentence = "the pool was exhausted before 10 pages in 0 and 3 queries"
    assert found(side([1.0]), side([1.0], pool_exhausted=3)) == [("pool", "notes", sentence)]


def test_changed_pages_confound_and_are_counted(side):
    digests = {"b.md": "changed", "c.md": "new"}
    candidate = side([1.0], snapshot_sha256="t" * 64, index_sha256="j" * 64, page_digests=digests)
    pairing = paired(side([1.0]), candidate)
    (one,) = findings(side([1.0]), candidate, pairing)
    # a.md is gone, b.md was edited, c.md is new.
    assert (one.effect, one.sentence, one.changed) == ("confounds", "3 pages changed", ("a.md", "b.md", "c.md"))


def test_pages_that_changed_unseen_are_said_to(side):
    candidate = side([1.0], snapshot_sha256="t" * 64, page_digests=None)
    ((subject, effect, sentence),) = found(side([1.0]), candidate)
    assert (subject, effect) == ("pages", "confounds")
    assert "which ones is unknown" in sentence


def test_an_index_that_other_settings_built_does_not_confound(side):
    assert found(side([1.0]), side([1.0], index_sha256="j" * 64, settings={"k1": 1.5, "stem": "english"})) == []
    ((subject, effect, _),) = found(side([1.0]), side([1.0], index_sha256="j" * 64))
    assert (subject, effect) == ("index", "confounds")


def test_another_vault_confounds(side):
    ((subject, effect, sentence),) = found(side([1.0]), side([1.0], vault_name="Other"))
    assert (subject, effect, sentence) == ("vault", "confounds", "the vaults have different names: 'Vault' and 'Other'")


def test_refused_there_are_no_figures(side):
    (one,) = compare(side([1.0, 0.5]), [side([0.5, 0.5], depth=20)])
    assert one.verdict.word == "not comparable"
    assert one.verdict.reasons == ("the depth differs (--top): 10 and 20 pages",)
    assert (one.metrics, one.changes, one.categories, one.change) == ((), (), (), None)


def test_allowed_the_equal_queries_are_compared_and_the_rest_is_listed(side, query):
    baseline = side([query("a", 1.0), query("b", 0.5)])
    candidate = side([query("a", 0.5), query("b", 1.0, query="other"), query("c", 1.0)])
    (one,) = compare(baseline, [candidate], allow_different=True)
    assert [change.id for change in one.changes] == ["a"]
    assert [unpaired.id for unpaired in one.unpaired] == ["b", "c"]
    assert one.change.n == 1
    assert any("confounded" in reason for reason in one.verdict.reasons)
    assert "not paired, so in no difference: 2; each is listed with its reason" in one.verdict.reasons
