"""From a need to a judged label through the shipped commands; the screen is driven through a real terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "vault-eval.py"
NOTES = {
    "Boat.md": "# Winter\n\nLay the boat up before the first frost.\n",
    "Soup.md": "# Soup\n\nBoil water before winter.\n",
    "Esc.md": "# Winter \x1b[31mred\n\nwinter \x1b]0;owned\x07 storms\n",
}


class Vault:
    def __init__(self, folder: Path, notes: dict[str, str], needs: str) -> None:
        self.root, self.data, self.pool = folder / "Notes", folder / "data", folder / "pool.json"
        self.root.mkdir()
        for name, text in notes.items():
            (self.root / name).write_text(text, encoding="utf-8")
        (folder / "needs.txt").write_text(needs, encoding="utf-8")
        self.me = "me"
        self.run("index", "--vault", self.root)
        self.run("labels", "pool", "--vault", self.root, "--needs", folder / "needs.txt", "--out", self.pool)

    def command(self, *words: object) -> list[str]:
        return [sys.executable, str(SCRIPT), *map(str, words), "--data", str(self.data)]

    def run(self, *words: object, code: int = 0, typed: str = "") -> str:
        done = subprocess.run(self.command(*words), capture_output=True, text=True, encoding="utf-8", check=False, input=typed)
        assert done.returncode == code, done.stderr
        return done.stdout if code == 0 else done.stderr

    def judge(self, *words: object) -> str:
        by = () if "--judge" in words else ("--judge", self.me)
        return self.run("labels", "judge", "--vault", self.root, self.pool, *words, *by)

    def kept(self, judge: str) -> Path:
        (found,) = (self.data / "judgements").glob(f"*/*.{judge}.jsonl")
        return found

    def type(self, keys: str) -> tuple[str, int]:
        """What the screen showed while each key and RETURN were typed at its prompt, and the exit code."""
        primary, secondary = pty.openpty()
        words = self.command("labels", "judge", "--vault", self.root, self.pool, "--judge", self.me)
        started = subprocess.Popen(words, stdin=secondary, stdout=secondary, stderr=secondary, close_fds=True)
        os.close(secondary)
        shown = b""
        for key in keys:
            shown += _until_prompt(primary)
            os.write(primary, f"{key}\n".encode())
        shown += _until_prompt(primary)
        code = started.wait(timeout=30)
        os.close(primary)
        return shown.decode("utf-8", "replace"), code


def _until_prompt(terminal: int, seconds: float = 30) -> bytes:
    """Everything up to the next prompt, or to the end."""
    found, end = b"", time.monotonic() + seconds
    while time.monotonic() < end and not found.endswith(b"> "):
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                piece = os.read(terminal, 65536)
            except OSError:  # the other side closed it
                break
            if not piece:
                break
            found += piece
    return found


@pytest.fixture(scope="module")
def pooled(tmp_path_factory):
    return Vault(tmp_path_factory.mktemp("judging"), NOTES, "boat in winter\n\nboat in  winter\n")


@pytest.fixture
def vault(pooled, request):
    """The one pool, judged by somebody of this test's own."""
    pooled.me = f"judge-{abs(hash(request.node.name)) % 10**6}"
    return pooled


def items(vault):
    (query,) = json.loads(vault.pool.read_text(encoding="utf-8"))["queries"]
    return [item["page"] for item in query["items"]]


def test_pool_of_needs_holds_each_query_once_and_every_note_that_anybody_found(vault):
    assert sorted(items(vault)) == sorted(NOTES)


def test_a_session_is_stopped_gone_on_with_and_makes_labels(vault):
    answers = {"Boat.md": "y", "Soup.md": "n", "Esc.md": "n"}
    shown, code = vault.type(answers[items(vault)[0]] + "q")
    assert (code, "[1 of 6]  query: boat in winter" in shown) == (0, True)
    assert "1 of 6 judged" in shown
    shown, code = vault.type("".join(answers[page] for page in items(vault)[1:]) + "q")
    # It goes on with the second note: three notes, and each of them again.
    assert "[2 of 6]" in shown
    assert "[1 of 6]" not in shown
    (label,) = json.loads(vault.judge("--labels"))["queries"]
    assert label["expected_pages"] == ["Boat.md"]
    assert label["grades"] == {"Boat.md": 2, "Esc.md": 0, "Soup.md": 0}
    assert list(label["hashes"]) == ["Boat.md"]


