"""`labels add`, `init`, `suggest`, `check`, `split` and `build` as a person calls them."""

from __future__ import annotations

import hashlib
import json
import stat

import pytest

from vault_eval.authoring.judged_labels import NOTHING_FOUND
from vault_eval.authoring.kinds import KINDS
from vault_eval.authoring.ledger import record_look
from vault_eval.cli import main
from vault_eval.cli.labels import COMMANDS
from vault_eval.data_folder import DataFolder
from vault_eval.vault.location import vault_id

ONE = '{"schema": "claude-obsidian.retrieval-queries.v1", "queries": [\n  {"id": "a", "query": "b", "expected_pages": ["Tides.md"]}\n]}\n'


@pytest.fixture
def vault(tmp_path):
    folder = tmp_path / "Harbour"
    (folder / "Sea").mkdir(parents=True)
    (folder / "Tides.md").write_bytes(b"\xef\xbb\xbf---\r\ntags: [a] # mine\r\n---\r\n# High water\r\nnoon\r\n")
    (folder / "Sea" / "Log.md").write_text(
        "see [[Tides|when the water is highest]]\n## Where is the spare anchor?\nbelow\n", encoding="utf-8"
    )
    return folder


@pytest.fixture
def labels(tmp_path):
    file = tmp_path / "Harbour.queries.json"
    file.write_text(ONE, encoding="utf-8")
    return file


