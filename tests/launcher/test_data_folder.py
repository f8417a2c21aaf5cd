from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from vault_eval import launcher
from vault_eval.errors import UsageError
from vault_eval.launcher import data


@pytest.fixture(autouse=True)
def linux_home(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("VAULT_EVAL_DATA", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return str(tmp_path)


def test_the_option_wins_over_the_variable_and_the_variable_over_the_platform(monkeypatch, linux_home):
    assert f"{linux_home}/.local/share/vault-eval" == launcher.data_folder(None)
    monkeypatch.setenv("XDG_DATA_HOME", "/xdg")
    assert launcher.data_folder(None) == "/xdg/vault-eval"
    monkeypatch.setenv("VAULT_EVAL_DATA", "/variable")
    assert launcher.data_folder(None) == "/variable"
    assert launcher.data_folder("/option") == "/option"


def test_a_relative_folder_is_made_absolute_and_a_tilde_is_home(linux_home):
    assert launcher.data_folder("here") == str(Path.cwd() / "here")
    assert launcher.data_folder("~/there") == f"{linux_home}/there"


def test_a_relative_xdg_folder_and_an_empty_variable_are_ignored(monkeypatch, linux_home):
    monkeypatch.setenv("XDG_DATA_HOME", "share")
    monkeypatch.setenv("VAULT_EVAL_DATA", "")
    assert launcher.data_folder(None) == f"{linux_home}/.local/share/vault-eval"


def test_macos_has_its_own_place(monkeypatch, linux_home):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert launcher.data_folder(None) == f"{linux_home}/Library/Application Support/vault-eval"


def test_windows_has_its_own_place(monkeypatch, linux_home):
    monkeypatch.setattr(data, "os", SimpleNamespace(name="nt", environ={"LOCALAPPDATA": linux_home}, path=os.path))
    assert launcher.data_folder(None) == f"{linux_home}/vault-eval"


@pytest.mark.parametrize("home", ["", "relative", "/no/such/folder"])
def test_without_a_home_folder_the_message_names_the_option_and_the_variable(monkeypatch, home):
    monkeypatch.setenv("HOME", home)
    with pytest.raises(UsageError, match=f"HOME is {home!r}.*--data DIR or VAULT_EVAL_DATA"):
        launcher.data_folder(None)


def test_an_empty_option_is_refused():
    with pytest.raises(UsageError, match="--data is empty"):
        launcher.data_folder("")


def test_asking_creates_nothing(linux_home):
    launcher.data_folder(None)
    assert list(Path(linux_home).iterdir()) == []
