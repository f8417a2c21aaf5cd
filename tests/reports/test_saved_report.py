"""A saved report read again: the same report, or a sentence that says where it is damaged."""

from __future__ import annotations

import copy
import json
import random

import pytest

from vault_eval import strict_json
from vault_eval.errors import UsageError, VaultEvalError
from vault_eval.evaluation import clock
from vault_eval.fixture_mode import run_fixture
from vault_eval.reports.json_report import report_text
from vault_eval.reports.saved_report import read_report
from vault_eval.request import Request


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    report, *_ = run_fixture(Request(vault="", cold_samples=0), clock())
    path = tmp_path_factory.mktemp("saved") / "report.json"
    path.write_bytes(strict_json.encode(report_text(report)))
    return path


def test_a_saved_report_read_and_written_again_is_the_same_text(saved):
    assert report_text(read_report(str(saved))) == saved.read_text(encoding="utf-8")


def test_the_folder_of_a_report_names_it_too(saved):
    assert read_report(str(saved.parent)) == read_report(str(saved))


def test_every_missing_or_mistyped_value_is_refused_with_its_place_or_changes_nothing(saved, tmp_path):
    whole = json.loads(saved.read_text(encoding="utf-8"))
    rng = random.Random(7)
    places = [place for place in _places(whole) if place[0] != "timing"]
    damaged = tmp_path / "damaged.json"
    refusals = []
    for place in rng.sample(places, 300):
        value = copy.deepcopy(whole)
        holder = value
        for key in place[:-1]:
            holder = holder[key]
        if isinstance(holder, dict) and rng.random() < 0.5:
            del holder[place[-1]]
        else:
            holder[place[-1]] = [{"unexpected": None}]
        damaged.write_text(json.dumps(value), encoding="utf-8")
        try:
            read_report(str(damaged))
        except UsageError as error:
            refusals.append(str(error))
    # Left over: entries of maps with free keys (settings, groups), where one fewer is still a report.
    assert len(refusals) > 200
    assert all(str(damaged) in refusal for refusal in refusals)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"schema": "other"}', '{"schema": "vault-eval.report.v1"}'])
def test_what_is_no_report_is_said_so(tmp_path, text):
    path = tmp_path / "report.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(VaultEvalError) as refused:
        read_report(str(path))
    assert refused.value.exit_code == 2


def _places(value, before=()):
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in entries:
        yield (*before, key)
        yield from _places(item, (*before, key))


def test_a_report_without_runs_is_refused(saved, tmp_path):
    damaged = tmp_path / "damaged.json"
    damaged.write_text(json.dumps({**json.loads(saved.read_text(encoding="utf-8")), "runs": []}), encoding="utf-8")
    with pytest.raises(UsageError, match="at least one run"):
        read_report(str(damaged))
