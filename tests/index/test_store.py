"""The index file: whole or refused, whatever happened to its bytes, and nothing is created by looking."""

from __future__ import annotations

import json
import random
import shutil
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_eval.errors import IndexUnusableError
from vault_eval.index.layout import FORMAT, SECTIONS, index_bytes
from vault_eval.index.seal import SEAL_NAME, open_index, read_seal, seal_text
from vault_eval.index.store import IndexFile

NOTES = {
    "A.md": "---\ntitle: One\n---\n# Alpha\n\nspring tides\n\n## Beta\n\nneap tides 潮位\n",
    "Sub/É.md": "text\n",
    "Broken.md": "---\nname: a: b\n---\n",
    "Labels.md": "---\nschema: vault-eval.labels.v1\nqueries: []\n---\n",
}


@pytest.fixture(scope="module")
def built(make_vault):
    """A built vault, and the name and bytes of its index file; tests work in copies of its folder."""
    vault = make_vault(**NOTES)
    path = Path(vault.build().path)
    return vault, path.name, path.read_bytes()


@pytest.fixture
def copy(built, tmp_path):
    vault, name, _ = built
    folder = tmp_path / "copy"
    shutil.copytree(vault.folder, folder)
    return folder, folder / name, vault.id


def tree(folder):
    return {str(path): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def refused(folder, vault, *, verify=True):
    before = tree(folder)
    with pytest.raises(IndexUnusableError) as refusal:
        open_index(str(folder), vault, verify=verify)[0].close()
    assert refusal.value.exit_code == 10
    assert before == tree(folder)
    return str(refusal.value)


@pytest.mark.parametrize("names", [[], ["A.md"], ["A.md", "Sub/B.md", "Z z.md"], ["A.md", "Sub/É.md", "潮.md"]])
def test_names_and_digests_of_all_pages_are_those_of_each(make_vault, names):
    vault = make_vault(**{name: f"text of {name}\n" for name in names})
    vault.build()
    with vault.index() as index:
        each = range(index.page_count)
        assert index.page_names() == [index.page(ordinal) for ordinal in each] == names
        for body in (False, True):
            assert index.all_page_digests(body=body) == [index.page_digest(ordinal, body=body) for ordinal in each]


def test_what_was_indexed_is_read_back(built):
    vault, _, _ = built
    with vault.index() as index:
        assert [index.page(ordinal) for ordinal in range(index.page_count)] == ["A.md", "Broken.md", "Sub/É.md"]
        assert [index.page_ordinal(page) for page in ("A.md", "Sub/É.md", "No.md", "")] == [0, 2, None, None]
        assert [(index.heading(chunk), index.lines(chunk), index.page_of(chunk)) for chunk in range(2)] == [
            (("Alpha",), (4, 7), 0),
            (("Alpha", "Beta"), (8, 10), 0),
        ]
        terms = [index.term(ordinal) for ordinal in range(index.term_count)]
        assert terms == sorted(terms, key=str.encode)
        assert [index.term_ordinal(term) for term in terms] == list(range(len(terms)))
        assert index.term_ordinal("nowhere") is None
        assert index.skipped() == [("Labels.md", "a label note: it may not answer its own queries")]
        assert list(index.warnings()) == ["Broken.md"]
        assert index.total_length == sum(index["chunk_lengths"])


def test_bounds_of_a_term_are_its_largest_count_and_shortest_chunk(make_vault):
    vault = make_vault(**{"A.md": "tide tide tide sand", "B.md": "tide"})
    vault.build()
    with vault.index() as index:
        ordinal = index.term_ordinal("tide")
        # A.md: a, tide x 3, sand = 5 terms; B.md: b, tide = 2 terms
        assert (index["term_most"][ordinal], index["term_shortest"][ordinal], list(index["chunk_lengths"])) == (3, 2, [5, 2])


def test_every_byte_of_the_header_counts(built, copy):
    _, _, data = built
    folder, path, vault = copy
    header = 44 + int.from_bytes(data[8:12], "little")
    kept = []
    for at in range(header):
        path.write_bytes(data[:at] + bytes([data[at] ^ (1 << at % 8)]) + data[at + 1 :])
        for verify in (True, False):
            try:
                open_index(str(folder), vault, verify=verify)[0].close()
                kept.append((at, verify))
            except IndexUnusableError:
                pass
    assert kept == []


def test_every_byte_behind_the_header_counts_for_who_verifies(built, copy):
    _, _, data = built
    folder, path, vault = copy
    header = 44 + int.from_bytes(data[8:12], "little")
    chosen = random.Random(7).sample(range(header, len(data)), 600)
    for at in sorted({*chosen, len(data) - 1, header}):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :])
        refused(folder, vault)


