from __future__ import annotations

import os
import time
from dataclasses import replace

import pytest

from vault_eval.errors import LabelError
from vault_eval.labels.collection import Collection
from vault_eval.labels.eligibility import settle
from vault_eval.limits import LABEL_NEAR_NAMES_MAX
from vault_eval.model import Label, Target
from vault_eval.vault.excluded import read_exclusions
from vault_eval.vault.reader import FolderReader
from vault_eval.vault.walk import NoteFile, VaultListing, walk_vault


def label(*pages: str, name="q", **more):
    return Label(name, "tides", tuple(map(Target, pages)), "labels.json", f"query '{name}'", **more)


@pytest.fixture
def write(tmp_path):
    def write_note(path, text="moon"):
        place = tmp_path / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        return place

    return write_note


@pytest.fixture(params=[True, False], ids=["descriptors", "degraded"])
def decide(tmp_path, request):
    """Settles labels against the vault as it is now."""

    def settled(*labels: Label, globs=(), collection=None, split=None, renamed=None, listing=None):
        with FolderReader(str(tmp_path), descriptor_relative=request.param) as reader:
            found = listing or walk_vault(reader, read_exclusions(reader, globs))
            asked = None if collection is None else Collection(collection)
            return settle(labels, found, reader, asked, split, (renamed or {}).get)

    return settled


def why(decide, page, **more):
    (one,) = decide(label(page), **more)
    assert one.status == "missing-gold", one
    assert list(one.missing) == [page]
    return one.missing[page]


def test_order_of_the_statuses(write, decide):
    write("Sea/Tides.md")
    labels = [
        label("Sea/Tides.md", name="scored"),
        label(name="negative"),
        label("Nowhere.md", name="missing"),
        label("Nowhere.md", name="skipped", skip_reason="later"),
        label(name="skipped negative", skip_reason="later"),
        label("Nowhere.md", name="other", collection="work", skip_reason="later"),
    ]
    settled = decide(*labels, collection="home")
    assert [one.status for one in settled] == ["scored", "negative", "missing-gold", "skipped", "skipped", "other-collection"]
    assert [one.label for one in settled] == labels
    assert [dict(one.missing) != {} for one in settled] == [False, False, True, False, False, False]


def test_one_missing_page_of_several_excludes_the_query_and_is_named_alone(write, decide):
    write("Garden/Pruning.md")
    (one,) = decide(label("Garden/Pruning.md", "Garden/Roses.md", "Garden/Moss.md"))
    assert (one.status, list(one.missing)) == ("missing-gold", ["Garden/Roses.md", "Garden/Moss.md"])


@pytest.mark.parametrize(
    ("collection", "asked", "counts"),
    [(None, None, True), (None, "a", True), ("a", None, True), ("a", "a", True), ("b", "a", False)],
)
def test_label_of_another_collection_is_left_out(write, decide, collection, asked, counts):
    write("Tides.md")
    (one,) = decide(label("Tides.md", collection=collection), collection=asked)
    assert one.status == ("scored" if counts else "other-collection")


def test_label_of_another_split_is_left_out(write, decide):
    write("Tides.md")
    labels = [label("Tides.md", name=str(split), split=split) for split in ("dev", "holdout", None)]
    assert [one.status for one in decide(*labels, split="dev")] == ["scored", "other-collection", "other-collection"]
    assert {one.status for one in decide(*labels)} == {"scored"}


def test_deleted_page_is_missing_gold_with_advice(write, decide):
    write("Sea/Tides.md")
    assert why(decide, "Sea/Old tides.md") == "no note of that name is in the vault; correct the path"


def test_other_letter_case_is_missing_gold_with_the_right_spelling(write, decide):
    write("Garden/Pruning.md")
    assert "in other letter case there is 'Garden/Pruning.md': write it so" in why(decide, "garden/pruning.md")
    assert "'Garden/Pruning.md'" in why(decide, "Garden/Pruning.MD")


def test_other_letter_case_is_missing_gold_on_a_disk_that_ignores_it_too(write, decide, monkeypatch):
    write("Garden/Pruning.md")
    real = os.stat, os.lstat, os.open
    fold = {"garden": "Garden", "pruning.md": "Pruning.md"}

    def right(path):
        head, slash, name = str(path).rpartition("/")
        return f"{head.removesuffix('garden') + 'Garden' if head.endswith('garden') else head}{slash}{fold.get(name, name)}"

    for name, function in zip(("stat", "lstat", "open"), real, strict=True):
        monkeypatch.setattr(
            os, name, lambda path, *a, function=function, **k: function(right(path) if isinstance(path, str) else path, *a, **k)
        )
    assert "'Garden/Pruning.md'" in why(decide, "garden/pruning.md")


