from __future__ import annotations

import json
from unicodedata import normalize

import pytest

from vault_eval.authoring.references import SCHEMA, build_labels
from vault_eval.errors import LabelError
from vault_eval.vault.snapshot import open_snapshot
from vault_eval.vault.targets import target_text

NOTE = """---
title: Dock
---
Before any heading we sell *lamp* oil.

# Opening hours
Summer opening hours:
seven to **seven**.

## Spills #
Scatter the grey grains. Then sweep.
"""


@pytest.fixture
def build(folder, write):
    """The labels of these queries against a vault with two notes about docks."""
    write("Dock 2025.md", NOTE)
    write("Old/Dock 2020.md", "# Opening hours\nnone\n")

    def run(*queries: dict):
        with open_snapshot(str(folder)) as vault:
            return build_labels("R.json", json.dumps({"schema": SCHEMA, "queries": list(queries)}), vault)

    return run


def query(*references: dict, **more: object) -> dict:
    return {"id": "a", "query": "q", "references": list(references), **more}


@pytest.mark.parametrize(
    ("reference", "places"),
    [
        ({"document": "Dock 2025.md"}, ["Dock 2025.md"]),
        ({"document": "Dock*.md", "heading": "opening **HOURS**"}, ["Dock 2025.md#Opening hours"]),
        ({"document": "**/*.md", "heading": "Opening hours"}, ["Dock 2025.md#Opening hours", "Old/Dock 2020.md#Opening hours"]),
        ({"document": "Old", "heading": "Opening hours"}, ["Old/Dock 2020.md#Opening hours"]),
        ({"document": "Dock*.md", "quote": "we sell lamp oil"}, ["Dock 2025.md"]),
        ({"document": "Dock*.md", "quote": "Summer opening hours: seven to SEVEN"}, ["Dock 2025.md#Opening hours"]),
        ({"document": "Dock*.md", "quote": "Scatter the grey grains."}, ["Dock 2025.md#Spills"]),
        (
            {"document": "Dock*.md", "quote": "we sell lamp oil", "until": "seven to seven"},
            ["Dock 2025.md", "Dock 2025.md#Opening hours"],
        ),
        (
            {"document": "Dock*.md", "quote": "Before any", "until": "then sweep"},
            ["Dock 2025.md", "Dock 2025.md#Opening hours", "Dock 2025.md#Spills"],
        ),
        (
            {"document": "Dock*.md", "quote": "seven to seven. Spills: Scatter"},
            ["Dock 2025.md#Opening hours", "Dock 2025.md#Spills"],
        ),
    ],
)
def test_reference_is_found_where_it_stands_today(build, reference, places):
    built = build(query(reference))
    assert [target_text(target) for target in built.labels[0].gold] == places
    assert built.unresolved == ()


def test_reference_outlives_an_edit(build, write):
    reference = {"document": "Dock*.md", "quote": "Scatter the grey grains"}
    write("Dock 2026.md", NOTE.replace("## Spills #", "# Accidents").replace("Scatter the grey", "Scatter, please, the grey"))
    write("Dock 2027.md", "# New\n" + NOTE.replace("## Spills #", "# Accidents").replace("grey grains", "grey\ngrains"))
    found = build(query(reference)).labels[0].gold
    assert [target_text(target) for target in found] == ["Dock 2025.md#Spills", "Dock 2027.md#Accidents"]


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ({"document": "Gone.md"}, "no note fits 'Gone.md'"),
        ({"document": "**/*.md", "quote": "never said"}, "quote 'never said' is in no note that fits '**/*.md' (2 fit)"),
        ({"document": "Dock*.md", "heading": "Prices"}, "heading 'Prices' is in no note that fits 'Dock*.md' (1 fit)"),
        (
            {"document": "Dock*.md", "quote": "Scatter the", "until": "lamp oil"},
            "quote 'Scatter the' and until 'lamp oil' is in no note that fits 'Dock*.md' (1 fit)",
        ),
    ],
)
def test_what_is_not_there_is_skipped_and_listed_and_its_label_marked(build, reference, reason):
    built = build(query(reference))
    assert [(one.place, one.reason) for one in built.unresolved] == [("query 'a'", reason)]
    assert built.labels[0].skip_reason == "none of its references was found in the vault"


def test_label_with_one_reference_left_counts(build):
    built = build(query({"document": "Gone.md"}, {"document": "Dock 2025.md"}))
    assert (built.labels[0].pages, built.labels[0].skip_reason, len(built.unresolved)) == (("Dock 2025.md",), None, 1)


def test_no_references_at_all_are_a_negative(build):
    assert (build(query()).labels[0].gold, build(query()).labels[0].skip_reason) == ((), None)


def test_other_keys_of_a_label_are_kept(build):
    built = build(query({"document": "Dock 2025.md"}, category="c", tags=["t"], split="dev", skip_reason="later")).labels[0]
    assert (built.category, built.tags, built.split, built.skip_reason) == ("c", ("t",), "dev", "later")