@pytest.fixture
def ask(tmp_path, capsys):
    """Exit code, stdout and stderr of one `labels` command."""

    def run(*arguments: object):
        code = main(["labels", *map(str, arguments), "--data", str(tmp_path / "data")], script="vault-eval.py")
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def sha256_of(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


def tree(folder):
    return {path: (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) for path in sorted(folder.rglob("*")) if path.is_file()}


def test_without_write_a_label_is_only_shown(ask, vault, labels):
    before = (tree(vault), labels.read_bytes())
    code, out, err = ask("add", "--vault", vault, "--query", " when  is it ", "--page", "[[tides]]")
    assert (code, err, (tree(vault), labels.read_bytes())) == (0, "", before)
    assert '+  {"id": "when-is-it", "query": "when is it", "expected_pages": ["Tides.md"]}' in out
    assert "Not written (add --write)" in out


def test_with_write_the_label_is_in_the_file_found_beside_the_vault(ask, vault, labels):
    labels.chmod(0o640)
    code, out, _ = ask("add", "--vault", vault, "--query", "what now", "--none", "--category", "c", "--write")
    assert (code, "Written: " in out, stat.S_IMODE(labels.stat().st_mode)) == (0, True, 0o640)
    assert labels.read_text(encoding="utf-8") == ONE.replace(
        "}\n]}", '},\n  {"id": "what-now", "query": "what now", "expected_pages": [], "category": "c"}\n]}'
    )


def test_property_of_the_gold_note_is_the_only_thing_that_changes(ask, vault):
    before = (vault / "Tides.md").read_bytes()
    options = ("--vault", vault, "--query", "when: is it", "--page", "Tides.md", "--queries", "property:answers", "--write")
    assert ask("add", *options)[0] == 0
    after = before.replace(b"# mine\r\n", b'# mine\r\nanswers:\r\n  - "when: is it"\r\n')
    assert (vault / "Tides.md").read_bytes() == after
    assert ask("add", *options)[:2] == (0, "Nothing to write: the query stands in Tides.md already.\n")
    assert (vault / "Tides.md").read_bytes() == after
    assert ask("check", "--vault", vault, "--queries", "property:answers")[1].startswith("Labels: 1 (1 scored)\n")


def test_label_goes_into_every_gold_note_that_lacks_it(ask, vault):
    pages = ("--page", "Tides.md", "--page", "Sea/Log.md")
    assert ask("add", "--vault", vault, "--query", "q q", *pages, "--queries", "property:answers", "--write")[0] == 0
    assert all(b'  - "q q"' in (vault / page).read_bytes() for page in ("Tides.md", "Sea/Log.md"))


def test_json_is_a_label_file_and_the_diff_stands_beside_it(ask, vault, labels):
    code, out, err = ask(
        "add", "--vault", vault, "--query", "q", "--page", "Tides.md#High water", "--tag", "x", "--format", "json"
    )
    assert code == 0
    assert json.loads(out) == {
        "schema": "vault-eval.labels.v1",
        "queries": [
            {
                "id": "q",
                "query": "q",
                "expected_pages": ["Tides.md#High water"],
                "tags": ["x"],
                "hashes": {"Tides.md#High water": sha256_of(vault / "Tides.md")},
            }
        ],
    }
    assert "+++" in err


def test_file_that_can_hold_it_gets_the_hash_of_the_page_and_a_plain_one_stays_plain(ask, vault, labels):
    options = ("--vault", vault, "--query", "q", "--page", "Tides.md#High water", "--format", "json")
    assert "hashes" not in ask("add", *options)[1]
    labels.write_text(ONE.replace("claude-obsidian.retrieval-queries.v1", "vault-eval.labels.v1"), encoding="utf-8")
    assert ask("add", *options, "--write")[0] == 0
    sha256 = hashlib.sha256((vault / "Tides.md").read_bytes()).hexdigest()
    assert json.loads(labels.read_text(encoding="utf-8"))["queries"][1]["hashes"] == {"Tides.md#High water": sha256}
    assert "edited" not in ask("check", "--vault", vault)[1]
    (vault / "Tides.md").write_text("# High water\nmidnight\n", encoding="utf-8")
    assert "'Tides.md' has other bytes than it was labelled with" in ask("check", "--vault", vault)[1]


def test_label_note_of_the_wider_schema_gets_the_hash_too(ask, vault):
    note = vault / "Labels.md"
    note.write_text("---\nschema: vault-eval.labels.v1\nqueries:\n  - id: a\n    query: b\n    expected_pages: []\n---\n")
    assert ask("add", "--vault", vault, "--query", "q", "--page", "Tides.md", "--queries", "note:Labels.md", "--write")[0] == 0
    assert '    hashes: {"Tides.md": "' in note.read_text(encoding="utf-8")


def test_ids_made_of_the_same_words_are_numbered(ask, vault, labels):
    ask("add", "--vault", vault, "--query", "A?", "--none", "--write")
    assert [query["id"] for query in json.loads(labels.read_text(encoding="utf-8"))["queries"]] == ["a", "a-2"]


def test_new_label_is_graded_and_expects_what_answers(ask, vault, labels):
    options = ("--query", "q", "--page", "Tides.md", "--grade", "[[Log]]=2", "--grade", "Tides.md=1")
    assert ask("add", "--vault", vault, *options, "--write")[0] == 0
    assert json.loads(labels.read_text(encoding="utf-8")) == {
        "schema": "vault-eval.labels.v1",
        "queries": [
            {"id": "a", "query": "b", "expected_pages": ["Tides.md"]},
            {
                "id": "q",
                "query": "q",
                "expected_pages": ["Tides.md", "Sea/Log.md"],
                "grades": {"Sea/Log.md": 2, "Tides.md": 1},
                "hashes": {page: sha256_of(vault / page) for page in ("Tides.md", "Sea/Log.md")},
            },
        ],
    }


@pytest.mark.parametrize("named", [["--query", " b"], ["--id", "a"]])
def test_page_that_nobody_judged_is_graded_for_a_label_that_is_there(ask, vault, labels, named):
    """As the report names it, `label me: a: Sea/Log.md`; nothing else in the file changes."""
    place = ("--vault", vault, "--write")
    assert ask("add", *place, *named, "--grade", "Sea/Log.md=0")[0] == 0
    assert labels.read_text(encoding="utf-8") == ONE.replace(
        "claude-obsidian.retrieval-queries.v1", "vault-eval.labels.v1"
    ).replace('["Tides.md"]}', '["Tides.md"], "grades": {"Sea/Log.md": 0}}')
    code, out, _ = ask("add", *place, *named, "--grade", "Sea/Log.md=0")
    assert (code, out) == (0, "Nothing to write: a has these grades already.\n")
    assert "'Sea/Log.md' has the grade 0 for 'a' already" in ask("add", *place, *named, "--grade", "Sea/Log.md=1")[2]


def test_page_that_answers_is_expected_from_then_on_with_its_hash(ask, vault, labels):
    assert ask("add", "--vault", vault, "--id", "a", "--grade", "Sea/Log.md=2", "--write")[0] == 0
    (label,) = json.loads(labels.read_text(encoding="utf-8"))["queries"]
    sha256 = hashlib.sha256((vault / "Sea" / "Log.md").read_bytes()).hexdigest()
    assert label == {
        "id": "a",
        "query": "b",
        "expected_pages": ["Tides.md", "Sea/Log.md"],
        "grades": {"Sea/Log.md": 2},
        "hashes": {"Sea/Log.md": sha256},
    }


def test_page_that_is_expected_already_gets_its_hash_when_it_is_graded(ask, vault, labels):
    options = ("--vault", vault, "--id", "a", "--grade", "Tides.md=2", "--write")
    assert ask("add", *options)[0] == 0
    (label,) = json.loads(labels.read_text(encoding="utf-8"))["queries"]
    judged = sha256_of(vault / "Tides.md")
    assert (label["grades"], label["hashes"]) == ({"Tides.md": 2}, {"Tides.md": judged})
    # A judgement that is there was of the page as it was then.
    (vault / "Tides.md").write_text("# High water\nmidnight\n", encoding="utf-8")
    assert ask("add", *options)[1] == "Nothing to write: a has these grades already.\n"


def test_place_that_answers_is_expected_beside_the_one_that_is(ask, vault, labels):
    (vault / "Tides.md").write_text("# High water\n# Low water\n", encoding="utf-8")
    labels.write_text(ONE.replace("Tides.md", "Tides.md#High water"), encoding="utf-8")
    assert ask("add", "--vault", vault, "--id", "a", "--grade", "Tides.md#Low water=1", "--write")[0] == 0
    (label,) = json.loads(labels.read_text(encoding="utf-8"))["queries"]
    assert label["expected_pages"] == ["Tides.md#High water", "Tides.md#Low water"]


def test_first_label_with_a_grade_has_hashes_as_every_later_one(ask, vault, tmp_path):
    for query in ("new q", "other q"):
        options = ("--query", query, "--page", "Tides.md", "--grade", "Tides.md=2", "--grade", "Sea/Log.md=0")
        assert ask("add", "--vault", vault, *options, "--write")[0] == 0
    made = json.loads((tmp_path / "Harbour.queries.json").read_text(encoding="utf-8"))["queries"]
    assert [label["hashes"] for label in made] == [{"Tides.md": sha256_of(vault / "Tides.md")}] * 2


def test_which_of_two_labels_of_the_same_words_is_graded_is_asked(ask, vault, labels):
    labels.write_text(ONE.replace("}\n]", '},\n  {"id": "c", "query": "b", "expected_pages": []}\n]'), encoding="utf-8")
    before = labels.read_bytes()
    code, _, err = ask("add", "--vault", vault, "--query", "b", "--grade", "Sea/Log.md=1", "--write")
    assert (code, labels.read_bytes()) == (2, before)
    assert "'a' and 'c' ask 'b'; name one with --id in place of --query" in err
    assert ask("add", "--vault", vault, "--id", "c", "--grade", "Sea/Log.md=1", "--write")[0] == 0
    assert [len(label["expected_pages"]) for label in json.loads(labels.read_text(encoding="utf-8"))["queries"]] == [1, 1]


def test_query_in_nearly_the_words_of_another_is_new_where_its_page_is_named(ask, vault, labels):
    options = ("--query", "B!", "--page", "Tides.md", "--grade", "Tides.md=1")
    assert ask("add", "--vault", vault, *options, "--write")[0] == 0
    assert [label["query"] for label in json.loads(labels.read_text(encoding="utf-8"))["queries"]] == ["b", "B!"]


def test_empty_list_of_queries_takes_its_first_label(ask, vault, labels):
    labels.write_text('{"schema": "vault-eval.labels.v1", "queries": []}', encoding="utf-8")
    assert ask("add", "--vault", vault, "--query", "q", "--page", "Tides.md", "--write")[0] == 0
    (label,) = json.loads(labels.read_text(encoding="utf-8"))["queries"]
    assert label["hashes"] == {"Tides.md": sha256_of(vault / "Tides.md")}


def test_place_that_is_named_twice_is_expected_once_as_it_is_written_first(ask, vault, labels):
    pages = [text for page in ("Tides.md#High water", "Sea/Log.md", "Tides.md#high *water*") for text in ("--page", page)]
    out = ask("add", "--vault", vault, "--query", "q", *pages, "--format", "json")[1]
    assert json.loads(out)["queries"][0]["expected_pages"] == ["Tides.md#High water", "Sea/Log.md"]


@pytest.mark.parametrize("written", ["![[Tides#High water]]", " ![[Tides.md#High water|high]] "])
def test_embed_is_the_link_that_it_holds(ask, vault, labels, written):
    assert '"expected_pages": ["Tides.md#High water"]' in ask("add", "--vault", vault, "--query", "q", "--page", written)[1]


def test_label_by_a_link_that_was_completed_meets_its_heading(ask, vault, labels):
    (vault / "Tides.md").write_text("# Plan: next steps\n", encoding="utf-8")
    assert ask("add", "--vault", vault, "--query", "q", "--page", "[[Tides#Plan next steps]]", "--write")[0] == 0
    assert "missing" not in ask("check", "--vault", vault)[1]


@pytest.mark.parametrize("option", [["--page", "{}"], ["--id", "a", "--grade", "{}=0"]])
def test_page_in_which_nothing_can_be_found_is_refused_with_the_reason(ask, vault, labels, make_pdf, option):
    (vault / "Secret.md").write_text("hidden\n", encoding="utf-8")
    (vault / "Secret.md").chmod(0)
    (vault / "Scan.pdf").write_bytes(make_pdf(["", ""]))
    (vault / "Bad.pdf").write_bytes(b"%PDF-1.7\nnothing")
    for place, why in [
        ("Secret.md", "'Secret.md': permission denied"),
        ("Scan.pdf", "'Scan.pdf': the PDF holds no text"),
        ("Scan.pdf#page=9999", "'Scan.pdf#page=9999': the PDF holds no text"),
        ("Bad.pdf#page=77", "'Bad.pdf#page=77': the PDF is broken"),
    ]:
        query = [] if "--id" in option else ["--query", "q"]
        code, out, err = ask("add", "--vault", vault, *query, *(text.format(place) for text in option), "--write")
        assert (code, out, labels.read_text(encoding="utf-8")) == (2, "", ONE)
        assert why in err


def test_label_in_a_note_is_not_graded_once_it_is_there_and_a_new_one_is(ask, vault):
    note = vault / "Labels.md"
    note.write_text("---\nschema: vault-eval.labels.v1\nqueries:\n  - id: a\n    query: b\n    expected_pages: []\n---\n")
    options = ("--vault", vault, "--queries", "note:Labels.md", "--grade", "Tides.md=2", "--write")
    assert (
        "the pages of a label that is there are graded in JSON label files alone; grade by hand"
        in ask("add", *options, "--id", "a")[2]
    )
    assert ask("add", *options, "--query", "q")[0] == 0
    assert "grades: " in note.read_text(encoding="utf-8")


def test_first_label_makes_the_file_beside_the_vault(ask, vault, tmp_path):
    made = tmp_path / "Harbour.queries.json"
    options = ("--vault", vault, "--query", "when is it", "--page", "[[tides]]")
    code, out, _ = ask("add", *options)
    assert (code, out.startswith("--- /dev/null\n+++ b/"), made.exists()) == (0, True, False)
    assert '+{"id": "when-is-it", "query": "when is it", "expected_pages": ["Tides.md"]}' in out
    assert ask("add", *options, "--write")[0] == 0
    assert json.loads(made.read_text(encoding="utf-8"))["schema"] == "claude-obsidian.retrieval-queries.v1"
    assert ask("check", "--vault", vault)[1].startswith("Labels: 1 (1 scored)\n")
    # The second goes into the same file, and a file that was named or remembered is never made in place of one that is gone.
    assert ask("add", "--vault", vault, "--query", "and now", "--none", "--write")[0] == 0
    assert len(json.loads(made.read_text(encoding="utf-8"))["queries"]) == 2
    DataFolder(str(tmp_path / "data")).remember(vault_id(str(vault)), labels=[str(tmp_path / "gone.json")])
    assert "nothing is at" in ask("add", *options, "--write")[2]


def test_first_label_is_held_against_the_rules_before_there_is_a_file(ask, vault, tmp_path):
    code, _, err = ask("add", "--vault", vault, "--query", "q" * 8001, "--none", "--write")
    assert (code, "8,001 characters" in err, (tmp_path / "Harbour.queries.json").exists()) == (2, True, False)


def test_judged_query_without_an_answer_becomes_a_negative_when_the_person_says_so(ask, vault, labels):
    entry = {"id": "a", "query": "ski wax", "expected_pages": [], "skip_reason": NOTHING_FOUND, "grades": {"Tides.md": 0}}
    labels.write_text(json.dumps({"schema": "vault-eval.labels.v1", "queries": [entry]}), encoding="utf-8")
    options = ("--vault", vault, "--query", "ski  wax", "--none")
    out = ask("add", *options)[1]
    assert (NOTHING_FOUND in out, "Not written" in out) == (True, True)
    assert ask("add", *options, "--category", "absent", "--write")[0] == 0
    (after,) = json.loads(labels.read_text(encoding="utf-8"))["queries"]
    assert after == {"id": "a", "query": "ski wax", "expected_pages": [], "grades": {"Tides.md": 0}, "category": "absent"}
    assert ask("check", "--vault", vault)[1].startswith("Labels: 1 (1 negative)\n")
    assert "is there already, as 'a'" in ask("add", *options)[2]


@pytest.mark.parametrize("more", [["--id", "x"], ["--tag", "x"], ["--origin", "x"], ["--grade", "Tides.md=0"]])
def test_judged_query_keeps_its_id_tags_and_origin(ask, vault, labels, more):
    entry = {"id": "a", "query": "ski wax", "expected_pages": [], "skip_reason": NOTHING_FOUND}
    labels.write_text(json.dumps({"schema": "vault-eval.labels.v1", "queries": [entry]}), encoding="utf-8")
    code, _, err = ask("add", "--vault", vault, "--query", "ski wax", "--none", *more)
    assert (code, f"stands there as 'a'; leave out {more[0]}" in err) == (2, True)


@pytest.mark.parametrize("reason", ["later", "not every page of the pool is judged"])
def test_query_that_is_skipped_for_another_reason_stays_skipped(ask, vault, labels, reason):
    entry = {"id": "a", "query": "ski wax", "expected_pages": [], "skip_reason": reason}
    labels.write_text(json.dumps({"schema": "vault-eval.labels.v1", "queries": [entry]}), encoding="utf-8")
    assert "is there already" in ask("add", "--vault", vault, "--query", "ski wax", "--none", "--write")[2]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--query", "q"], "name the notes that answer with --page, or say --none"),
        (["--query", "q", "--page", "Tides.md", "--none"], "name the notes that answer"),
        (["--query", "  ", "--none"], "--query is empty"),
        (["--query", "q", "--page", "tides.md"], "in other letter case there is 'Tides.md'"),
        (["--query", "q", "--page", "../Tides.md"], "leaves the vault"),
        (["--query", "q", "--page", "Tides.md#High watr"], "--page 'Tides.md#High watr': the note has no heading 'High watr'"),
        (["--query", "q", "--page", "Tides.md#High watr"], "; near it is 'High water'"),
        (["--query", "q", "--page", "Tides.md#^a"], "no line of the note's text ends with '^a'"),
        (["--none"], "--query is empty"),
        (["--id", "a", "--page", "Tides.md"], "'a' is there: judge for it with --grade alone, or name a new label with --query"),
        (["--id", "a", "--none"], "'a' is there: judge for it"),
        (["--id", "a", "--page", "Tides.md", "--grade", "Sea/Log.md=1"], "'a' is there: judge for it"),
        (["--query", "B", "--grade", "Sea/Log.md=1"], "no label asks 'B', but 'a' asks 'b'; judge for that one with --id"),
        (["--query", "q", "--page", "![[Gone#x]]"], "no note of that name"),
        (["--query", "q", "--grade", "Tides.md#High water=2", "--grade", "Tides.md#high water=1"], "two grades"),
        (["--query", "q", "--page", "Tides.md#High water", "--grade", "Tides.md=0"], "'Tides.md' has the grade 0 for 'q'"),
        (["--query", "q", "--grade", "Tides.md=0"], "name the notes that answer"),
        (["--query", "q", "--none", "--grade", "Tides.md=1"], "name the notes that answer"),
        (["--query", "q", "--grade", "Tides.md"], "--grade 'Tides.md': write the note, `=` and a grade (2: no other note"),
        (["--query", "q", "--grade", "Tides.md=3"], "--grade 'Tides.md=3': write the note"),
        (["--query", "q", "--grade", "Gone.md=0", "--page", "Tides.md"], "--grade 'Gone.md': no note of that name"),
        (["--query", "q", "--grade", "Tides.md#x=2"], "--grade 'Tides.md#x': the note has no heading 'x'"),
        (["--query", "q", "--grade", "Tides.md=2", "--grade", "[[Tides]]=1"], "--grade gives '[[Tides]]' two grades"),
        (["--query", "q", "--page", "Tides.md", "--grade", "Tides.md=0"], "'Tides.md' has 0 but is in expected_pages"),
        (["--query", "b", "--grade", "Tides.md=0"], "'Tides.md' has 0 but is in expected_pages"),
        (["--query", "b", "--id", "c", "--grade", "Sea/Log.md=0"], "stands there as 'a'; leave out --id"),
        (["--id", "aa", "--grade", "Sea/Log.md=0"], "no label has the id 'aa'; did you mean 'a'?"),
        (["--id", "zzz", "--grade", "Sea/Log.md=0"], "no label has the id 'zzz'; give the words of the query with --query"),
        (["--id", "a", "--grade", "Sea/Log.md=0", "--tag", "t"], "leave out --tag"),
        (["--query", "q", "--grade", "Tides.md=2", "--queries", "property:answers"], "leave out --grade"),
        (["--query", "q", "--page", "[[Gone]]"], "no note of that name"),
        (["--query", "b", "--none"], "the query 'b' is there already, as 'a'"),
        (["--query", "q", "--none", "--id", "a"], "the id 'a' is taken"),
        (["--query", "q\0", "--none"], "--query holds a control character"),
        (["--query", "q\x1b", "--none"], "--query holds a control character"),
        (["--query", "q", "--none", "--category", "a\nb"], "--category holds a control character"),
        (["--query", "q", "--none", "--tag", "t", "--tag", "\x9b"], "--tag holds a control character"),
        (["--query", "q", "--none", "--origin", "\x1b[2J"], "--origin holds a control character"),
        (["--query", "q", "--none", "--id", "a\x7f"], "--id holds a control character"),
        (["--query", "q", "--none", "--id", "i" * 201], "--id has 201 characters; at most 200"),
        (["--query", "q\udcff", "--none"], "--query holds bytes that are no text"),
        (["--query", "q", "--none", "--tag", "t", "--tag", "\udcff"], "--tag holds bytes that are no text"),
        (["--query", "q" * 8001, "--none"], "8,001 characters"),
        (["--query", "q", "--none", "--queries", "property:answers"], "keep a query that none answers in a file"),
        (["--query", "q", "--page", "Tides.md#High water", "--queries", "property:answers"], "speaks for its whole note"),
        (["--query", "q", "--page", "Tides.md", "--id", "x", "--queries", "property:answers"], "leave out --id"),
        (["--query", "q", "--page", "Tides.md", "--queries", "property:tags"], "tags"),
        (["--query", "q", "--none", "--queries", "note:Gone.md"], "name a file that exists"),
    ],
)
def test_bad_input_is_refused_and_nothing_is_written(ask, vault, labels, options, why):
    before = (tree(vault), labels.read_bytes())
    code, out, err = ask("add", "--vault", vault, *options, "--write")
    assert (code, out, (tree(vault), labels.read_bytes())) == (2, "", before)
    assert why in err


