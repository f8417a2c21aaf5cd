"""`retrieve`: what it says of an index that it cannot use, and what each term adds, whichever index it answers from."""

from __future__ import annotations

import json
from math import fsum, isclose
from pathlib import Path

import pytest

from vault_eval.cli import main
from vault_eval.index.layout import SECTIONS
from vault_eval.index.seal import open_index
from vault_eval.vault.location import vault_id


@pytest.fixture
def ask(data, capsys):
    """Exit code, stdout and stderr of a command for a vault."""

    def run(command: str, vault: Path, *words: str):
        code = main([command, "--vault", str(vault), "--data", str(data), *words], script="vault-eval.py")
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


@pytest.fixture
def vault(tmp_path):
    folder = tmp_path / "Notes"
    folder.mkdir()
    for name, text in {"A.md": "# Sea\nthe tide is high\n", "B.md": "# Land\nthe tide is low, the hill is not\n"}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def damage(index_file: Path, section: str, vault: Path) -> None:
    """All bits of one section set; the header stays whole."""
    index, _ = open_index(str(index_file.parent), vault_id(str(vault)), verify=True)
    with index:
        size, marks = len(bytes(index[section].cast("B"))), bytes(index[section].cast("B"))
    content = index_file.read_bytes()
    at = content.rindex(marks)
    index_file.write_bytes(content[:at] + b"\xff" * size + content[at + size :])


@pytest.mark.parametrize("section", ["posting_chunks", "chunk_pages", "page_offsets", "chunk_headings", "no file", "no seal"])
def test_whatever_is_wrong_with_the_index_the_last_line_builds_it(ask, vault, data, tmp_path, section):
    place = tmp_path / "index"
    assert ask("index", vault, "--index", str(place))[0] == 0
    (file,) = place.glob("index-*.bin")
    if section in SECTIONS:
        damage(file, section, vault)
    else:
        (place / {"no file": file.name, "no seal": "seal.json"}[section]).unlink()
    code, out, err = ask("retrieve", vault, "--index", str(place), "tide")
    assert (code, out) == (10, "")
    assert "Build it with this command; it reads the vault and writes outside it:\n  python3 " in err
    assert err.endswith(f"vault-eval.py index --vault {vault} --index {place} --data {data}\n")
    assert ask("index", vault, "--index", str(place))[0] == 0
    assert ask("retrieve", vault, "--index", str(place), "tide")[0] == 0


def test_the_terms_of_every_page_add_up_to_its_score_on_an_index_of_claude_obsidian(ask, vault_meta):
    vault_meta.write("wiki/A.md", "the high tide is high\n")
    vault_meta.write("wiki/B.md", "the low tide\n")
    vault_meta.index()
    code, out, err = ask("retrieve", vault_meta.root, "--explain", "high tide tide")
    assert code == 0, err
    rows = json.loads(out)["ranking"]
    assert [row["page"] for row in rows] == ["wiki/A.md", "wiki/B.md"]
    told = [[(term["term"], term["tf"]) for term in row["terms"]] for row in rows]
    assert told == [[("high", 2), ("tide", 1), ("tide", 1)], [("high", 0), ("tide", 1), ("tide", 1)]]
    assert all(isclose(fsum(term["contribution"] for term in row["terms"]), row["score"]) for row in rows)
    plain = json.loads(ask("retrieve", vault_meta.root, "high tide tide")[1])["ranking"]
    assert plain == [{key: value for key, value in row.items() if key != "terms"} for row in rows]


def test_what_is_no_sum_of_terms_is_not_explained(ask, vault):
    ask("index", vault)
    code, out, err = ask("retrieve", vault, "-r", "hybrid", "--explain", "tide")
    assert (code, out) == (2, "")
    assert err == "vault-eval: --explain tells what each term adds to a score of keyword, not of 'hybrid'\n"
