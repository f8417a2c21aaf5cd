from __future__ import annotations

import pytest

from vault_eval.authoring.judged_labels import NOTHING_FOUND, judged_labels, progress
from vault_eval.authoring.judgements import Judgement, append_judgement, read_judgements
from vault_eval.authoring.pool import pooled
from vault_eval.errors import LabelError, VaultEvalError
from vault_eval.model import Label

DIGEST = "ab" * 32


@pytest.fixture
def pool():
    labels = [Label(name, f"about {name}", (), "l.json", "") for name in ("one", "two")]
    return pooled(labels, {"one": {"A.md", "B.md", "C.md"}, "two": {"A.md"}}, lambda *_: ((), None), 0, ("id", "Notes"))


def names(pool, query):
    return {item.page: item.name for one in pool.queries if one.id == query for item in one.items}


def test_verdict_is_on_disk_before_the_next_and_the_last_one_counts(tmp_path):
    path = tmp_path / "kept" / "pool.me.jsonl"
    append_judgement(str(path), Judgement("a", 1, "no", DIGEST))
    assert read_judgements(str(path)) == (Judgement("a", 1, "no", DIGEST),)
    append_judgement(str(path), Judgement("b", 1, "later", None))
    append_judgement(str(path), Judgement("a", 1, "yes", DIGEST))
    append_judgement(str(path), Judgement("a", 2, "partly", DIGEST))
    assert read_judgements(str(path)) == (
        Judgement("a", 1, "yes", DIGEST),
        Judgement("b", 1, "later", None),
        Judgement("a", 2, "partly", DIGEST),
    )
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("cut", range(1, 20))
def test_line_cut_short_by_a_crash_loses_that_verdict_alone(tmp_path, cut):
    path = tmp_path / "pool.me.jsonl"
    append_judgement(str(path), Judgement("a", 1, "no", DIGEST))
    append_judgement(str(path), Judgement("b", 1, "no", DIGEST))
    path.write_bytes(path.read_bytes()[:-cut])
    append_judgement(str(path), Judgement("c", 1, "yes", DIGEST))
    kept = [one.item for one in read_judgements(str(path))]
    assert kept == (["a", "b", "c"] if cut == 1 else ["a", "c"])


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        '{"item": "a"}',
        '{"item": "a", "look": 3, "verdict": "no", "sha256": null}',
        '{"item": "a", "look": true, "verdict": "no", "sha256": null}',
        '{"item": "a", "look": 1, "verdict": "no"}',
        '{"item": "a", "look": 1, "verdict": "maybe"}',
    ],
)
def test_line_that_is_no_judgement_is_refused_with_its_place(tmp_path, line):
    path = tmp_path / "pool.me.jsonl"
    path.write_text(f"{line}\n", encoding="utf-8")
    with pytest.raises(
        LabelError, match=r"line 1(: [a-z]+)*: found .*, allowed is .*; this is no judgement of ours; remove the line"
    ):
        read_judgements(str(path))


def test_no_file_is_no_judgement_and_a_link_is_never_followed(tmp_path):
    assert read_judgements(str(tmp_path / "none")) == ()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(VaultEvalError, match="could not be written"):
        append_judgement(str(tmp_path / "link"), Judgement("a", 1, "no", None))
    assert not (tmp_path / "elsewhere").exists()


def test_relevant_pages_are_expected_with_their_grade_and_digest(pool):
    one, two = names(pool, "one"), names(pool, "two")
    said = [
        Judgement(one["A.md"], 1, "yes", DIGEST),
        Judgement(one["B.md"], 1, "partly", None),
        Judgement(one["C.md"], 1, "no", DIGEST),
        Judgement(two["A.md"], 1, "yes", DIGEST),
    ]
    first, second = judged_labels(pool, said, "pool.json")
    assert (first.pages, dict(first.grades), dict(first.hashes)) == (
        ("A.md", "B.md"),
        {"A.md": 2, "B.md": 1, "C.md": 0},
        {"A.md": DIGEST},
    )
    assert (first.skip_reason, second.skip_reason) == (None, None)
    assert second.pages == ("A.md",)


def test_query_with_a_page_left_to_judge_is_skipped_with_that_reason(pool):
    one = names(pool, "one")
    for verdict in ("later", None):
        said = [Judgement(one["A.md"], 1, "yes", DIGEST), Judgement(one["B.md"], 1, "no", DIGEST)]
        said += [Judgement(one["C.md"], 1, verdict, DIGEST)] if verdict else []
        assert judged_labels(pool, said, "pool.json")[0].skip_reason == "not every page of the pool is judged"


def test_page_that_cannot_be_told_is_neither_expected_nor_judged_irrelevant(pool):
    one = names(pool, "one")
    said = [Judgement(one["A.md"], 1, "yes", DIGEST), Judgement(one["B.md"], 1, "cannot tell", DIGEST)]
    said.append(Judgement(one["C.md"], 1, "no", DIGEST))
    label = judged_labels(pool, said, "pool.json")[0]
    assert (label.pages, dict(label.grades), label.skip_reason) == (("A.md",), {"A.md": 2, "C.md": 0}, None)


def test_query_without_a_relevant_page_is_no_negative_until_the_person_says_so(pool):
    label = judged_labels(pool, [Judgement(names(pool, "two")["A.md"], 1, "no", DIGEST)], "pool.json")[1]
    assert label.gold == ()
    assert label.skip_reason == NOTHING_FOUND
    assert "labels add --none" in NOTHING_FOUND


def test_progress_counts_looks_and_own_agreement_over_what_was_graded_twice(pool):
    # All four items are shown twice: eight looks.
    one, two = names(pool, "one"), names(pool, "two")
    said = [Judgement(one["A.md"], look, "yes", DIGEST) for look in (1, 2)]
    said += [Judgement(one["B.md"], 1, "no", DIGEST), Judgement(one["B.md"], 2, "no", DIGEST)]
    said += [Judgement(one["C.md"], 1, "later", DIGEST), Judgement(two["A.md"], 1, "cannot tell", DIGEST)]
    found = progress(pool, said)
    assert (found.judged, found.all, found.put_off, found.undecided) == (5, 8, 1, 1)
    # yes/yes and no/no: po = 1, pe = (1*1 + 1*1) / 4 = .5, kappa = 1
    assert (found.own.n, found.own.observed, found.own.kappa) == (2, 1.0, 1.0)


def test_what_was_put_off_or_cannot_be_told_has_no_part_in_agreement(pool):
    one, two = names(pool, "one"), names(pool, "two")
    said = [Judgement(one["A.md"], look, "yes", DIGEST) for look in (1, 2)]
    said += [Judgement(one["B.md"], 1, "later", DIGEST), Judgement(one["B.md"], 2, "no", DIGEST)]
    said += [Judgement(one["C.md"], 1, "partly", DIGEST), Judgement(one["C.md"], 2, "cannot tell", DIGEST)]
    said += [Judgement(two["A.md"], 1, "yes", DIGEST), Judgement(two["A.md"], 2, "no", DIGEST)]
    found = progress(pool, said).own
    # yes/yes and yes/no: po = 1/2, pe = (2*1 + 0*1) / 4 = 1/2, kappa = 0
    assert (found.n, found.observed, found.kappa) == (2, 0.5, 0.0)