@pytest.mark.parametrize(
    ("queries", "problem"),
    [
        ([query({"documen": "A.md"})], "unknown key 'documen' \\(did you mean 'document'\\?\\)"),
        ([query({"quote": "x"})], "a reference needs a document"),
        ([query({"document": "A.md", "quote": 3})], "quote must be a text that is not empty"),
        ([query({"document": "A.md", "quote": "…!"})], "quote holds no word"),
        ([query({"document": "A.md", "heading": "x", "quote": "y"})], "name a heading or a quoted sentence, not both"),
        ([query({"document": "A.md", "until": "y"})], "until ends a span that quote begins"),
        ([query("A.md")], "references holds a string; write"),
        (
            [query({"document": "*a" * 12 + "b.md"})],
            r"R\.json: query 'a': references: document '(\*a){12}b\.md': at most 8 stars are allowed; write several globs",
        ),
        ([{"id": "a", "query": "q"}], "references is missing"),
        ([{"id": "a", "query": "q", "references": None}], "references is null"),
        ([query(), query()], "there twice|duplicate id"),
        ([{**query(), "expected_pages": []}], "unknown key 'expected_pages'"),
    ],
)
def test_bad_references_are_refused_with_the_query_and_what_is_allowed(build, queries, problem):
    with pytest.raises(LabelError, match=problem) as error:
        build(*queries)
    assert "R.json" in str(error.value)


@pytest.mark.parametrize("text", ["", "[]", '{"schema": "x", "queries": []}', '{"schema": "vault-eval.references.v1"}'])
def test_file_that_holds_no_references_is_refused(folder, text):
    with open_snapshot(str(folder)) as vault, pytest.raises(LabelError, match=r"R\.json"):
        build_labels("R.json", text, vault)


ACCENTED = """Über die Flut: café, naïveté.

# Großes Wörterbuch: Übersicht
Der Kapitän sagte schließlich nichts.

## Später
Am nächsten Morgen fiel das Wasser.
"""


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("asked", ["NFC", "NFD"])
@pytest.mark.parametrize(
    ("reference", "places"),
    [
        ({"quote": "über die flut: café"}, ["Flut.md"]),
        ({"quote": "Kapitän sagte"}, ["Flut.md#Großes Wörterbuch: Übersicht"]),
        ({"quote": "Am nächsten Morgen"}, ["Flut.md#Später"]),
        ({"quote": "naïveté", "until": "Kapitän"}, ["Flut.md", "Flut.md#Großes Wörterbuch: Übersicht"]),
        ({"heading": "Grosses wörterbuch: übersicht"}, ["Flut.md#Großes Wörterbuch: Übersicht"]),
        ({"heading": "Großes Wörterbuch Übersicht"}, ["Flut.md#Großes Wörterbuch: Übersicht"]),
    ],
)
def test_unicode_form_of_note_and_reference_decides_nothing(folder, write, form, asked, reference, places):
    write("Flut.md", normalize(form, ACCENTED))
    wanted = {"document": "Flut.md", **{key: normalize(asked, text) for key, text in reference.items()}}
    text = json.dumps({"schema": SCHEMA, "queries": [query(wanted)]})
    with open_snapshot(str(folder)) as vault:
        built = build_labels("R.json", text, vault)
    assert [normalize("NFC", target_text(target)) for target in built.labels[0].gold] == places


def test_quotation_in_a_pdf_is_found_in_any_unicode_form(folder, make_pdf):
    (folder / "Flut.pdf").write_bytes(make_pdf(["Vor der Flut", normalize("NFD", "Der Kapitän schwieg")]))
    text = json.dumps({"schema": SCHEMA, "queries": [query({"document": "Flut.pdf", "quote": "kapitän schwieg"})]})
    with open_snapshot(str(folder), with_pdfs=True) as vault:
        built = build_labels("R.json", text, vault)
    assert [target_text(target) for target in built.labels[0].gold] == ["Flut.pdf#page=2"]


PDF_PAGES = ["Spring tides.\nThe moon decides.", "so it is", "", "Neap tides\nare low and late."]


@pytest.mark.parametrize(
    ("reference", "places"),
    [
        ({"document": "Sea/*.pdf"}, ["Sea/Almanac.pdf"]),
        ({"document": "**/*", "quote": "neap tides are low"}, ["Sea/Almanac.pdf#page=4"]),
        ({"document": "Sea/Almanac.pdf", "quote": "so it is"}, ["Sea/Almanac.pdf#page=2"]),
        (
            {"document": "Sea/Almanac.pdf", "quote": "The moon decides", "until": "low and late"},
            [f"Sea/Almanac.pdf#page={number}" for number in (1, 2, 3, 4)],
        ),
        ({"document": "Sea/Almanac.pdf", "quote": "it is Neap"}, [f"Sea/Almanac.pdf#page={number}" for number in (2, 3, 4)]),
    ],
)
def test_quotation_in_a_pdf_is_found_on_its_page_or_on_several(folder, write, make_pdf, reference, places):
    write("Sea/Log.md", "# page=3\nNeap.\n")
    (folder / "Sea/Almanac.pdf").write_bytes(make_pdf(PDF_PAGES))
    text = json.dumps({"schema": SCHEMA, "queries": [query(reference)]})
    with open_snapshot(str(folder), with_pdfs=True) as vault:
        built = build_labels("R.json", text, vault)
    assert [target_text(target) for target in built.labels[0].gold] == places


def test_heading_is_sought_in_no_pdf(folder, make_pdf):
    (folder / "Almanac.pdf").write_bytes(make_pdf(["page 1"]))
    text = json.dumps({"schema": SCHEMA, "queries": [query({"document": "*.pdf", "heading": "page 1"})]})
    with open_snapshot(str(folder), with_pdfs=True) as vault:
        built = build_labels("R.json", text, vault)
    assert [one.reason for one in built.unresolved] == ["heading 'page 1' is in no note that fits '*.pdf' (1 fit)"]