def test_last_answer_can_be_taken_back_and_the_whole_note_is_shown(vault):
    shown, _ = vault.type("nbywq")
    assert shown.count("[1 of 6]") == 2
    lines = vault.kept(vault.me).read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["verdict"] for line in lines] == ["no", "yes"]


def test_what_partly_means_stands_on_the_first_screen_alone(vault):
    shown, _ = vault.type("llq")
    assert re.sub(r"\s+", " ", shown).count("partly: it answers a part, or leads to the answer") == 1
    assert shown.index("partly: ") < shown.index("[2 of 6]")


def test_next_step_goes_on_until_all_is_judged_and_then_names_the_file_that_bench_finds(vault):
    going_on = f"Next, to go on: python3 {SCRIPT} labels judge --vault {vault.root} {vault.pool} --judge {vault.me} --data"
    assert going_on in vault.type("nq")[0]
    assert going_on in vault.judge("--progress")
    shown, _ = vault.type("nnnnn")
    assert f"--labels --into {vault.root}.queries.json" in shown


def test_judge_that_does_not_agree_with_himself_is_told_what_partly_means(vault):
    # First three times no, then three times partly: none alike.
    shown, _ = vault.type("nnnppp")
    assert "Below 0.6 labels are noisy: agree on what `partly` means (it answers a part, or leads to the answer)" in shown


def test_what_was_put_off_is_asked_again_the_next_time(vault):
    shown, _ = vault.type("llnq")
    assert shown.count("[3 of 6]") == 1
    shown, _ = vault.type("q")
    assert "[1 of 6]" in shown


def test_pool_counts_pairs_and_different_notes_and_takes_five_pages_of_a_need(vault, tmp_path):
    words = ("labels", "pool", "--vault", vault.root, "-r", "keyword", "--out", tmp_path / "p.json")
    said = vault.run(*words, "--needs", "-", typed="winter\nboat\tto lay it up\nBoat\nwinter\ttwice\n")
    # winter is in three notes, boat in one.
    assert said.startswith("3 queries, 3 different notes, 5 pairs of a query and a note to judge, 5 of them twice: ")
    queries = json.loads((tmp_path / "p.json").read_text(encoding="utf-8"))["queries"]
    assert [(one["id"], one["query"], one["need"]) for one in queries] == [
        ("winter", "winter", ""),
        ("boat", "boat", "to lay it up"),
        ("boat-2", "Boat", ""),
    ]


def test_depth_is_that_of_needs_or_of_labels_unless_it_is_named(tmp_path, vault):
    (tmp_path / "Many").mkdir()
    for number in range(12):
        (tmp_path / "Many" / f"{number}.md").write_text("reef\n", encoding="utf-8")
    vault.run("index", "--vault", tmp_path / "Many")
    labels = {"schema": "claude-obsidian.retrieval-queries.v1", "queries": [{"id": "a", "query": "reef", "expected_pages": []}]}
    (tmp_path / "l.json").write_text(json.dumps(labels), encoding="utf-8")
    (tmp_path / "n.txt").write_text("reef\n", encoding="utf-8")
    words = ("labels", "pool", "--vault", tmp_path / "Many", "-r", "keyword")
    counts = []
    for number, more in enumerate((("--needs", tmp_path / "n.txt"), ("--queries", tmp_path / "l.json"))):
        counts.append(vault.run(*words, *more, "--out", tmp_path / f"{number}.json").split(",")[1])
    assert counts == [" 5 different notes", " 10 different notes"]


@pytest.mark.parametrize(
    ("text", "shown"), [("---\ntags: [oilskin]\n---\n", r"^ +2  tags: \[oilskin\]"), ("", r"the note holds no text")]
)
def test_note_without_a_section_to_read_is_shown_whole(tmp_path, text, shown):
    alone = Vault(tmp_path, {"oilskin.md": text}, "oilskin\n")
    assert re.search(shown, alone.type("q")[0], re.MULTILINE)


def test_note_that_a_label_expects_is_judged_though_nobody_finds_it(vault, tmp_path):
    """Else a label could never be corrected; among the others it cannot be told."""
    entry = {"id": "a", "query": "boat", "expected_pages": ["Soup.md"]}
    labels = {"schema": "claude-obsidian.retrieval-queries.v1", "queries": [entry]}
    (tmp_path / "l.json").write_text(json.dumps(labels), encoding="utf-8")
    options = ("--queries", tmp_path / "l.json", "-r", "keyword", "--out", tmp_path / "p.json")
    vault.run("labels", "pool", "--vault", vault.root, *options)
    (query,) = json.loads((tmp_path / "p.json").read_text(encoding="utf-8"))["queries"]
    assert sorted(item["page"] for item in query["items"]) == ["Boat.md", "Soup.md"]