def test_line_break_in_a_query_is_a_blank_and_a_long_id_is_taken(ask, vault, labels):
    options = ("--query", "one\r\ntwo", "--none", "--id", "i" * 200, "--category", "a\tb")
    assert ask("add", "--vault", vault, *options, "--write")[0] == 0
    assert json.loads(labels.read_text(encoding="utf-8"))["queries"][1]["query"] == "one two"


@pytest.mark.parametrize("spelled", ["Answers", "ANSWERS", '"Answers"'])
def test_property_of_the_same_name_in_other_letters_gets_no_twin(ask, vault, spelled):
    """Obsidian takes both for one."""
    (vault / "Tides.md").write_text(f"---\n{spelled}:\n  - mine\n---\n", encoding="utf-8")
    before = tree(vault)
    options = ("--vault", vault, "--query", "q", "--page", "Tides.md", "--write", "--queries")
    code, _, err = ask("add", *options, "property:answers")
    bare = spelled.strip('"')
    assert (code, tree(vault)) == (2, before)
    assert f"'Tides.md': the note has the property {bare!r}, which Obsidian takes for the same as 'answers'" in err
    assert "rename it to 'answers' in the note first" in err
    assert ask("add", *options, f"property:{bare}")[0] == 0
    assert (vault / "Tides.md").read_text(encoding="utf-8") == f'---\n{spelled}:\n  - mine\n  - "q"\n---\n'


