from __future__ import annotations

import pytest

from vault_eval.authoring.gold_places import GoldPlaces
from vault_eval.diagnosis.sections import judged_places
from vault_eval.index.chunk_text import chunk_texts
from vault_eval.index.markdown_blocks import BlockReader
from vault_eval.index.options import IndexOptions
from vault_eval.model import Label, RankedPage, Ranking
from vault_eval.vault.note import parse_note
from vault_eval.vault.snapshot import open_snapshot
from vault_eval.vault.targets import parse_target

NOTE = """\
---
about: tides ^about
---
before any heading ^intro

# High *water*

noon

## At the [[Quay|old quay]]

- one foot more ^quay

# Café

```
# no heading
fathoms ^code
```

# Dues: who | pays
"""
THERE = [
    "High water",
    "HIGH *WATER*",
    "At the old quay",
    "High water#At the old quay",
    "Cafe\u0301",
    "^intro",
    "^QUAY",
    "Dues who pays",
]
NOT_THERE = [
    "High",
    "no heading",
    "At the old quay#High water",
    "Café#At the old quay",
    "^about",
    "^foot",
    "^water",
    "^code",
    "Dues",
]


@pytest.fixture
def fault(folder, write):
    """What is wrong with a place in the note, or in a file that was written beside it."""
    write("Tides.md", NOTE)

    def look(target: str) -> str | None:
        with open_snapshot(str(folder)) as vault:
            return GoldPlaces(vault).fault(parse_target(target))

    return look


def counts_as_hit(target: str) -> bool:
    """Whether an evaluation counts a hit in the place for any chunk of the note that a search may return."""
    label = Label("a", "q", (parse_target(target),), "", "")
    chunks = [chunk for chunk, _ in chunk_texts("Tides.md", parse_note(NOTE), IndexOptions(), BlockReader())]
    ranked = (RankedPage(1, "Tides.md", 1.0, chunk.heading, chunk.lines) for chunk in chunks)
    rankings = (Ranking((page,)) for page in ranked)
    return any(judged_places(label, ranking, lambda _page: NOTE, is_told=True)[0].is_hit for ranking in rankings)


@pytest.mark.parametrize(("place", "is_there"), [*((one, True) for one in THERE), *((one, False) for one in NOT_THERE)])
def test_place_is_there_where_an_evaluation_could_count_a_hit(fault, place, is_there):
    assert counts_as_hit(f"Tides.md#{place}") is is_there
    assert (fault(f"Tides.md#{place}") is None) is is_there


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("Hihg water", "the note has no heading 'Hihg water'; near it is 'High water'"),
        ("Café#high watr", "the note has no heading 'Café#high watr'; near it is 'High water'"),
        ("Moorings", "the note has no heading 'Moorings'; it has 'High water', 'At the old quay', 'Café' and 1 more"),
        ("^tide", "no line of the note's text ends with '^tide'"),
    ],
)
def test_what_is_near_is_named_and_else_what_there_is(fault, place, said):
    assert fault(f"Tides.md#{place}") == said


def test_no_more_than_three_headings_are_named(fault, write):
    write("Long.md", "".join(f"# Berth {letter}\n" for letter in "ABCDE"))
    write("Flat.md", "text\n")
    assert fault("Long.md#Moorings") == "the note has no heading 'Moorings'; it has 'Berth A', 'Berth B', 'Berth C' and 2 more"
    assert str(fault("Long.md#Berth")).count("Berth ") == 3
    assert fault("Flat.md#Moorings") == "the note has no heading 'Moorings'; it has none"


def test_page_alone_and_page_that_cannot_be_read_have_no_fault(fault, folder):
    (folder / "Bytes.md").write_bytes(b"# caf\xe9\n")
    assert [fault(target) for target in ("Tides.md", "Gone.md#x", "Bytes.md#x", "Gone.pdf")] == [None] * 4


@pytest.fixture
def unreadable(folder, write):
    """Why nothing is found in a page of the vault."""
    write("Tides.md", NOTE)

    def look(page: str) -> str | None:
        with open_snapshot(str(folder)) as vault:
            return GoldPlaces(vault).unreadable(page)

    return look


def test_page_that_cannot_be_read_says_why_and_one_that_is_not_there_nothing(unreadable, folder, write):
    (folder / "Bytes.md").write_bytes(b"# caf\xe9\n")
    (folder / write("Secret.md")).chmod(0)
    (folder / "Linked.md").symlink_to(folder / "Tides.md")
    assert [unreadable(page) for page in ("Tides.md", "Gone.md", "Gone.pdf")] == [None] * 3
    assert str(unreadable("Bytes.md")).startswith("not UTF-8")
    assert str(unreadable("Secret.md")).startswith("permission denied")
    assert unreadable("Linked.md") == "it is, or passes through, a link"


def test_pdf_without_text_or_broken_says_why(unreadable, folder, make_pdf):
    (folder / "Almanac.pdf").write_bytes(make_pdf(["", "Neap tides."]))
    (folder / "Scan.pdf").write_bytes(make_pdf(["", ""]))
    (folder / "Bad.pdf").write_bytes(b"%PDF-1.7\nnothing")
    assert unreadable("Almanac.pdf") is None
    assert unreadable("Scan.pdf") == "the PDF holds no text: its pages are pictures, as of a scan, or empty"
    assert str(unreadable("Bad.pdf")).startswith("the PDF is broken: ")


def test_page_of_a_pdf_must_be_there_and_hold_text(fault, folder, make_pdf):
    (folder / "Almanac.pdf").write_bytes(make_pdf(["Spring tides.", "", "Neap tides."]))
    assert [fault(f"Almanac.pdf#page={number}") for number in (1, 2, 3, 4)] == [
        None,
        "page 2 of the PDF holds no text, so no search finds it",
        None,
        "the PDF has no page 4; its last one is 3",
    ]