def test_source_lines_are_numbered_and_no_escape_of_a_note_reaches_the_terminal(vault):
    shown, _ = vault.type("lllq")
    assert re.search(r"^ +3  Lay the boat up before the first frost\.", shown, re.MULTILINE)
    assert r"\x1b]0;owned\x07" in shown
    assert "\x1b" not in shown
    assert "3 put off" in vault.judge("--progress")


def test_agent_is_asked_without_ranks_and_its_quote_is_looked_up(vault, tmp_path):
    first = json.loads(vault.judge("--prompts"))["prompts"][0]
    assert set(first) == {"id", "query", "need", "notes"}
    assert first["notes"] == sorted(NOTES)
    notes = [
        {"note": "Boat.md", "grade": 2, "quote": "boat up before the first frost"},
        {"note": "Soup.md", "grade": 1, "quote": "Boil the boat before winter"},
        {"note": "Esc.md", "grade": 0},
    ]
    answers = tmp_path / "answers.json"
    answers.write_text(json.dumps({"answers": [{"id": first["id"], "notes": notes}]}), encoding="utf-8")
    said = vault.judge("--answers", answers, "--judge", "agent")
    assert "2 judgements taken, 1 refused" in said
    assert "Soup.md: the note does not say 'Boil the boat before winter'" in said


def answer(vault, tmp_path, **grades):
    """One judge, called as the test is, has said this of the first note and no of all others, at both looks."""
    for prompt in json.loads(vault.judge("--prompts"))["prompts"]:
        said = [
            {"note": note, "grade": grades.get(note[:-3], 0), "quote": NOTES[note].split("\n")[2]} for note in prompt["notes"]
        ]
        answers = tmp_path / "answers.json"
        answers.write_text(json.dumps({"answers": [{"id": prompt["id"], "notes": said}]}), encoding="utf-8")
        vault.judge("--answers", answers)


def test_judged_labels_are_shown_and_written_beside_what_a_file_holds(vault, tmp_path):
    answer(vault, tmp_path, Boat=2)
    into = tmp_path / "L.json"
    said = vault.judge("--labels", "--into", into)
    assert (said.startswith("--- /dev/null\n"), "Not written (add --write)" in said, into.exists()) == (True, True, False)
    assert "New: 1, there already: 0, not judged to the end and left out: 0, refused: 0" in vault.judge(
        "--labels", "--into", into, "--write"
    )
    (label,) = json.loads(into.read_text(encoding="utf-8"))["queries"]
    assert (label["id"], label["expected_pages"]) == ("boat-in-winter", ["Boat.md"])
    before = into.read_bytes()
    assert "New: 0, there already: 1" in vault.judge("--labels", "--into", into, "--write")
    assert into.read_bytes() == before
    # A file with a label of its own keeps it, letter by letter; the id that is taken there is made anew.
    own = '{"schema": "claude-obsidian.retrieval-queries.v1", "queries": [\n{"id": "boat-in-winter", "query": "x", "expected_pages": []}\n]}'
    into.write_text(own, encoding="utf-8")
    vault.judge("--labels", "--into", into, "--write")
    after = into.read_text(encoding="utf-8")
    assert '\n{"id": "boat-in-winter", "query": "x", "expected_pages": []},\n{"id": "boat-in-winter-2", ' in after


def test_judged_label_does_not_replace_one_that_says_otherwise(vault, tmp_path):
    answer(vault, tmp_path, Boat=2)
    into = tmp_path / "L.json"
    entry = {"id": "mine", "query": "boat in winter", "expected_pages": ["Soup.md"]}
    into.write_text(json.dumps({"schema": "claude-obsidian.retrieval-queries.v1", "queries": [entry]}), encoding="utf-8")
    before = into.read_bytes()
    said = vault.judge("--labels", "--into", into, "--write")
    assert "'boat in winter' is there as 'mine' with 'Soup.md', judged: 'Boat.md'" in said
    assert into.read_bytes() == before


def test_query_for_which_nothing_was_found_comes_with_the_line_that_makes_it_a_negative(vault, tmp_path):
    answer(vault, tmp_path)
    into = tmp_path / "L.json"
    said = vault.judge("--labels", "--into", into, "--write")
    line = said[said.index("say so of each: python3 ") + len("say so of each: python3 ") :]
    words = shlex.split(line)[1:-2]  # without the script and --data, which `run` adds
    vault.run(*words, "--write")
    (label,) = json.loads(into.read_text(encoding="utf-8"))["queries"]
    assert (label["expected_pages"], "skip_reason" in label) == ([], False)


