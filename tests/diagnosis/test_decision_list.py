"""The decision list itself: its order, one file a cause, and what happens where a searcher tells little or contradicts itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

import vault_eval.diagnosis.causes
from vault_eval.diagnosis.causes import CAUSE_NAMES, CAUSES
from vault_eval.diagnosis.misses import SearchedPages, Wanted, diagnose, invalid_label
from vault_eval.diagnosis.records import Miss
from vault_eval.diagnosis.sections import block_line, compared_place, judged_places, lies_under, tells_sections
from vault_eval.index.term_evidence import TermEvidence
from vault_eval.metrics import metrics_for
from vault_eval.metrics.judged_query import JudgedPlace, JudgedQuery
from vault_eval.metrics.score import ScoreTable
from vault_eval.model import Candidates, Label, RankedPage, Ranking, Target
from vault_eval.retrievers.protocol import Counterfactual, PageEvidence

ORDER = (
    "label_invalid",
    "out_of_scope",
    "not_indexed",
    "stale_label_only",
    "stale",
    "section_only",
    "tokenizer_gap",
    "vocabulary_mismatch",
    "tie_lost",
    "pool_cut",
    "rerank_demoted",
    "outranked",
    "unexplained",
)
GOLD = "Gold.md"
TERMS = (TermEvidence("sea", 9, 2, 1.5), TermEvidence("fog", 3, 0, 0.0))
EVIDENCE = PageEvidence(1.5, ("Sea",), (1, 4), TERMS, None, None)
PAGES = SearchedPages({}, {}, lambda _page: "The sea is calm.")


@dataclass
class Told:
    """A searcher that tells what it is given; pages it was not given are not in its index."""

    known: dict[str, PageEvidence] = field(default_factory=dict)
    stale: frozenset[str] = frozenset()
    label_only: frozenset[str] = frozenset()
    asked: list[tuple[str, ...]] = field(default_factory=list)
    first: int = 3  # the rank with the first word

    def evidence(self, _query: str, page: str, *, exact_rank: bool) -> PageEvidence | None:
        found = self.known.get(page)
        return replace(found, rank=99) if exact_rank and found is not None else found

    def is_stale(self, page: str) -> bool:
        return page in self.stale

    def drops_label_only(self, page: str) -> bool:
        return page in self.label_only

    def with_terms(self, _query: str, _page: str, terms: Sequence[str], _text: str) -> tuple[Counterfactual, ...]:
        self.asked.append(tuple(terms))
        return tuple(Counterfactual(term, self.first + place, 2.0, 4) for place, term in enumerate(terms))


def ranking(*, score: float = 2.0, usable: Sequence[str] = ()) -> Ranking:
    pages = tuple(RankedPage(rank, f"P{rank:02}.md", score, ("Top",), (1, 2)) for rank in range(1, 11))
    names = (*(one.page for one in pages), *usable)
    return Ranking(pages, Candidates(names, names, 20, 0, (), (), exhausted=False))


def rivals(score: float = 2.0) -> dict[str, PageEvidence]:
    terms = (TermEvidence("sea", 9, 3, score),)
    return {page: PageEvidence(score, (), (1, 2), terms) for page in ("P01.md", "P10.md")}


def test_the_list_is_closed_and_in_the_order_of_its_definition():
    assert ORDER == CAUSE_NAMES
    assert [cause.position for cause in CAUSES.values()] == sorted({cause.position for cause in CAUSES.values()})


def test_a_cause_is_one_file_that_nothing_names():
    (folder,) = vault_eval.diagnosis.causes.__path__
    assert {path.stem for path in Path(folder).glob("*.py")} - {"__init__"} == set(CAUSES)
    source = Path(folder, "__init__.py").read_text(encoding="utf-8")
    assert not [name for name in CAUSES if name in source]


def test_every_cause_says_what_it_means_and_what_mends_it():
    assert len({cause.meaning for cause in CAUSES.values()}) == len(CAUSES)
    assert all(cause.remedy for cause in CAUSES.values())


def test_page_that_does_not_exist_is_told_of_its_row_and_is_no_cause_of_a_miss():
    assert invalid_label(GOLD, "not there").cause == CAUSES["label_invalid"].name
    assert CAUSES["label_invalid"].find(Miss("sea", GOLD, ranking(), PAGES)) is None


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"excluded": True, "skipped": True, "label_only": True, "stale": True}, "out_of_scope"),
        ({"skipped": True, "label_only": True, "stale": True}, "not_indexed"),
        ({"absent": True, "label_only": True, "stale": True}, "not_indexed"),
        ({"label_only": True, "stale": True}, "stale_label_only"),
        ({"stale": True, "silent": True}, "stale"),
        ({"silent": True, "raw": True}, "tokenizer_gap"),
        ({"silent": True}, "vocabulary_mismatch"),
        ({"tie": True}, "tie_lost"),
        ({}, "pool_cut"),
        ({"pooled": True}, "outranked"),
        ({"contradicts": True, "pooled": True}, "unexplained"),
        ({"hidden": True}, "unexplained"),
    ],
)
def test_of_all_that_holds_the_first_is_the_cause(changes, cause):
    has = changes.get
    evidence = EVIDENCE
    if has("silent"):
        evidence = PageEvidence(0.0, (), (1, 4), (TermEvidence("tide", 2, 0, 0.0),))
    if has("contradicts"):
        evidence = replace(evidence, score=1.7)
    pages = SearchedPages(
        {GOLD: "excluded"} if has("excluded") else {},
        {GOLD: "not UTF-8"} if has("skipped") else {},
        lambda _page: "High tides." if has("raw") else "The sea.",
    )
    searcher = Told(
        ({} if has("absent") else {GOLD: evidence}) | rivals(),
        frozenset({GOLD}) if has("stale") else frozenset(),
        frozenset({GOLD}) if has("label_only") else frozenset(),
    )
    answer = ranking(score=1.5 if has("tie") else 2.0, usable=(GOLD,) if has("pooled") else ())
    found = diagnose("tide", GOLD, answer, None if has("hidden") else searcher, pages, Wanted())
    assert found.cause == cause
    assert found.detail


def test_reranking_is_no_cause_while_nothing_reranks():
    assert CAUSES["rerank_demoted"].find(Miss("sea", GOLD, ranking(), PAGES)) is None


def test_evidence_that_does_not_add_up_is_withheld_and_said_to_be():
    told = Told({GOLD: replace(EVIDENCE, score=1.500002)})
    found = diagnose("sea", GOLD, ranking(usable=(GOLD,)), told, PAGES, Wanted(exact=True))
    assert (found.cause, found.evidence, found.missing_terms, found.counterfactuals) == ("unexplained", None, (), ())
    assert "add up to 1.500000, its score is 1.500002: the evidence is withheld" in found.detail
    within = Told({GOLD: replace(EVIDENCE, score=1.5000009)} | rivals())
    assert diagnose("sea", GOLD, ranking(usable=(GOLD,)), within, PAGES, Wanted()).cause == "outranked"


def test_gold_whose_score_in_the_ranking_is_another_is_not_explained_either():
    deep = Ranking((*ranking().pages, RankedPage(11, GOLD, 1.9)), ranking(usable=(GOLD,)).candidates)
    found = diagnose("sea", GOLD, deep, Told({GOLD: EVIDENCE}), PAGES, Wanted())
    assert found.cause == "unexplained"
    assert found.detail.endswith("; it is at rank 11")


def test_a_rival_whose_terms_do_not_add_up_is_left_out():
    told = Told({GOLD: EVIDENCE} | rivals() | {"P10.md": replace(rivals()["P10.md"], score=2.5)})
    found = diagnose("sea", GOLD, ranking(usable=(GOLD,)), told, PAGES, Wanted())
    assert [one.page for one in found.rivals] == ["P01.md"]
    assert found.winner == "P10.md"
    assert found.evidence == EVIDENCE


def test_rivals_and_ranks_with_more_words_are_found_out_only_where_wanted():
    told = Told({GOLD: EVIDENCE} | rivals())
    plain = diagnose("sea fog", GOLD, ranking(), told, PAGES, Wanted(rivals=False))
    assert (plain.rivals, plain.counterfactuals, told.asked) == ((), (), [])
    whole = diagnose("sea fog", GOLD, ranking(), told, PAGES, Wanted(exact=True))
    assert told.asked == [("fog",)]
    assert whole.counterfactuals == (Counterfactual("fog", 3, 2.0, 4),)
    assert whole.detail.endswith("; its best section lacks 'fog'; rank 3 if that section contained 'fog'")


def test_a_foretold_rank_beyond_the_cut_is_said_to_be_a_miss_still_and_of_which_place():
    """No section was named before where no word is shared: the sentence then names the note."""
    silent = PageEvidence(0.0, (), (1, 4), tuple(TermEvidence(word, 2, 0, 0.0) for word in ("tide", "fog")))
    told = Told({GOLD: silent} | rivals())
    near = diagnose("tide fog", GOLD, ranking(), told, PAGES, Wanted(exact=True))
    assert near.detail == "no query word stands in the note; rank 3 if the note contained 'tide'"
    told.first = 11
    far = diagnose("tide fog", GOLD, ranking(), told, PAGES, Wanted(exact=True))
    assert far.detail == f"{near.detail.replace('rank 3', 'rank 11')}, still not among the first 10"


def test_the_rarest_five_missing_words_are_tried():
    terms = tuple(TermEvidence(f"w{df}", df, 0, 0.0) for df in (7, 1, 5, 0, 3, 9, 2)) + TERMS[:1]
    told = Told({GOLD: replace(EVIDENCE, terms=terms)} | rivals())
    diagnose("many words", GOLD, ranking(), told, PAGES, Wanted(exact=True))
    assert told.asked == [("w0", "w1", "w2", "w3", "w5")]


def test_a_searcher_that_tells_only_ranks_leaves_a_miss_unexplained_with_its_rank():
    deep = Ranking((*ranking().pages, RankedPage(11, GOLD, None)))
    found = diagnose("sea", GOLD, deep, None, PAGES, Wanted())
    assert (found.cause, found.detail) == ("unexplained", "this searcher tells only ranks; it is at rank 11")


def test_a_page_that_a_searcher_dropped_as_stale_is_stale_without_further_evidence():
    candidates = replace(ranking().candidates, stale_pages=(GOLD,))
    found = diagnose("sea", GOLD, replace(ranking(), candidates=candidates), None, PAGES, Wanted())
    assert found.cause == "stale"


# --- places within a page ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gold", "path", "expected"),
    [
        ("Setup", ("Setup",), True),
        ("setup", ("Guide", "SETUP", "macOS"), True),  # below it
        ("Setup", ("Setup of macOS",), False),
        ("Setup", (), False),
        ("Über uns", ("U\u0308ber uns",), True),  # NFC
        ("`code` and [[Other|link]]", ("code and link",), True),  # as a person reads it
        ("Guide#macOS", ("Guide", "Setup", "macOS"), True),
        ("macOS#Guide", ("Guide", "Setup", "macOS"), False),
        ("C# tips", ("C# tips",), True),
        ("C tips", ("C# tips",), True),  # as Obsidian completes a link to it, here and below
        ("Plan next steps", ("Plan: next | steps^",), True),
        ("50 ready x", ("50%% ready [[ \\x",), True),
        ("Guide#Plan next", ("Guide", "Plan: next"), True),
        ("Plan: next", ("Plan next",), True),
        ("Plan-next", ("Plan next",), False),  # no other sign is left out
        ("100", ("100%",), False),
        ("Sea#Fog", ("Sea Fog",), False),  # here `#` parts two headings
    ],
)
def test_a_chunk_lies_under_a_heading_that_stands_above_it(gold, path, expected):
    assert lies_under(gold, path) is expected


def test_a_block_is_the_line_that_ends_with_its_id():
    text = "one ^a\ntwo ^ab \n\n- three\n^c\nfour ^a1 more\n"
    assert [block_line(text, name) for name in ("a", "ab", "AB", "c", "a1", "d")] == [1, 2, 2, 5, None, None]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("```\ncode ^a\n```\n", None),
        ("~~~~ text\n~~~\ncode ^a\n~~~~\n", None),
        ("> - ```\n>   code ^a\n>   ```\n", None),
        ("```\ncode ^a\n", None),  # a fence that is not closed goes on to the end
        ("```\ncode\n```\n^a\n", 4),  # the block is the code
        ("```\n``` text\n```\n\nwords ^a\n", 5),  # what closes a fence stands alone
        ("```code``` and words ^a\n", 1),  # no fence: code within a line
    ],
)
def test_a_block_id_in_code_between_fences_is_none(text, line):
    assert block_line(text, "a") == line


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        (Target(GOLD, heading="Sea *fog*"), Target(GOLD, heading="SEA FOG"), True),
        (Target(GOLD, heading="Sea: fog"), Target(GOLD, heading="Sea fog"), True),
        (Target(GOLD, heading="Sea#Fog"), Target(GOLD, heading="sea#fog"), True),
        (Target(GOLD, heading="Sea#Fog"), Target(GOLD, heading="Sea Fog"), False),
        (Target(GOLD, heading="Sea"), Target("Other.md", heading="Sea"), False),
        (Target(GOLD, heading="Sea"), Target(GOLD), False),
        (Target(GOLD, block="B1"), Target(GOLD, block="b1"), True),
        (Target("A.pdf", pdf_page=1), Target("A.pdf", pdf_page=2), False),
    ],
)
def test_places_are_the_same_where_a_hit_in_one_is_a_hit_in_the_other(one, other, is_same):
    assert (compared_place(one) == compared_place(other)) is is_same


def place_of(target: Target, *pages: RankedPage, told: bool = True, text: str = "") -> JudgedPlace:
    (found,) = judged_places(Label("q", "sea", (target,), "l", "1"), Ranking(pages), lambda _page: text, is_told=told)
    return found


def test_a_place_is_hit_where_the_first_chunk_of_its_page_lies_in_it():
    there = RankedPage(1, GOLD, 1.0, ("Sea", "Fog"), (5, 9))
    heading, block = Target(GOLD, heading="Fog"), Target(GOLD, block="b1")
    assert place_of(heading, there) == JudgedPlace("Gold.md#Fog", GOLD, "section", is_hit=True)
    assert place_of(heading, replace(there, heading=("Sea",))).is_hit is False
    assert place_of(heading).is_hit is False, "the page was not found at all"
    assert place_of(heading, there, told=False).is_hit is None
    text = "\n" * 6 + "foggy ^b1\n"
    assert place_of(block, there, text=text).is_hit is True, "line 7 lies within 5 to 9"
    assert place_of(block, replace(there, lines=(8, 9)), text=text).is_hit is False
    assert place_of(block, there, text="no such id").is_hit is False
    assert place_of(Target("A.pdf", pdf_page=3), RankedPage(1, "A.pdf", 1.0, ("page 3",), None)).is_hit is True


def figures(*queries: JudgedQuery):
    return ScoreTable.of(metrics_for(), queries).aggregate()


def judged(hit: bool | None, *, grain="section", found: bool = True) -> JudgedQuery:
    return JudgedQuery((GOLD,), (GOLD,) if found else ("P.md",), places=(JudgedPlace(f"{GOLD}#x", GOLD, grain, hit),))


def test_section_page_and_doc_hit_are_over_labels_of_their_grain():
    plain = JudgedQuery((GOLD,), (GOLD,))
    queries = [plain, judged(True), judged(False), judged(False, found=False), judged(True, grain="page")]
    found = figures(*queries)
    assert (found["section_hit"].value, found["section_hit"].n) == (pytest.approx(1 / 3), 3)
    assert (found["page_hit"].value, found["page_hit"].n) == (1.0, 1)
    assert (found["doc_hit"].value, found["doc_hit"].n) == (pytest.approx(3 / 4), 4)
    assert {found[name].status for name in ("section_hit", "page_hit", "doc_hit")} == {"ok"}
    assert {figures(plain)[name].status for name in ("section_hit", "page_hit", "doc_hit")} == {"no data"}


def test_one_of_several_places_is_enough():
    several = replace(judged(False), places=(JudgedPlace("a", GOLD, "section", False), JudgedPlace("b", GOLD, "section", True)))
    assert figures(several)["section_hit"].value == 1.0


def test_section_hit_is_unavailable_where_a_searcher_tells_no_sections():
    found = figures(judged(None), judged(None, found=False))
    assert (found["section_hit"].status, found["section_hit"].value) == ("unavailable", None)
    assert found["doc_hit"].value == 0.5
    bare = Ranking((RankedPage(1, GOLD, 1.0),))
    assert not tells_sections([bare])
    assert tells_sections([bare, Ranking((RankedPage(1, GOLD, 1.0, (), (1, 2)),))])
    assert tells_sections([Ranking(())]), "nothing was found, so there was nothing to tell"
