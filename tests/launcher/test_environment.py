from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from vault_eval import launcher
from vault_eval.errors import MissingPackageError
from vault_eval.launcher import build

UNREACHABLE = {
    "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
    "UV_DEFAULT_INDEX": "http://127.0.0.1:9/simple",
    "PIP_EXTRA_INDEX_URL": "",
    "PIP_FIND_LINKS": "",
    "PIP_CONFIG_FILE": os.devnull,
    "PIP_NO_CACHE_DIR": "1",
    "PIP_RETRIES": "0",
    "UV_NO_CONFIG": "1",
    "UV_HTTP_RETRIES": "0",
}


def environments(data: Path) -> list[str]:
    return sorted(entry.name for entry in (data / "environments").iterdir())


def test_packages_that_are_there_are_used_and_nothing_is_made(tmp_path):
    launcher.ensure(["pytest"], may_install=True, data=str(tmp_path / "data"), command="index")
    assert not (tmp_path / "data").exists()


def test_a_folder_that_only_has_the_name_of_a_package_is_no_package(tmp_path, monkeypatch):
    (tmp_path / "only_a_folder").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    assert launcher.missing_packages(["pytest", "only_a_folder", "no_such_package"]) == ("only_a_folder", "no_such_package")


def test_a_command_that_may_not_install_names_the_one_command_that_does(checkout, tmp_path):
    data = tmp_path / "my data"
    done = checkout.start("bench", "--data", data)
    assert done.returncode == 2
    assert done.stdout == ""
    sentence, command = done.stderr.strip().split(" Run: ")
    assert "\n" not in sentence
    assert "bench needs python-frontmatter, markdown-it-py, rich, jinja2" in sentence
    script = str(checkout.root / "scripts/vault-eval.py")
    assert shlex.split(command)[1:] == [script, "doctor", "--install", "--data", str(data)]
    assert not data.exists()


def test_the_default_data_folder_is_not_repeated_in_the_command(checkout):
    done = checkout.start("bench", "--data", Path(checkout.environment["HOME"]) / ".local/share/vault-eval")
    assert done.stderr.strip().endswith("vault-eval.py doctor --install")


def test_no_install_refuses_where_installing_is_allowed(checkout, tmp_path):
    done = checkout.start("index", "--data", tmp_path / "data", VAULT_EVAL_NO_INSTALL="1")
    assert done.returncode == 2
    assert "VAULT_EVAL_NO_INSTALL is set" in done.stderr
    assert not (tmp_path / "data").exists()


