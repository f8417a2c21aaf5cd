from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from vault_eval.vault.refusal import ABSENT, DENIED, FileRefusedError
from vault_eval.vault.spelling import spelling_on_disk

NFC, NFD, ANGSTROM = "Å", "A\u030a", "\u212b"  # three spellings of one letter


def disk(*paths: str, denied=()):
    def names_in(folder):
        if folder in denied:
            raise FileRefusedError(folder, DENIED)
        inside = [path.removeprefix(f"{folder}/") for path in paths if path.startswith(f"{folder}/")] if folder else paths
        if not inside:
            raise FileRefusedError(folder, ABSENT)
        return sorted({path.split("/")[0] for path in inside})

    return names_in


def test_exact_spelling_wins_then_nfc_then_the_first():
    names_in = disk(NFD, NFC, ANGSTROM)
    assert [spelling_on_disk(name, names_in) for name in (NFC, NFD, ANGSTROM)] == [NFC, NFD, ANGSTROM]
    assert spelling_on_disk(ANGSTROM, disk(NFD, NFC)) == NFC
    assert spelling_on_disk(NFC, disk(ANGSTROM, NFD)) == NFD  # U+0041 comes before U+212B


def test_every_twin_of_a_folder_is_looked_into():
    names_in = disk(f"{NFC}/one", f"{NFD}/two/{NFD}")
    assert spelling_on_disk(f"{NFC}/two/{NFC}", names_in) == f"{NFD}/two/{NFD}"
    assert spelling_on_disk(f"{NFC}/three", names_in) is None


def test_folder_that_cannot_be_listed_is_given_for_the_read_to_refuse():
    assert spelling_on_disk(f"{NFC}/a/b", disk(f"{NFD}/a/b", denied=[NFD])) == f"{NFD}/a/b"
    assert spelling_on_disk("a/b", disk("a/b", denied=[""])) == "a/b"


def test_letter_case_and_marks_are_kept():
    assert spelling_on_disk("a", disk("A")) is None
    assert spelling_on_disk("A", disk(NFC)) is None


@given(st.lists(st.text("aÅé\u030a\u0301", min_size=1, max_size=3), min_size=1, max_size=3).map("/".join))
def test_every_form_of_a_path_finds_the_one_that_is_there(path):
    for form in ("NFC", "NFD"):
        for asked in (path, unicodedata.normalize("NFC", path), unicodedata.normalize("NFD", path)):
            stored = "/".join(unicodedata.normalize(form, part) for part in path.split("/"))
            assert spelling_on_disk(asked, disk(stored)) == stored