def test_note_that_is_not_utf_8_is_named(ask, vault):
    (vault / "Sea" / "Old.md").write_bytes(b"caf\xe9\n")
    options = ("--vault", vault, "--query", "q", "--page", "Sea/Old.md", "--queries", "property:answers")
    code, _, err = ask("add", *options, "--write")
    assert (code, "'Sea/Old.md': not UTF-8: " in err) == (2, True)


@pytest.mark.parametrize("option", ["--failed", "--transcript"])
def test_file_of_suggestions_that_is_not_utf_8_is_named(ask, vault, tmp_path, option):
    (tmp_path / "old.txt").write_bytes(b"caf\xe9\n")
    code, _, err = ask("suggest", "--vault", vault, option, tmp_path / "old.txt")
    assert (code, f"'{tmp_path}/old.txt': not UTF-8: " in err) == (2, True)


@pytest.mark.parametrize("command", ["add", "split"])
def test_label_file_that_is_write_protected_is_named_whole(ask, vault, labels, command):
    labels.chmod(0o444)
    options = {"add": ("--vault", vault, "--query", "q", "--none"), "split": ("--queries", labels)}[command]
    code, _, err = ask(command, *options, "--write")
    assert (code, f"{str(labels)!r} could not be written: it is write-protected" in err) == (2, True)


