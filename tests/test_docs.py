"""What the documents say is so: commands parse, output is real, links resolve, codes, metrics and limits are all there.

`VAULT_EVAL_REGENERATE_README=1 pytest tests/test_docs.py` writes the output of the two commands into the README anew.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from importlib import import_module
from itertools import takewhile
from pathlib import Path

import pytest

from vault_eval import cli, errors, limits
from vault_eval.cli import labels as labels_commands
from vault_eval.labels.load import LabelDocument, load_labels
from vault_eval.metrics import metrics_for

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")
DOCUMENTS = [
    README,
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted(ROOT.glob("docs/*.md")),
    *sorted(ROOT.glob("skills/**/*.md")),
    *sorted(ROOT.glob("agents/*.md")),
]
# The parts of the output that name a moment or a time: the first line's date, and the block of latencies.
TIMED = re.compile(r"(?<=^vault-eval · fixture · ).*|(?<=^Time a query, in milliseconds\n)(?:.+\n)+", re.MULTILINE)


def block(name: str) -> str:
    found = re.search(rf"<!-- {name} -->\n```\n(.*?)```\n<!-- end of {name} -->", TEXT, re.DOTALL)
    assert found is not None
    return found[1]


def commands() -> list[str]:
    lines = [line for document in DOCUMENTS for line in document.read_text(encoding="utf-8").splitlines()]
    # Neither the rules of a skill's allowed-tools nor what a shell does with the output.
    pattern = r"(?<!Bash\()python3 [\"']?\S*scripts/(?:vault-eval|evaluate-retrieval)\.py[\"']?(?: (?:(?! 2>)[^`|])*)?"
    found = (re.search(pattern, line) for line in lines if not line.startswith(("    ", "●")) or "CLAUDE_PLUGIN_ROOT" in line)
    return sorted({match[0].strip().rstrip(".,;") for match in found if match})


@pytest.fixture(scope="module")
def fixture_output(tmp_path_factory) -> str:
    data = tmp_path_factory.mktemp("data")
    command = [sys.executable, str(ROOT / "scripts/evaluate-retrieval.py"), "--fixture", "--data", str(data)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True, cwd=data)
    if os.environ.get("VAULT_EVAL_REGENERATE_README"):
        before = f"<!-- fixture output -->\n```\n{block('fixture output')}"
        assert before in TEXT
        README.write_text(TEXT.replace(before, f"<!-- fixture output -->\n```\n{done.stdout}"), encoding="utf-8")
        pytest.skip("the README was written anew; run once more")
    return done.stdout


def test_the_fixture_output_in_the_readme_is_real(fixture_output):
    assert TIMED.sub("", fixture_output) == TIMED.sub("", block("fixture output"))


@pytest.mark.parametrize("line", commands())
def test_every_command_line_in_the_documents_parses(line):
    words = [word for word in shlex.split(line.replace("...", ""))[1:] if word not in ("…", "[options]")]
    words = list(takewhile(lambda word: word[0] not in "<>", filter(None, words)))  # the rest is for the shell
    script, arguments = Path(words[0]).name, words[1:]
    name, rest = ("bench", arguments) if script == "evaluate-retrieval.py" else (arguments[0] if arguments else "", arguments[1:])
    if name in ("", "COMMAND", "--help", "--version"):
        return
    assert name in cli.COMMANDS
    module = f"vault_eval.cli.{name}"
    if name == "labels" and rest and rest[0] in labels_commands.COMMANDS:
        module, rest = labels_commands.module_of(rest[0]), rest[1:]
    if "--help" not in rest:
        import_module(module).parser().parse_args(rest)


def test_the_transcript_in_the_readme_is_the_recorded_one():
    found = re.search(r"<!-- transcript -->\n(.*?)\n<!-- end of transcript -->", TEXT, re.DOTALL)
    assert found is not None
    assert (ROOT / "tests/client/transcript.md").read_text(encoding="utf-8").rstrip().endswith(found[1])


def test_every_command_has_its_row():
    assert {name for name in cli.COMMANDS if f"`vault-eval.py {name}" in TEXT or f"`vault-eval.py {name}`" in TEXT} >= {
        *cli.COMMANDS
    } - {"bench"}
    assert "evaluate-retrieval.py" in TEXT


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_in_documents_resolve(document):
    for target in re.findall(r"\]\(([^)\s]+)\)", document.read_text(encoding="utf-8")):
        if not re.match(r"[a-z]+:", target):
            assert (document.parent / target.partition("#")[0]).exists(), target


def test_every_exit_code_is_documented():
    classes = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, errors.VaultEvalError)]
    codes = {0, 1, 3, cli.EXIT_FAULT, cli.EXIT_STOPPED, *(one.exit_code for one in classes)}
    table = TEXT[TEXT.index("## Exit codes") :]
    assert {int(code) for code in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)} == codes


def test_every_metric_is_documented():
    section = TEXT[TEXT.index("## What the figures mean") : TEXT.index("### What they do not show")]
    for metric in metrics_for():
        assert metric.name in section


@pytest.mark.parametrize(
    "words",
    [
        f"{limits.LABEL_FILE_MAX_BYTES // 2**20} MiB a file",
        f"{limits.LABEL_QUERIES_MAX:,} queries",
        f"{limits.LABEL_QUERY_MAX_CHARACTERS:,} characters a query",
        f"{limits.LABEL_GOLD_PAGES_MAX} gold pages",
        f"{limits.NOTE_MAX_BYTES // 2**20} MiB",
        f"{limits.CHUNK_TARGET_CHARACTERS:,}",
        f"{limits.CHUNK_MAX_CHARACTERS:,}",
        f"{limits.DEPTH_MIN_PAGES} to {limits.DEPTH_MAX_PAGES:,}",
        f"{limits.VAULT_DEPTH_MAX_FOLDERS} folders",
        f"{limits.GLOB_STARS_MAX} stars",
    ],
)
def test_every_limit_that_a_person_can_meet_is_documented(words):
    assert words in re.sub(r"\s+", " ", TEXT)


def test_the_label_example_loads():
    example = re.search(r"```json\n(.*?)```", TEXT, re.DOTALL)
    assert example is not None
    labels = load_labels([LabelDocument("Notes.queries.json", example[1].encode(), None, list)])
    assert [label.id for label in labels.labels] == ["boat-winter", "no-skiing"]


def test_nothing_names_the_place_it_was_made_in():
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False).stdout.split(b"\0")
    here = [os.fsencode(ROOT) + b"/", os.fsencode(Path.home()) + b"/."]
    texts = (ROOT / os.fsdecode(name) for name in tracked if name)
    assert [path.name for path in texts if path.is_file() and any(place in path.read_bytes() for place in here)] == []
