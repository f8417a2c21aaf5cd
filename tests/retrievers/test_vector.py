"""`vector`: the nearest pages, by hashed words or by a model's vectors that were made beforehand; nothing is ever fetched."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from vault_eval.errors import IndexUnusableError, MissingPackageError, UsageError
from vault_eval.index.options import IndexOptions
from vault_eval.index.vectors.embedder import EmbeddingFailedError, unit_vectors
from vault_eval.index.vectors.vector_file import vectors_path
from vault_eval.retrievers.embeddings import Model, open_embedder, parse_embedder
from vault_eval.retrievers.embeddings.ollama import open_embedder as open_ollama
from vault_eval.retrievers.protocol import Explains, KnowsPages, WarmOnly

ROOT = Path(__file__).resolve().parents[2]
COMMAND = str(ROOT / "scripts" / "vault-eval.py")
SEA = {
    "Boat.md": "# Hull\n\npaint\n\n# Mast\n\nboat boat\n",
    "Ocean.md": "ocean\n",
    "Moon.md": "moon and colour\n",
    "Nothing.md": "zyzzyva\n",
}


@pytest.fixture
def sea(indexed):
    for page, text in SEA.items():
        indexed.write(page, text)
    return indexed


def needs(package: str) -> None:
    """Skip, or fail where REQUIRE_VECTOR=1, without a package of the extra `vector`."""
    if find_spec(package) is None:
        reason = f"{package} is not installed: it comes with the extra `vector`"
        if os.environ.get("REQUIRE_VECTOR") == "1":
            pytest.fail(reason)
        pytest.skip(reason)


# vector:hash


def test_without_a_model_words_are_hashed(sea):
    sea.index()
    assert sea.search("vector", "boat").pages == sea.search("vector:hash", "boat").pages
    best = sea.search("vector", "boat").pages[0]
    assert (best.rank, best.page, best.heading, best.lines) == (1, "Boat.md", ("Mast",), (5, 7))
    assert sea.pages("vector", "ship") == [], "it claims no meaning"


def test_equal_cosines_stand_in_path_order(indexed):
    for page in ("b.md", "a.md", "Z.md", "é.md", "Sub/a.md", "潮.md"):
        indexed.write(page, "same words\n")
    indexed.index(IndexOptions(prefix="none"))
    ranking = indexed.search("vector", "same words")
    assert len({one.score for one in ranking.pages}) == 1
    assert [one.page for one in ranking.pages] == sorted(one.page for one in ranking.pages)


def test_the_pool_grows_past_stale_pages_which_are_counted(indexed):
    for number in range(60):
        indexed.write(f"A{number:02}.md", "tide\n")
    indexed.write("Z.md", "tide and other words\n")
    indexed.index(IndexOptions(prefix="none"))
    for number in range(60):
        indexed.write(f"A{number:02}.md", "changed\n")
    ranking = indexed.search("vector", "tide")
    assert [one.page for one in ranking.pages] == ["Z.md"]
    assert (ranking.candidates.stale_chunks, len(ranking.candidates.stale_pages), ranking.candidates.chunks) == (60, 60, 61)
    assert ranking.candidates.scores == (ranking.pages[0].score,)


def test_a_page_of_which_only_the_questions_changed_stays(indexed):
    indexed.write("A.md", "---\nanswers: [one]\n---\ntide\n")
    indexed.index()
    indexed.write("A.md", "---\nanswers: [two]\n---\ntide\n")
    assert indexed.search("vector", "tide").candidates.label_only_pages == ("A.md",)


def test_it_says_what_it_is(sea):
    sea.index()
    with sea.searcher("vector") as made:
        settings = made.describe().settings
        assert (settings["model"], settings["dims"], settings["similarity"]) == ("hash", 4096, "cosine")
        assert settings["chunk_chars"] == 2000
        assert made.index().sha256 == made.bound_digest()
        assert isinstance(made, KnowsPages)
        assert not isinstance(made, (Explains, WarmOnly))
        assert (made.is_indexed("Boat.md"), made.is_indexed("No.md"), made.is_stale("Boat.md")) == (True, False, False)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("vector:hash,pool=9", "no setting 'pool'"),
        ("vector:potion", "no setting 'potion'"),
        ("vector:hash=1", "takes nothing after hash"),
        ("vector:wordllama=big", "takes nothing after wordllama"),
        ("vector:model2vec", "names no folder"),
        ("vector:ollama", "names no model"),
        ("vector:ollama=a,model2vec=b", "model2vec and ollama"),
        ("vector:ollama=@80", "write ollama=NAME"),
        ("vector:ollama=a@", "from 1 to 65,535"),
        ("vector:ollama=a@0", "from 1 to 65,535"),
        ("vector:ollama=a@x", "from 1 to 65,535"),
        ("vector:ollama=a@65536", "from 1 to 65,535"),
    ],
)
def test_a_model_that_is_not_named_whole_is_refused(sea, spec, said):
    sea.index()
    with pytest.raises(UsageError, match=said):
        sea.search(spec, "boat")


@pytest.mark.parametrize("text", ["", "hash", "keyword", "wordllama=1", "ollama", "ollama=", "model2vec", "=", "a=b"])
def test_vectors_are_made_of_a_model_that_is_named_whole(text):
    with pytest.raises(UsageError, match="--vectors"):
        parse_embedder(text)


# a model's vectors, with a server that speaks Ollama's format


def test_pages_are_found_by_what_the_model_makes_of_them(sea, ollama):
    sea.index(vectors=ollama.model)
    ranking = sea.search(f"vector:{ollama.model}", "ship")
    # Boat.md: the prefix of its chunks says "Boat" too. Mast: 3 x boat -> cosine 1; Hull: (0,1,1,0) -> 1 / sqrt 2.
    assert [(one.page, one.heading, round(one.score, 6)) for one in ranking.pages] == [("Boat.md", ("Mast",), 1.0)]
    assert ranking.candidates.chunks == 2, "what has nothing in common with the query is no match"
    assert sea.pages(f"vector:{ollama.model}", "deniz") == ["Ocean.md"]
    assert sea.pages(f"vector:{ollama.model}", "unknown") == []


def test_the_vectors_are_the_same_with_and_without_numpy(sea, ollama, monkeypatch):
    sea.index(vectors=ollama.model)
    with_numpy = sea.search(f"vector:{ollama.model}", "ship paint")
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert sea.search(f"vector:{ollama.model}", "ship paint") == with_numpy


def test_the_model_its_digest_and_its_vectors_are_told(sea, ollama):
    sea.index(vectors=ollama.model)
    with sea.searcher(f"vector:{ollama.model}") as made:
        settings = made.describe().settings
        assert (settings["model"], settings["dims"]) == (ollama.model, 4)
        assert len(settings["model_sha256"]) == len(settings["vectors_sha256"]) == 64
        before = settings["model_sha256"]
    ollama.digest = "sha256:two"
    sea.index(vectors=ollama.model)
    with sea.searcher(f"vector:{ollama.model}") as made:
        assert made.describe().settings["model_sha256"] != before


def test_a_model_that_is_not_named_is_not_asked(sea, ollama):
    sea.index()
    sea.search("vector", "boat")
    assert ollama.asked == []


def refusal(sea, spec: str) -> str:
    with pytest.raises(IndexUnusableError) as error:
        sea.search(spec, "ship")
    assert error.value.exit_code == 10
    return str(error.value)


def test_missing_vectors_are_said_with_the_command_that_makes_them(sea, ollama):
    sea.index()
    said = refusal(sea, f"vector:{ollama.model}")
    assert said.startswith("there are no vectors of this model beside the index")
    words = shlex.split(said.splitlines()[-1])
    assert words[-2:] == ["--vectors", ollama.model]
    done = subprocess.run([sys.executable, *words[1:]], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Vectors: 5 of 4 dimensions (0 reused)" in done.stdout
    assert sea.pages(f"vector:{ollama.model}", "ship") == ["Boat.md"]


def test_the_command_repeats_the_options_of_the_index(sea, ollama):
    sea.index(IndexOptions(prefix="none", exclude=("Old/",)))
    assert "--prefix none --exclude Old/ --vectors" in refusal(sea, f"vector:{ollama.model}")


def test_vectors_of_the_index_as_it_was_are_not_used(sea, ollama):
    sea.index(vectors=ollama.model)
    sea.write("New.md", "ship\n")
    sea.index()
    assert "belong to the index as it was before" in refusal(sea, f"vector:{ollama.model}")
    ollama.asked.clear()
    sea.index(vectors=ollama.model)
    assert ollama.asked == ["New\n\nship\n"]
    assert sea.pages(f"vector:{ollama.model}", "ship") == ["Boat.md", "New.md"]


def test_vectors_of_another_state_of_the_model_are_not_used(sea, ollama):
    sea.index(vectors=ollama.model)
    ollama.digest = "sha256:two"
    assert "made by another state of that model" in refusal(sea, f"vector:{ollama.model}")


def test_damaged_vectors_are_not_used(sea, ollama):
    sea.index(vectors=ollama.model)
    path = Path(vectors_path(str(sea.folder), ollama.model))
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    assert "are corrupt: its bytes do not have the digest" in refusal(sea, f"vector:{ollama.model}")


def test_a_variant_of_the_index_has_no_vectors_of_a_model(sea, ollama):
    sea.index(vectors=ollama.model)
    with pytest.raises(UsageError, match="kept beside the standing index alone"):
        sea.search(f"vector:{ollama.model},chunk-chars=1000", "ship")


def test_vectors_that_change_while_they_are_searched_are_told(sea, ollama):
    sea.index(vectors=ollama.model)
    with sea.searcher(f"vector:{ollama.model}") as made:
        assert made.bound_digest() == made.index().sha256
        ollama.digest = "sha256:two"
        sea.write("New.md", "moon\n")
        sea.index(vectors=ollama.model)
        assert made.bound_digest() is None


FAILURES = {
    "no such model": "answered 404 and said",
    "fault": "answered 500 and said",
    "no json": "cannot be read: not JSON",
    "no object": "is no JSON object",
    "other keys": "has no embeddings",
    "no numbers": "no list of numbers",
    "nan": "cannot be read",
    "other dimensions": "2 dimensions for a query and 4 for the notes",
    "too few": "gave 0 vectors",
    "redirection": "redirects are not followed",
}


@pytest.mark.parametrize(("failure", "said"), FAILURES.items(), ids=FAILURES)
@pytest.mark.parametrize("kind", ["vector", "hybrid", "hybrid+rerank"])
def test_a_query_that_the_model_does_not_answer_is_an_error_and_no_empty_answer(sea, ollama, kind, failure, said):
    sea.index(vectors=ollama.model)
    with sea.searcher(f"{kind}:{ollama.model}") as made:
        ollama.failure = failure
        ranking = made.search("ship", 10)
        assert (ranking.pages, ranking.candidates) == ((), None)
        assert said in (ranking.error or "")
        ollama.failure = ""
        assert made.search("ship", 10).error is None, "the next query is answered"


def test_a_slow_ollama_is_left_in_time(sea, ollama):
    embedder = open_ollama(Model("ollama", f"meaning@{ollama.port}"), 0.3)
    ollama.failure = "slow"
    with pytest.raises(EmbeddingFailedError, match=r"longer than 0\.3 seconds"):
        embedder.embed(["ship"])


def test_an_ollama_that_is_not_there_or_lacks_the_model_is_a_sentence(sea, ollama):
    sea.index(vectors=ollama.model)
    with pytest.raises(UsageError, match="it has no model 'other:latest'"):
        sea.search(f"vector:ollama=other@{ollama.port}", "ship")
    with pytest.raises(UsageError, match=r"127\.0\.0\.1:1 cannot be reached.*leave this searcher out"):
        sea.search("vector:ollama=meaning@1", "ship")


# the command line


def run(sea, *words: str) -> subprocess.CompletedProcess[str]:
    places = ["--vault", str(sea.root), "--data", str(sea.folder.parent / "data")]
    return subprocess.run([sys.executable, COMMAND, *words, *places], capture_output=True, text=True, check=False)


def test_retrieve_answers_as_the_searcher_does(sea, ollama):
    assert run(sea, "index", "--vectors", ollama.model).returncode == 0
    for spec in ("vector", f"vector:{ollama.model}", "hybrid", f"hybrid:{ollama.model}", f"hybrid+rerank:{ollama.model}"):
        done = run(sea, "retrieve", "--retriever", spec, "--top", "3", "boat paint")
        assert (done.returncode, done.stderr) == (0, "")
        sea.index()
        expected = sea.search(spec, "boat paint", 3) if spec in ("vector", "hybrid") else None
        rows = json.loads(done.stdout)["ranking"]
        assert rows[0] == {"rank": 1, "page": "Boat.md", **{key: rows[0][key] for key in ("score", "heading", "lines")}}
        assert expected is None or [(row["page"], row["score"]) for row in rows] == [
            (one.page, one.score) for one in expected.pages
        ]


def test_retrieve_says_what_is_missing_and_how_to_make_it(sea, ollama):
    done = run(sea, "retrieve", "--retriever", "vector", "boat")
    assert (done.returncode, "there is no index" in done.stderr) == (10, True)
    run(sea, "index")
    done = run(sea, "retrieve", "--retriever", f"hybrid:{ollama.model}", "boat")
    assert (done.returncode, done.stderr.splitlines()[-1].endswith(f"--vectors {ollama.model}")) == (10, True)
    done = run(sea, "retrieve", "--explain", "--retriever", "vector", "boat")
    assert (done.returncode, "--explain tells what each term adds to a score of keyword" in done.stderr) == (2, True)
    ollama.failure = "fault"
    done = run(sea, "index", "--vectors", ollama.model)
    assert (done.returncode, "answered 500" in done.stderr) == (2, True)


def test_index_says_which_vectors_it_left_behind(sea, ollama):
    assert "Vectors: 5 of 4 dimensions" in run(sea, "index", "--vectors", ollama.model).stdout
    assert "The vectors of" not in run(sea, "index").stdout, "nothing changed"
    sea.write("New.md", "ship\n")
    left = f"The vectors of {ollama.model} belong to the index as it was before"
    assert left in run(sea, "index").stdout
    assert left in run(sea, "index").stdout
    assert left not in run(sea, "index", "--vectors", ollama.model).stdout
    done = run(sea, "index", "--check", "--vectors", ollama.model)
    assert (done.returncode, "leave out one of them" in done.stderr) == (2, True)


# real models


def test_without_its_package_a_model_is_a_sentence_with_the_command(sea, monkeypatch, tmp_path):
    sea.index()
    for package in ("wordllama", "model2vec"):
        monkeypatch.setitem(sys.modules, package, None)
    for spec in ("vector:wordllama", f"vector:model2vec={tmp_path}"):
        with pytest.raises(MissingPackageError, match="install"):
            sea.search(spec, "boat")


def test_a_folder_that_is_not_there_is_a_sentence(sea, tmp_path):
    sea.index()
    with pytest.raises(UsageError, match="there is no such folder"):
        sea.search(f"vector:model2vec={tmp_path / 'minishlab/potion-base-8M'}", "boat")


@pytest.fixture
def tiny_model(tmp_path) -> Path:
    """A model2vec folder of seven words in three directions."""
    needs("model2vec")
    import numpy as np
    from model2vec import StaticModel
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = ["[UNK]", "boat", "ship", "ocean", "sea", "moon", "paint"]
    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="[UNK]"))  # noqa: S106 - a token of a text
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    vectors = np.array([[0, 0, 0], [1, 0, 0], [1, 0.1, 0], [0, 1, 0], [0, 1, 0.1], [0, 0, 1], [1, 0, 1]], dtype=np.float32)
    StaticModel(vectors, tokenizer).save_pretrained(tmp_path / "model")
    return tmp_path / "model"


def test_a_model2vec_model_leaves_the_environment_as_it_was(sea, tiny_model, monkeypatch):
    """Other searchers of the same run hand it on to programs."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    monkeypatch.delenv("TRANSFORMERS_OFFLINE", raising=False)
    before = dict(os.environ)
    sea.index(vectors=f"model2vec={tiny_model}")
    assert dict(os.environ) == before


