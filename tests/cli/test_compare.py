"""`compare` from the shell: which runs it sets against each other, what it refuses, and its exit codes."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from vault_eval.cli import compare as command
from vault_eval.errors import UnsafePathError, UsageError, VaultEvalError

ROOT = Path(__file__).resolve().parents[2]
LABELS = [
    {"id": "neap", "query": "neap tide", "expected_pages": ["A.md"], "category": "sea"},
    {"id": "spring", "query": "spring tide", "expected_pages": ["B.md"], "category": "sea"},
    {"id": "whales", "query": "xylophone", "expected_pages": [], "category": "none"},
]
NOTES = {"A.md": "# Neap\nneap tide", "B.md": "# Spring\nspring tide", "C.md": "# Tide\ntide tide tide"}


def script(*words: object, cwd: Path):
    line = [sys.executable, str(ROOT / "scripts/vault-eval.py"), *map(str, words)]
    return subprocess.run(line, capture_output=True, text=True, encoding="utf-8", check=False, cwd=cwd)


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """Reports of one vault: before; after an edit; with other labels; at another depth; of three searchers at once."""
    folder = tmp_path_factory.mktemp("desk")
    (folder / "vault").mkdir()
    for name, text in NOTES.items():
        (folder / "vault" / name).write_text(text, encoding="utf-8")
    write_labels(folder, LABELS)

    def measure(out: str, *options: str):
        common = ("--vault", "vault", "--data", "data")
        assert script("index", *common, cwd=folder).returncode == 0
        done = script("bench", *common, "--queries", "labels.json", "--cold-samples", "0", "--out", out, *options, cwd=folder)
        assert done.returncode == 0, done.stderr

    measure("before")
    measure("deep", "--top", "20")
    measure("several", "-r", "keyword,title,random")
    write_labels(folder, [*LABELS[:1], {**LABELS[1], "query": "the spring tide"}, LABELS[2]])
    measure("other")
    write_labels(folder, LABELS)
    (folder / "vault/B.md").write_text("# Summer\nnothing of it", encoding="utf-8")
    measure("after")
    return folder


def write_labels(folder, queries):
    content = {"schema": "claude-obsidian.retrieval-queries.v1", "queries": queries}
    (folder / "labels.json").write_text(json.dumps(content), encoding="utf-8")


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


@pytest.fixture
def call(desk, monkeypatch, capsys):
    """`compare` in this process, in the folder of the reports; an error as the shell would have it."""
    monkeypatch.chdir(desk)

    def go(*words: object) -> Outcome:
        try:
            return Outcome(command.run([*map(str, words)]), *capsys.readouterr())
        except VaultEvalError as error:
            return Outcome(error.exit_code, capsys.readouterr().out, str(error))

    return go


@pytest.fixture
def compared(call):
    def go(*words: object):
        done = call(*words, "--format", "json")
        assert done.code == 0, done.err
        return json.loads(done.out)

    return go


def test_a_loss_is_said_and_the_exit_code_is_0_all_the_same(desk):
    done = script("compare", "before", "after", cwd=desk)
    assert done.returncode == 0
    assert done.stderr == ""
    assert "confounded: 1 page changed: B.md" in done.stdout
    assert "Worse (1)\n  spring: spring tide" in done.stdout


def test_the_first_report_is_the_baseline(compared):
    there, back = compared("before", "after"), compared("after/report.json", "before/report.json")
    assert [one["id"] for one in there["worse"]] == [one["id"] for one in back["better"]] == ["spring"]
    assert there["metrics"]["mrr@10"]["delta"] == -back["metrics"]["mrr@10"]["delta"] < 0


def test_a_report_against_itself_is_identical(compared):
    found = compared("before", "before")
    assert (found["verdict"], found["better"], found["worse"], found["metrics"]["mrr@10"]["delta"]) == ("identical", [], [], 0.0)


def test_reports_and_a_vault_together_end_with_2_and_what_to_leave_out(call):
    done = call("before", "after", "--vault", "vault")
    assert (done.code, done.out) == (2, "")
    assert (
        "saved reports and --vault were both given; name the reports alone, or --vault with what is to be measured now"
        in done.err
    )
    done = call()
    assert (done.code, done.out) == (2, "")
    assert "name the saved reports, the one before and the one after, or --vault" in done.err


@pytest.mark.parametrize(("other", "word"), [("other", "labels"), ("deep", "depth")])
def test_other_labels_or_depth_end_with_2_and_no_figure(call, other, word):
    done = call("before", other)
    assert (done.code, done.out) == (2, "")
    assert "not comparable" in done.err
    assert word in done.err
    assert "--allow-different" in done.err


def test_what_is_equal_is_compared_when_asked_for_and_the_rest_listed(compared):
    found = compared("before", "other", "--allow-different")
    assert [one["id"] for one in found["unpaired"]] == ["spring"]
    assert [one["id"] for one in found["same"]] == ["neap", "whales"]
    assert "confounds" in {one["effect"] for one in found["findings"]}


def test_a_report_of_several_runs_is_compared_within_itself(compared):
    found = compared("several")
    assert [one["baseline"]["retriever"]["name"] for one in found["comparisons"]] == ["keyword", "keyword"]
    assert [one["candidate"]["retriever"]["name"] for one in found["comparisons"]] == ["title", "random"]
    one = compared("several", "--run", "random")
    assert [one[role]["retriever"]["name"] for role in ("baseline", "candidate")] == ["keyword", "random"]


def test_of_several_runs_one_is_named_to_be_compared_across_reports(call, compared):
    done = call("before", "several")
    assert done.code == 2
    assert "'several' holds the runs 'keyword', 'title', 'random'; name one with --run" in done.err
    assert compared("before", "several", "--run", "keyword")["verdict"] == "identical"
    done = call("before", "several", "--run", "title")
    assert done.code == 2
    assert "'before' holds no run 'title'" in done.err


def runs_of(one):
    return [one[role]["retriever"]["name"] for role in ("baseline", "candidate")]


def test_different_runs_of_two_reports_are_named_in_the_order_of_the_reports(compared):
    assert runs_of(compared("several", "several", "--run", "title", "--run", "random")) == ["title", "random"]
    there, back = (
        compared(*pair)
        for pair in (
            ("before", "several", "--run", "keyword", "--run", "title"),
            ("several", "before", "--run", "title", "--run", "keyword"),
        )
    )
    assert (runs_of(there), runs_of(back)) == (["keyword", "title"], ["title", "keyword"])
    assert there["metrics"]["mrr@10"]["delta"] == -back["metrics"]["mrr@10"]["delta"] != 0


def test_several_runs_of_one_report_are_set_against_the_first_that_is_named(compared):
    assert runs_of(compared("several", "--run", "random", "--run", "title")) == ["random", "title"]
    found = compared("several", "--run", "random", "--run", "title", "--run", "keyword")
    assert [runs_of(one) for one in found["comparisons"]] == [["random", "title"], ["random", "keyword"]]


def test_more_runs_than_reports_end_with_2_and_what_is_allowed(call):
    done = call("before", "several", "--run", "keyword", "--run", "title", "--run", "random")
    assert (done.code, done.out) == (2, "")
    assert "--run is given 3 times for 2 reports; give it once where all have that run, or once for each report" in done.err
    done = call("before", "several", "--run", "title", "--run", "keyword")
    assert (done.code, done.out) == (2, "")
    assert "'before' holds no run 'title', but 'keyword'; name one with --run" in done.err


def test_one_run_alone_has_nothing_to_be_set_against(call):
    done = call("before")
    assert done.code == 2
    assert "name a second report" in done.err


def test_the_metric_that_decides_can_be_named(call, compared):
    found = compared("before", "after", "--primary", "Recall@5")
    assert found["primary"] == next(iter(found["metrics"])) == "recall@5"
    done = call("before", "after", "--primary", "recal@5")
    assert done.code == 2
    assert "recal@5" in done.err


@pytest.mark.parametrize(("name", "begin"), [("c.json", "{"), ("c.md", "# Did it help"), ("c.html", "<!DOCTYPE html>")])
def test_out_writes_the_rendering_that_its_suffix_names(call, tmp_path, name, begin):
    place = tmp_path / "new" / name
    done = call("before", "after", "--out", place)
    assert done.code == 0
    assert done.out.startswith("vault-eval compare")
    assert place.read_text(encoding="utf-8").startswith(begin)


@pytest.mark.parametrize("form", ["text", "markdown", "html", "json"])
def test_the_same_reports_give_the_same_bytes(call, form):
    runs = [call("before", "after", "--format", form) for _ in range(2)]
    assert [run.code for run in runs] == [0, 0]
    assert runs[0].out == runs[1].out != ""


def test_html_is_utf_8_as_it_says_whatever_the_console_can_show(call, monkeypatch):
    page = call("before", "after", "--format", "html").out
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="backslashreplace"))
    command.run(["before", "after", "--format", "html"])
    printed = sys.stdout.buffer.getvalue()
    monkeypatch.undo()
    assert (printed.decode("utf-8"), page.isascii()) == (page, False)


def test_out_is_checked_before_anything_is_read(tmp_path):
    (tmp_path / "link.json").symlink_to(tmp_path / "elsewhere.json")
    for place, error in ((tmp_path / "folder", UsageError), (tmp_path / "link.json", UnsafePathError)):
        with pytest.raises(error):
            command.run([str(tmp_path / "missing.json"), "--out", str(place)])
    assert not (tmp_path / "elsewhere.json").exists()


def test_nothing_is_written_into_the_vault_that_is_measured(call):
    """The vault is told by what it is, not by how its path is spelled."""
    for place in ("vault/c.html", "vault/../vault/new/c.json"):
        done = call("--vault", "vault", "--queries", "labels.json", "--data", "data", "--vary", "k1=1.2", "--out", place)
        assert (done.code, done.out) == (2, "")
        assert "--out" in done.err
    assert sorted(path.name for path in Path("vault").iterdir()) == sorted(NOTES)


@pytest.mark.parametrize("name", ["c.json", "new/c.md", "c.html"])
def test_nothing_is_written_into_a_vault_that_nobody_named(call, tmp_path, name):
    """Saved reports are compared without --vault; what Obsidian has opened is a vault all the same."""
    (tmp_path / ".obsidian").mkdir()
    done = call("before", "after", "--out", tmp_path / name)
    assert (done.code, done.out) == (2, "")
    assert f"--out {str(tmp_path / name)!r} lies inside the vault {str(tmp_path)!r}" in done.err
    assert [path.name for path in tmp_path.iterdir()] == [".obsidian"]


def test_what_is_no_report_ends_with_2(call, desk, tmp_path):
    (tmp_path / "none.json").write_text("{}", encoding="utf-8")
    for name in ("none.json", "missing.json"):
        done = call(desk / "before", tmp_path / name)
        assert (done.code, done.out) == (2, "")
        assert name in done.err


def test_without_a_report_the_next_step_is_named(call):
    done = call()
    assert done.code == 2
    assert "name the saved reports" in done.err
