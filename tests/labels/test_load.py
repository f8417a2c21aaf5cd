from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from vault_eval.digests import sha256_hex
from vault_eval.errors import LabelError
from vault_eval.labels.load import LabelDocument, load_labels
from vault_eval.limits import LABEL_FILE_MAX_BYTES

SCHEMA = "claude-obsidian.retrieval-queries.v1"


def no_pages():
    raise AssertionError("the vault was listed although no link had to be resolved")


def document(data, name="queries.json", path_in_vault=None, pages=no_pages):
    return LabelDocument(name, data.encode() if isinstance(data, str) else data, path_in_vault, pages)


def queries(*entries: object, schema=SCHEMA):
    return json.dumps({"schema": schema, "queries": list(entries)})


def query(number, **values):
    return {"id": f"q{number}", "query": f"heap {number}", "expected_pages": ["Garden/Compost.md"], **values}


def test_sources_are_named_by_base_name_and_hashed_by_their_bytes():
    data = b"\xef\xbb\xbf" + queries(query(1)).encode()
    labels = load_labels([document(data, "some/folder/queries.json")])
    assert [(each.name, each.sha256, each.format) for each in labels.sources] == [("queries.json", sha256_hex(data), SCHEMA)]
    assert [(each.source, each.place) for each in labels.labels] == [("queries.json", "query 'q1'")]


def test_labels_of_several_files_keep_the_order_given():
    labels = load_labels([document(queries(query(2), query(1)), "b.json"), document(queries(query(3)), "a.json")])
    assert [each.id for each in labels.labels] == ["q2", "q1", "q3"]


def test_same_id_in_two_files_is_refused_and_names_both():
    first, second = document(queries(query(1)), "a.json"), document(queries({**query(1), "query": "other"}), "b.json")
    with pytest.raises(LabelError, match=r"b\.json: query 'q1': duplicate id 'q1'.*a\.json"):
        load_labels([first, second])


def test_warning_is_the_same_wherever_the_files_lie():
    """It stands in the report."""
    text = b'{"schema": "claude-obsidian.retrieval-queries.v1", "queries": [{"id": "%b", "query": "q", "expected_pages": []}]}'

    def warnings(folder):
        names = ((f"{folder}{name}.json", text % name.encode()) for name in "ab")
        return load_labels([LabelDocument(name, data, None, list) for name, data in names]).warnings

    assert warnings("/home/one/") == warnings("")


def test_same_query_in_two_files_is_a_warning_that_names_both_ids():
    first, second = document(queries(query(1)), "a.json"), document(queries({**query(1), "id": "x"}), "b.json")
    (warning,) = load_labels([first, second]).warnings
    assert "'q1' and 'x'" in warning
    assert "a.json" in warning


def test_problems_of_all_files_are_shown_together():
    with pytest.raises(LabelError) as refusal:
        load_labels([document("", "a.json"), document("// none\n", "b.jsonl"), document("# x", "c.md")])
    assert [line.split(":")[0] for line in str(refusal.value).splitlines()] == [
        "3 problems in the labels",
        "a.json",
        "b.jsonl",
        "c.md",
    ]


def test_problems_beyond_twenty_are_counted_not_shown():
    faulty = [{"id": f"q{number}", "query": f"heap {number}"} for number in range(30)]
    with pytest.raises(LabelError) as refusal:
        load_labels([document(queries(*faulty))])
    lines = str(refusal.value).splitlines()
    assert lines[0] == "30 problems in the labels:"
    assert lines[-1] == "… and 10 more; mend these first"
    assert len(lines) == 22


def test_file_of_exactly_the_limit_is_read_and_one_byte_more_is_refused():
    text = queries(query(1))
    exact = text + " " * (LABEL_FILE_MAX_BYTES - len(text))
    assert len(load_labels([document(exact)]).labels) == 1
    with pytest.raises(LabelError, match=r"1,048,577 bytes are too large.*1 MiB"):
        load_labels([document(exact + " ")])


def test_thousand_queries_are_read_and_one_more_is_refused():
    entries = [query(number) for number in range(1_001)]
    assert len(load_labels([document(queries(*entries[:-1]))]).labels) == 1_000
    with pytest.raises(LabelError, match="1,001 queries"):
        load_labels([document(queries(*entries))])