def test_linked_note_is_never_written_through(ask, vault, tmp_path):
    (tmp_path / "elsewhere.md").write_text("text\n", encoding="utf-8")
    (vault / "Linked.md").symlink_to(tmp_path / "elsewhere.md")
    code, _, err = ask("add", "--vault", vault, "--query", "q", "--page", "Linked.md", "--queries", "property:answers", "--write")
    assert (code, (tmp_path / "elsewhere.md").read_text(encoding="utf-8")) == (2, "text\n")
    assert "link" in err


def test_text_of_a_note_cannot_speak_to_the_terminal(ask, vault):
    (vault / "Tides.md").write_bytes(b"---\na: 1\n---\n\x1b[2Jred\n")
    out = ask("add", "--vault", vault, "--query", "q", "--page", "Tides.md", "--queries", "property:answers")[1]
    assert ("\x1b" in out, r"\x1b[2Jred" in out) == (False, True)


def test_first_file_and_first_note_load_and_count_nothing(ask, vault, tmp_path):
    assert ask("init", "--vault", vault)[0] == 0
    assert not (tmp_path / "Harbour.queries.json").exists()
    assert ask("init", "--vault", vault, "--write")[0] == 0
    assert ask("init", "--vault", vault, "--note", "Sea/Labels.md", "--write")[0] == 0
    for source in (tmp_path / "Harbour.queries.json", "note:Sea/Labels.md"):
        code, out, _ = ask("check", "--vault", vault, "--queries", source, "--format", "json")
        assert (code, json.loads(out)["statuses"]) == (0, {"skipped": len(KINDS)})


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--note", "Tides.md"], "is there already"),
        (["--note", "Gone/Labels.md"], "make that folder first"),
        (["--note", "../Labels.md"], "may leave the vault"),
        (["--note", "Labels.txt"], "end its name in .md"),
        (["--note", ".obsidian/Labels.md"], "hidden file or folder, which is not part of the vault"),
        (["--queries", "note:Sea/.trash/Labels.md"], "hidden file or folder, which is not part of the vault"),
        (["--queries", "labels.jsonl"], "a first label file is JSON"),
        (["--queries", "property:answers"], "a property needs no first file"),
        (["--queries", "x.json", "--note", "y.md"], "not allowed with"),
    ],
)
def test_nothing_is_overwritten_or_made_in_the_wrong_place(ask, vault, options, why):
    for hidden in (".obsidian", "Sea/.trash"):
        (vault / hidden).mkdir()
    before = tree(vault)
    code, _, err = ask("init", "--vault", vault, *options, "--write")
    assert (code, tree(vault)) == (2, before)
    assert why in err


