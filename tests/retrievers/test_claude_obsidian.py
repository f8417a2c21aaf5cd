"""`claude-obsidian`: the product asked as its user asks it, and every way in which that fails.

Failures are those of a program in the product's place; what a good answer is, the product itself shows where there is a checkout.
"""

from __future__ import annotations

import json
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from random import Random

import pytest

from vault_eval.errors import IndexUnusableError, UsageError
from vault_eval.index.vault_meta.analysis import TextTooLongError, terms_of
from vault_eval.model import Ranking
from vault_eval.retrievers.claude_obsidian import ClaudeObsidian
from vault_eval.retrievers.protocol import ColdOnly, DropsLabelOnly, Explains, Retriever, RetrieverContext, TellsFreshness
from vault_eval.retrievers.select import needs_index, open_retriever
from vault_eval.retrievers.spec import parse_specs
from vault_eval.vault.snapshot import open_snapshot

PROGRAM = """\
import json, sys
arguments = sys.argv[1:]
query = arguments[arguments.index("--") + 1]
def answer(*found, chunks=None, stale=0):
    candidates = [{"page_path": path, "bm25_score": score} for path, score in found]
    explain = {"bm25_candidate_count": len(found) if chunks is None else chunks, "stale_candidates_skipped": stale}
    print(json.dumps({"candidates": candidates, "explain": explain}))
if query == "index":
    answer()
    raise SystemExit(0)
"""


@pytest.fixture
def product(tmp_path: Path) -> Path:
    """A folder in which a program can be put in the product's place."""
    (tmp_path / "product" / "scripts").mkdir(parents=True)
    return tmp_path / "product"


@contextmanager
def opened(root: Path, product_root: Path | str | None, spec: str = "claude-obsidian") -> Iterator[Retriever]:
    with open_snapshot(str(root)) as vault:
        named = None if product_root is None else str(product_root)
        retriever = open_retriever(parse_specs([spec])[0], RetrieverContext(vault, "", product_root=named))
        try:
            yield retriever
        finally:
            retriever.close()


def ask(vault_meta, product: Path, program: str, query: str = "boat", spec: str = "claude-obsidian") -> Ranking:
    (product / "scripts" / "retrieve.py").write_text(PROGRAM + program, encoding="utf-8")
    with opened(vault_meta.root, product, spec) as searcher:
        return searcher.search(query, 10)


@pytest.fixture
def sea(vault_meta):
    vault_meta.write("wiki/Tides.md", "spring tides\n")
    vault_meta.write("wiki/Boat.md", "boat of spring\n")
    vault_meta.index()
    return vault_meta


def test_it_is_asked_with_these_arguments_and_the_query_is_never_an_option(sea, product):
    told = product / "asked.json"
    program = f"json.dump(arguments, open({str(told)!r}, 'w')); answer()"
    for spec, chunks in (("claude-obsidian", "20"), ("claude-obsidian:bm25-top=7", "7")):
        assert ask(sea, product, program, "--top -h", spec).error is None
        options = ["--vault", str(sea.root), "--no-rerank", "--explain", "--top", chunks, "--bm25-top", chunks]
        assert json.loads(told.read_text()) == [*options, "--", "--top -h"]


def test_pages_come_in_the_order_printed_and_the_pool_is_known(sea, product):
    ranking = ask(sea, product, "answer(('wiki/Tides.md', 2.5), ('wiki/Boat.md', 2.5), ('wiki/Gone.md', 1), chunks=3)")
    assert [(one.rank, one.page, one.score) for one in ranking.pages] == [(1, "wiki/Tides.md", 2.5), (2, "wiki/Boat.md", 2.5)]
    assert ranking.outside_vault == 1
    assert ranking.candidates is not None
    assert (ranking.candidates.usable, ranking.candidates.chunks, ranking.candidates.exhausted) == (
        ("wiki/Tides.md", "wiki/Boat.md"),
        3,
        False,
    )


def test_a_full_pool_with_too_few_pages_is_exhausted(sea, product):
    candidates = ask(sea, product, "answer(('wiki/Boat.md', 1), chunks=20)").candidates
    assert candidates is not None
    assert candidates.exhausted


