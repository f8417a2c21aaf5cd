"""Planted misses on a claude-obsidian index: the evaluation names the cause of each, whatever the language."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest

from vault_eval.evaluation import clock, evaluate
from vault_eval.reports.document import QueryRow, RunReport
from vault_eval.request import Request

GOLD = "wiki/Zed.md"  # after every other page, in path order


@dataclass(frozen=True)
class Tongue:
    """Words of one language: what is asked, what winners never say, and what says nothing of it."""

    asked: str
    other: str
    filler: str


TONGUES = {
    "english": Tongue("harbour", "mooring", "rope"),
    "turkish": Tongue("iskele", "şamandıra", "halat"),
    "german": Tongue("Hafen", "Größe", "Seil"),
    "russian": Tongue("гавань", "якорь", "канат"),
    "japanese": Tongue("港", "錨", "縄"),
    "chinese": Tongue("码头", "船锚", "绳子"),
    "korean": Tongue("항구", "닻", "밧줄"),
}
tongues = pytest.mark.parametrize("tongue", TONGUES.values(), ids=TONGUES)


class Desk:
    """Asks a vault on its claude-obsidian index, or the product itself."""

    def __init__(self, vault_meta) -> None:
        self.vault = vault_meta
        self.write = vault_meta.write
        self.index = vault_meta.index

    def run(self, queries: Sequence[Mapping[str, object]], product_root: str | None = None) -> RunReport:
        labels = self.vault.root.parent / "asked.json"
        labels.write_text(json.dumps({"schema": "vault-eval.labels.v1", "queries": [*queries]}), encoding="utf-8")
        request = Request(
            str(self.vault.root),
            (str(labels),),
            ("keyword" if product_root is None else "claude-obsidian",),
            data=str(self.vault.root.parent / "data"),
            index=str(self.vault.folder) if product_root is None else None,
            cold_samples=0,
            product_root=product_root,
        )
        return evaluate(request, clock()).runs[0]

    def ask(self, query: str, *gold: str, product_root: str | None = None) -> QueryRow:
        return self.run([{"id": "asked", "query": query, "expected_pages": list(gold)}], product_root).rows[0]

    def causes(self, query: str, *gold: str, product_root: str | None = None) -> list[str]:
        return [found.cause for found in self.ask(query, *gold, product_root=product_root).diagnosis]

    def crowd(self, tongue: Tongue, pages: int) -> None:
        for number in range(pages):
            self.write(f"wiki/Win {number:02}.md", f"{tongue.asked} {tongue.asked} {tongue.asked}\n")
        self.write(GOLD, f"{tongue.asked} " + f"{tongue.filler} " * 40 + "\n")


@pytest.fixture
def desk(vault_meta) -> Desk:
    return Desk(vault_meta)


@tongues
def test_gold_that_does_not_exist_is_an_invalid_label(desk, tongue):
    desk.write(f"wiki/{tongue.filler}.md", f"{tongue.asked}\n")
    desk.index()
    assert desk.causes(tongue.asked, f"wiki/{tongue.asked}.md") == ["label_invalid"]


@tongues
def test_excluded_gold_that_was_not_returned_is_out_of_scope(desk, tongue):
    desk.write(".obsidian/app.json", json.dumps({"userIgnoreFilters": ["wiki/Old/"]}))
    desk.write("wiki/Old/A.md", f"{tongue.other}\n")
    desk.write("wiki/Other.md", f"{tongue.asked}\n")
    desk.index()
    assert desk.causes(tongue.asked, "wiki/Old/A.md") == ["out_of_scope"]
    assert desk.causes(tongue.other, "wiki/Old/A.md") == [], "that product does not know what Obsidian excludes"


@tongues
def test_gold_that_the_index_lacks_is_not_indexed_and_says_why(desk, tongue):
    desk.write("wiki/Other.md", f"{tongue.filler}\n")
    desk.write("wiki/Lossy.md", tongue.asked.encode() + b" \xff\n")
    desk.write("wiki/Broken.md", f"{tongue.asked} {tongue.filler}\n")
    desk.write("wiki/Escaping.md", f"{tongue.asked}\n")
    desk.write("Outside.md", f"{tongue.asked}\n")
    desk.index()
    desk.write("wiki/New.md", f"{tongue.asked}\n")
    desk.vault.record_file("wiki/Broken.md").write_text("{")
    desk.vault.change_record("wiki/Escaping.md", page_path="wiki/../../Secret.md")
    gold = ("wiki/New.md", "wiki/Lossy.md", "wiki/Broken.md", "wiki/Escaping.md", "Outside.md")
    run = desk.run([{"id": "asked", "query": tongue.asked, "expected_pages": list(gold)}])
    assert [one.cause for one in run.rows[0].diagnosis] == ["not_indexed"] * 5
    details = {one.page: one.detail for one in run.rows[0].diagnosis}
    assert "not UTF-8" in details["wiki/Lossy.md"]
    assert "outside wiki/" in details["Outside.md"]
    assert run.index is not None
    assert (run.index.skipped_malformed, run.index.skipped_undecodable) == (2, 1)


@tongues
def test_gold_changed_since_is_stale(desk, tongue):
    desk.write(GOLD, f"{tongue.asked}\n")
    desk.index()
    desk.write(GOLD, f"{tongue.asked} {tongue.other}\n")
    run = desk.run([{"id": "asked", "query": tongue.asked, "expected_pages": [GOLD]}])
    assert [one.cause for one in run.rows[0].diagnosis] == ["stale"]
    assert run.skipped_stale == 1


@tongues
def test_gold_of_which_only_the_label_property_was_added_is_stale_label_only(desk, tongue):
    desk.write(GOLD, f"---\ntitle: Zed\n---\n{tongue.asked}\n")
    desk.index()
    desk.write(GOLD, f"---\ntitle: Zed\nanswers:\n  - {tongue.asked}\n---\n{tongue.asked}\n")
    assert desk.causes(tongue.asked, GOLD) == ["stale_label_only"]


GAPS = {
    "compound": ("Fahrrad", "Fahrradverleih am See"),
    "suffix": ("tekne", "Teknelerimiz burada"),
    "accent": ("élève", "liste des eleves et un eleve"),
    "hyphen": ("email", "an e-mail of the office"),
    "russian case": ("причал", "к причалу"),
    "identifier": ("search", "the search_term of it"),
    "stop words": ("to be", "or not to be"),
}


@pytest.mark.parametrize(("query", "text"), GAPS.values(), ids=GAPS)
def test_words_that_are_cut_differently_are_a_tokenizer_gap(desk, query, text):
    desk.write(GOLD, f"{text}\n")
    desk.write("wiki/Other.md", f"{query} harbour\n")
    desk.index()
    assert desk.causes(query, GOLD) == ["tokenizer_gap"]


MISMATCHES = {
    "english": ("recover lost files", "Bringing back what was deleted: use the copies on the disk."),
    "turkish": ("yedek nasıl alınır", "Kopyaları diske yazın."),
    "german": ("Datensicherung einrichten", "Kopien auf die Platte schreiben."),
    "russian": ("резервная копия", "Пишите файлы на диск."),
    "japanese": ("予備", "写しを作る"),
    "chinese": ("备份", "复制到磁盘"),
}


@pytest.mark.parametrize(("query", "text"), MISMATCHES.values(), ids=MISMATCHES)
def test_a_note_in_other_words_is_a_vocabulary_mismatch(desk, query, text):
    desk.write(GOLD, f"{text}\n")
    desk.write("wiki/Other.md", f"{query}\n")
    desk.index()
    assert desk.causes(query, GOLD) == ["vocabulary_mismatch"]


@tongues
def test_an_equal_score_with_a_later_path_is_a_tie_lost(desk, tongue):
    for number in range(12):
        desk.write(f"wiki/Pier {number:02}.md", f"{tongue.asked} {tongue.filler}\n")
    desk.index()
    row = desk.ask(f"{tongue.asked} {tongue.other}", "wiki/Pier 10.md", "wiki/Pier 11.md")
    assert [one.cause for one in row.diagnosis] == ["tie_lost", "tie_lost"]
    assert row.diagnosis[0].winner == "wiki/Pier 09.md"


@tongues
def test_gold_outside_the_pool_is_pool_cut_with_the_pool_that_would_admit_it(desk, tongue):
    desk.crowd(tongue, 40)
    desk.index()
    (found,) = desk.ask(f"{tongue.asked} {tongue.other}", GOLD).diagnosis
    assert found.cause == "pool_cut"
    assert found.evidence is not None
    assert (found.evidence.rank, found.evidence.pool) == (41, 41)


@tongues
def test_gold_in_the_pool_is_outranked_with_the_terms_of_both_sides(desk, tongue):
    desk.crowd(tongue, 13)
    desk.index()
    (found,) = desk.ask(f"{tongue.asked} {tongue.other}", GOLD).diagnosis
    assert found.cause == "outranked"
    assert "it is at rank 14" in found.detail
    assert [(one.rank, one.page) for one in found.rivals] == [(1, "wiki/Win 00.md"), (10, "wiki/Win 09.md")]
    for side in (found.evidence, *(one.evidence for one in found.rivals)):
        assert side is not None
        assert abs(side.term_total - side.score) < 1e-6


def test_what_the_product_missed_is_explained_by_its_own_index(desk, claude_obsidian_root):
    tongue = TONGUES["turkish"]
    desk.crowd(tongue, 13)
    desk.write("wiki/Stale.md", f"{tongue.asked}\n")
    desk.write("wiki/Words.md", f"{tongue.other}\n")
    desk.write("Outside.md", f"{tongue.asked}\n")
    for script, *options in (("contextual-prefix.py", "--all", "--no-llm"), ("bm25-index.py", "build")):
        command = [sys.executable, f"{claude_obsidian_root}/scripts/{script}", "--vault", str(desk.vault.root), *options]
        subprocess.run(command, check=True, capture_output=True)
    desk.write("wiki/Stale.md", f"{tongue.asked} {tongue.other}\n")
    gold = (GOLD, "wiki/Stale.md", "wiki/Words.md", "Outside.md")
    for product_root in (claude_obsidian_root, None):
        found = desk.causes(tongue.asked, *gold, product_root=product_root)
        assert found == ["outranked", "stale", "vocabulary_mismatch", "not_indexed"], product_root
