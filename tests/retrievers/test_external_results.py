"""From paths in the forms of others to pages: exact, in the order given, each once, and nothing guessed."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_eval.retrievers.answers import AnswerError, found_in_text
from vault_eval.retrievers.external_results import FoundPage, ranking_of

PAGES = frozenset({"Sea/Tides.md", "Boat.md", "Café.md", "50% off #1.md"})
ROOT = "/home/me/vault"


def pages(*paths: str, root: str = ROOT, depth: int = 10, **settings) -> list[str]:
    return [one.page for one in ranking_of([FoundPage(path) for path in paths], PAGES, root, depth, **settings).pages]


@pytest.mark.parametrize(
    "path",
    [
        "Sea/Tides.md",
        "./Sea/Tides.md",
        "/home/me/vault/Sea/Tides.md",
        "file:///home/me/vault/Sea/Tides.md",
        "FILE://localhost/home/me/vault/Sea/Tides.md",
    ],
)
def test_every_exact_form_of_a_path_names_the_page(path):
    assert pages(path) == ["Sea/Tides.md"]


@pytest.mark.parametrize(
    "path",
    [
        "Tides.md",  # a base name that other folders may share
        "sea/tides.md",
        "Sea/Tides",
        "vault/Sea/Tides.md",
        "Boat/../Sea/Tides.md",
        "Sea//Tides.md",
        "/home/me/vault2/Sea/Tides.md",
        "/Sea/Tides.md",
        "file://elsewhere/home/me/vault/Sea/Tides.md",
        "https://localhost/home/me/vault/Sea/Tides.md",
        "Sea/Tides.md#Neap",
        "Sea/Tides.md\0",
        "",
    ],
)
def test_what_is_nearly_a_page_is_none_and_is_counted(path):
    ranking = ranking_of([FoundPage(path), FoundPage("Boat.md"), FoundPage(path)], PAGES, ROOT, 10)
    assert ([one.page for one in ranking.pages], ranking.outside_vault) == (["Boat.md"], 1)


def test_unicode_form_does_not_matter_and_percent_signs_only_in_addresses():
    assert pages(unicodedata.normalize("NFD", "Café.md")) == ["Café.md"]
    assert pages("50% off #1.md", "50%25 off #1.md") == ["50% off #1.md"]
    assert pages("file:///home/me/vault/50%25%20off%20%231.md") == ["50% off #1.md"]
    assert pages("file:///home/me/vault/Cafe%CC%81.md") == ["Café.md"]


def test_absolute_path_through_a_link_names_the_page_it_leads_to(tmp_path):
    (tmp_path / "vault" / "Sea").mkdir(parents=True)
    (tmp_path / "vault" / "Sea" / "Tides.md").touch()
    (tmp_path / "way").symlink_to(tmp_path / "vault", target_is_directory=True)
    root = str((tmp_path / "vault").resolve())
    assert pages(str(tmp_path / "way" / "Sea" / "Tides.md"), root=root) == ["Sea/Tides.md"]
    assert pages(str(tmp_path / "vault" / ".." / "vault" / "Boat.md"), root=root) == ["Boat.md"]


def test_prefix_is_taken_off_and_paths_without_it_lie_outside():
    assert pages("notes/Boat.md", prefix="notes/") == ["Boat.md"]
    assert pages("Boat.md", "other/Boat.md", prefix="notes/") == []


def test_first_answer_of_a_page_counts_and_the_order_is_not_changed():
    found = [
        FoundPage("Boat.md", 3.0),
        FoundPage("elsewhere.md", 9.0),
        FoundPage("Sea/Tides.md", 1.0),
        FoundPage("./Boat.md", 5.0),
    ]
    ranking = ranking_of(found, PAGES, ROOT, 10)
    assert [(one.rank, one.page, one.score) for one in ranking.pages] == [(1, "Boat.md", 3.0), (2, "Sea/Tides.md", 1.0)]
    assert ranking.outside_vault == 1


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ((0.1, 0.4, 0.9), [None, None]),  # distances
        ((3.0, 1.0, 2.0), [None, None]),  # beyond the depth they are of the same answer
        ((3.0, None, 4.0), [None, None]),
        ((3.0, 3.0, 1.0), [3.0, 3.0]),
        ((3.0, None, 2.0), [3.0, None]),
        ((-1.0, -2.5, -2.5), [-1.0, -2.5]),
    ],
)
def test_scores_that_do_not_fall_in_the_order_returned_are_none(given, kept):
    found = [FoundPage(page, score) for page, score in zip(("Boat.md", "Café.md", "Sea/Tides.md"), given, strict=True)]
    ranking = ranking_of(found, PAGES, ROOT, 2)
    assert [(one.page, one.score) for one in ranking.pages] == list(zip(("Boat.md", "Café.md"), kept, strict=True))


@pytest.mark.parametrize("score", [float("nan"), float("inf"), -float("inf")])
def test_score_that_is_no_finite_number_makes_the_answer_an_error(score):
    ranking = ranking_of([FoundPage("Boat.md", 1.0), FoundPage("Café.md", score)], PAGES, ROOT, 10)
    assert (ranking.pages, ranking.error) == ((), f"the score of 'Café.md' is {score}, no finite number")


@given(st.lists(st.sampled_from([*sorted(PAGES), "x.md", "./Boat.md"])), st.integers(1, 5))
def test_ranking_is_the_distinct_pages_in_order_cut_at_the_depth(paths, depth):
    ranking = ranking_of([FoundPage(path) for path in paths], PAGES, ROOT, depth)
    distinct = list(dict.fromkeys(path.removeprefix("./") for path in paths if path != "x.md"))
    assert [one.page for one in ranking.pages] == distinct[:depth]
    assert [one.rank for one in ranking.pages] == list(range(1, len(ranking.pages) + 1))
    assert ranking.outside_vault == ("x.md" in paths)


@pytest.mark.parametrize(
    "text",
    [
        '[{"path": "a.md", "score": 2}, {"path": "b.md"}]',
        '{"results": [{"file": "a.md", "score": 2.0}, {"file": "b.md", "score": null}], "took": 3}',
        '{"hits": [{"filename": "a.md", "similarity": 2}, {"filename": "b.md"}]}',
        '{"path": "a.md", "_score": 2}\n{"path": "b.md", "matches": []}\r\n\n',
        '\ufeff  [{"path": "a.md", "score": 2}, "b.md"]\n',
    ],
)
def test_common_forms_of_json_are_read(text):
    assert found_in_text(text) == [FoundPage("a.md", 2.0), FoundPage("b.md")]


def test_lines_are_paths_blanks_and_all():
    assert found_in_text("a b.md\r\n\n  c.md\n./[d].md\n") == [FoundPage("a b.md"), FoundPage("  c.md"), FoundPage("./[d].md")]
    assert found_in_text("") == found_in_text(" \n\n") == found_in_text("[]") == found_in_text('{"results": []}') == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("No results found.", "gave neither JSON nor paths, but 'No results found.'"),
        ('[{"path": "a.md"}', "gave no usable answer: not JSON"),
        ('{"path": "a.md"}\n{"path": }\n', "gave no usable answer: not JSON"),
        ('{"path": "a.md", "path": "b.md"}', "the key 'path' is repeated"),
        ('[{"path": "a.md", "score": NaN}]', "NaN is not JSON"),
        ('[{"path": "a.md", "score": "0.9"}]', "gave 'a.md' the score '\"0.9\"'; a score is a number"),
        ('[{"path": "a.md", "score": true}]', "gave 'a.md' the score 'true'"),
        ('[{"title": "A"}]', "gave a result without a path, number 1"),
        ("[[1]]", "gave a result without a path, number 1"),
        ('{"error": "no index"}', "gave a result without a path"),
    ],
)
def test_what_cannot_be_read_is_an_error_and_never_an_empty_answer(text, says):
    with pytest.raises(AnswerError) as raised:
        found_in_text(text)
    assert says in str(raised.value)