def test_truncation_at_any_length_is_refused(built, copy):
    _, _, data = built
    folder, path, vault = copy
    for length in chain(range(200), range(200, len(data), 61), [len(data) - 1]):
        path.write_bytes(data[:length])
        refused(folder, vault)


def test_truncation_into_a_section_is_refused_by_its_bounds(built, copy):
    _, _, data = built
    folder, path, vault = copy
    with IndexFile(str(path)) as index:
        ends = max(row[0] + row[1] for row in index.header["sections"].values())
    for length in chain(range(200), range(200, ends, 61), [ends - 1]):
        path.write_bytes(data[:length])
        refused(folder, vault, verify=False)


@pytest.mark.parametrize(
    "section", ["chunk_lengths", "heading_offsets", "page_chunks", "page_offsets", "term_offsets", "posting_offsets"]
)
def test_wrong_lengths_and_ends_are_refused_without_reading_all(built, copy, section):
    """`retrieve` does not verify the bytes; what could make it read or allocate without bounds it does look at."""
    _, _, data = built
    folder, path, vault = copy
    with IndexFile(str(path)) as index:
        offset, size, _ = index.header["sections"][section]
    at = offset + size - (5 if section == "posting_offsets" else 1)  # the highest byte of the last number, or near it
    path.write_bytes(data[:at] + b"\x7f" + data[at + 1 :])
    refused(folder, vault, verify=False)