def test_an_optional_package_is_asked_for_by_name_and_never_installed(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pypdf", None)
    with pytest.raises(MissingPackageError, match=r"index --pdf needs pypdf, .* install '?.*pypdf>=5'?$"):
        launcher.refuse_without(["pypdf"], command="index --pdf")
    assert not (tmp_path / "data").exists()


def test_the_first_start_builds_and_goes_on_with_the_same_arguments(offline_checkout, installing, tmp_path):
    machine = installing(offline_checkout)
    data = tmp_path / "data"
    done = machine.start("index", "--data", data, "a b", "*")
    assert done.returncode == 0, done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "installing python-frontmatter, markdown-it-py, rich, jinja2 into" in done.stderr
    used, arguments = done.stdout.splitlines()
    assert arguments == str(["index", "--data", str(data), "a b", "*"])
    (name,) = environments(data)
    assert used == str(data / "environments" / name)
    assert name.startswith(str(sys.implementation.cache_tag))
    assert {(data / part).stat().st_mode & 0o777 for part in ("", "environments")} == {0o700}


def test_later_starts_use_it_in_silence_even_where_installing_is_refused(offline_checkout, tmp_path):
    first = offline_checkout.start("index", "--data", tmp_path / "data")
    for variables in ({}, {"VAULT_EVAL_NO_INSTALL": "1"}, {"PYTHONPATH": "/nowhere"}):
        later = offline_checkout.start("bench", "--data", tmp_path / "data", **variables)
        assert (later.returncode, later.stderr) == (0, "")
        assert later.stdout.splitlines()[0] == first.stdout.splitlines()[0]


def test_another_lock_file_has_another_environment(offline_checkout, tmp_path):
    first = offline_checkout.start("index", "--data", tmp_path / "data")
    offline_checkout.lock.write_text(offline_checkout.lock.read_text(encoding="utf-8") + "# changed\n", encoding="utf-8")
    assert offline_checkout.start("bench", "--data", tmp_path / "data").returncode == 2
    second = offline_checkout.start("index", "--data", tmp_path / "data")
    assert first.stdout.splitlines()[0] != second.stdout.splitlines()[0]
    assert len(environments(tmp_path / "data")) == 2


def test_first_starts_at_the_same_time_end_in_one_environment(offline_checkout, installing, tmp_path):
    machine = installing(offline_checkout)
    processes = [machine.open("index", "--data", tmp_path / "data") for _ in range(4)]
    ended = [(*process.communicate(timeout=240), process.returncode) for process in processes]
    assert [(code, len(err.splitlines())) for _, err, code in ended if code or len(err.splitlines()) > 1] == []
    (name,) = environments(tmp_path / "data")
    assert {out.splitlines()[0] for out, _, _ in ended} == {str(tmp_path / "data" / "environments" / name)}


def test_an_environment_that_lost_its_packages_is_built_again(offline_checkout, tmp_path):
    first = offline_checkout.start("index", "--data", tmp_path / "data").stdout.splitlines()[0]
    shutil.rmtree(next(Path(first).glob("lib/*/site-packages/frontmatter")))
    refused = offline_checkout.start("bench", "--data", tmp_path / "data")
    assert refused.returncode == 2
    assert "doctor --install" in refused.stderr
    assert offline_checkout.start("index", "--data", tmp_path / "data").returncode == 0
    assert offline_checkout.start("bench", "--data", tmp_path / "data").stderr == ""
    assert environments(tmp_path / "data") == [Path(first).name]


def test_an_environment_whose_python_was_removed_is_built_again(offline_checkout, tmp_path):
    first = offline_checkout.start("index", "--data", tmp_path / "data").stdout.splitlines()[0]
    python = Path(launcher.environment_python(first))
    python.unlink()
    python.symlink_to("/no/such/python")
    assert offline_checkout.start("bench", "--data", tmp_path / "data").returncode == 2
    assert offline_checkout.start("index", "--data", tmp_path / "data").returncode == 0


def test_an_environment_that_others_could_have_changed_is_not_run(offline_checkout, tmp_path):
    offline_checkout.start("index", "--data", tmp_path / "data")
    (tmp_path / "data" / "environments").chmod(0o777)
    assert offline_checkout.start("bench", "--data", tmp_path / "data").returncode == 2
    refused = offline_checkout.start("index", "--data", tmp_path / "data")
    assert refused.returncode == 2
    assert "others may write there" in refused.stderr


def test_a_broken_off_build_is_removed_after_a_day(offline_checkout, tmp_path):
    parent = tmp_path / "data" / "environments"
    parent.mkdir(parents=True, mode=0o700)
    for name, age_days in ((".building-old", 2), (".building-new", 0)):
        (parent / name).mkdir()
        state = parent.stat()
        os.utime(parent / name, (state.st_mtime - age_days * 86_400,) * 2)
    assert offline_checkout.start("index", "--data", tmp_path / "data").returncode == 0
    assert [name for name in environments(tmp_path / "data") if name.startswith(".")] == [".building-new"]


@pytest.mark.parametrize("installing", ["uv", "pip"], indirect=True)
def test_a_file_with_another_hash_is_not_installed(offline_checkout, installing, tmp_path):
    machine = installing(offline_checkout)
    text = machine.lock.read_text(encoding="utf-8")
    machine.lock.write_text(text.partition("sha256:")[0] + "sha256:" + "0" * 64 + "\n", encoding="utf-8")
    done = machine.start("index", "--data", tmp_path / "data")
    assert done.returncode == 2
    assert "could not be installed" in done.stderr
    assert all(name.endswith(".log") for name in environments(tmp_path / "data"))


@pytest.mark.parametrize("installing", ["uv", "pip"], indirect=True)
def test_without_a_network_the_message_names_the_log(checkout, installing, tmp_path):
    machine = installing(checkout)
    done = machine.start("index", "--data", tmp_path / "data", **UNREACHABLE)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    announcement, message = done.stderr.splitlines()
    assert "installing" in announcement
    assert "Check the network and the proxy" in message
    (log,) = environments(tmp_path / "data")
    assert str(tmp_path / "data" / "environments" / log) in message
    assert "127.0.0.1" in (tmp_path / "data" / "environments" / log).read_text(encoding="utf-8")


def test_a_data_folder_that_cannot_be_written_is_said_in_one_sentence(checkout, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    read_only = tmp_path / "read-only"
    read_only.mkdir(mode=0o500)
    folders = [tmp_path / "file" / "data"]
    folders += [read_only / "data"] if os.geteuid() else []  # root may write everywhere
    folders += [Path("/proc/vault-eval")] if sys.platform == "linux" else []  # but not there
    for data in folders:
        done = checkout.start("index", "--data", data)
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
        assert f"No environment can be made in {data}/environments" in done.stderr
        assert "--data DIR" in done.stderr


def test_a_python_that_can_install_nothing_is_told_what_to_install(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(build, "find_spec", lambda _: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingPackageError, match="Install uv, or your system's package python3-venv"):
        build.build(str(tmp_path / "data/environments/key"), str(tmp_path / "lock"), launcher.RUNTIME_PACKAGES)
    assert environments(tmp_path / "data") == []
    assert "installing" in capsys.readouterr().err


def test_where_one_way_of_installing_fails_the_next_is_tried(offline_checkout, tmp_path):
    broken = tmp_path / "bin" / "uv"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
    broken.chmod(0o700)
    path = os.pathsep.join([str(broken.parent), offline_checkout.environment["PATH"]])
    assert offline_checkout.start("index", "--data", tmp_path / "data", PATH=path).returncode == 0


def test_the_locked_packages_install_from_the_package_index(checkout, installing, tmp_path):
    machine = installing(checkout)
    done = machine.start("index", "--data", tmp_path / "data")
    if done.returncode and not os.environ.get("REQUIRE_NETWORK"):
        pytest.skip(f"the package index cannot be reached: {done.stderr.splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    assert machine.start("bench", "--data", tmp_path / "data").stderr == ""
