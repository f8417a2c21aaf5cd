"""`command:` on programs that answer, fail, hang and lie; on a real ripgrep and a real qmd where there is one."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from vault_eval.errors import UsageError
from vault_eval.retrievers.external_results import FoundPage
from vault_eval.retrievers.presets.ripgrep import by_words, words_by_line
from vault_eval.retrievers.protocol import ColdOnly, Explains, WarmOnly

PYTHON = f"{shlex.quote(sys.executable)} -I -c"


def python(code: str, *words: str) -> str:
    """The spec of a program in Python; `words` are its arguments as they stand in a spec."""
    return " ".join([f"command:{PYTHON}", shlex.quote(code), *words])


def pages(ranking) -> list[tuple[str, float | None]]:
    assert ranking.error is None
    return [(one.page, one.score) for one in ranking.pages]


def test_placeholders_are_filled_in_once_and_the_query_is_one_argument(outside, small_vault):
    code = "import json, sys; print(json.dumps([{'path': w} for w in sys.argv[1:]]))"
    searcher = outside(python(code, "Boat.md", "--q={query}", "'{vault}/Sea/Tides.md'", "{depth}", "{other}"))
    ranking = searcher.search("{vault} $(id) ; 'x'", 7)
    assert pages(ranking) == [("Boat.md", None), ("Sea/Tides.md", None)]
    assert ranking.outside_vault == 3  # --q=…, 7 and {other}, none of them a page


def test_query_is_given_on_stdin_where_no_argument_asks_for_it(outside):
    searcher = outside(python("import sys; q = sys.stdin.read(); print('Boat.md' if q == '--paint café' else 'x.md')"))
    assert searcher.describe().settings["query"] == "stdin"
    assert pages(searcher.search("--paint café", 10)) == [("Boat.md", None)]


@pytest.mark.parametrize("words", ["{query}", "a {query}", "{query} --"])
def test_query_that_begins_with_a_dash_cannot_become_an_option(outside, words):
    searcher = outside(python("print('Boat.md')", words))
    assert searcher.search("-v", 10).error == "the query begins with - and could be taken for an option; write -- before {query}"
    assert pages(searcher.search("v", 10)) == [("Boat.md", None)]


@pytest.mark.parametrize("words", ["-- {query}", "--q={query}", "-e{query}"])
def test_query_behind_two_dashes_or_inside_a_word_may_begin_with_one(outside, words):
    assert pages(outside(python("print('Boat.md')", words)).search("-v", 10)) == [("Boat.md", None)]


def test_program_runs_in_an_empty_folder_that_goes_with_the_searcher(outside, small_vault):
    before = sorted(small_vault.rglob("*"))
    code = "import os; n = len(os.listdir()); open('made', 'w'); print(os.getcwd() + '.x' if n == 0 else 'again.x')"
    searcher = outside(python(code))
    folder = Path(searcher._folder)
    assert searcher.search("water", 10).outside_vault == 1
    assert (folder / "made").exists()
    searcher.close()
    assert not folder.exists()
    assert sorted(small_vault.rglob("*")) == before


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (
            "import sys; print('Boat.md'); sys.exit('cannot open the index')",
            "ended with exit code 1 and said 'cannot open the index'",
        ),
        ("raise ValueError('bad')", "ended with exit code 1 and said 'ValueError: bad'"),
        ("import os; os.abort()", "ended with exit code -6 and said ''"),
        ("print('{\"results\": [')", "gave no usable answer: not JSON"),
        ("print('nothing found, sorry')", "gave neither JSON nor paths, but 'nothing found, sorry'"),
        ('print(\'[{"path": "Boat.md", "score": "high"}]\')', "a score is a number"),
        ('print(\'[{"path": "Boat.md", "score": 1e999}]\')', "the number 1e999 is too large"),
        ("import time; time.sleep(60)", "took longer than 0.5 seconds"),
        ("print('x' * 20_000_000)", "wrote more than 16,777,216 bytes"),
        ("print('\\x1b[31mred')", "'\\x1b[31mred'"),
    ],
)
def test_failure_is_an_error_and_never_an_empty_answer(outside, code, says):
    ranking = outside(python(code).replace("command:", "command:timeout=0.5 " if "sleep" in code else "command:")).search("q", 10)
    assert (ranking.pages, says in (ranking.error or "")) == ((), True), ranking.error


def test_exit_code_that_means_nothing_found_is_no_failure_where_it_is_named(outside):
    code = "import sys; sys.exit(int(sys.argv[1]))"
    assert outside(python(code, "1")).search("q", 10).error is not None
    named = python(code, "1").replace("command:", "command:nothing-found=1 ")
    assert pages(outside(named).search("q", 10)) == []
    assert outside(named[:-1] + "2").search("q", 10).error is not None


def test_depth_cuts_and_prefix_is_taken_off(outside):
    spec = python("print('n/Boat.md', 'n/Sea/Tides.md', 'Café.md', sep='\\n')").replace("command:", "command:prefix=n/ ")
    searcher = outside(spec)
    assert pages(searcher.search("q", 1)) == [("Boat.md", None)]
    ranking = searcher.search("q", 10)
    assert (pages(ranking), ranking.outside_vault) == ([("Boat.md", None), ("Sea/Tides.md", None)], 1)


def test_file_names_that_are_not_utf8_name_no_page(outside):
    ranking = outside(python("import sys; sys.stdout.buffer.write(b'caf\\xe9.md\\nBoat.md\\n')")).search("q", 10)
    assert (pages(ranking), ranking.outside_vault) == ([("Boat.md", None)], 1)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("command:", "nothing to ask is named after command:"),
        ("command:timeout=3", "nothing to ask is named after command:"),
        ("command:no-such-program {query}", "there is no program 'no-such-program'"),
        ("command:echo 'open", "no closing quotation"),
        ("command:timeout=0 echo", "timeout='0' is not allowed"),
        ("command:timeout=1 timeout=2 echo", "timeout= is given twice"),
        ("command:colour=red echo", "command has no setting 'colour'; it has nothing-found, timeout, prefix"),
        ("command:nothing-found=1 ripgrep", "command has no setting 'nothing-found'; it has timeout, prefix"),
        ("command:nothing-found=256 echo", "nothing-found='256' is not allowed"),
        ("command:nothing-found=0.5 echo", "nothing-found is a whole number from 0 to 255"),
        ("command:{query}", "the program itself may hold no placeholder"),
        ("command:sh -c 'grep {query}'", "a query inside the code after -c would be run"),
        ("command:bash -lc {query}", "a query inside the code after -c would be run"),
        ("command:sqlite3 notes.db \"select path from notes where text match '{query}'\"", "a query inside other text"),
        ("command:perl -e 'print qx(rg {query})'", "a query inside other text"),
        ("command:python3 '-cprint(1); {query}'", "a query inside other text"),
        ("command:sh", "'sh' would run the query that it is given on stdin"),
        ("command:/bin/bash -s", "'/bin/bash' would run the query that it is given on stdin"),
        ("command:python3.11 -", "'python3.11' would run the query that it is given on stdin"),
    ],
)
def test_words_that_cannot_be_are_refused_before_anything_runs(outside, spec, says):
    with pytest.raises(UsageError) as raised:
        outside(spec)
    assert says in str(raised.value)


def test_program_of_a_shell_is_given_the_query_on_stdin_as_data(outside):
    assert pages(outside("command:sh -c 'read q; printf %s.md $q'").search("Boat", 10)) == [("Boat.md", None)]


def test_query_behind_shell_code_is_a_word_that_the_shell_does_not_read(outside):
    searcher = outside("""command:sh -c 'printf %s.md "$1"' sh {query}""")
    assert pages(searcher.search("Boat", 10)) == [("Boat.md", None)]
    ranking = searcher.search("$(printf Boat)", 10)
    assert (pages(ranking), ranking.outside_vault) == ([], 1)


def test_file_of_the_current_folder_is_refused_with_its_whole_path(outside, tmp_path, monkeypatch):
    (tmp_path / "search.py").write_text("print('Boat.md')\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=f"cannot see 'search.py'; write '{tmp_path}/search.py'"):
        outside(f"command:{shlex.quote(sys.executable)} search.py")
    assert pages(outside(f"command:{shlex.quote(sys.executable)} {tmp_path}/search.py").search("q", 10)) == [("Boat.md", None)]


def test_program_in_the_current_folder_is_found_from_anywhere(outside, tmp_path, monkeypatch):
    (tmp_path / "find").write_text("#!/bin/sh\necho Boat.md\n")
    (tmp_path / "find").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert pages(outside("command:./find {query}").search("q", 10)) == [("Boat.md", None)]


def test_latency_of_a_program_is_cold_and_nothing_can_be_looked_into(outside):
    searcher = outside("command:echo Boat.md")
    assert isinstance(searcher, ColdOnly)
    assert not isinstance(searcher, (WarmOnly, Explains))
    assert (searcher.index(), searcher.bound_digest()) == (None, None)


def test_description_holds_the_words_and_no_place_of_this_machine(outside, small_vault):
    described = outside("command:prefix=a/ echo {vault} {query}").describe()
    assert described.name == "command:prefix=a/ echo {vault} {query}"
    assert described.settings["program"] == "echo '{vault}' '{query}'"
    assert str(small_vault) not in str(described)


def test_ripgrep_is_given_every_word_once():
    assert words_by_line("Who won? WHO -- it's 潮汐") == "who\nwon\nit\ns\n潮汐\n"
    assert words_by_line("?!") == ""


def test_files_are_ordered_by_distinct_words_then_matches_then_path():
    # b: {water, boat} = 2 words, 3 matches: 2 + 1 - 1/3. a and c: 1 word, 1 match: 1 + 1 - 1/1. d: 1 word, 2 matches: 1.5.
    printed = "c.md\0water\n\nb.md\0Water\nboat\nwater\n\nd.md\0x\nX\n\na.md\0y\n"
    assert by_words(printed) == [
        FoundPage("b.md", 3 - 1 / 3),
        FoundPage("d.md", 1.5),
        FoundPage("a.md", 1.0),
        FoundPage("c.md", 1.0),
    ]
    assert by_words("") == []


@pytest.fixture
def ripgrep() -> None:
    if shutil.which("rg") is None:
        if os.environ.get("REQUIRE_RIPGREP") == "1":
            pytest.fail("there is no rg on PATH, and REQUIRE_RIPGREP=1")
        pytest.skip("there is no rg on PATH")


def test_ripgrep_finds_words_in_notes_alone(outside, ripgrep, small_vault):
    (small_vault / ".gitignore").write_text("Boat.md\n")
    searcher = outside("command:ripgrep")
    # "Sea/Tide tables.md": water three times, 1 + 1 - 1/3. "Café.md" and "Sea/Tides.md": once. Neither .hidden.md nor picture.txt.
    expected = [("Sea/Tide tables.md", 2 - 1 / 3), ("Café.md", 1.0), ("Sea/Tides.md", 1.0)]
    assert pages(searcher.search("water", 10)) == expected
    assert pages(searcher.search("WATER the moon?", 2)) == [("Sea/Tides.md", 3 + 1 - 1 / 4), expected[0]]
    assert pages(searcher.search("--files paint", 10)) == [("Boat.md", 1.0)]  # what git ignores is a note all the same
    assert pages(searcher.search("wate", 10)) == pages(searcher.search("?!", 10)) == []
    assert searcher.describe().settings["version"].startswith("ripgrep ")


def test_ripgrep_that_fails_is_an_error(outside, ripgrep, small_vault):
    searcher = outside("command:ripgrep")
    shutil.rmtree(small_vault)
    assert "ended with exit code 2" in searcher.search("water", 10).error


def test_qmd_finds_notes_by_their_whole_path(outside, qmd, small_vault):
    before = sorted(small_vault.rglob("*"))
    searcher = outside("command:qmd")
    assert [page for page, _ in pages(searcher.search("water", 10))][:1] == ["Sea/Tide tables.md"]
    assert {page for page, _ in pages(searcher.search("water", 10))} == {"Café.md", "Sea/Tide tables.md", "Sea/Tides.md"}
    assert len(searcher.search("water", 1).pages) == 1
    assert pages(searcher.search("water xyzzy", 10)) == pages(searcher.search("--help", 10)) == []
    assert searcher.describe().settings["version"].startswith("qmd 2.")
    assert sorted(small_vault.rglob("*")) == before


def test_qmd_that_fails_is_an_error(outside, qmd, monkeypatch, tmp_path):
    monkeypatch.setenv("INDEX_PATH", str(tmp_path / "no folder" / "qmd.sqlite"))
    assert "directory does not exist" in outside("command:qmd").search("water", 10).error