def test_line_to_be_run_is_whole_however_long_its_query_is(tmp_path):
    query = " ".join(f"xylophone{number}" for number in range(60))
    vault = Vault(tmp_path, NOTES, f"{query}\n")
    said = vault.judge("--labels", "--into", tmp_path / "L.json", "--write")
    line = said.splitlines()[-1]
    assert (line.startswith("If none should be found, say so of each: python3 "), len(line) > 400) == (True, True)
    assert query in shlex.split(line)


def test_pool_without_a_note_has_nothing_to_judge_and_its_queries_are_skipped(vault, tmp_path):
    pool = tmp_path / "p.json"
    vault.run("labels", "pool", "--vault", vault.root, "--needs", "-", "--out", pool, typed="xylophone\n")
    (label,) = json.loads(vault.run("labels", "judge", "--vault", vault.root, pool, "--labels"))["queries"]
    assert "no page of the pool answers it" in label["skip_reason"]


def test_what_is_not_judged_to_the_end_is_left_out_and_makes_no_file(vault, tmp_path):
    vault.type("yq")
    said = vault.judge("--labels", "--into", tmp_path / "L.json", "--write")
    assert "New: 0, there already: 0, not judged to the end and left out: 1" in said
    assert not (tmp_path / "L.json").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--into", "x.json"), "--into is for --labels"),
        (("--labels", "--write"), "name it with --into"),
        (("--progress", "--from", "x"), "--from is for --prompts"),
        (("--prompts", "--from", "x"), "--from 'x': the pool has no prompt"),
        (("--labels", "--into", "property:answers"), "a property holds no grades"),
        (("--labels", "--into", "x.txt"), "end its name in .json"),
        (("--labels", "--into", "note:Gone.md"), "name a file that exists"),
    ],
)
def test_option_that_has_no_place_is_named(vault, tmp_path, words, said):
    answer(vault, tmp_path, Boat=2)
    assert said in vault.run("labels", "judge", "--vault", vault.root, vault.pool, "--judge", vault.me, *words, code=2)


def test_judge_who_judged_nothing_is_told_who_did(vault, tmp_path):
    answer(vault, tmp_path, Boat=2)
    words = ("labels", "judge", "--vault", vault.root, vault.pool, "--judge", "nobody")
    said = vault.run(*words, "--labels", code=2)
    assert "--judge 'nobody' has judged nothing of this pool; it was judged by " in said
    assert vault.me in said
    assert re.search(rf"^it was judged by .*{vault.me}", vault.run(*words, "--progress"), re.MULTILINE)


def test_two_judges_are_compared_item_by_item(vault, tmp_path):
    for judge, grade in (("one", 2), ("two", 0)):
        notes = [{"note": "Boat.md", "grade": grade, "quote": "boat up before the first frost"}, {"note": "Esc.md", "grade": 0}]
        answers = tmp_path / f"{judge}.json"
        prompt = json.loads(vault.judge("--prompts"))["prompts"][0]["id"]
        answers.write_text(json.dumps({"answers": [{"id": prompt, "notes": notes}]}), encoding="utf-8")
        vault.judge("--answers", answers, "--judge", judge)
    one, two = vault.kept("one"), vault.kept("two")
    said = json.loads(vault.run("labels", "agree", one, two, "--format", "json"))
    # One of two alike; pe = (1/2 * 0) + (1/2 * 1) = 1/2: kappa = 0.
    assert (said["n"], said["observed"], said["kappa"], len(said["apart"])) == (2, 0.5, 0.0, 1)
    assert "kappa 0.00, 50% alike, n = 2; below 0.6 labels are noisy" in vault.run("labels", "agree", one, two)
    assert "boat in winter · Boat.md: yes / no" in vault.run("labels", "agree", one, two, "--pool", vault.pool)
    assert "is no file; `labels judge --progress` says where" in vault.run("labels", "agree", one, tmp_path / "gone", code=2)


def test_pool_that_was_judged_is_not_replaced(vault, tmp_path):
    (tmp_path / "needs.txt").write_text("storms\n", encoding="utf-8")
    before = vault.pool.read_bytes()
    pooling = ("labels", "pool", "--vault", vault.root, "--needs", tmp_path / "needs.txt", "--out", vault.pool)
    assert "nothing is overwritten" in vault.run(*pooling, code=2)
    assert vault.pool.read_bytes() == before


