from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from vault_eval.errors import UnsafePathError, UsageError
from vault_eval.vault.location import refuse_inside_any_vault, refuse_inside_vault, vault_id, vault_root


def refused(path, vault):
    try:
        refuse_inside_vault(str(path), str(vault), "--out")
    except UnsafePathError as error:
        return str(error).startswith(f"--out {str(path)!r} ")
    return False


@pytest.mark.parametrize(
    "path",
    [
        "vault",
        "vault/report.json",
        "vault/Sea/deep/not yet/report.json",
        "labels/../vault/Sea/report.md",
        "nowhere/../vault/report.md",
        "outlink/report.html",
        "outlink",
        "outlink/../vault/x",
        "sealink/report.html",
        "dangling.json",
        "vault/Sea/Tides.md",
        "vault/./Sea/../x",
        "loop/../vault/x",
    ],
)
def test_every_way_into_the_vault_is_seen(tmp_path, vault, write, path):
    write("Sea/Tides.md")
    (tmp_path / "labels").mkdir()
    (tmp_path / "outlink").symlink_to("vault")
    (tmp_path / "sealink").symlink_to(vault / "Sea")
    (tmp_path / "dangling.json").symlink_to("vault/new.json")
    (tmp_path / "loop").symlink_to("loop")
    assert refused(tmp_path / path if path != "vault/./Sea/../x" else f"{tmp_path}/{path}", vault)


@pytest.mark.parametrize(
    "path", ["out", "out/report.json", "vault.json", "vault2/x", "vault/../out", "Vault 2/vault/x", "backlink/x"]
)
def test_places_outside_are_allowed(tmp_path, vault, path):
    (vault / "backlink").symlink_to("..")
    assert not refused(f"{tmp_path}/{path}", vault)


@pytest.mark.parametrize("path", ["", "x.json", "Sea/deep/not yet/x.json", ".obsidian/x", "../link/x"])
def test_every_folder_that_obsidian_opened_is_a_vault(tmp_path, path):
    other = tmp_path / "Other"
    (other / ".obsidian").mkdir(parents=True)
    (other / "Sea").mkdir()
    (tmp_path / "link").symlink_to(other / "Sea")
    with pytest.raises(UnsafePathError, match=rf"^--out .* lies inside the vault '{other}'; name a place outside it"):
        refuse_inside_any_vault(f"{other}/{path}", "--out")


def test_folder_beside_a_vault_is_none(tmp_path):
    (tmp_path / "Other" / ".obsidian").mkdir(parents=True)
    for path in ("Other.json", "x/y.json", "Other/../z"):
        refuse_inside_any_vault(f"{tmp_path}/{path}", "--out")


def test_link_that_leads_out_of_the_vault_is_outside(tmp_path, vault):
    (vault / "export").symlink_to(tmp_path)
    assert not refused(vault / "export" / "report.json", vault)


def test_vault_reached_by_a_link_is_the_same_vault(tmp_path, vault):
    (tmp_path / "alias").symlink_to("vault")
    assert vault_root(str(tmp_path / "alias")) == str(vault.resolve())
    assert vault_id(str(tmp_path / "alias")) == vault_id(str(vault))
    assert refused(vault / "x.json", tmp_path / "alias")


def test_relative_path_counts_from_the_current_folder(vault, monkeypatch):
    monkeypatch.chdir(vault)
    assert refused("report.json", vault)
    assert refused("", vault)
    assert not refused("../report.json", vault)


def test_other_letter_case_is_seen_where_the_disk_ignores_it(tmp_path, vault, write, monkeypatch):
    write("Sea/Tides.md")
    real = os.stat
    spelled = {str(place).casefold(): str(place) for place in (tmp_path, *tmp_path.rglob("*"))}
    monkeypatch.setattr(os, "stat", lambda path, **k: real(spelled.get(str(path).casefold(), path), **k))
    assert refused(tmp_path / "VAULT" / "report.json", vault)
    assert refused(tmp_path / "Vault" / "SEA" / "new" / "report.json", vault)
    assert not refused(tmp_path / "OUT" / "report.json", vault)


def test_folder_that_may_not_be_entered_does_not_end_the_search(open_vault, without_privileges):
    (open_vault / "vault" / "Shut").mkdir(parents=True)
    (open_vault / "vault" / "Shut").chmod(0)
    with without_privileges():
        assert refused(open_vault / "vault" / "Shut" / "x" / "report.json", open_vault / "vault")


def test_bind_mount_of_the_vault_is_seen(tmp_path, vault):
    place = tmp_path / "mounted"
    place.mkdir()
    try:
        done = subprocess.run(["mount", "--bind", str(vault), str(place)], capture_output=True, check=False)
    except OSError:
        pytest.skip("there is no mount command")
    if done.returncode:
        pytest.skip("this user may not mount")
    try:
        assert refused(place / "report.json", vault)
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_nul_is_refused(tmp_path, vault):
    assert refused(f"{tmp_path}/a\0b", vault)
    with pytest.raises(UsageError, match="NUL"):
        vault_root("a\0b")


@pytest.mark.parametrize(
    ("name", "found"),
    [("nowhere", "nothing is there"), ("file", "a file is there"), ("file/below", "nothing is there"), ("loop", "nothing")],
)
def test_vault_that_is_no_folder_is_refused(tmp_path, name, found):
    (tmp_path / "file").write_text("x")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(UsageError, match=found):
        vault_root(str(tmp_path / name))


def test_empty_vault_path_is_refused_and_never_the_current_folder(vault, monkeypatch):
    monkeypatch.chdir(vault)
    with pytest.raises(UsageError, match="an empty path"):
        vault_root("")


def test_vault_that_may_not_be_entered_is_said_to_be_so(open_vault, without_privileges):
    (open_vault / "shut" / "vault").mkdir(parents=True)
    (open_vault / "shut").chmod(0)
    with without_privileges(), pytest.raises(UsageError, match="may not be entered"):
        vault_root(str(open_vault / "shut" / "vault"))


def test_ids_are_short_stable_and_of_the_physical_path(tmp_path, vault, monkeypatch):
    monkeypatch.chdir(vault.parent)
    assert vault_id("vault") == vault_id(str(vault.resolve()))
    assert len(vault_id(str(vault))) == 16
    assert vault_id(str(vault)) != vault_id(str(tmp_path))
    assert vault_id("/vault") == "27d33c883a0ee639"  # sha256sum of the bytes `/vault`, the first 16 digits


def test_id_of_a_path_that_is_not_utf8_exists(tmp_path):
    place = Path(os.fsdecode(os.fsencode(str(tmp_path)) + b"/bad\xff"))
    place.mkdir()
    assert len(vault_id(vault_root(str(place)))) == 16