def test_a_full_pool_with_all_the_pages_asked_for_is_not_exhausted(sea, product):
    for number in range(10):
        sea.write(f"wiki/N{number}.md", "boat\n")
    candidates = ask(sea, product, "answer(*((f'wiki/N{n}.md', 1) for n in range(10)), chunks=20)").candidates
    assert candidates is not None
    assert not candidates.exhausted


def test_a_page_that_changes_after_it_was_found_is_seen_to_have_changed(sea, product):
    (product / "scripts" / "retrieve.py").write_text(PROGRAM + "answer(('wiki/New.md', 1))", encoding="utf-8")
    sea.write("wiki/New.md", "not in the index\n")
    with open_snapshot(str(sea.root)) as vault:
        searcher = open_retriever(parse_specs(["claude-obsidian"])[0], RetrieverContext(vault, "", product_root=str(product)))
        assert [one.page for one in searcher.search("boat", 10).pages] == ["wiki/New.md"]
        assert vault.reader.changed() == []
        sea.write("wiki/New.md", "now it says something else\n")
        assert vault.reader.changed() == ["wiki/New.md"]
        searcher.close()


def test_nothing_is_compiled_into_the_checkout(sea, product):
    (product / "scripts" / "helper.py").write_text("", encoding="utf-8")
    imports = "import os; sys.path.insert(0, os.path.dirname(os.path.abspath(__file__))); import helper\n"
    before = sorted(product.rglob("*"))
    assert ask(sea, product, f"{imports}answer(('wiki/Boat.md', 1))").error is None
    assert sorted({*product.rglob("*")} - {product / "scripts" / "retrieve.py"}) == before


def test_stale_pages_are_named_by_the_index_read_beside_it(sea, product):
    sea.write("wiki/Boat.md", "another boat\n")
    candidates = ask(sea, product, "answer(('wiki/Tides.md', 1), chunks=2, stale=1)", "boat tides").candidates
    assert candidates is not None
    assert (candidates.stale_pages, candidates.stale_chunks, len(candidates.raw)) == (("wiki/Boat.md",), 1, 2)
    sea.index_file.write_text("{}")
    assert ask(sea, product, "answer(('wiki/Tides.md', 1), chunks=2, stale=1)", "boat tides").candidates is None


FAILURES = {
    "refused": (
        "sys.stderr.write('bm25\\nERR TOO_LARGE: no\\nmore\\n'); sys.exit(2)",
        "exit code 2 and said 'ERR TOO_LARGE: no'",
    ),
    "no index any more": (
        "sys.stderr.write('ERR: no BM25 index\\n'); sys.exit(10)",
        "exit code 10 and said 'ERR: no BM25 index'",
    ),
    "a traceback": ("raise KeyError('x')", "exit code 1 and said \"KeyError: 'x'\""),
    "killed": ("import os; os.kill(os.getpid(), 9)", "exit code -9"),
    "no JSON": ("print('hello')", "gave no usable answer"),
    "another form": ("print('{\"results\": []}')", "gave no candidates with their explanation"),
    "no path": ('print(\'{"candidates": [{}], "explain": {}}\')', "gave a candidate without a page_path"),
    "no number": ("answer(('wiki/Boat.md', 'high'))", "a score is a number"),
    "not finite": ("answer(('wiki/Boat.md', 1e308 * 10))", "Infinity is not JSON"),
    "no UTF-8": ("sys.stdout.buffer.write(b'\\xff')", "gave an answer that is not UTF-8"),
    "too slow": ("import time; time.sleep(30)", "took longer than 1 seconds"),
    "too much": ("print('x' * (17 * 1_048_576))", "wrote more than 16,777,216 bytes"),
}


@pytest.mark.parametrize(("program", "said"), FAILURES.values(), ids=FAILURES)
def test_a_query_that_failed_is_an_error_and_no_empty_answer(sea, product, program, said):
    ranking = ask(sea, product, program, spec="claude-obsidian:timeout=1" if "sleep" in program else "claude-obsidian")
    assert ranking.pages == ()
    assert said in (ranking.error or "")