def test_screen_without_a_terminal_is_refused_with_what_an_agent_uses(vault):
    assert "an agent uses --prompts and --answers" in vault.run("labels", "judge", "--vault", vault.root, vault.pool, code=2)


def test_pool_of_another_vault_is_refused(vault, tmp_path):
    (tmp_path / "Other").mkdir()
    assert "at another place" in vault.run("labels", "judge", "--vault", tmp_path / "Other", vault.pool, "--progress", code=2)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--needs", "none.txt"), "name a text file with one query a line"),
        (("--depth", "0"), "allowed are 1 to 1,000"),
        (("--needs", "needs.txt", "--queries", "x.json"), "name --queries or --needs"),
        (("--needs", "-"), "holds no query"),
    ],
)
def test_bad_input_of_a_pool_is_named(vault, words, said):
    assert said in vault.run("labels", "pool", "--vault", vault.root, *words, code=2)


def no_pool_of(vault, tmp_path, needs, *more: object):
    """What is said of a pool that cannot be made; nothing is written."""
    (tmp_path / "needs.txt").write_text(needs, encoding="utf-8")
    words = ("--needs", tmp_path / "needs.txt", "--out", tmp_path / "pool.json", *more)
    said = vault.run("labels", "pool", "--vault", vault.root, *words, code=2)
    assert not (tmp_path / "pool.json").exists()
    return said


@pytest.mark.parametrize(
    ("needs", "said"),
    [
        ("winter\n\n" + "x" * 8001 + "\n", "line 3, query 'x"),
        ("winter\nnul\0\tneed\n", "line 2, query 'nul': query holds a NUL character"),
        ("".join(f"winter {number}\n" for number in range(1001)), "1,001 queries; a label file has at most 1,000"),
        ("\tto know it\n", "there are no queries"),
    ],
)
def test_faulty_line_of_needs_is_named_with_its_file(vault, tmp_path, needs, said):
    assert f"{tmp_path}/needs.txt: {said}" in no_pool_of(vault, tmp_path, needs)


def test_needs_that_grow_too_large_as_labels_are_named(vault, tmp_path):
    # 1,000 lines of 1,001 bytes are less than a MiB (1,048,576), and with their keys more.
    needs = "".join(f"{number:04} {'x' * 995}\n" for number in range(1000))
    assert f"--needs '{tmp_path}/needs.txt' has 1," in no_pool_of(vault, tmp_path, needs)


@pytest.fixture
def failing(tmp_path):
    """The spec of a program that finds one note for every query but those about storms, on which it fails."""
    program = tmp_path / "search.py"
    program.write_text("import sys\nprint('[\"Boat.md\"]')\nif 'storm' in sys.argv[1]:\n    sys.exit('out of luck')\n")
    return f"command:{sys.executable} {program} {{query}}"


def test_searcher_that_fails_on_a_query_is_named_beside_the_pool(vault, tmp_path, failing):
    (tmp_path / "needs.txt").write_text("winter\nstorms\nstorm damage\n", encoding="utf-8")
    words = ("--needs", tmp_path / "needs.txt", "--out", tmp_path / "pool.json", "-r", "title", "-r", failing)
    line = vault.command("labels", "pool", "--vault", vault.root, *words)
    done = subprocess.run(line, capture_output=True, text=True, encoding="utf-8", check=True)
    first = f"vault-eval: the searcher {failing!r} failed on 2 of 3 queries, first on 'storms': "
    assert done.stderr.startswith(first)
    assert "out of luck" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    found = json.loads((tmp_path / "pool.json").read_text(encoding="utf-8"))["queries"]
    assert [[item["page"] for item in query["items"]] for query in found] == [["Boat.md"], [], []]


def test_searcher_that_fails_on_every_query_makes_no_pool(vault, tmp_path, failing):
    said = no_pool_of(vault, tmp_path, "storms\nstorm damage\n", "-r", "title", "-r", failing)
    assert f"the searcher {failing!r} failed on 2 of 2 queries, first on 'storms': " in said
    assert "out of luck" in said
    assert "no pool was written" in said


def test_nothing_of_it_is_written_into_the_vault(vault):
    vault.type("yq")
    assert "Next: python3 " in vault.run("labels", "pool", "--vault", vault.root, "--needs", vault.root.parent / "needs.txt")
    assert sorted(path.name for path in vault.root.iterdir()) == sorted(NOTES)
