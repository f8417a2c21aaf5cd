"""`--collection NAME` and `NAME=FOLDER`: whose labels are asked, and where their paths begin."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from vault_eval.errors import UsageError
from vault_eval.evaluation import clock, evaluate
from vault_eval.labels.collection import Collection
from vault_eval.model import Label, Target
from vault_eval.request import Request


def label(*pages: str, collection=None, **more: object):
    return Label("a", "q", tuple(map(Target, pages)), "labels.json", "query 'a'", collection=collection, **more)


def test_paths_of_a_collection_are_below_its_folder():
    (placed,) = Collection("sea", "Notes/Sea").placed(
        [label("Tides.md", "Logs/1.md", grades={"Tides.md#Ebb": 2}, hashes={"Tides.md": "ab"})]
    )
    assert placed.pages == ("Notes/Sea/Tides.md", "Notes/Sea/Logs/1.md")
    assert (placed.grades, placed.hashes) == ({"Notes/Sea/Tides.md#Ebb": 2}, {"Notes/Sea/Tides.md": "ab"})


def test_what_is_written_as_a_path_of_the_vault_stays():
    (placed,) = Collection("sea", "Sea").placed([label("Sea/Tides.md", "Seaside.md")])
    assert placed.pages == ("Sea/Tides.md", "Sea/Seaside.md")


@pytest.mark.parametrize(("own", "page"), [(None, "Sea/A.md"), ("sea", "Sea/A.md"), ("land", "A.md")])
def test_only_its_own_labels_are_placed(own, page):
    (placed,) = Collection("sea", "Sea").placed([label("A.md", collection=own)])
    assert placed.pages == (page,)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("sea", Collection("sea")),
        ("sea=Sea", Collection("sea", "Sea")),
        ("sea=Sea/", Collection("sea", "Sea")),
        ("a=b=c", Collection("a", "b=c")),
        ("sea=Cafe\u0301", Collection("sea", "Caf\u00e9")),
    ],
)
def test_a_name_and_a_folder(text, found):
    assert Collection.of(text) == found


@pytest.mark.parametrize("text", ["", "=Sea", "sea=", "sea=/", "sea=../Sea", "sea=/Sea", "sea=a//b", "=", "sea=C:/x"])
def test_what_names_none_is_refused(text):
    with pytest.raises(UsageError, match=r"--collection .*write NAME, or NAME=FOLDER with a folder of the vault"):
        Collection.of(text)


def test_a_set_made_for_one_folder_is_measured_on_the_vault(tmp_path):
    """Without the folder its one page does not exist, so that nothing is scored."""
    (tmp_path / "Notes" / "Sea").mkdir(parents=True)
    (tmp_path / "Notes" / "Sea" / "Tides.md").write_text("when the water is highest\n", encoding="utf-8")
    labels = [{"id": "t", "query": "water highest", "expected_pages": ["Tides.md"], "collection": "sea"}]
    labels.append({"id": "u", "query": "tractor", "expected_pages": ["Barn.md"], "collection": "land"})
    (tmp_path / "q.json").write_text(json.dumps({"schema": "vault-eval.labels.v1", "queries": labels}), encoding="utf-8")

    def measured(collection):
        asked = Request(
            str(tmp_path / "Notes"), (str(tmp_path / "q.json"),), ("grep",), data=str(tmp_path / "data"), cold_samples=0
        )
        report = evaluate(replace(asked, collection=collection), clock())
        counts = report.runs[0].counts
        return report.runs[0].metrics["recall@1"].value, counts.scored, counts.missing_gold, counts.other_collection

    assert measured("sea=Sea") == (1.0, 1, 0, 1)
    assert measured("sea") == (None, 0, 1, 1)
    with pytest.raises(UsageError, match="'sea=See': the vault has no notes in a folder of that name"):
        measured("sea=See")
