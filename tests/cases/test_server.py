"""The warm interpreter that most cases run in does what a process of its own would do."""

from __future__ import annotations

import re
import shutil

import pytest
from case_input import LABELS, lay_out, load_cases
from case_program import Bench

from vault_eval import strict_json

CASES = load_cases()
_MINUTE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC")


@pytest.mark.parametrize("name", ["FM-01", "FM-05-n1", "NF-07", "NM-10", "FS-07", "EV-12", "RP-03", "IX-04", "CL-04"])
def test_a_forked_script_says_what_a_started_one_says(program, tmp_path, name):
    case = CASES[name]
    lay_out(case, tmp_path)
    bench = Bench(program, tmp_path, labels=case.get("labels", LABELS))
    found = []
    for environment in (None, {}):
        outcomes = [bench.evaluate(environment=environment), bench.index("--format", "json", environment=environment)]
        outcomes += [bench.evaluate(environment=environment, form=form) for form in ("json", "markdown")]
        outcomes += [bench.evaluate("--top", "1", environment=environment), bench.evaluate("--help", environment=environment)]
        found.append([(one.code, _timeless(one.out), one.err) for one in outcomes])
        for path in bench.index_folder.iterdir():
            path.unlink()
        shutil.rmtree(program.data / "reports", ignore_errors=True)  # else the second says what changed since the first
    assert found[0] == found[1]


def _timeless(out: str) -> object:
    if not out.startswith("{"):
        return [_MINUTE.sub("…", line) for line in out.split("\n") if "| keyword, warm" not in line]
    return {key: value for key, value in strict_json.loads(out).items() if key != "timing"}