def test_query_length_counts_after_normalisation():
    padded = "  a " + "x" * 7_998 + "  \n"  # "a" + blank + 7,998 = 8,000
    assert len(load_labels([document(queries(query(1, query=padded)))]).labels[0].query) == 8_000
    with pytest.raises(LabelError, match="8,001 characters; at most 8,000"):
        load_labels([document(queries(query(1, query=padded.strip() + "x")))])


def test_sixty_four_gold_pages_are_read_and_one_more_is_refused():
    pages = [f"{number}.md" for number in range(65)]
    assert len(load_labels([document(queries(query(1, expected_pages=pages[:64])))]).labels[0].gold) == 64
    with pytest.raises(LabelError, match="names 65 pages; at most 64"):
        load_labels([document(queries(query(1, expected_pages=pages)))])


def test_only_an_empty_list_makes_a_negative():
    (label,) = load_labels([document(queries(query(1, expected_pages=[])))]).labels
    assert label.gold == ()
    for value in (None, "", {}, 0, False):
        with pytest.raises(LabelError, match="must be a list"):
            load_labels([document(queries(query(1, expected_pages=value)))])


def test_nothing_named_is_refused():
    with pytest.raises(LabelError, match="--queries"):
        load_labels([])


def test_vault_is_listed_once_and_only_for_links():
    listed = []

    def pages():
        listed.append(1)
        return ["Sea/Tides.md"]

    entries = "".join(f"  - {{id: q{n}, query: heap {n}, expected_pages: ['[[tides]]']}}\n" for n in range(3))
    note = f"---\nschema: {SCHEMA}\nqueries:\n{entries}---\n"
    labels = load_labels([document(note, "Labels.MD", "Eval/Labels.MD", pages)])
    assert [each.pages for each in labels.labels] == [("Sea/Tides.md",)] * 3
    assert listed == [1]
    plain = note.replace("'[[tides]]'", "Sea/Tides.md, ../Sea/Chart.md")
    assert load_labels([document(plain, "Labels.md", "Eval/Labels.md", no_pages)]).labels[0].pages == (
        "Sea/Tides.md",
        "Sea/Chart.md",
    )


def test_relative_path_in_a_note_outside_the_vault_is_refused():
    note = f"---\nschema: {SCHEMA}\nqueries:\n  - {{id: a, query: b, expected_pages: [../Tides.md]}}\n---\n"
    with pytest.raises(LabelError, match="lies in no vault"):
        load_labels([document(note, "labels.md")])


def test_label_of_a_file_without_suffix_is_known_by_its_text():
    line = '{"query": "heap", "relevant": []}'
    assert load_labels([document(f"// mine\n{line}\n", "labels.txt")]).sources[0].format == "jsonl"
    assert load_labels([document(queries(query(1)), "labels")]).sources[0].format == SCHEMA


def test_file_name_with_a_line_break_cannot_forge_a_line_of_the_message():
    with pytest.raises(LabelError) as refusal:
        load_labels([document("", "a\nfine.json")])
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    "text",
    [
        '{"schema":"x","queries":' + "[" * 100_000,
        '{"schema":"x","queries":[{"n":' + "9" * 5_000 + "}]}",
        '{"query": "a", "relevant": [{"source": "a.pdf", "pages": [' + ",".join(map(str, range(1, 60_000))) + "]}]}",
        '{"query": "a", "relevant": [' + ",".join(['{"source": "a.md"}'] * 40_000) + "]}",
    ],
    ids=["deep", "integer", "pdf pages", "repeated gold"],
)
@pytest.mark.parametrize("name", ["queries.json", "queries.jsonl"])
def test_hostile_files_are_refused_quickly(text, name):
    started = time.perf_counter()
    with pytest.raises(LabelError, match=name):
        load_labels([document(text, name)])
    assert time.perf_counter() - started < 2


def test_json_labels_need_neither_yaml_nor_frontmatter():
    code = (
        "import sys; sys.modules['yaml'] = None; sys.modules['frontmatter'] = None\n"
        "from vault_eval.labels.load import LabelDocument, load_labels\n"
        "from vault_eval.labels.write import native_json\n"
        f"text = {queries(query(1))!r}\n"
        "print(native_json(load_labels([LabelDocument('q.json', text.encode(), None, list)])))\n"
    )
    scripts = Path(__file__).parents[2] / "scripts"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env={"PYTHONPATH": str(scripts)}
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["queries"][0]["id"] == "q1"