def test_page_is_the_same_in_either_unicode_form(write, decide):
    write("Cafe\u0301 re\u0301sume\u0301.md")
    write("Ue\u0308ber.md")
    assert decide(label("Café résumé.md"))[0].status == "scored"
    assert decide(label("Uëber.md"))[0].status == "scored"
    # The mark belongs to the other letter: another name, and no proposal.
    assert why(decide, "Üeber.md").endswith("correct the path")


def test_case_twin_is_found_across_unicode_forms(write, decide):
    write("CAFE\u0301.md")
    assert "'CAFÉ.md'" in why(decide, "café.md")


@pytest.mark.parametrize(
    ("written", "there"),
    [
        ("recipes/tosat.md", "recipes/toast.md"),
        ("recipes/Tost.md", "recipes/toast.md"),
        ("soups/tosat.md", "recipes/toast.md"),
        ("如何调时差.md", "如何倒时差.md"),
        ("cafe\u0301 cremme.md", "Café crème.md"),
        ("2026-01-31 toats.md", "2026-01-31 Toast.md"),
    ],
)
def test_a_page_whose_name_is_a_slip_of_one_that_is_there_is_missing_gold_with_that_one(write, decide, written, there):
    for page in ("recipes/toast.md", "recipes/soup.md", "如何倒时差.md", "Café crème.md", "2026-01-31 Toast.md"):
        write(page)
    assert why(decide, written).endswith(f"; is {there!r} meant?")


def test_at_most_two_pages_of_near_names_are_named(write, decide):
    for page in ("a/toast.md", "b/toast.md", "toasts.md"):
        write(page)
    assert why(decide, "tosat.md").endswith("; is 'a/toast.md' or 'b/toast.md' meant?")


@pytest.mark.parametrize("written", ["Roast beef.md", "2026-01-30.md", "toast.pdf", "tea.md", "Soup of the day.md"])
def test_a_page_that_is_merely_like_another_is_not_proposed(write, decide, written):
    for page in ("Toast.md", "2026-01-31.md", "Sea.md", "Soup.md"):
        write(page)
    assert "meant" not in why(decide, written)


def test_labels_of_another_vault_do_not_have_every_page_looked_for_among_near_names(write, decide):
    write("toast.md")
    names = [f"{'x' * number}/tosat.md" for number in range(1, LABEL_NEAR_NAMES_MAX + 3)]
    settled = decide(*(label(name) for name in names))
    proposed = ["meant" in reason for one in settled for reason in one.missing.values()]
    assert proposed == [True] * LABEL_NEAR_NAMES_MAX + [False] * 2


def test_page_that_moved_is_proposed_by_its_name(write, decide):
    for folder in "dcba":
        write(f"{folder}/Tides.md")
    reason = why(decide, "Sea/tides.md")
    assert "a note of the same name is at 'a/Tides.md', 'b/Tides.md', 'c/Tides.md': was it moved?" in reason


def test_page_without_its_folder_is_not_matched_by_name(write, decide):
    write("A/Index.md")
    assert "'A/Index.md': was it moved?" in why(decide, "Index.md")


def test_page_that_was_renamed_is_proposed_by_its_content(write, decide):
    write("Sea/Ebb and flow.md")
    write("Old/Tides.md")
    reason = why(decide, "Sea/Tides.md", renamed={"Sea/Tides.md": "Sea/Ebb and flow.md"})
    assert "'Sea/Ebb and flow.md' has the same content: was it renamed?" in reason


def test_letter_case_is_said_before_content_and_content_before_place(write, decide):
    write("sea/tides.md")
    assert "letter case" in why(decide, "Sea/Tides.md", renamed={"Sea/Tides.md": "x.md"})
    assert "content" in why(decide, "Log/Tides.md", renamed={"Log/Tides.md": "x.md"})


@pytest.mark.parametrize("page", [".trash/Old tides.md", "Sea/.hidden.md", ".obsidian/plugins/x/README.md", "...md"])
def test_hidden_page_is_missing_gold(write, decide, page):
    write(page)
    assert "hidden" in why(decide, page)


@pytest.mark.parametrize("folder", ["Other", "Cafe\u0301", "Deep/Other"])
def test_page_of_another_vault_is_missing_gold(write, decide, folder):
    write(f"{folder}/.obsidian/app.json")
    write(f"{folder}/Sub/Tides.md")
    page = f"{folder}/Sub/Tides.md".replace("e\u0301", "é")
    assert "it lies in another vault" in why(decide, page)