def test_suggestions_as_text_and_as_a_label_file(ask, vault, tmp_path):
    failed = tmp_path / "failed.txt"
    failed.write_text("spare anchor\n", encoding="utf-8")
    code, out, _ = ask("suggest", "--vault", vault, "--failed", failed)
    assert code == 0
    assert "Link texts (1 of 1)\n  when the water is highest\n      Tides.md · link text in Sea/Log.md:1\n" in out
    assert "  spare anchor\n      (name the note) · failed search, line 1\n" in out
    out = ask("suggest", "--vault", vault, "--failed", failed, "--limit", "2", "--format", "json")[1]
    assert [query["query"] for query in json.loads(out)["queries"]] == ["spare anchor", "when the water is highest"]


def test_files_that_suggestions_are_made_of_must_be_there(ask, vault, tmp_path):
    assert "it does not exist" in ask("suggest", "--vault", vault, "--failed", tmp_path / "gone.txt")[2]
    assert ask("suggest", "--vault", vault, "--limit", "0")[0] == 2


def test_check_exits_0_with_findings_1_when_strict_2_when_invalid(ask, vault, labels):
    assert [ask("check", "--vault", vault, *more)[0] for more in ([], ["--strict"])] == [0, 1]
    labels.write_text(ONE.replace("query", "qeury"), encoding="utf-8")
    code, _, err = ask("check", "--vault", vault)
    assert (code, "unknown key 'qeury'" in err) == (2, True)


