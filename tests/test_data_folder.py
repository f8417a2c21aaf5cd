from __future__ import annotations

import json
import os
import stat

import pytest

from vault_eval.data_folder import DataFolder, VaultSettings
from vault_eval.errors import UsageError, VaultEvalError

VAULT = "0123456789abcdef"


@pytest.fixture
def data(tmp_path):
    return DataFolder(str(tmp_path / "data"))


@pytest.fixture
def settings_file(tmp_path):
    place = tmp_path / "data" / "settings" / f"{VAULT}.json"
    place.parent.mkdir(parents=True)
    return place


def test_places_are_below_the_root_and_asking_makes_nothing(tmp_path, data):
    assert data.index_folder(VAULT) == str(tmp_path / "data" / "indexes" / VAULT)
    assert data.reports_folder(VAULT) == str(tmp_path / "data" / "reports" / VAULT)
    assert data.settings(VAULT) == VaultSettings((), None)
    assert not (tmp_path / "data").exists()


def test_what_is_remembered_comes_back(data):
    data.remember(
        VAULT, labels=["note:Eval/Labels.md", "/x/é\udcff.json"], index_options={"stem": None, "exclude": ["A/*"], "chunk": 2000}
    )
    assert data.settings(VAULT) == VaultSettings(
        ("note:Eval/Labels.md", "/x/é\udcff.json"), {"stem": None, "exclude": ["A/*"], "chunk": 2000}
    )


def test_what_is_not_given_stays(data):
    data.remember(VAULT, labels=["a"])
    data.remember(VAULT, index_options={"k": 1})
    assert data.settings(VAULT) == VaultSettings(("a",), {"k": 1})
    data.remember(VAULT, labels=[])
    assert data.settings(VAULT) == VaultSettings((), {"k": 1})
    data.remember(VAULT)
    assert data.settings(VAULT) == VaultSettings((), {"k": 1})


def test_vaults_are_kept_apart(data):
    data.remember(VAULT, labels=["a"])
    assert data.settings("fedcba9876543210") == VaultSettings()


def test_folders_and_file_are_private(tmp_path, data):
    before = os.umask(0)
    try:
        data.remember(VAULT, labels=["a"])
    finally:
        os.umask(before)
    modes = [stat.S_IMODE((tmp_path / path).stat().st_mode) for path in ("data", "data/settings", f"data/settings/{VAULT}.json")]
    assert modes == [0o700, 0o700, 0o600]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff", "utf-8"),
        (b"[]", "no JSON object"),
        (b"null", "no JSON object"),
        (b'{"labels": "a.json"}', "labels is no list"),
        (b'{"labels": {}}', "labels is no list"),
        (b'{"labels": ["a", 7]}', "labels is no list of texts"),
        (b'{"labels": null}', "labels is no list"),
        (b'{"index_options": []}', "index_options is no object"),
        (b'{"labels": [], "labels": ["a"]}', "repeated"),
    ],
)
def test_damaged_settings_are_an_error_that_names_the_file(data, settings_file, content, words):
    settings_file.write_bytes(content)
    with pytest.raises(UsageError) as error:
        data.settings(VAULT)
    assert repr(str(settings_file)) in str(error.value)
    assert words in str(error.value)
    assert "mend or remove the file" in str(error.value)


def test_damaged_settings_are_not_written_over(data, settings_file):
    settings_file.write_bytes(b"{")
    with pytest.raises(UsageError):
        data.remember(VAULT, labels=["a"])
    assert settings_file.read_bytes() == b"{"


def test_settings_that_are_a_folder_are_an_error(data, settings_file):
    settings_file.mkdir()
    with pytest.raises(UsageError, match="Is a directory"):
        data.settings(VAULT)


def test_settings_from_a_later_version_are_read_for_what_is_known(data, settings_file):
    settings_file.write_text(json.dumps({"labels": ["a"], "index_options": None, "colour": "blue"}))
    assert data.settings(VAULT) == VaultSettings(("a",), None)


def test_root_that_is_a_file_is_an_error(tmp_path):
    (tmp_path / "data").touch()
    data = DataFolder(str(tmp_path / "data"))
    with pytest.raises(UsageError, match="Not a directory"):
        data.settings(VAULT)
    with pytest.raises(VaultEvalError):
        data.remember(VAULT, labels=["a"])