def test_a_model2vec_folder_finds_by_meaning(sea, tiny_model):
    model = f"model2vec={tiny_model}"
    sea.index(IndexOptions(prefix="none"), vectors=model)
    ranking = sea.search(f"vector:{model}", "ship")
    # Mast: boat boat -> (1,0,0); the query (1, .1, 0): 1 / sqrt 1.01. Hull: paint -> (1,0,1): 1 / sqrt 2.02. Ocean: .1 / sqrt 1.01.
    assert [(one.page, one.heading, round(one.score, 5)) for one in ranking.pages] == [
        ("Boat.md", ("Mast",), 0.99504),
        ("Ocean.md", (), 0.0995),
    ]


def test_another_file_in_the_model_folder_is_another_state_of_the_model(sea, tiny_model):
    model = f"model2vec={tiny_model}"
    sea.index(vectors=model)
    (tiny_model / "README.md").write_text("more about it\n", encoding="utf-8")
    assert sea.pages(f"vector:{model}", "ship")
    config = json.loads((tiny_model / "config.json").read_text(encoding="utf-8"))
    (tiny_model / "config.json").write_text(json.dumps({**config, "note": "edited"}), encoding="utf-8")
    assert "made by another state of that model" in refusal(sea, f"vector:{model}")


@pytest.mark.parametrize("lost", ["model.safetensors", "tokenizer.json", "config.json"])
def test_a_folder_that_lacks_a_part_is_a_sentence(sea, tiny_model, lost):
    sea.index()
    (tiny_model / lost).unlink()
    with pytest.raises(UsageError, match="cannot be loaded"):
        sea.search(f"vector:model2vec={tiny_model}", "boat")