def test_check_says_each_kind_with_its_advice(ask, vault, labels):
    labels.write_text(ONE.replace("Tides.md", "Gone.md"), encoding="utf-8")
    out = ask("check", "--vault", vault)[1]
    assert "Expected page missing: the whole query is excluded until the path is right\n  a: 'Gone.md': no note" in out
    assert "These are too few scored queries to tell any change from chance." in out


def test_check_says_what_the_set_can_show_by_the_deviation_that_a_comparison_takes(ask, vault, labels):
    """30 queries: d_z .529 at power .8, times .35."""
    queries = [{"id": f"q{number}", "query": f"tide {number}", "expected_pages": ["Tides.md"]} for number in range(30)]
    labels.write_text(json.dumps({"schema": "claude-obsidian.retrieval-queries.v1", "queries": queries}), encoding="utf-8")
    out = ask("check", "--vault", vault)[1]
    assert "a change of MRR@10 by 0.19 (0.53 standard deviations, taken to be 0.35)" in out


def test_split_shows_writes_and_then_has_nothing_to_do(ask, vault, tmp_path, labels):
    labels.write_text(ONE.replace("}\n]", '},\n  {"id": "c", "query": "d", "expected_pages": ["Tides.md"]}\n]'), encoding="utf-8")
    before = labels.read_bytes()
    assert ask("split", "--queries", labels)[0] == 0
    assert labels.read_bytes() == before
    record_look(DataFolder(str(tmp_path / "data")), vault_id(str(vault)), "aa", ["keyword"], "", _noon())
    out = ask("split", "--queries", labels, "--vault", vault, "--write")[1]
    assert "all       1        1\nLabels that get a split: 2; that had one and keep it: 0\n" in out
    assert "The holdout was looked at once, last on 2026-11-30 with keyword." in out
    assert out.endswith("while you tune: bench without --split looks at the holdout too, which wears it.\n")
    after = labels.read_bytes()
    assert ask("split", "--queries", labels, "--seed", "3", "--write")[0] == 0
    assert labels.read_bytes() == after


def test_split_shows_who_looked_at_the_holdout_and_why(ask, vault, tmp_path, labels):
    data, vault_name = DataFolder(str(tmp_path / "data")), vault_id(str(vault))
    record_look(data, vault_name, "aa", ["keyword", "title"], "", _noon())
    record_look(data, vault_name, "bb", ["vector"], "before the\x1b[2J release " + "x" * 1000, _noon())
    out = ask("split", "--vault", vault)[1]
    lines = out[out.index("The holdout was looked at 2 times") :].splitlines()
    assert lines[1].startswith(r"  2026-11-30, vector: before the\x1b[2J release xxx")
    assert len(lines[1]) <= 400
    assert lines[2] == "  2026-11-30, keyword, title: no reason was given"
    for number in range(20):
        record_look(data, vault_name, "aa", ["keyword"], f"try {number}", _noon())
    out = ask("split", "--vault", vault)[1]
    shown = [line for line in out.splitlines() if line.startswith("  2026-11-30")]
    assert (len(shown), shown[0]) == (10, "  2026-11-30, keyword: try 19")
    assert f"  … and 12 more, all in {data.holdout_ledger(vault_name)}" in out.splitlines()


def test_split_of_a_vault_finds_its_label_file_as_the_other_commands_do(ask, vault, labels):
    assert ask("split", "--vault", vault, "--write")[0] == 0
    assert json.loads(labels.read_text(encoding="utf-8"))["queries"][0]["split"] in ("dev", "holdout")
    code, _, err = ask("split")
    assert (code, "name the label file with --queries, or the vault" in err) == (2, True)


def test_split_shows_which_label_gets_which_split_however_long_its_line_is(ask, vault, labels):
    entry = {"id": "a", "query": "b", "expected_pages": ["Tides.md"], "hashes": {f"{name}.md": "0" * 64 for name in range(9)}}
    labels.write_text(json.dumps({"schema": "vault-eval.labels.v1", "queries": [entry]}), encoding="utf-8")
    out = ask("split", "--vault", vault)[1]
    (line,) = (line for line in out.splitlines() if line.startswith("+{"))
    assert (line.endswith(', "split": "dev"}]}'), '"id": "a"' in line, len(line) < 200) == (True, True, True)