def test_page_that_icloud_has_evicted_is_missing_gold_and_says_so(write, decide):
    write("Sea/.Cafe\u0301.md.icloud")
    assert "iCloud placeholder" in why(decide, "Sea/Café.md")


@pytest.mark.parametrize("page", ["x" * 300 + ".md", "x" * 300 + "/a.md", "a/" * 3_000 + "b.md", "Tides.md/Below a note.md"])
def test_page_that_cannot_be_is_missing_gold(write, decide, page):
    write("Tides.md")
    assert "no note of that name" in why(decide, page)


@pytest.mark.parametrize("page", ["Alias.md", "Shore/Tides.md", "Pipe.md", "Trap.md", "Pipe.md/x.md", "Dangling.md"])
def test_gold_that_is_or_passes_through_a_link_or_a_special_file_is_an_error(tmp_path, write, decide, page):
    write("Sea/Tides.md")
    (tmp_path / "Alias.md").symlink_to("Sea/Tides.md")
    (tmp_path / "Shore").symlink_to("Sea")
    (tmp_path / "Dangling.md").symlink_to("Nowhere.md")
    os.mkfifo(tmp_path / "Pipe.md")
    (tmp_path / "Trap.md").mkdir()
    with pytest.raises(LabelError) as error:
        decide(label(page))
    assert str(error.value).startswith(f"labels.json: query 'q': the gold page {page!r} cannot be gold: ")
    assert str(error.value).endswith("; name the note itself")


def test_all_bad_gold_is_reported_together(tmp_path, write, decide):
    write("Sea/Tides.md")
    (tmp_path / "Alias.md").symlink_to("Sea/Tides.md")
    os.mkfifo(tmp_path / "Pipe.md")
    with pytest.raises(LabelError) as error:
        decide(label("Alias.md", "Pipe.md", name="a"), label("Nowhere.md", name="b"), label("Alias.md", name="c"))
    assert str(error.value).startswith("3 problems in the labels:\n")


def test_bad_gold_of_a_label_that_is_left_out_is_no_error(tmp_path, decide):
    (tmp_path / "Alias.md").symlink_to("x")
    settled = decide(label("Alias.md", skip_reason="later"), label("Alias.md", name="o", collection="work"), collection="home")
    assert [one.status for one in settled] == ["skipped", "other-collection"]


def test_excluded_page_stays_in_the_denominator(write, decide):
    write("Archive/Tides.md")
    write(".obsidian/app.json", '{"userIgnoreFilters": ["Templates/"]}')
    write("Templates/Daily.md")
    settled = decide(label("Archive/Tides.md"), label("Templates/Daily.md", name="d"), globs=["Archive"])
    assert [one.status for one in settled] == ["scored", "scored"]


def test_page_that_cannot_be_read_stays_in_the_denominator(tmp_path, write, decide):
    with (tmp_path / "Huge.md").open("wb") as file:
        file.truncate(17 << 20)
    write("latin.md").write_bytes(b"\xe9")
    write("Locked.md").chmod(0)
    write("d/" * 101 + "Deep.md")
    pages = ("Huge.md", "latin.md", "Locked.md", "d/" * 101 + "Deep.md")
    assert [one.status for one in decide(*(label(page, name=page) for page in pages))] == ["scored"] * 4


def test_page_written_after_the_listing_stays_in_the_denominator(write, decide):
    write("Sea/Late.md")
    assert decide(label("Sea/Late.md"), listing=VaultListing((), (), ()))[0].status == "scored"


def test_missing_pages_of_a_large_vault_are_settled_quickly(write, decide):
    notes = tuple(NoteFile(f"Folder {number % 97}/Note {number}.md", "", (0, 0, 0, 0)) for number in range(10_000))
    labels = [replace(label(f"Elsewhere/Page {number}.md"), id=str(number)) for number in range(1_000)]
    started = time.perf_counter()
    settled = decide(*labels, listing=VaultListing(notes, (), ()))
    assert {one.status for one in settled} == {"missing-gold"}
    assert time.perf_counter() - started < 2


def test_page_that_was_renamed_and_edited_is_proposed_by_its_alias_then_by_its_title(write, decide):
    write("Sea/Moon and water.md", "---\naliases: [tides]\ntitle: Currents\n---\nedited\n")
    assert "its name is the alias of 'Sea/Moon and water.md': was it renamed?" in why(decide, "Tides.md")
    assert "its name is the title of 'Sea/Moon and water.md': was it renamed?" in why(decide, "Sea/Currents.md")
    assert "correct the path" in why(decide, "Sea/Nothing.md")