def test_wordllama_finds_by_meaning(indexed):
    needs("wordllama")
    for page, text in {
        "A.md": "The vessel left the port at dawn.\n",
        "B.md": "Bake the bread for forty minutes.\n",
        "C.md": "The accounts are due in spring.\n",
    }.items():
        indexed.write(page, text)
    indexed.index(vectors="wordllama")
    assert indexed.pages("vector:wordllama", "a ship sailing out of the harbour")[0] == "A.md"
    assert indexed.pages("vector:wordllama", "how long does a loaf stay in the oven")[0] == "B.md"
    with indexed.searcher("vector:wordllama") as made:
        assert (made.describe().settings["model"], made.describe().settings["dims"]) == ("wordllama", 256)
        assert made.search("", 10).pages == ()


def test_a_text_has_the_same_vector_alone_and_among_others():
    """Else vectors used again would differ from those made anew."""
    needs("wordllama")
    embedder = open_embedder(parse_embedder("wordllama"))
    texts = ["a ship " * number for number in range(1, 90)]
    assert unit_vectors(embedder, texts) == [unit_vectors(embedder, [text])[0] for text in texts]


def unshared() -> list[str]:
    for words in (["unshare", "--net"], ["unshare", "--map-root-user", "--net"]):
        try:
            if subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0:
                return words
        except OSError:
            break
    reason = "`unshare --net` is not permitted here"
    if os.environ.get("REQUIRE_NETNS") == "1":
        pytest.fail(f"{reason}, and REQUIRE_NETNS=1 asks for it")
    pytest.skip(reason)


@pytest.mark.skipif(sys.platform != "linux", reason="network namespaces are Linux's")
def test_models_work_in_an_empty_home_without_any_network(sea, tiny_model, tmp_path):
    """What is needed is in the package or in the folder; nothing is looked for elsewhere, nothing kept there."""
    needs("wordllama")
    alone, home = unshared(), tmp_path / "home"
    home.mkdir()
    places = ["--vault", str(sea.root), "--data", str(tmp_path / "data")]
    for model in ("wordllama", f"model2vec={tiny_model}"):
        for words in (["index", "--vectors", model], ["retrieve", "--retriever", f"hybrid+rerank:{model}", "boat"]):
            line = [*alone, sys.executable, COMMAND, *words, *places]
            done = subprocess.run(
                line, capture_output=True, text=True, check=False, env={**os.environ, "HOME": str(home)}, timeout=300
            )
            assert (done.returncode, done.stderr) == (0, "")
    assert [str(path) for path in home.rglob("*") if path.is_file()] == []