@pytest.mark.parametrize("source", ["note:Labels.md", "property:answers"])
def test_split_of_what_is_no_json_file_says_how_to_make_one(ask, source):
    code, _, err = ask("split", "--queries", source)
    assert (code, "labels export --to native" in err) == (2, True)


def test_nothing_to_suggest_is_said_and_nothing_else(ask, tmp_path):
    (tmp_path / "Empty").mkdir()
    code, out, _ = ask("suggest", "--vault", tmp_path / "Empty")
    assert (code, len(out.splitlines()), out.startswith("Nothing to suggest: ")) == (0, 1, True)


def _noon():
    from datetime import datetime, timezone

    return datetime(2026, 11, 30, 12, tzinfo=timezone.utc)


@pytest.mark.parametrize("share", ["0", "1", "x", "1/0", "nan", "-0.5"])
def test_share_of_the_holdout_lies_between_0_and_1(ask, labels, share):
    assert ask("split", "--queries", labels, f"--holdout={share}")[0] == 2


def test_build_writes_what_check_reads_and_refreshes_it(ask, vault, tmp_path):
    references, built = tmp_path / "references.json", tmp_path / "built.json"
    rows = [
        {"id": "a", "query": "q", "references": [{"document": "*.md", "heading": "High water"}, {"document": "Gone.md"}]},
        {"id": "b", "query": "r", "references": [{"document": "Gone.md"}]},
    ]
    references.write_text(json.dumps({"schema": "vault-eval.references.v1", "queries": rows}), encoding="utf-8")
    out = ask("build", references, built, "--vault", vault)[1]
    assert (built.exists(), "Labels: 2, places: 1, references skipped: 2\n  query 'a': no note fits 'Gone.md'\n" in out) == (
        False,
        True,
    )
    ask("build", references, built, "--vault", vault, "--write")
    assert json.loads(ask("check", "--vault", vault, "--queries", built, "--format", "json")[1])["statuses"] == {
        "scored": 1,
        "skipped": 1,
    }
    (vault / "Gone.md").write_text("# New\n", encoding="utf-8")
    ask("build", references, built, "--vault", vault, "--write")
    pages = [query["expected_pages"] for query in json.loads(built.read_text(encoding="utf-8"))["queries"]]
    assert pages == [["Tides.md#High water", "Gone.md"], ["Gone.md"]]


@pytest.fixture
def references(tmp_path):
    file = tmp_path / "references.json"
    rows = [{"id": "a", "query": "q", "references": [{"document": "Tides.md"}]}]
    file.write_text(json.dumps({"schema": "vault-eval.references.v1", "queries": rows}), encoding="utf-8")
    return file


@pytest.mark.parametrize("name", ["references.json", "./Harbour/../references.json", "twin.json"])
def test_build_never_replaces_the_references(ask, vault, tmp_path, references, name):
    (tmp_path / "twin.json").hardlink_to(references)
    before = references.read_bytes()
    code, out, err = ask("build", references, f"{tmp_path}/{name}", "--vault", vault, "--write")
    assert (code, out, "is the file of references itself" in err, references.read_bytes()) == (2, "", True, before)


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("mine.json", ONE.replace('"a"', '"by-hand"'), "holds labels that the references lack: 'by-hand'"),
        ("other.json", '{"schema": "vault-eval.references.v1", "queries": []}', "is no label file that labels build made"),
        ("text.json", "shopping list\n", "is no label file that labels build made"),
        ("bytes.json", b"\xff\xfe", "is no label file that labels build made"),
        ("lines.jsonl", '{"id": "a", "query": "q", "relevant": []}\n', "but one of another format"),
        ("Harbour/Tides.md", None, "is no label file that labels build made"),
        ("new.txt", None, "end its name in .json"),
        ("Harbour/.obsidian/new.json", None, "hidden file or folder"),
    ],
)
def test_build_replaces_nothing_but_labels_of_these_references(ask, vault, tmp_path, references, name, content, why):
    if content is not None:
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    before = tree(tmp_path)
    code, out, err = ask("build", references, tmp_path / name, "--vault", vault, "--write")
    assert (code, out, tree(tmp_path)) == (2, "", before)
    assert why in err
    assert repr(str(tmp_path / name)) in err


def test_references_that_are_no_utf_8_are_named(ask, vault, tmp_path, references):
    references.write_bytes(b"\xff")
    err = ask("build", references, tmp_path / "built.json", "--vault", vault)[2]
    assert f"{str(references)!r}: not UTF-8" in err


def test_labels_command_that_is_not_there_gets_the_nearest(ask):
    code, _, err = ask("sugest")
    assert (code, "there is no labels command 'sugest' (did you mean suggest?)" in err) == (2, True)
    assert ask("--help")[0] == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_every_labels_command_explains_itself(name, capsys):
    assert main(["labels", name, "--help"], script="vault-eval.py") == 0
    assert f"labels {name}" in capsys.readouterr().out


def test_data_folder_inside_the_vault_is_refused(vault, capsys):
    assert main(["labels", "check", "--vault", str(vault), "--data", str(vault / "d")], script="vault-eval.py") == 2
    assert "inside the vault" in capsys.readouterr().err