def test_without_a_checkout_it_says_which_option_names_one(sea, product):
    with pytest.raises(UsageError, match="needs --product-root DIR"), opened(sea.root, None):
        pass
    with pytest.raises(UsageError, match=r"there is no scripts/retrieve\.py; name a checkout"), opened(sea.root, product):
        pass
    with pytest.raises(UsageError, match="there is no such folder"), opened(sea.root, product / "absent"):
        pass


@pytest.mark.parametrize(("code", "error"), [(10, IndexUnusableError), (2, UsageError), (1, UsageError)])
def test_a_product_that_is_not_ready_is_refused_at_once(sea, product, code, error):
    (product / "scripts" / "retrieve.py").write_text(f"import sys; sys.stderr.write('ERR: not so\\n'); sys.exit({code})")
    with pytest.raises(error, match="said 'ERR: not so'"), opened(sea.root, product):
        pass


@pytest.mark.parametrize("spec", ["bm25-top=0", "bm25-top=1001", "bm25-top=7.5", "timeout=0", "timeout=x", "k1=1"])
def test_other_settings_are_refused(sea, product, spec):
    (product / "scripts" / "retrieve.py").write_text(PROGRAM)
    with pytest.raises(UsageError, match=r"bm25-top|timeout|k1"), opened(sea.root, product, f"claude-obsidian:{spec}"):
        pass


def test_it_answers_from_an_index_of_its_own_and_has_cold_times_alone(sea, product):
    assert needs_index(parse_specs(["claude-obsidian"])[0])
    (product / "scripts" / "retrieve.py").write_text(PROGRAM)
    (product / ".claude-plugin").mkdir()
    manifest = product / ".claude-plugin" / "plugin.json"
    manifest.write_text('{"version": "9.8.7"}')
    with opened(sea.root, product) as searcher:
        assert isinstance(searcher, ColdOnly)
        assert isinstance(searcher, Explains)
        assert isinstance(searcher, DropsLabelOnly)
        assert isinstance(searcher, TellsFreshness)
        told = searcher.describe().settings
        assert (told["version"], told["rerank"], told["bm25-top"], told["k1"]) == ("9.8.7", False, "20, or the depth", 1.5)
        index = searcher.index()
        assert index is not None
        assert searcher.bound_digest() == index.sha256
    manifest.write_text('{"version": "\\u001b[31m"}')
    sea.index_file.write_text("{}")
    with opened(sea.root, product) as alone:
        assert (alone.describe().settings["version"], alone.index(), alone.bound_digest()) == (None, None, None)
        assert not isinstance(alone, Explains), "of an index that it cannot read it explains nothing"


# What follows runs the product itself.

NOTES = {
    "wiki/Tides.md": "---\ntitle: Tides\n---\n# Tides\n\n" + "Spring tides are the highest. " * 90 + "\n\nNeap tides are low.\n",
    "wiki/Sea/Boat.md": "# Boat\n\nThe harbour boat sails with the spring tide; the well-kept boat's sail_area is 12.\n",
    "wiki/Sea/Iskele.md": "# İskele\n\nİskelede bekleyen tekne ve şamandıra.\n",
    "wiki/港/码头.md": "# 码头\n\n码头旁边有船，船锚很重。\n",
    "wiki/Hafen.md": "# Hafen\r\n\r\nDer Hafen liegt an der Straße.\r\n\r\nDas Boot heißt Möwe.\r\n",
    "wiki/항구.md": "# 항구\n\n항구의 배와 닻.\n",
    "wiki/Гавань.md": "# Гавань\n\nГавань и якорь у причала.\n",
    "Out.md": "a boat outside\n",
}
QUERIES = (
    *(
        "spring tides",
        "boat",
        "the",
        "harbour boat's sail_area",
        "tekne iskele",
        "码头 船",
        "船锚",
        "Hafen Straße",
        "배",
        "якорь",
    ),
    *("Möwe", "highest", "-h", "--top", "wiki page", "12", "no such word", "well-kept boat boat boat"),
)