def test_appended_bytes_are_refused(built, copy):
    _, _, data = built
    folder, path, vault = copy
    path.write_bytes(data + b"\0")
    refused(folder, vault)


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"null", b"{", b"\xff\xfe", b"VAULTEVL", b"VAULTEVL" + b"\xff" * 36])
@pytest.mark.parametrize("verify", [True, False])
def test_another_file_in_its_place_is_refused(copy, content, verify):
    folder, path, vault = copy
    path.write_bytes(content)
    refused(folder, vault, verify=verify)


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[]", b"null", b"7", b'"x"', b"{", b"\xff\xfe", b'{"seal": "\\ud800"}', b"[" * 100_000]
)
def test_another_seal_in_its_place_is_refused(copy, content):
    folder, _, vault = copy
    (folder / SEAL_NAME).write_bytes(content)
    refused(folder, vault)


def test_every_byte_of_the_seal_counts(copy):
    folder, _, vault = copy
    seal = (folder / SEAL_NAME).read_bytes()
    kept = []
    for at in range(len(seal)):
        (folder / SEAL_NAME).write_bytes(seal[:at] + bytes([seal[at] ^ 0x01]) + seal[at + 1 :])
        try:
            open_index(str(folder), vault, verify=True)[0].close()
            kept.append(seal[at : at + 1])
        except IndexUnusableError:
            pass
    assert set(kept) <= {b"\n", b" "}  # a line end that became a tab is JSON still, and says the same


@pytest.mark.parametrize("name", ["", ".", "..", "a\0b", "/", "seal.json", "../index", "x" * 300, "\ud800"])
def test_a_seal_that_names_no_index_file_is_refused(copy, name):
    folder, _, vault = copy
    (folder / SEAL_NAME).write_bytes(seal_text(vault, name, "0" * 64).encode("utf-8", "surrogatepass"))
    for verify in (True, False):
        refused(folder, vault, verify=verify)


def test_a_seal_of_another_version_says_which_is_read(copy):
    folder, _, vault = copy
    seal = json.loads((folder / SEAL_NAME).read_text())
    seal["index_format"] = "vault-eval.index.v0" + "x" * 1000
    (folder / SEAL_NAME).write_text(json.dumps(seal))
    message = refused(folder, vault)
    assert "of another version: 'vault-eval.index.v0xxx" in message
    assert f"where '{FORMAT}' is read" in message
    assert len(message) < 400 + len(str(folder))


def test_a_file_of_another_version_says_so(copy):
    folder, path, vault = copy
    data = path.read_bytes()
    with IndexFile(str(path)) as index:
        header = dict(index.header)
    header["format"] = "vault-eval.index.v0"
    text = json.dumps(header).encode()
    path.write_bytes(_with_header(data, text))
    assert "of another version" in refused(folder, vault, verify=False)


@pytest.mark.parametrize("change", [lambda places: places.pop("frequent_terms"), lambda places: places.update(more=[0, 0, "x"])])
def test_a_file_of_other_sections_is_of_another_version(copy, change):
    folder, path, vault = copy
    with IndexFile(str(path)) as index:
        change(index.header["sections"])
        text = json.dumps(index.header).encode()
    path.write_bytes(_with_header(path.read_bytes(), text))
    assert "of another version: it has other sections" in refused(folder, vault, verify=False)


def all_sections(row):
    return {name: list(row) for name in SECTIONS}


@pytest.mark.parametrize(
    "change",
    [
        {"sections": None},
        {"sections": {}},
        {"options": []},
        {"total_length": -1},
        {"total_length": "7"},
        {"sections": all_sections([0, 0, "x"])},
        {"sections": all_sections([64, 2**60, "x"])},
        {"sections": all_sections([-64, 64, "x"])},
        {"sections": all_sections([64, 3, "x"])},
        {"sections": all_sections([1, 8, "x"])},
        {"sections": all_sections([64, 64])},
        {"sections": dict.fromkeys(SECTIONS, "row")},
        {"sections": all_sections([64, 64, "x"])},
    ],
)
def test_a_header_that_is_signed_and_wrong_is_refused(copy, change):
    folder, path, vault = copy
    data = path.read_bytes()
    with IndexFile(str(path)) as index:
        header = {**index.header, **change}
    path.write_bytes(_with_header(data, json.dumps(header).encode()))
    refused(folder, vault, verify=False)


def _with_header(data, text):
    import hashlib
    import struct

    start = 64 * (1 + (44 + int.from_bytes(data[8:12], "little") - 1) // 64)
    head = struct.pack("<8sI32s", b"VAULTEVL", len(text), hashlib.sha256(text).digest()) + text
    return head.ljust(start, b"\0") + data[start:]


def test_a_signed_header_is_read_as_it_stands(copy):
    folder, path, vault = copy
    with IndexFile(str(path)) as index:
        text = json.dumps(index.header).encode()
    path.write_bytes(_with_header(path.read_bytes(), text))
    index, _ = open_index(str(folder), vault, verify=False)
    with index:
        assert index.page(0) == "A.md"


@given(st.binary(max_size=300), st.booleans(), st.booleans())
@settings(max_examples=300)
def test_random_bytes_give_nothing_but_a_refusal(make_vault, data, as_seal, magic):
    vault = make_vault()
    vault.folder.mkdir()
    (vault.folder / "index-0.bin").write_bytes((b"VAULTEVL" if magic else b"") + data)
    (vault.folder / SEAL_NAME).write_bytes(data if as_seal else seal_text(vault.id, "index-0.bin", "0" * 64).encode())
    refused(vault.folder, vault.id, verify=True)
    refused(vault.folder, vault.id, verify=False)


def test_the_index_file_of_another_vault_is_refused(built, copy, make_vault):
    folder, path, vault = copy
    other = make_vault(**{"Z.md": "other\n"})
    path.write_bytes(Path(other.build().path).read_bytes())
    assert "its bytes do not have the digest" in refused(folder, vault)


def test_the_seal_of_another_vault_is_refused(copy, make_vault):
    folder, _, vault = copy
    other = make_vault(**NOTES)
    other.build()
    shutil.copy(other.folder / SEAL_NAME, folder / SEAL_NAME)
    assert "belongs to another vault" in refused(folder, vault)


def test_the_folder_of_another_vault_is_refused(copy):
    folder, _, _ = copy
    assert "belongs to another vault" in refused(folder, "0" * 16)


def test_a_missing_index_is_said(tmp_path, copy):
    folder, path, vault = copy
    path.unlink()
    assert "cannot be opened" in refused(folder, vault)
    (folder / SEAL_NAME).unlink()
    assert "there is no index" in refused(folder, vault)
    assert "there is no index" in refused(tmp_path / "absent", vault)
    assert not (tmp_path / "absent").exists()
    (tmp_path / "file").write_text("x")
    assert "there is no index" in refused(tmp_path / "file", vault)


@pytest.mark.parametrize("name", [SEAL_NAME, "index"])
def test_a_folder_in_the_place_of_a_file_is_refused(copy, name):
    folder, path, vault = copy
    place = path if name == "index" else folder / name
    place.unlink()
    place.mkdir()
    for verify in (True, False):
        refused(folder, vault, verify=verify)


def test_a_link_in_the_name_of_the_index_leads_nowhere_else(copy):
    folder, path, vault = copy
    (folder / SEAL_NAME).write_text(seal_text(vault, f"../{path.name}", "0" * 64))
    assert read_seal(str(folder), vault)[0] == str(path)


def test_an_index_without_any_page_is_read(make_vault):
    vault = make_vault()
    vault.build()
    with vault.index() as index:
        assert (index.page_count, index.chunks, index.term_count, index.postings) == (0, 0, 0, 0)
        assert index.page_ordinal("A.md") is None


def test_the_same_content_gives_the_same_bytes_and_sections_are_aligned(built):
    vault, _, data = built
    with vault.index() as index:
        sections = {name: index[name] for name in SECTIONS}
        assert b"".join(index_bytes(index.options, index.total_length, sections)) == data
        assert all(row[0] % 64 == 0 for row in index.header["sections"].values())
        assert list(index.header["sections"]) == list(SECTIONS)