@pytest.fixture
def harbour(vault_meta, claude_obsidian_root):
    """Notes in seven languages, indexed by the product."""
    for page, text in NOTES.items():
        vault_meta.write(page, text)
    for script, *options in (("contextual-prefix.py", "--all", "--no-llm"), ("bm25-index.py", "build")):
        command = [sys.executable, f"{claude_obsidian_root}/scripts/{script}", "--vault", str(vault_meta.root), *options]
        subprocess.run(command, check=True, capture_output=True)
    return vault_meta


def test_keyword_answers_as_the_product_does(harbour, claude_obsidian_root):
    with open_snapshot(str(harbour.root)) as vault:
        context = RetrieverContext(vault, str(harbour.folder), product_root=claude_obsidian_root)
        product, keyword = (open_retriever(parse_specs([spec])[0], context) for spec in ("claude-obsidian", "keyword"))
        assert isinstance(product, ClaudeObsidian)
        for query in QUERIES:
            theirs, ours = product.search(query, 10), keyword.search(query, 10)
            assert (theirs.error, ours.error) == (None, None)
            assert [one.page for one in theirs.pages] == [one.page for one in ours.pages], query
            scores = [one.score for one in ours.pages if one.score is not None]
            assert [one.score for one in theirs.pages] == pytest.approx(scores, abs=1e-6)
        assert product.search("spring tides", 10).pages
        product.close()
        keyword.close()


def test_the_product_writes_nothing_while_it_is_asked(harbour, claude_obsidian_root):
    def states(root: str) -> dict[Path, tuple[int, int]]:
        found = {path: path.lstat() for path in Path(root).rglob("*") if ".git" not in path.parts}
        return {path: (state.st_mtime_ns, state.st_size) for path, state in found.items()}

    before = states(str(harbour.root)), states(claude_obsidian_root)
    with opened(harbour.root, claude_obsidian_root) as searcher:
        assert searcher.search("boat", 10).pages
    assert (states(str(harbour.root)), states(claude_obsidian_root)) == before


def test_too_long_a_query_is_refused_by_both(harbour, claude_obsidian_root):
    with open_snapshot(str(harbour.root)) as vault:
        context = RetrieverContext(vault, str(harbour.folder), product_root=claude_obsidian_root)
        for spec, said in (("claude-obsidian", "BM25_QUERY_TOO_LARGE"), ("keyword", "20,001 terms")):
            searcher = open_retriever(parse_specs([spec])[0], context)
            assert said in (searcher.search("港" * 6_668, 10).error or "")
            searcher.close()


def test_a_vault_without_its_index_is_refused_with_its_own_commands(vault_meta, claude_obsidian_root):
    vault_meta.write("wiki/Boat.md", "boat\n")
    with (
        pytest.raises(IndexUnusableError, match=r"scripts/bm25-index\.py --vault") as refused,
        opened(vault_meta.root, claude_obsidian_root),
    ):
        pass
    assert refused.value.says_remedy


def test_every_letter_is_cut_as_the_product_cuts_it(claude_obsidian_root):
    spec = spec_from_file_location("bm25_index", f"{claude_obsidian_root}/scripts/bm25-index.py")
    assert spec is not None
    assert spec.loader is not None
    theirs = module_from_spec(spec)
    spec.loader.exec_module(theirs)
    letters = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) not in ("Cn", "Co", "Cs")]
    text = Random(5).sample(letters, len(letters))
    for start in range(0, len(text), 40):
        words = "".join(sign + (" " if place % 7 == 0 else "") for place, sign in enumerate(text[start : start + 40]))
        try:
            expected = theirs.tokenize(words)
        except theirs.TokenGrowthLimitError:
            with pytest.raises(TextTooLongError):
                terms_of(words)
            continue
        assert terms_of(words) == expected


def test_the_document_that_the_tests_write_has_the_form_of_the_product(harbour, vault_meta):
    theirs = json.loads(harbour.index_file.read_text(encoding="utf-8"))
    vault_meta.index()
    ours = vault_meta.document()
    assert theirs.keys() == ours.keys()
    first, second = (next(iter(document["docs"].values())) for document in (theirs, ours))
    assert first.keys() == second.keys()
